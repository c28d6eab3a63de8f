//! What `impact track` does to a command and says of it.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::support::{IMPACT, Machine, same};

#[test]
fn the_exit_code_is_the_commands_own() {
    let machine = Machine::with_rapl();
    for (script, code) in [
        ("true", 0),
        ("false", 1),
        ("exit 42", 42),
        ("kill -9 $$", 137),
        ("kill -TERM $$", 143),
    ] {
        let output = machine.track(&["-q"], script);
        assert_eq!(output.status.code(), Some(code), "{script}");
    }
}

#[test]
fn a_command_that_cannot_be_run_leaves_no_log() {
    let machine = Machine::with_rapl();
    fs::write(machine.path("text"), "not a program").unwrap();
    for (command, code) in [
        ("/nowhere/at/all", 127),
        ("no-such-program", 127),
        ("./text", 126),
    ] {
        let output = machine
            .impact()
            .args(["track", "--", command])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(code), "{command}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: "));
    }
    assert!(!machine.path("impact-logs").exists());

    fs::create_dir(machine.path("mine")).unwrap();
    let nothing = [
        "--out",
        "mine/a/b",
        "--csv",
        "mine/series.csv",
        "--",
        "no-such-program",
    ];
    let output = machine
        .impact()
        .arg("track")
        .args(nothing)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(127));
    assert_eq!(fs::read_dir(machine.path("mine")).unwrap().count(), 0);
}

#[test]
fn input_and_output_are_the_commands() {
    let machine = Machine::with_rapl();
    let mut child = machine
        .impact()
        .args(["track", "-q", "--", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"through\n").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"through\n");
}

#[test]
fn a_stream_that_is_closed_is_closed_for_the_command_too() {
    let machine = Machine::with_rapl();
    let code = |prefix: &str| {
        let script = format!("exec {prefix} sh -c 'echo through' >&- 2> /dev/null");
        let mut shell = machine.program("sh");
        shell.args(["-c", &script]).status().unwrap().code()
    };
    let alone = code("");
    assert_ne!(alone, Some(0));
    let tracker = format!("'{IMPACT}' track -q --");
    assert_eq!(code(&tracker), alone);
}

#[test]
fn a_standard_error_that_takes_nothing_changes_nothing() {
    let machine = Machine::with_rapl();
    fs::write(machine.path(".impact.toml"), "colour = 7\n").unwrap();
    let full = || {
        fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap()
    };
    let ended = machine
        .impact()
        .args(["track", "--out", "log", "--", "sh", "-c", "exit 5"])
        .stderr(full())
        .status();
    assert_eq!(ended.unwrap().code(), Some(5));
    fs::remove_file(machine.path(".impact.toml")).unwrap();
    fs::create_dir_all(machine.path("log/broken/impacttracker")).unwrap();
    fs::write(machine.path("log/broken/impacttracker/data.json"), "no").unwrap();
    for (command, code) in [("list", 3), ("report", 3), ("nonsense", 2)] {
        let mut reader = machine.impact();
        let ended = reader.args([command, "log"]).stderr(full());
        let ended = ended.stdout(Stdio::null()).status();
        assert_eq!(ended.unwrap().code(), Some(code), "{command}");
    }
}

#[test]
fn the_energy_is_what_the_counter_moved_while_the_command_ran() {
    let machine = Machine::with_rapl();
    let counter = machine.counter("intel-rapl:0");
    let script = format!("echo 43000000 > {}", counter.display());
    assert!(machine.track(&["-q"], &script).status.success());
    let log = machine.log();
    assert!(same(log.total("package-0"), 42.0));
    assert!(same(log.total("dram-0"), 0.0));
    assert_eq!(log.info["counters_at_start"]["package-0"], 1_000_000);
    assert!(log.attributed("package-0") <= log.total("package-0"));
}

#[test]
fn a_counter_that_wraps_and_one_without_a_stated_range_lose_nothing() {
    let machine = Machine::bare();
    machine.domain("intel-rapl:0", "package-0", 100_000_000);
    machine.set("intel-rapl:0", 99_000_000);
    let unstated = machine.domain("intel-rapl:1", "package-1", 1);
    fs::remove_file(unstated.join("max_energy_range_uj")).unwrap();
    machine.set("intel-rapl:1", 262_143_328_850 - 2_000_000);
    let script = format!(
        "echo 4000000 > {}; echo 3000000 > {}",
        machine.counter("intel-rapl:0").display(),
        machine.counter("intel-rapl:1").display()
    );
    machine.track(&["-q"], &script);
    let log = machine.log();
    assert!(
        same(log.total("package-0"), 5.0),
        "{}",
        log.total("package-0")
    );
    assert!(
        same(log.total("package-1"), 5.0),
        "{}",
        log.total("package-1")
    );
    assert!(
        log.notes().contains("range the kernel does not state"),
        "{}",
        log.notes()
    );
}

#[test]
fn psys_cores_and_unknown_domains_are_shown_but_not_added() {
    let machine = Machine::with_rapl();
    machine.domain("intel-rapl:1", "psys", 262_143_328_850);
    machine.domain("intel-rapl:2", "npu", 262_143_328_850);
    machine.domain("intel-rapl-mmio:0", "package-0", 262_143_328_850);
    let mut script = String::new();
    for (zone, microjoules) in [
        ("intel-rapl:0", 3_000_000),
        ("intel-rapl:0:0", 2_500_000),
        ("intel-rapl:1", 9_000_000),
        ("intel-rapl:2", 1_500_000),
        ("intel-rapl-mmio:0", 3_000_000),
    ] {
        script += &format!("echo {microjoules} > {};", machine.counter(zone).display());
    }
    script += "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    let output = machine.track(&[], &script);
    let log = machine.log();
    assert!(same(log.total("psys"), 8.0));
    assert!(same(log.total("other:npu"), 0.5));
    let table = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(table.matches("not added").count(), 3, "{table}");
    let balance = &log.info["balance"]["package-0"];
    let part = |name: &str| balance[name].as_f64().unwrap();
    assert!(same(
        part("attributed_j") + part("other_j") + part("idle_j"),
        part("total_j")
    ));
    assert!(same(part("total_j"), 2.0));
    let report = machine.impact().args(["report", "log"]).output().unwrap();
    assert!(report.status.success(), "{report:?}");
}

#[test]
fn without_a_sensor_the_energy_is_estimated_and_says_so() {
    let machine = Machine::bare();
    let output = machine.track(&["--zone", "US-CA"], "exit 3");
    assert_eq!(output.status.code(), Some(3));
    let table = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(table.contains("W at full load"), "{table}");
    assert!(
        table.contains("CO2eq") && table.contains("US-CA"),
        "{table}"
    );
    let log = machine.log();
    assert_eq!(log.last()["energy"]["cpu"]["method"], "estimated");
    assert_eq!(log.info["region"]["zone"], "US-CA");
    assert_eq!(log.info["exit_code"], 3);
}

#[test]
fn an_average_that_stands_in_for_another_says_so_in_table_and_statement() {
    let machine = Machine::with_rapl();
    let counter = machine.counter("intel-rapl:0").display().to_string();
    let script = format!("echo 6000000 > {counter}; seq 20000 | wc -l");
    let output = machine.track(&["--zone", "BV"], &script);
    let table = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(table.contains("the world's average is used"), "{table}");
    let output = machine.impact().args(["statement", "log"]).output();
    let statement = String::from_utf8_lossy(&output.unwrap().stdout).replace('\n', " ");
    assert!(
        statement.contains("the world's average is used"),
        "{statement}"
    );
}

#[test]
fn the_city_an_address_was_taken_for_is_told_and_a_misspelled_one_refused() {
    let machine = Machine::with_rapl();
    let output = machine.track(&["--address", "Cambridge"], "true");
    let table = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        table.contains("place: the address is in Cambridge, England, United Kingdom"),
        "{table}"
    );
    assert!(
        table.contains("impact region --address shows"),
        "there are others: {table}"
    );
    let output = machine.track(&["--address", "Stanfrod, California"], "true");
    assert_eq!(output.status.code(), Some(125));
    let refusal = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        refusal.contains("the nearest names are Stanford, California, United States"),
        "{refusal}"
    );
}

#[test]
fn a_run_in_a_cloud_gets_its_providers_pue_unless_another_is_given() {
    let machine = Machine::with_rapl();
    let output = machine.track(&["--region", "aws:us-east-1"], "true");
    let table = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        table.contains("with PUE 1.15: ")
            && table.contains(", by AWS, power usage effectiveness by region, 2024"),
        "{table}"
    );
    assert_eq!(machine.log().info["pue"].to_string(), "1.15");
    fs::remove_dir_all(machine.path("log")).unwrap();
    machine.track(&["--region", "aws:us-east-1", "--pue", "1.3"], "true");
    assert_eq!(machine.log().info["pue"].to_string(), "1.3");
}

#[test]
fn the_cloud_is_looked_for_and_accounted_as_the_settings_say() {
    let machine = Machine::with_rapl();
    let cloud_init = machine.path("run/cloud-init");
    fs::create_dir_all(&cloud_init).unwrap();
    let data = r#"{"v1":{"cloud_name":"aws","region":"eu-north-1"}}"#;
    fs::write(cloud_init.join("instance-data.json"), data).unwrap();
    let own = "run-root = \"run\"\nintensities = \"own.csv\"\n";
    fs::create_dir_all(machine.path("xdg/impact")).unwrap();
    fs::write(machine.path("xdg/impact/config.toml"), own).unwrap();
    let track = |script: &str| {
        let mut command = machine.impact();
        command.env("XDG_CONFIG_HOME", machine.path("xdg"));
        command.args(["track", "--out", "log", "-q", "--", "sh", "-c", script]);
        command.output().unwrap()
    };
    fs::write(machine.path("own.csv"), "zone,g_per_kwh\nSE-SE3,7\nSE,7\n").unwrap();
    track("true");
    let region = &machine.log().info["region"];
    assert_eq!(region["carbon_intensity"], 7.0, "{region}");
    fs::remove_dir_all(machine.path("log")).unwrap();
    fs::remove_file(machine.path("own.csv")).unwrap();
    let output = track("exit 3");
    assert_eq!(output.status.code(), Some(3));
    assert!(machine.log().notes().contains("own.csv"));
}

#[test]
fn the_help_shows_the_command_under_the_arguments() {
    let output = Machine::bare().impact().args(["track", "--help"]).output();
    let help = String::from_utf8(output.unwrap().stdout).unwrap();
    let command = help.find("  [CMD]...").unwrap();
    let heading = help[..command].rfind("Arguments:");
    assert!(heading > help[..command].rfind("Hardware:"), "{help}");
}

#[test]
fn where_nothing_can_be_read_the_energy_is_unknown_and_not_zero() {
    let machine = Machine::bare();
    let output = machine
        .impact()
        .env("IMPACT_PROCFS_ROOT", machine.path("nowhere"))
        .args(["track", "--zone", "FR", "--", "sh", "-c", "exit 4"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("energy of the run: unknown"), "{said}");
    assert!(said.contains("CO2eq: unknown\n"), "{said}");
    let next = format!("next: {IMPACT} doctor\n");
    assert!(said.ends_with(&next), "{said}");
    let doctor = machine
        .impact()
        .env("IMPACT_PROCFS_ROOT", machine.path("nowhere"))
        .arg("doctor")
        .output()
        .unwrap();
    let said = String::from_utf8(doctor.stdout).unwrap();
    assert!(said.starts_with("CPU and memory: unknown; "), "{said}");
    assert!(said.contains("--procfs-root DIR"), "{said}");
}

#[test]
fn a_job_starts_however_few_files_may_be_open() {
    let machine = Machine::with_rapl();
    for most in [8, 10, 14, 18] {
        let mut shell = machine.program("sh");
        let limit = format!("ulimit -n {most}; exec \"$0\" \"$@\"");
        shell.args(["-c", &limit, IMPACT]);
        shell.args(["track", "--", "sh", "-c", "echo done; exit 5"]);
        let output = shell.output().unwrap();
        assert_eq!(output.stdout, b"done\n", "{most} files");
        assert_eq!(output.status.code(), Some(5), "{most} files");
    }
}

#[test]
fn the_kernels_trees_can_be_moved_by_the_configuration() {
    let machine = Machine::with_rapl();
    let sys = machine.path("sys");
    let settings = format!("sysfs-root = \"{}\"\n", sys.display());
    fs::create_dir_all(machine.path("xdg/impact")).unwrap();
    fs::write(machine.path("xdg/impact/config.toml"), settings).unwrap();
    let doctor = machine
        .impact()
        .env_remove("IMPACT_SYSFS_ROOT")
        .env("XDG_CONFIG_HOME", machine.path("xdg"))
        .arg("doctor")
        .output()
        .unwrap();
    assert_eq!(doctor.status.code(), Some(0));
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(said.contains(sys.to_str().unwrap()), "{said}");
    let elsewhere = machine
        .impact()
        .args(["doctor", "--sysfs-root", "/nowhere"])
        .status()
        .unwrap();
    assert_eq!(elsewhere.code(), Some(4), "an option is stronger");
}

#[test]
fn the_doctor_says_whether_the_processors_are_measured() {
    let measured = Machine::with_rapl()
        .impact()
        .arg("doctor")
        .output()
        .unwrap();
    assert_eq!(measured.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&measured.stdout).contains("ok   package-0"));
    let estimated = Machine::bare().impact().arg("doctor").output().unwrap();
    assert_eq!(estimated.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&estimated.stdout).contains("only estimated"));
}
