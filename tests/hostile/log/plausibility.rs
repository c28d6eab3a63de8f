//! Energy and times that cannot be are left out or corrected, and the report and the statement say so.

use std::fs;
use std::path::{Path, PathBuf};

use predicates::prelude::*;
use serde_json::{Value, json};

use crate::support::receipt::json as receipt;
use crate::support::{LegacyRun, NOON, Run, impact};

const SAID: &str = "contradict each other or cannot be";

fn joules(run: &Path) -> f64 {
    let figures = receipt(&[run], &["--pue", "1"]);
    figures["total_power"].as_f64().unwrap() * 3.6e6
}

fn left_out_joules(run: &Path) -> f64 {
    receipt(&[run], &[])["implausible_kwh"].as_f64().unwrap() * 3.6e6
}

#[track_caller]
fn is_near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-3, "{found} is not {wanted}");
}

/// What the report and the statement say about a run.
#[track_caller]
fn is_said(run: &Path, in_report: &str, in_statement: &str) {
    for (command, words) in [("report", in_report), ("statement", in_statement)] {
        impact()
            .arg(command)
            .arg(run)
            .assert()
            .success()
            .stdout(predicate::str::contains(words));
    }
}

/// One hour of 100 W in seven samples, after each was changed.
fn hour(folder: &Path, change: impl Fn(usize, &mut Value)) -> PathBuf {
    let run = Run::of_watts(100.0)
        .with("started", "2023-11-14T22:13:20+00:00")
        .with("ended", "2023-11-14T23:13:20+00:00")
        .write(folder);
    let data = run.join("impacttracker/data.json");
    let mut text = String::new();
    for (number, line) in fs::read_to_string(&data).unwrap().lines().enumerate() {
        let mut sample: Value = serde_json::from_str(line).unwrap();
        change(number, &mut sample);
        text += &format!("{sample}\n");
    }
    fs::write(&data, text).unwrap();
    run
}

fn meter(sample: &mut Value) -> &mut Value {
    &mut sample["energy"]["package-0"]
}

fn raise(sample: &mut Value, joules: f64) {
    for field in ["total_j", "attributed_j"] {
        let meter = meter(sample);
        meter[field] = (meter[field].as_f64().unwrap() + joules).into();
    }
}

#[test]
fn a_sound_log_is_counted_whole_and_nothing_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let run = hour(folder.path(), |_, _| {});
    is_near(joules(&run), 360_000.0);
    for command in ["report", "statement"] {
        let output = impact().arg(command).arg(&run).assert().success();
        let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
        assert!(!text.contains("cannot"), "{text}");
    }
}

#[test]
fn energy_that_needs_more_than_five_kilowatts_of_a_socket_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let run = hour(folder.path(), |number, sample| {
        if number >= 3 {
            raise(sample, 1e8);
        }
    });
    // The step with the jump in it, 60 kJ of which were drawn, is not counted.
    is_near(joules(&run), 300_000.0);
    is_near(left_out_joules(&run), 1e8 + 60_000.0);
    is_said(&run, "left out: 27.7", SAID);
    is_said(&run, "J of package-0 cannot have been drawn", "27.7");
}

#[test]
fn a_running_total_that_jumps_and_comes_back_is_counted_without_the_jump() {
    let folder = tempfile::tempdir().unwrap();
    let run = hour(folder.path(), |number, sample| {
        if number == 3 {
            raise(sample, 1e8);
        }
    });
    is_near(joules(&run), 360_000.0);
    is_said(&run, "jumped and came back", SAID);
}

#[test]
fn what_is_attributed_beyond_the_total_of_the_machine_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let run = hour(folder.path(), |_, sample| {
        let meter = meter(sample);
        meter["attributed_j"] = (meter["total_j"].as_f64().unwrap() * 1.5).into();
    });
    is_near(joules(&run), 360_000.0);
    is_near(left_out_joules(&run), 180_000.0);
    is_said(&run, "180 kJ of package-0", SAID);
}

#[test]
fn a_time_since_the_start_that_the_clock_contradicts_is_said_and_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let run = hour(folder.path(), |number, sample| {
        if number == 3 {
            sample["elapsed"] = json!(1e7);
        }
    });
    let figures = receipt(&[&run], &["--pue", "1"]);
    is_near(figures["exp_len_hours"].as_f64().unwrap(), 1.0);
    is_near(joules(&run), 360_000.0);
    is_said(&run, "the clock of the samples disagree", SAID);
}

#[test]
fn two_runs_appended_to_one_file_are_added_up() {
    let folder = tempfile::tempdir().unwrap();
    let run = hour(&folder.path().join("run"), |_, _| {});
    let mut later = Run::of_watts(100.0);
    later.start += 7200.0;
    let later = later.write(&folder.path().join("later"));
    let data = run.join("impacttracker/data.json");
    let text = fs::read_to_string(&data).unwrap()
        + &fs::read_to_string(later.join("impacttracker/data.json")).unwrap();
    fs::write(&data, text).unwrap();
    is_near(joules(&run), 720_000.0);
    let figures = receipt(&[&run], &[]);
    is_near(figures["exp_len_hours"].as_f64().unwrap(), 2.0);
    is_said(&run, "the log starts again 1 time", SAID);
}

#[test]
fn a_log_appended_to_itself_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let own = hour(&folder.path().join("own"), |_, _| {});
    let foreign = LegacyRun::default().write(&folder.path().join("foreign"));
    for (run, wanted) in [(&own, 360_000.0), (&foreign, 4250.0)] {
        is_near(joules(run), wanted);
        let data = run.join("impacttracker/data.json");
        let text = fs::read_to_string(&data).unwrap().repeat(2);
        fs::write(&data, text).unwrap();
        is_near(joules(run), wanted);
        is_said(run, "there twice", SAID);
    }
}

#[test]
fn what_the_tracker_left_out_is_in_the_report_and_the_statement() {
    let folder = tempfile::tempdir().unwrap();
    let balance = json!({ "package-0": {
        "total_j": 360_000.0, "attributed_j": 360_000.0, "other_j": 0.0, "idle_j": 0.0,
        "left_out_j": 7_200_000.0
    } });
    let run = Run::of_watts(100.0)
        .with("balance", balance)
        .write(folder.path());
    is_near(left_out_joules(&run), 7_200_000.0);
    is_said(
        &run,
        "left out: 2 kWh that cannot have been drawn",
        "2 kWh that cannot have been drawn are left out",
    );
}

/// The energy of a foreign log whose rows were changed, and the run's folder.
fn foreign(folder: &Path, rows: Vec<(f64, f64, f64, &'static str)>) -> (f64, PathBuf) {
    let run = LegacyRun {
        rows,
        ..LegacyRun::default()
    };
    let run = run.write(folder);
    (joules(&run), run)
}

const NO_ANSWER: &str = "\"n/a\"";

#[test]
fn a_foreign_sample_at_time_zero_is_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = LegacyRun::default().rows;
    rows.insert(0, (-NOON, 10.0, 100.0, NO_ANSWER));
    let (found, run) = foreign(folder.path(), rows);
    is_near(found, 4250.0);
    is_said(&run, "1 sample: at a time before every log", SAID);
}

#[test]
fn a_hole_of_thirty_days_and_a_jump_of_years_in_a_foreign_log_are_not_counted() {
    let day = 86_400.0;
    for (hole, time) in [(30.0 * day, "720 h"), (9.0 * 365.25 * day, "3287 d")] {
        let folder = tempfile::tempdir().unwrap();
        let mut run = LegacyRun {
            ended_after: None,
            ..LegacyRun::default()
        };
        run.rows.push((30.0 + hole, 30.0, 100.0, NO_ANSWER));
        run.rows.push((40.0 + hole, 30.0, 100.0, NO_ANSWER));
        let run = run.write(folder.path());
        is_near(joules(&run), 3600.0 + 1300.0);
        is_near(left_out_joules(&run), 130.0 * hole);
        is_said(&run, &format!("{time} lie between two samples"), SAID);
    }
}

#[test]
fn power_beyond_what_the_devices_can_draw_in_a_foreign_log_is_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = LegacyRun::default().rows;
    rows[1].1 = 20_000.0;
    let (found, run) = foreign(folder.path(), rows);
    is_near(found, 4250.0 - 200.0);
    is_near(left_out_joules(&run), 200_000.0);
    is_said(
        &run,
        "1 sample: of more power than the devices can draw",
        SAID,
    );
}

#[test]
fn a_line_of_our_own_inside_a_foreign_log_does_not_replace_it() {
    let folder = tempfile::tempdir().unwrap();
    let run = LegacyRun::default().write(folder.path());
    let data = run.join("impacttracker/data.json");
    let line = "{\"schema\":2,\"timestamp\":1572548415,\"elapsed\":1,\"energy\":{\"package-0\":\
                {\"total_j\":9,\"attributed_j\":9,\"method\":\"measured\"}}}\n";
    let text = fs::read_to_string(&data).unwrap() + line;
    fs::write(&data, text).unwrap();
    is_near(joules(&run), 4250.0);
    is_said(&run, "1 line is in another tracker's format", SAID);
}
