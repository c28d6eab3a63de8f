//! What a site of many runs costs, as a ratio to writing the same bytes, taken in one run on one machine.
//!
//! `cargo bench --bench site` makes 1,000 logs of 150 samples in a temporary folder, then in turn
//! writes the site with `impact appendix` and copies the files of that site, and prints the best of each.

mod bounds;
mod child;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use bounds::Bounds;
use child::peak_memory_mb;

const RUNS: usize = 1000;
const ROWS: usize = 150;
const ROUNDS: usize = 3;
const LARGEST_RUN_PAGE: f64 = 150.0;

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let logs = folder.path().join("logs");
    make_logs(&logs);
    // A new folder each time: a file system is slow where much was just deleted.
    let place = |name: &str, round: usize| folder.path().join(format!("{name}-{round}"));
    let (mut site, mut plain) = (Duration::MAX, Duration::MAX);
    for round in 0..ROUNDS {
        let (out, copy) = (place("out", round), place("copy", round));
        site = site.min(time(|| run(&mut appendix(&logs, &out))));
        let files: Vec<(PathBuf, Vec<u8>)> = files(&out)
            .into_iter()
            .map(|path| {
                let bytes = fs::read(&path).expect("just written");
                (
                    copy.join(path.strip_prefix(&out).expect("found there")),
                    bytes,
                )
            })
            .collect();
        plain = plain.min(time(|| write_all(&files)));
    }
    let out = place("out", 0);
    let files = files(&out);
    let length = |path: &PathBuf| fs::metadata(path).expect("just written").len();
    let pages = files
        .iter()
        .filter(|path| path.ends_with("index.html"))
        .count();
    let bytes: u64 = files.iter().map(length).sum();
    let largest = run_pages(&out).into_iter().max().unwrap_or_default();
    println!(
        "{pages} pages, {} files, {:.1} MB",
        files.len(),
        bytes as f64 / 1e6
    );
    println!("  impact appendix    {:>8.1} ms", site.as_secs_f64() * 1e3);
    println!("  writing the bytes  {:>8.1} ms", plain.as_secs_f64() * 1e3);
    println!(
        "  ratio              {:>8.2}",
        site.as_secs_f64() / plain.as_secs_f64()
    );
    let mut bounds = Bounds::default();
    let speed = pages as f64 / site.as_secs_f64();
    bounds.at_least("pages per second", speed, 500.0, "");
    let memory = peak_memory_mb(&appendix(&logs, &place("memory", 0)));
    bounds.at_most("peak memory", memory, 200.0, "MB");
    let largest = largest as f64 / 1e3;
    bounds.at_most("largest run page", largest, LARGEST_RUN_PAGE, "kB");
    bounds.end()
}

/// Runs in ten groups of ten, with everything that is drawn on a run's page.
fn make_logs(folder: &Path) {
    for run in 0..RUNS {
        let log = folder.join(format!(
            "group_{}/sort_{}/run_{run}/impacttracker",
            run / 100,
            run / 10 % 10
        ));
        fs::create_dir_all(&log).expect("a folder");
        let mut text = String::new();
        for row in 1..=ROWS {
            let seconds = row * 5;
            let wave = (row as f64 / (3.0 + (run % 7) as f64)).sin();
            let table: String = (0..12).fold(String::new(), |mut table, pid| {
                let comma = if pid == 0 { "" } else { "," };
                let _ = write!(table, "{comma}\"{pid}\":{{\"user\":{row}.25,\"system\":1.5,\"children_user\":0.0,\"children_system\":0.0}}");
                table
            });
            let _ = writeln!(
                text,
                "{{\"schema\":1,\"timestamp\":{},\"elapsed\":{seconds},\"energy\":{{\
                 \"package-0\":{{\"total_j\":{},\"attributed_j\":{},\"method\":\"measured\"}},\
                 \"gpu:GPU-1\":{{\"total_j\":{},\"attributed_j\":{},\"method\":\"measured\"}}}},\
                 \"cpu_time_seconds\":{{{table}}},\
                 \"rapl_power_draw_absolute\":{:.3},\"rapl_estimated_attributable_power_draw\":{:.3},\
                 \"nvidia_draw_absolute\":{:.3},\"nvidia_estimated_attributable_power_draw\":{:.3},\
                 \"absolute_cpu_utilization\":{:.3},\"average_gpu_estimated_utilization_absolute\":{:.3},\
                 \"absolute_mem_usage\":{},\"per_gpu_temperature\":{{\"0\":{:.1}}},\"cpu_temperature\":{:.1},\
                 \"realtime_carbon_intensity\":{:.2}}}",
                1_750_000_000 + seconds,
                seconds * 90,
                seconds * 60,
                seconds * 200,
                seconds * 180,
                90.0 + 20.0 * wave,
                60.0 + 20.0 * wave,
                200.0 - 30.0 * wave,
                180.0 - 30.0 * wave,
                4.0 + wave,
                0.5 + 0.4 * wave,
                4_000_000_000_u64 + row as u64 * 1_000_000,
                60.0 + 8.0 * wave,
                50.0 + 5.0 * wave,
                210.0 + 40.0 * wave
            );
        }
        fs::write(log.join("data.json"), text).expect("a log");
        let packages: Vec<String> = (0..150)
            .map(|n| format!("\"package-{n}\":\"1.{n}.0\""))
            .collect();
        let info = format!(
            "{{\"schema\":1,\"impact_version\":\"0.1.0\",\"id\":\"{run}\",\"command\":[\"python\",\"train.py\"],\
             \"host\":{{\"hostname\":\"node\",\"cpu\":{{\"brand\":\"A processor\",\"threads\":32}},\
             \"gpus\":[{{\"uuid\":\"GPU-1\",\"name\":\"An accelerator\"}}]}},\
             \"region\":{{\"zone\":\"US-CA\"}},\"python\":{{\"packages\":{{{}}}}}}}",
            packages.join(",")
        );
        fs::write(log.join("info.json"), info).expect("an info file");
    }
}

fn appendix(logs: &Path, out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_impact"));
    command
        .arg("appendix")
        .arg(logs)
        .arg("--output-dir")
        .arg(out)
        .stdout(Stdio::null());
    command
}

fn run(command: &mut Command) {
    assert!(command.status().expect("it starts").success());
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn write_all(files: &[(PathBuf, Vec<u8>)]) {
    for (path, bytes) in files {
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found
}

/// Bytes of each run's folder without its zip.
fn run_pages(site: &Path) -> Vec<u64> {
    let runs = fs::read_dir(site.join("run")).expect("runs");
    runs.map(|run| {
        let run = run.expect("an entry").path();
        let kept = files(&run)
            .into_iter()
            .filter(|path| path.extension().is_none_or(|ending| ending != "zip"));
        kept.map(|path| fs::metadata(path).expect("just written").len())
            .sum()
    })
    .collect()
}
