//! What a first user of `impact track` meets: its closing lines, its options, its settings, and what the job is told.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::support::{IMPACT, Machine, Run};

fn said(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The command after `next: `, run by a shell in the folder of the machine.
fn next_command(machine: &Machine, table: &str) -> std::process::Output {
    let next = table.lines().find_map(|line| line.strip_prefix("  next: "));
    let next = next.unwrap_or_else(|| panic!("nothing is next: {table}"));
    machine.program("sh").args(["-c", next]).output().unwrap()
}

#[test]
fn the_command_to_run_next_works_as_it_is_printed() {
    for (folder, place) in [
        ("log", &["--zone", "US-CA"][..]),
        ("two words; 'quoted'", &["--country", "Germany"]),
        ("-dash", &[]),
    ] {
        let machine = Machine::with_rapl();
        let counter = machine.counter("intel-rapl:0");
        let output = machine
            .impact()
            .arg("track")
            .arg(format!("--output={folder}"))
            .args(place)
            .args([
                "--",
                "sh",
                "-c",
                "seq 20000 | wc -l; echo 61000000 > \"$0\"",
            ])
            .arg(counter)
            .output()
            .unwrap();
        let table = said(&output);
        let output = next_command(&machine, &table);
        assert!(output.status.success(), "{table}{output:?}");
        let statement = String::from_utf8(output.stdout).unwrap();
        let is_placed = !place.is_empty();
        assert_eq!(statement.contains("g CO2eq at "), is_placed, "{statement}");
    }
}

#[test]
fn the_program_is_named_as_it_was_called() {
    let machine = Machine::with_rapl();
    let short = machine
        .program("impact")
        .args(["track", "--", "true"])
        .output()
        .unwrap();
    assert!(said(&short).contains("  next: impact statement impact-logs/"));
    let long = machine
        .impact()
        .args(["track", "--", "true"])
        .output()
        .unwrap();
    assert!(said(&long).contains(&format!("  next: {IMPACT} statement impact-logs/")));
}

#[test]
fn what_starts_with_a_dash_before_the_command_is_an_option_and_after_it_an_argument() {
    let machine = Machine::with_rapl();
    let track = |arguments: &[&str]| {
        let mut command = machine.impact();
        command.arg("track").args(arguments).output().unwrap()
    };
    let wrong = track(&["--zoen", "DE", "--", "true"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(said(&wrong).contains("--zone"), "{}", said(&wrong));
    assert!(!machine.path("impact-logs").exists());
    let job = r#"echo "$@""#;
    let given = track(&["-q", "sh", "-c", job, "sh", "--flag", "-q", "--", "--zoen"]);
    assert_eq!(given.stdout, b"--flag -q -- --zoen\n");
    let named_so = track(&["-q", "--", "--zoen"]);
    assert_eq!(named_so.status.code(), Some(127), "a command after --");
}

#[test]
fn a_job_finds_the_folder_of_its_own_run() {
    let machine = Machine::with_rapl();
    let job = format!(
        "ls \"$IMPACT_RUN_DIR\"; '{IMPACT}' track -q -o inner -- sh -c 'echo $IMPACT_RUN_DIR'"
    );
    let output = machine.track(&["-q"], &job);
    let shown = String::from_utf8(output.stdout).unwrap();
    let folder = machine.folder.path().canonicalize().unwrap();
    let inner = folder.join("inner").display().to_string();
    assert_eq!(shown.lines().collect::<Vec<_>>(), ["impacttracker", &inner]);
    let lost = machine
        .impact()
        .env("IMPACT_RUN_DIR", "/that/of/another/run")
        .args([
            "track",
            "-q",
            "-o",
            "/proc/no-log",
            "--",
            "sh",
            "-c",
            "echo .$IMPACT_RUN_DIR",
        ])
        .output()
        .unwrap();
    assert_eq!(lost.stdout, b".\n", "no log, so no folder");
}

#[test]
fn a_folder_that_holds_a_run_keeps_it_and_the_folder_of_the_new_run_is_told_also_in_quiet() {
    let machine = Machine::with_rapl();
    let track = || {
        let output = machine
            .impact()
            .args(["track", "-q", "-o", "log/", "--", "true"])
            .output();
        said(&output.unwrap())
    };
    assert_eq!(track(), "");
    let told = track();
    let inside = told
        .strip_prefix("impact: log/ holds another run; this one is in ")
        .unwrap_or_else(|| panic!("{told}"));
    assert!(
        machine
            .path(inside.trim_end())
            .join("impacttracker/data.json")
            .is_file(),
        "{told}"
    );
}

#[test]
fn a_variable_that_is_wrong_stops_no_job_and_every_other_command() {
    let machine = Machine::with_rapl();
    for (variable, value) in [
        ("IMPACT_PUE", "abc"),
        ("OVERRIDE_PUE", "0.5"),
        ("IMPACT_INTERVAL", "soon"),
        ("IMPACT_ZONE", "ATLANTIS"),
        ("IMPACT_ZONE", "no zone at all"),
        ("IMPACT_COUNTRY", "Atlantis"),
        ("IMPACT_REGION", "aws:nowhere"),
        ("IMPACT_ADDRESS", "Xyzzyville"),
        ("IMPACT_DATASET", "wishes"),
        ("IMPACT_INTENSITIES", "no-such-table.csv"),
        ("IMPACT_CPU_TDP", "-1"),
    ] {
        let _ = fs::remove_dir_all(machine.path("log"));
        let job = ["track", "-q", "-o", "log", "--", "sh", "-c", "exit 3"];
        let output = machine
            .impact()
            .env(variable, value)
            .args(job)
            .output()
            .unwrap();
        let told = said(&output);
        assert_eq!(output.status.code(), Some(3), "{variable}={value}: {told}");
        assert!(told.starts_with("impact: ignored: "), "{told}");
        assert!(
            machine.log().notes().contains("a setting was ignored"),
            "{told}"
        );
    }
    let list = machine
        .impact()
        .env("IMPACT_PUE", "abc")
        .args(["list", "log"])
        .output()
        .unwrap();
    assert_eq!(list.status.code(), Some(1));
    assert!(said(&list).contains("IMPACT_PUE in the environment"));
    let given = ["track", "-q", "--config", "pue=abc", "--", "true"];
    assert_eq!(
        machine.impact().args(given).output().unwrap().status.code(),
        Some(2)
    );
}

#[test]
fn a_bad_place_in_the_settings_leaves_the_next_that_is_known() {
    let machine = Machine::with_rapl();
    let etc = machine.path("etc");
    fs::create_dir_all(&etc).unwrap();
    symlink("/usr/share/zoneinfo/Europe/Berlin", etc.join("localtime")).unwrap();
    let mut track = machine.impact();
    track
        .env("IMPACT_ETC_ROOT", etc)
        .env("IMPACT_ZONE", "ATLANTIS");
    track
        .args(["track", "-q", "-o", "log", "--", "true"])
        .status()
        .unwrap();
    assert_eq!(machine.log().info["region"]["zone"], "DE");
}

/// The kernel's files of this machine, but with a processor that is in no virtual machine.
fn bare_metal(machine: &Machine) {
    let proc = machine.path("proc");
    fs::create_dir_all(&proc).unwrap();
    for name in ["stat", "self", "meminfo", "loadavg", "sys"] {
        symlink(Path::new("/proc").join(name), proc.join(name)).unwrap();
    }
    let cpuinfo =
        "processor\t: 0\nmodel name\t: Intel(R) Core(TM) i7-1260P\nsiblings\t: 8\nflags\t: fpu\n";
    fs::write(proc.join("cpuinfo"), cpuinfo).unwrap();
}

#[test]
fn a_personal_computer_has_no_data_centre_around_it_and_everything_says_how_that_is_known() {
    let machine = Machine::with_rapl();
    bare_metal(&machine);
    let dmi = machine.path("sys/class/dmi/id");
    fs::create_dir_all(&dmi).unwrap();
    let track = |chassis: &str, options: &[&str]| {
        fs::write(dmi.join("chassis_type"), chassis).unwrap();
        let _ = fs::remove_dir_all(machine.path("log"));
        let mut command = machine.impact();
        command.env("IMPACT_PROCFS_ROOT", machine.path("proc"));
        command
            .args(["track", "-o", "log", "--country", "Germany"])
            .args(options);
        let output = command.args(["--", "true"]).output().unwrap();
        (said(&output), machine.log().info)
    };
    let (table, info) = track("10\n", &[]);
    assert_eq!(info["pue"].as_f64(), Some(1.0), "{info}");
    let source = serde_json::json!({ "by": "machine", "machine": "laptop", "chassis_type": 10 });
    assert_eq!(info["pue_source"], source);
    assert!(table.contains("  with PUE 1: "), "{table}");
    assert!(
        table.contains("as this is a laptop, by its chassis type 10"),
        "{table}"
    );
    let statement = machine
        .impact()
        .args(["statement", "log"])
        .output()
        .unwrap();
    let statement = String::from_utf8(statement.stdout)
        .unwrap()
        .replace('\n', " ");
    let words = "without data-centre overhead (PUE 1, as there is none around a laptop, by its chassis type 10)";
    assert!(statement.contains(words), "{statement}");
    let (_, info) = track("10\n", &["--pue", "1.2"]);
    assert_eq!(info["pue_source"], serde_json::json!({ "by": "user" }));
    let (table, info) = track("23\n", &[]);
    assert_eq!(info["pue"], serde_json::Value::Null, "a server in a rack");
    assert!(table.contains("a global average"), "{table}");
}

#[test]
fn the_closing_lines_have_the_energy_of_the_run_and_that_of_the_statement() {
    let machine = Machine::with_rapl();
    let counter = machine.counter("intel-rapl:0");
    let script = format!("seq 20000 | wc -l; echo 61000000 > {}", counter.display());
    let table = said(&machine.track(&["--pue", "1.5", "--zone", "FR"], &script));
    let statement = next_command(&machine, &table);
    let statement = String::from_utf8(statement.stdout).unwrap();
    let energy = |start: &str| -> Option<String> {
        let line = table.lines().find(|line| line.starts_with(start))?;
        Some(line.split(" = ").nth(1)?.to_owned())
    };
    let (alone, with_pue) = (energy("  energy of the run: "), energy("  with PUE 1.5: "));
    let [alone, with_pue] =
        [alone, with_pue].map(|figure| figure.unwrap_or_else(|| panic!("{table}")));
    assert!(
        statement.contains(&format!(
            "It used {with_pue}, data-centre overhead included"
        )),
        "{statement}{table}"
    );
    let numbers: [f64; 2] = [&alone, &with_pue].map(|text| {
        let (number, unit) = text.split_once(' ').unwrap();
        assert_eq!(unit, "mWh", "{table}");
        number.parse().unwrap()
    });
    assert!((numbers[1] / numbers[0] - 1.5).abs() < 1e-3, "{table}");
}

#[test]
fn without_a_folder_the_logs_in_the_working_folder_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let run = |command: &[&str]| {
        let mut impact = crate::support::impact_in(folder.path());
        impact.args(command).output().unwrap()
    };
    for command in ["list", "report", "statement", "export", "backfill"] {
        let missing = run(&[command]);
        assert_eq!(missing.status.code(), Some(2), "{command}: {missing:?}");
        assert!(said(&missing).contains("impact-logs"), "{}", said(&missing));
    }
    for tag in ["a", "b"] {
        let log = folder.path().join("impact-logs").join(tag);
        Run::default().tag("lr", tag).write(&log);
    }
    for command in [
        &["list"][..],
        &["report"],
        &["statement"],
        &["statement", "USA"],
        &["export"],
        &["compare", "--by", "lr"],
    ] {
        let found = run(command);
        assert!(found.status.success(), "{command:?}: {found:?}");
        let text = String::from_utf8(found.stdout).unwrap();
        let of_both = text.contains("impact-logs/a") && text.contains("impact-logs/b");
        assert!(
            of_both || text.contains('2') || text.contains("lr=b"),
            "{command:?}: {text}"
        );
    }
    let named = run(&["statement", "USA", "--format", "json"]);
    let receipt: serde_json::Value = serde_json::from_slice(&named.stdout).unwrap();
    assert_eq!(
        (&receipt["runs"], &receipt["social_cost_usd"]["country"]),
        (&2.into(), &"USA".into())
    );
}

#[test]
fn what_a_job_writes_into_its_run_is_read_by_the_spec_of_a_site() {
    let machine = Machine::with_rapl();
    let counter = machine.counter("intel-rapl:0");
    let job = format!(
        "seq 20000 | wc -l; echo 61000000 > {}; echo '{{\"accuracy\": 0.875}}' > \"$IMPACT_RUN_DIR/result.json\"",
        counter.display()
    );
    machine
        .impact()
        .args(["track", "-q", "--", "sh", "-c", &job])
        .status()
        .unwrap();
    let spec = serde_json::json!({
        "Trained": {
            "filter": null,
            "description": "",
            "executive_summary_variables": ["accuracy"],
            "extra_files_processor": {
                "file": "result.json",
                "figures": { "accuracy": "mean(accuracy)" },
            },
        },
    });
    fs::write(machine.path("spec.json"), spec.to_string()).unwrap();
    let mut site = machine.impact();
    site.args([
        "appendix",
        "impact-logs",
        "--site-spec",
        "spec.json",
        "-o",
        "site",
    ]);
    assert!(site.output().unwrap().status.success());
    let index = fs::read_to_string(machine.path("site/index.json")).unwrap();
    assert!(index.contains("0.875"), "{index}");
}

/// The commands of the README's first minute, with this build in place of `cargo run`.
#[test]
fn the_first_minute_of_the_readme_gives_energy_and_co2_with_the_assumption_named() {
    let readme = include_str!("../../README.md");
    let (_, section) = readme.split_once("## The first minute\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let commands = section
        .lines()
        .filter_map(|line| line.strip_prefix("cargo run --release -- "));
    let machine = Machine::bare();
    fs::create_dir(machine.path("examples")).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::copy(
        root.join("examples/primes.sh"),
        machine.path("examples/primes.sh"),
    )
    .unwrap();
    let outputs: Vec<_> = commands
        .map(|command| {
            let line = format!("impact {command}");
            let output = machine.program("sh").args(["-c", &line]).output().unwrap();
            assert!(output.status.success(), "{line}: {output:?}");
            output
        })
        .collect();
    let [tracked, statement] = outputs.as_slice() else {
        panic!("the section has {} commands", outputs.len());
    };
    for words in [
        "  energy of the run: ",
        "  place: the average of the United States, which was given\n",
        "  CO2eq: ",
        " in US at ",
    ] {
        assert!(said(tracked).contains(words), "{}", said(tracked));
    }
    let statement = String::from_utf8(statement.stdout.clone())
        .unwrap()
        .replace('\n', " ");
    for words in [" data-centre overhead included", "g CO2eq at "] {
        assert!(statement.contains(words), "{words}: {statement}");
    }
    let section = section.replace('\n', " ");
    for words in ["PUE 1.54, assumed", "United States, average of 2025"] {
        assert!(statement.contains(words), "{words}: {statement}");
        assert!(section.contains(words), "the README quotes it: {words}");
    }
    let unplaced = machine.program("sh");
    let words = "The zone was not recorded; the average of the United States was used.";
    let statement = statement_of_an_unplaced_run(unplaced);
    assert!(statement.contains(words), "{statement}");
    assert!(section.contains(words), "the README quotes it: {words}");
}

fn statement_of_an_unplaced_run(mut shell: Command) -> String {
    let line = "impact track -q -o unplaced -- true && impact statement unplaced USA";
    let output = shell.args(["-c", line]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.replace('\n', " ")
}
