//! What reading a large profile costs, as ratios taken in one run on one machine.
//!
//! `cargo bench --bench attribute` makes Chrome traces of 1 GB in a temporary folder: one as `PyTorch` writes it, with a line for
//! each of some fields, and one of spans that are all open at once, which is refused. It times `wc -l` and `impact attribute` over
//! the first, in turn, and prints the ratio of the best of each. A bound that is missed is an error.

mod bounds;
mod child;

use std::fmt::Write as _;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use bounds::Bounds;
use child::{peak_memory_mb, time};

const BYTES: u64 = 1_000_000_000;
const ROUNDS: usize = 5;
const MOST_MB: f64 = 256.0;

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut bounds = Bounds::default();
    write_run(folder.path());
    let trace = folder.path().join("trace.json");
    let spans = write_trace(&trace, torch_event);
    println!("a trace of {spans} spans, {} MB", BYTES / 1_000_000);
    let mut wc = Duration::MAX;
    let mut impact = Duration::MAX;
    for _ in 0..ROUNDS {
        wc = wc.min(time(Command::new("wc").arg("-l").arg(&trace)));
        impact = impact.min(time(&mut attribute(folder.path(), &trace)));
    }
    println!("  wc -l             {:>8.1} ms", wc.as_secs_f64() * 1e3);
    println!("  impact attribute  {:>8.1} ms", impact.as_secs_f64() * 1e3);
    let ratio = impact.as_secs_f64() / wc.as_secs_f64();
    bounds.at_most("time as a multiple of wc -l", ratio, 15.0, "");
    let peak = peak_memory_mb(&attribute(folder.path(), &trace));
    bounds.at_most("peak memory", peak, MOST_MB, "MB");
    write_trace(&trace, |number| {
        let length = 10_000_000_000 - 2 * number;
        format!(
            "{{\"name\":\"f{number}\",\"ph\":\"X\",\"ts\":{number},\"dur\":{length},\"pid\":1,\"tid\":1}},\n"
        )
    });
    let peak = peak_memory_mb(&attribute(folder.path(), &trace));
    bounds.at_most("peak memory with spans in spans", peak, MOST_MB, "MB");
    bounds.end()
}

/// A run of a minute with a CPU and a GPU.
fn write_run(folder: &Path) {
    let log = folder.join("run/impacttracker");
    fs::create_dir_all(&log).expect("a folder");
    let mut lines = String::new();
    for second in 0..=60 {
        let joules = 200 * second;
        writeln!(
            lines,
            "{{\"schema\":2,\"timestamp\":{},\"elapsed\":{second},\"energy\":{{\"package-0\":{{\"total_j\":{joules},\"attributed_j\":{joules},\"method\":\"measured\"}},\"gpu:GPU-a\":{{\"total_j\":{joules},\"attributed_j\":{joules},\"method\":\"measured\"}}}}}}",
            1_700_000_000 + second
        )
        .expect("a String");
    }
    fs::write(log.join("data.json"), lines).expect("a log");
    fs::write(log.join("info.json"), "{\"schema\":2}").expect("a log");
}

/// Writes events until the file has its size, and answers how many.
fn write_trace(path: &Path, event: impl Fn(u64) -> String) -> u64 {
    let mut out = BufWriter::new(fs::File::create(path).expect("a file"));
    let head = "{\"schemaVersion\": 1,\n\"baseTimeNanoseconds\": 1700000000000000000,\n\"traceEvents\": [\n";
    out.write_all(head.as_bytes()).expect("a disk with space");
    let mut bytes = 0;
    for number in 0.. {
        let text = event(number);
        out.write_all(text.as_bytes()).expect("a disk with space");
        bytes += text.len() as u64;
        if bytes >= BYTES {
            out.write_all(b"{}]}").expect("a disk with space");
            out.flush().expect("a disk with space");
            return number + 1;
        }
    }
    unreachable!("numbers do not end");
}

/// Two operators within each other on the CPU, then a kernel.
fn torch_event(number: u64) -> String {
    let (time, name) = (number * 15, number % 40);
    match number % 3 {
        2 => format!(
            "  {{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_{name}>(Params)\", \"pid\": 0, \"tid\": 7,\n    \"ts\": {time}.250, \"dur\": 12.500,\n    \"args\": {{\n      \"External id\": {number}, \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": {number}, \"registers per thread\": 32, \"grid\": [4, 1, 1]\n    }}\n  }},\n"
        ),
        inner => format!(
            "  {{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::op_{name}\", \"pid\": 4242, \"tid\": 4242,\n    \"ts\": {time}.001, \"dur\": {}.750,\n    \"args\": {{\n      \"External id\": {number}, \"Record function id\": 0, \"Ev Idx\": {number}\n    }}\n  }},\n",
            40 - 20 * inner
        ),
    }
}

fn attribute(folder: &Path, trace: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_impact"));
    command.arg("attribute").arg(folder.join("run"));
    command.arg("--profile").arg(trace);
    command
}
