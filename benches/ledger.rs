//! What reading logs costs, as ratios taken in one run on one machine.
//!
//! `cargo bench --bench ledger` makes a corpus of about 600 MB in a temporary folder: from the runs
//! under `IMPACT_REFERENCE` where that is set, else from rows of the same shape made here. Then it
//! times `wc -l` and `impact statement` over the same files in the page cache, in turn, and prints
//! the ratio of the best of each; and it times a folder of 100,000 short runs, of which no two are the same. A bound
//! that is missed is an error.

mod bounds;
mod child;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use bounds::Bounds;
use child::{peak_memory_mb, time};

const CORPUS_BYTES: u64 = 600 << 20;
const ROUNDS: usize = 7;
const SHORT_RUNS: usize = 100_000;

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut bounds = Bounds::default();
    large_logs(&folder.path().join("large"), &mut bounds);
    many_runs(&folder.path().join("many"), &mut bounds);
    bounds.end()
}

fn large_logs(folder: &Path, bounds: &mut Bounds) {
    let files = match std::env::var_os("IMPACT_REFERENCE") {
        Some(reference) => copy_reference(Path::new(&reference), folder),
        None => make_logs(folder),
    };
    let bytes: u64 = files
        .iter()
        .map(|file| fs::metadata(file).expect("just written").len())
        .sum();
    println!("large logs: {} files, {} MB", files.len(), bytes >> 20);
    let mut wc = Duration::MAX;
    let mut impact = Duration::MAX;
    for _ in 0..ROUNDS {
        wc = wc.min(time(Command::new("wc").arg("-l").args(&files)));
        impact = impact.min(time(&mut statement(folder)));
    }
    println!("  wc -l             {:>8.1} ms", wc.as_secs_f64() * 1e3);
    println!("  impact statement  {:>8.1} ms", impact.as_secs_f64() * 1e3);
    let ratio = impact.as_secs_f64() / wc.as_secs_f64();
    bounds.at_most("time as a multiple of wc -l", ratio, 6.0, "");
    bounds.at_most(
        "peak memory",
        peak_memory_mb(&statement(folder)),
        64.0,
        "MB",
    );
}

fn many_runs(folder: &Path, bounds: &mut Bounds) {
    for n in 0..SHORT_RUNS {
        let text = rows(10, 2, n as f64);
        let log = folder.join(format!("{}/run-{n}/impacttracker", n / 1000));
        fs::create_dir_all(&log).expect("a folder");
        fs::write(log.join("data.json"), &text).expect("a log");
    }
    let elapsed = time(&mut statement(folder));
    println!(
        "{SHORT_RUNS} runs of 10 lines: {:.2} s",
        elapsed.as_secs_f64()
    );
    let peak = peak_memory_mb(&statement(folder));
    bounds.at_most("peak memory of statement", peak, 64.0, "MB");
    let mut list = Command::new(env!("CARGO_BIN_EXE_impact"));
    list.arg("list")
        .arg(folder)
        .args(["--emissions-factor", "300"]);
    bounds.at_most("peak memory of list", peak_memory_mb(&list), 128.0, "MB");
}

fn statement(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_impact"));
    command
        .arg("statement")
        .arg(folder)
        .args(["USA", "--emissions-factor", "300"]);
    command
}

fn copy_reference(reference: &Path, folder: &Path) -> Vec<PathBuf> {
    let runs: Vec<PathBuf> = impact::log::find::find(&[reference.to_owned()], &|_| {}).runs;
    assert!(!runs.is_empty(), "no runs under {}", reference.display());
    let mut files = Vec::new();
    let mut bytes = 0;
    for copy in 0.. {
        for (number, run) in runs.iter().enumerate() {
            let log = folder.join(format!("{copy}/{number}/impacttracker"));
            fs::create_dir_all(&log).expect("a folder");
            for name in ["data.json", "info.pkl"] {
                fs::copy(run.join("impacttracker").join(name), log.join(name)).expect("a copy");
            }
            // Copies that are the same byte by byte count once and are not read.
            let mut data = fs::File::options()
                .append(true)
                .open(log.join("data.json"))
                .expect("just copied");
            data.write_all("\n".repeat(copy).as_bytes())
                .expect("a line");
            bytes += fs::metadata(log.join("data.json"))
                .expect("just copied")
                .len();
            files.push(log.join("data.json"));
        }
        if bytes >= CORPUS_BYTES {
            break;
        }
    }
    files
}

fn make_logs(folder: &Path) -> Vec<PathBuf> {
    let count = CORPUS_BYTES / rows(1000, 40, 0.0).len() as u64 + 1;
    (0..count)
        .map(|n| {
            let text = rows(1000, 40, n as f64);
            let log = folder.join(format!("run-{n}/impacttracker"));
            fs::create_dir_all(&log).expect("a folder");
            fs::write(log.join("data.json"), &text).expect("a log");
            log.join("data.json")
        })
        .collect()
}

/// Rows as experiment-impact-tracker wrote them, with tables of so many processes, from this second on.
fn rows(count: usize, processes: usize, start: f64) -> String {
    let mut text = String::new();
    for row in 0..count {
        let mut times = String::new();
        let mut memory = String::new();
        for process in 0..processes {
            let comma = if process > 0 { "," } else { "" };
            let pid = 20_000 + process;
            let seconds = row as f64 * 9.37;
            write!(times, "{comma}\"{pid}\":{{\"user\":{seconds:.2},\"system\":0.89,\"children_user\":0.0,\"children_system\":0.0}}").expect("a String");
            write!(memory, "{comma}\"{pid}\":{{\"rss\":249856000,\"vms\":2637684736,\"shared\":116867072,\"text\":2322432,\"lib\":0,\"data\":1257025536,\"dirty\":0,\"uss\":131612672,\"pss\":133259264,\"swap\":0}}").expect("a String");
        }
        writeln!(
            text,
            "{{\"timestamp\":{:.4},\"rapl_power_draw_absolute\":103.6490658508,\"rapl_estimated_attributable_power_draw\":58.7647540264,\"cpu_time_seconds\":{{{times}}},\"average_relative_cpu_utilization\":0.539420169,\"mem_info_per_process\":{{{memory}}},\"nvidia_draw_absolute\":61.81,\"nvidia_estimated_attributable_power_draw\":61.81,\"average_gpu_estimated_utilization_absolute\":0.985,\"realtime_carbon_intensity\":198.0399081759}}",
            1_572_548_432.78 + start + row as f64 * 9.4
        )
        .expect("a String");
    }
    text
}
