//! A damaged byte of a log shows: in the figures, or in what is said about them.

use std::fs;
use std::path::Path;

use impact::ledger::summarise::summarise;
use impact::ledger::{Assumptions, Footprint, Tally};
use predicates::prelude::*;

use crate::support::{Machine, impact};

/// A log of the tracker: some samples and a region, of a job that moves the meters.
fn tracked() -> Machine {
    let machine = Machine::with_rapl();
    let [package, memory] = ["intel-rapl:0", "intel-rapl:0:1"].map(|zone| machine.counter(zone));
    let script = format!(
        "for i in 1 2 3 4; do echo $((1000000 + i * 400000)) > {}; \
         echo $((1000000 + i * 100000)) > {}; j=0; while [ $j -lt 20000 ]; do j=$((j+1)); done; \
         sleep 0.02; done",
        package.display(),
        memory.display()
    );
    let options = ["--interval", "20ms", "--zone", "GB", "--pue", "1.25"];
    let output = machine.track(&options, &script);
    assert!(output.status.success(), "{output:?}");
    machine
}

/// Energy, mass and hours; and how many of its tally's remarks are about the quality of the log.
fn figures(run: &Path) -> Option<([f64; 3], u64)> {
    let summary = summarise(run).ok()?;
    let footprint = Footprint::of(&summary, &Assumptions::default());
    let tally = Tally::of(&summary, &footprint);
    let mass = tally.mass().map_or(0.0, impact::GramsCo2e::kg);
    let said = [
        tally.runs_without_end,
        tally.runs_with_bad_lines,
        tally.runs_with_changed_info,
        tally.runs_with_contradictions,
        tally.runs_without_intensity(),
    ];
    let figures = [tally.energy.kwh(), mass, tally.duration.hours()];
    Some((figures, said.iter().sum()))
}

/// A generator of numbers that is the same everywhere.
fn next(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 16) as usize
}

#[test]
fn of_ten_thousand_damaged_bytes_at_most_ten_change_a_total_by_a_hundredth_without_a_word() {
    let machine = tracked();
    let run = machine.path("log");
    let (sound, nothing_said) = figures(&run).unwrap();
    assert!(sound[0] > 0.0 && sound[1] > 0.0 && nothing_said == 0);
    let files = ["data.json", "info.json"].map(|name| run.join("impacttracker").join(name));
    let contents = files.each_ref().map(|file| fs::read(file).unwrap());
    let all: usize = contents.iter().map(Vec::len).sum();
    let mut state = 0x2026;
    let mut silent = Vec::new();
    let mut changed = 0;
    for _ in 0..10_000 {
        // Half of the damage is to the smaller file, which has the PUE and the place.
        let at = next(&mut state) % all;
        let which = usize::from(at.is_multiple_of(2));
        let at = at % contents[which].len();
        let mut bytes = contents[which].clone();
        bytes[at] ^= 1 << (next(&mut state) % 8);
        fs::write(&files[which], &bytes).unwrap();
        if let Some((damaged, 0)) = figures(&run) {
            let differs = |(a, b): (f64, f64)| (a - b).abs() > 0.01 * b;
            if damaged.into_iter().zip(sound).any(differs) {
                silent.push((which, at, damaged));
            }
        } else {
            changed += 1;
        }
        fs::write(&files[which], &contents[which]).unwrap();
    }
    assert!(silent.len() <= 10, "{}: {silent:?}", silent.len());
    assert!(changed > 5_000, "{changed}");
}

#[test]
fn a_line_that_lost_its_checksum_is_not_a_sample() {
    let machine = tracked();
    let data = machine.path("log/impacttracker/data.json");
    let sound = fs::read_to_string(&data).unwrap();
    let lines: Vec<&str> = sound.lines().collect();
    for damaged in [0, 1, lines.len() - 1] {
        let text: String = lines
            .iter()
            .enumerate()
            .map(|(number, line)| {
                if number == damaged {
                    line.replace("\"crc\"", "\"crb\"") + "\n"
                } else {
                    format!("{line}\n")
                }
            })
            .collect();
        fs::write(&data, text).unwrap();
        let damage = summarise(&machine.path("log")).unwrap().bad_lines;
        assert_eq!(damage, 1, "line {damaged}");
    }
}

#[test]
fn a_changed_info_file_is_named_by_the_report_and_the_statement() {
    let machine = tracked();
    let info = machine.path("log/impacttracker/info.json");
    let text = fs::read_to_string(&info).unwrap();
    fs::write(&info, text.replace("1.25", "1.05")).unwrap();
    let words = "changed after it was written";
    for command in ["report", "statement"] {
        impact()
            .arg(command)
            .arg(machine.path("log"))
            .assert()
            .success()
            .stdout(predicate::str::contains(words));
    }
}
