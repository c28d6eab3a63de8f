// Writes small logs of both trackers, some with hostile names, and a spec for them: fixture.mjs FOLDER
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2];
const start = 1_750_000_000;

const hostile = {
  script: "<script>window.broken=1</script>",
  quotes: `"><img src=x onerror="window.broken=2">'`,
  url: "javascript:window.broken=3",
  direction: "abc\u202edef\u2066ghi",
  template: "{{ 7 * 7 }}{% if true %}",
  formula: "=HYPERLINK(\"http://x\")",
};

// Multiplies every energy and power of a row, down to microjoules and up to megawatt hours.
function scaled(sample, factor) {
  for (const meter of Object.values(sample.energy)) {
    meter.total_j *= factor;
    meter.attributed_j *= factor;
  }
  for (const key of Object.keys(sample)) if (/power_draw|nvidia_/.test(key)) sample[key] *= factor;
  return sample;
}

function row(i, seconds, method) {
  const cpu = 40 + 20 * Math.sin(i / 5);
  const gpu = i % 17 === 0 ? 240 : 120 + 30 * Math.cos(i / 9);
  return {
    schema: 1,
    timestamp: start + seconds,
    elapsed: seconds,
    energy: {
      "package-0": { total_j: 90 * seconds, attributed_j: 50 * seconds, method: "measured" },
      "dram-0": { total_j: 9 * seconds, attributed_j: 5 * seconds, method: "measured" },
      "gpu:GPU-1": { total_j: 150 * seconds, attributed_j: 140 * seconds, ...method },
    },
    rapl_power_draw_absolute: cpu + 30,
    rapl_estimated_attributable_power_draw: cpu,
    nvidia_draw_absolute: gpu + 10,
    nvidia_estimated_attributable_power_draw: gpu,
    absolute_cpu_utilization: 3 + Math.sin(i),
    average_gpu_estimated_utilization_absolute: 0.5 + 0.4 * Math.sin(i / 7),
    absolute_mem_usage: 4e9 + 1e7 * i,
    per_gpu_temperature: { 0: 60 + 8 * Math.sin(i / 20) },
    cpu_temperature: 55 + 5 * Math.cos(i / 15),
    realtime_carbon_intensity: 210 + 40 * Math.sin(i / 30),
  };
}

function write(path, { rows, info, evaluation, factor = 1, every = 7 }) {
  const log = join(folder, "logs", path, "impacttracker");
  mkdirSync(log, { recursive: true });
  const method = { method: "integrated", period_s: 0.1 };
  const lines = [];
  for (let i = 1; i <= rows; i++) {
    const sample = scaled(row(i, i * every, method), factor);
    if (i === 3) sample.mark = { name: hostile.script, edge: "start" };
    if (i === Math.floor(rows / 2)) sample.mark = { name: hostile.script, edge: "end" };
    if (i === Math.floor(rows / 2) + 2) sample.mark = { name: "checkpoint", edge: "point" };
    // Nested phases, with work in a unit that is hostile too.
    if (i % 10 === 4) sample.marks = [{ name: "epoch", edge: "start", elapsed: i * 7 - 3 }, { name: "a phase with a rather long name", edge: "start" }];
    if (i % 10 === 8) sample.marks = [{ name: "a phase with a rather long name", edge: "end" }, { name: "epoch", edge: "end", count: { tokens: 4096, [hostile.script]: 2 } }];
    lines.push(JSON.stringify(sample));
  }
  writeFileSync(join(log, "data.json"), lines.join("\n") + "\n");
  writeFileSync(join(log, "info.json"), JSON.stringify({ schema: 1, impact_version: "0.1.0", id: path, ...info }));
  if (evaluation) writeFileSync(join(folder, "logs", path, "eval.csv"), `parameters\nstep,score\n${evaluation.map((v, i) => `${i},${v}`).join("\n")}\n`);
}

const info = {
  started: "2025-06-15T15:06:40+00:00",
  ended: "2025-06-15T16:00:00+00:00",
  host: { hostname: hostile.quotes, os: "Linux", cpu: { brand: hostile.script, sockets: 1, cores: 8, threads: 16 }, gpus: [{ uuid: "GPU-1", name: "Example GPU", memory_bytes: 16e9 }] },
  region: { zone: "DE", name: "Germany", carbon_intensity: 380, source: "a test" },
  python: { version: "3.12", packages: { [hostile.script]: hostile.quotes, numpy: "2.0", [hostile.formula]: hostile.url } },
  command: ["python", hostile.script, hostile.url, hostile.quotes],
  tags: { [hostile.quotes]: hostile.script, direction: hostile.direction },
};

for (const algorithm of ["fast", "slow"]) {
  for (let seed = 0; seed < 6; seed++) {
    const rows = algorithm === "fast" ? 90 + 7 * seed : 300 + 40 * seed;
    const isFast = algorithm === "fast";
    const tags = { ...info.tags, variant: isFast ? "plain" : hostile.script, seed: `${seed}` };
    const packages = { ...info.python.packages, [hostile.quotes]: isFast ? hostile.url : hostile.script };
    const own = { ...info, tags, python: { ...info.python, packages } };
    write(`game/${algorithm}/seed_${seed}`, { rows, info: own, evaluation: [1, 5 + seed, algorithm === "fast" ? 9 : 12] });
  }
}

// A profile beside a log: steps with nested spans on the CPU, kernels on the GPU, hostile names, and a wait without a span.
const events = [];
const span = (name, from, to, gpu) => events.push({ ph: "X", name, ts: from * 1e6, dur: (to - from) * 1e6, pid: gpu ? 0 : 1, tid: gpu ? 7 : 1, cat: gpu ? "kernel" : "cpu_op", args: gpu ? { device: 0 } : {} });
for (let step = 0; step < 40; step++) {
  const at = 10 + step * 15;
  span("train_step", at, at + 14);
  span("forward", at + 0.5, at + 5);
  span("a layer with a name that is longer than most frames are wide", at + 1, at + 3);
  span(hostile.script, at + 3, at + 4.5);
  span("backward", at + 5, at + 13);
  for (const name of Object.values(hostile)) span(name, at + 6 + name.length / 20, at + 6.4 + name.length / 20);
  span("gemm<float, 128>", at + 2, at + 11, true);
}
writeFileSync(join(folder, "logs/game/fast/seed_0/profile.json"), JSON.stringify({ schemaVersion: 1, traceEvents: events }));

let place = 0;
for (const name of Object.values(hostile)) {
  write(`hostile/run ${place++}`, { rows: 20, info: { ...info, name }, evaluation: [1, 2] });
}
write("hostile/run none", { rows: 2, info: {} });
const plain = { ...info, command: ["train"], tags: {}, python: undefined, host: { hostname: "node" } };
for (let seed = 0; seed < 4; seed++) {
  // Some microjoules in 60 ms, and some 30 MWh in half a year; no device draws more than 5 kW.
  write(`scale/tiny/seed_${seed}`, { rows: 20, every: 0.003, factor: 2.6e-7 * (1 + seed), info: { ...plain, exit_code: seed === 3 ? 1 : 0 }, evaluation: [1, 5] });
  write(`scale/huge/seed_${seed}`, { rows: 200, every: 80000, factor: 25 + seed, info: { ...plain, region: seed === 3 ? undefined : info.region, exit_code: 0 }, evaluation: [1, 7] });
}
mkdirSync(join(folder, "logs/hostile/broken/impacttracker"), { recursive: true });
writeFileSync(join(folder, "logs/hostile/broken/impacttracker/data.json"), "not a log <script>\n");

writeFileSync(join(folder, "spec.json"), JSON.stringify({
  logs: ["logs"],
  processors: { "pkg.evaluate": { file: "eval.csv", skip_rows: 1, figures: { Score: "last(score)", "Score per <kWh>": "last(score) / total_power" } } },
  "A test <b>site</b>": {
    description: `<b>Bold</b> <a href="javascript:window.broken=4">j</a> <a href="https://example.org">w</a><script>window.broken=5</script><img src=x onerror="window.broken=6">`,
    child_experiments: {
      Game: {
        filter: "(game)",
        extra_files_processor: "pkg.evaluate",
        executive_summary_variables: ["Score per <kWh>", "Score", "total_power", "exp_len_hours", "estimated_carbon_impact_kg", "absent"],
        executive_summary_ordering_variable: "Score per <kWh>",
        executive_summary_plots: [{ x: "total_power", y: "Score" }, { x: "exp_len_hours", y: "estimated_carbon_impact_kg" }],
        child_experiments: { "Fast \"algorithm\"": { filter: "fast" }, [hostile.script]: { filter: "slow" } },
      },
      Scale: {
        filter: "scale",
        extra_files_processor: "pkg.evaluate",
        executive_summary_variables: ["Score", "total_power", "kw_hr_cpu", "exp_len_hours", "estimated_carbon_impact_kg", "average_realtime_carbon_intensity"],
        executive_summary_ordering_variable: "total_power",
        executive_summary_plots: [{ x: "total_power", y: "Score" }, { x: "exp_len_hours", y: "estimated_carbon_impact_kg" }],
        child_experiments: { Microjoules: { filter: "tiny" }, "Megawatt hours": { filter: "huge" } },
      },
      [hostile.direction]: { filter: "hostile", extra_files_processor: "other.function", description: hostile.template },
    },
  },
}));
