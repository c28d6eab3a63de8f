//! `impact config`: five levels for every key, and where each value came from.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::{Run, impact_in};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use tempfile::TempDir;

/// Four different valid values of a key: of the user's file, the project's, the environment and the
/// command line.
fn values(key: &str) -> [&'static str; 4] {
    match key {
        "pue" => ["1.1", "1.2", "1.3", "1.4"],
        "emissions-factor" => ["100", "200.5", "300", "400"],
        "price" => ["0.1", "0.2", "0.3", "0.4"],
        "currency" => ["EUR", "CHF", "SEK", "CAD"],
        "interval" => ["2s", "100ms", "5", "1m"],
        "zone" => ["US-CA", "CA-QC", "DE", "FR"],
        "country" => ["USA", "Canada", "de", "France"],
        "dataset" => ["electricity-maps", "eit-2019", "ember", "auto"],
        "format" => ["json", "yaml", "csv", "markdown"],
        "log-level" => ["error", "warn", "debug", "info"],
        "cpu-tdp" | "gpu-tdp" => ["15", "65", "125.5", "280"],
        "memory-watts-per-gb" => ["0.1", "0.25", "0.3725", "1"],
        _ => ["one", "two", "three", "four"],
    }
}

fn write_toml(path: &Path, key: &str, value: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // Numbers are written as numbers, as people do.
    let value = match value.parse::<f64>() {
        Ok(_) => value.to_owned(),
        Err(_) => format!("\"{value}\""),
    };
    fs::write(path, format!("# a comment\n{key} = {value}\n")).unwrap();
}

/// The names of all keys.
fn keys() -> Vec<String> {
    let folder = TempDir::new().unwrap();
    let output = impact(folder.path())
        .args(["config", "show", "--default"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let names = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next());
    let keys: Vec<String> = names.map(str::to_owned).collect();
    assert!(
        keys.len() > 20 && keys.contains(&"pue".to_owned()),
        "{text}"
    );
    keys
}

fn variable(key: &str) -> String {
    format!("IMPACT_{}", key.to_uppercase().replace('-', "_"))
}

/// A folder with a project inside it and a user's file beside it, and no other environment.
fn impact(folder: &Path) -> Command {
    let deep = folder.join("project/deep");
    fs::create_dir_all(&deep).unwrap();
    let mut command = impact_in(&deep);
    command.env("XDG_CONFIG_HOME", folder.join("xdg"));
    command.env_remove("IMPACT_ETC_ROOT");
    command
}

#[test]
fn the_command_shows_the_origin_of_every_key_on_every_level() {
    for key in keys() {
        let key = key.as_str();
        let folder = TempDir::new().unwrap();
        let user = folder.path().join("xdg/impact/config.toml");
        let project = folder.path().join("project/.impact.toml");
        let [in_user, in_project, in_environment, on_command_line] = values(key);
        let shown = |set: Option<&str>, option: Option<&str>, value: &str, origin: &str| {
            let mut command = impact(folder.path());
            if let Some(value) = set {
                command.env(variable(key), value);
            }
            if let Some(value) = option {
                command.args(["--config", &format!("{key}={value}")]);
            }
            let output = command
                .args(["config", "show", "--origin"])
                .output()
                .unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let line = text
                .lines()
                .find(|line| line.split_whitespace().next() == Some(key));
            let line = line.unwrap_or_else(|| panic!("no {key} in {text}"));
            let value = if value.is_empty() {
                ""
            } else if key.ends_with("-token") || key.ends_with("-password") {
                "(hidden)"
            } else {
                value
            };
            assert!(line.contains(value) && line.ends_with(origin), "{line}");
        };
        shown(None, None, "", "default");
        write_toml(&user, key, in_user);
        shown(None, None, in_user, &format!("{}:2", user.display()));
        // A project may not name files, roots or libraries.
        let personal = ["nvml-lib", "zones", "intensities"];
        if !personal.contains(&key) && !key.ends_with("-root") {
            write_toml(&project, key, in_project);
            shown(None, None, in_project, ".impact.toml:2");
        }
        shown(Some(in_environment), None, in_environment, &variable(key));
        shown(
            Some(in_environment),
            Some(on_command_line),
            on_command_line,
            "command line",
        );
    }
}

#[test]
fn what_is_wrong_names_file_line_and_the_nearest_key() {
    for (text, complaint) in [
        (
            "\n\npeu = 1.2\n",
            ":3: there is no key `peu`; the nearest is pue",
        ),
        (
            "pue = 0.5\n",
            ":1: not a valid value of pue: 0.5 is not a valid PUE",
        ),
        ("zone = [1\n", ":"),
        (
            "\nzone = { a = 1 }\n",
            ":2: not a valid value of zone: it must be a text or a number",
        ),
        (
            "[post-processing]\npue = 1\n",
            ":1: there is no key `post-processing`",
        ),
    ] {
        let folder = TempDir::new().unwrap();
        let mut command = impact(folder.path());
        fs::write(folder.path().join("project/.impact.toml"), text).unwrap();
        command
            .args(["config", "show"])
            .assert()
            .code(1)
            .stderr(contains(format!(".impact.toml{complaint}")));
    }
    let folder = TempDir::new().unwrap();
    impact(folder.path())
        .env("IMPACT_PUE", "many")
        .args(["config", "show"])
        .assert()
        .code(1)
        .stderr(contains(
            "IMPACT_PUE in the environment: `many` is not a valid PUE",
        ));
    impact(folder.path())
        .args(["config", "show", "--config", "zoen=DE"])
        .assert()
        .code(2)
        .stderr(contains("the nearest is zone"));
}

#[test]
fn a_projects_file_chooses_no_library_to_load() {
    let folder = TempDir::new().unwrap();
    let setting = "nvml-lib = \"/nowhere/libevil.so\"\n";
    fs::write(folder.path().join(".impact.toml"), setting).unwrap();
    let complaint = ".impact.toml:1: nvml-lib is not allowed in the file of a project";
    impact(folder.path())
        .arg("doctor")
        .assert()
        .code(1)
        .stderr(contains(complaint));
    impact(folder.path())
        .args(["track", "-q", "--out", "log", "--", "true"])
        .assert()
        .success()
        .stderr(contains(complaint));
    let log = folder.path().join("project/deep/log/impacttracker");
    let info = fs::read_to_string(log.join("info.json")).unwrap();
    assert!(!info.contains("cannot be read"), "{info}");
    impact(folder.path())
        .args(["config", "set", "nvml-lib", "libnvidia-ml.so"])
        .assert()
        .code(1)
        .stderr(contains("nvml-lib is a personal setting"));
}

#[test]
fn a_home_that_is_no_folder_sets_nothing() {
    let folder = TempDir::new().unwrap();
    impact(folder.path())
        .env_remove("XDG_CONFIG_HOME")
        .env("HOME", "/dev/null")
        .args(["track", "--quiet", "--", "sh", "-c", "exit 3"])
        .assert()
        .code(3);
}

#[test]
fn setting_a_key_keeps_the_comments_of_the_file() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("project/.impact.toml");
    impact(folder.path());
    fs::write(&file, "# ours\nzone = \"DE\" # home\n").unwrap();
    impact(folder.path())
        .args(["config", "set", "pue", "1.25"])
        .assert()
        .success();
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text, "# ours\nzone = \"DE\" # home\npue = 1.25\n");
    impact(folder.path())
        .args(["config", "get", "pue"])
        .assert()
        .stdout("1.25\n");
    impact(folder.path())
        .args(["config", "set", "pue", "0.1"])
        .assert()
        .code(1)
        .stderr(contains("not a valid value of pue"));
    impact(folder.path())
        .args(["config", "get", "price"])
        .assert()
        .code(1)
        .stderr(contains("price is not set"));
}

#[test]
fn the_file_that_init_writes_sets_nothing_and_names_every_key() {
    let folder = TempDir::new().unwrap();
    impact(folder.path())
        .args(["config", "init"])
        .assert()
        .success();
    let text = fs::read_to_string(folder.path().join("project/deep/.impact.toml")).unwrap();
    for key in keys() {
        assert!(text.contains(&format!("\n# {key} = ")), "{key}");
    }
    impact(folder.path())
        .args(["config", "show"])
        .assert()
        .success();
    impact(folder.path())
        .args(["config", "init"])
        .assert()
        .code(1)
        .stderr(contains("is already there"));
    impact(folder.path())
        .args(["config", "init", "--user"])
        .assert()
        .success();
}

#[test]
fn settings_of_perun_are_imported() {
    let folder = TempDir::new().unwrap();
    let ini = "[post-processing]\npue = 1.05\nprice_unit = €\n[monitor]\nsampling_period = 5\n[benchmarking]\nrounds = 3\n";
    let mut command = impact(folder.path());
    fs::write(folder.path().join("project/deep/.perun.ini"), ini).unwrap();
    command
        .args(["config", "import"])
        .assert()
        .success()
        .stdout(contains("3 settings imported"))
        .stderr(contains(
            ".perun.ini:7: benchmarking.rounds has no counterpart",
        ));
    impact(folder.path())
        .args(["config", "get", "interval"])
        .assert()
        .stdout("5\n");
}

#[test]
fn reports_and_statements_take_what_is_set() {
    let folder = TempDir::new().unwrap();
    let here = folder.path().join("project/deep");
    let mut command = impact(folder.path());
    Run::of_watts(1000.0).write(&here.join("logs/0"));
    fs::write(
        here.join(".impact.toml"),
        "pue = 1\nemissions-factor = 100\nprice = 0.5\ncurrency = \"EUR\"\n",
    )
    .unwrap();
    command
        .args(["statement", "logs"])
        .assert()
        .success()
        .stdout(contains("the electricity cost 0.50 EUR"));
    let report = |pue: Option<&str>, args: &[&str]| {
        let mut command = impact(folder.path());
        if let Some(pue) = pue {
            command.env("OVERRIDE_PUE", pue);
        }
        command
            .args(["report", "logs"])
            .args(args)
            .assert()
            .success()
    };
    report(None, &[]).stdout(contains("energy incl. PUE: 1 kWh"));
    report(Some("2"), &[]).stdout(contains("energy incl. PUE: 2 kWh"));
    report(Some("2"), &["--pue", "3"]).stdout(contains("energy incl. PUE: 3 kWh"));
    report(None, &["--config", "format=json"]).stdout(contains("\"schema\": \"impact-report/1\""));
}

#[test]
fn a_format_that_is_set_is_used_by_every_command_that_has_it() {
    let folder = TempDir::new().unwrap();
    impact(folder.path())
        .args(["config", "set", "format", "json"])
        .assert()
        .success();
    for command in [
        &["region", "--zone", "FR"][..],
        &["cloud", "hetzner"],
        #[cfg(feature = "live")]
        &["grid", "FR", "--provider", "table"],
    ] {
        let printed = impact(folder.path()).args(command).output().unwrap().stdout;
        assert!(
            serde_json::from_slice::<serde_json::Value>(&printed).is_ok(),
            "{command:?}"
        );
        let mut plain = impact(folder.path());
        let printed = plain.args(command).args(["--format", "text"]).output();
        assert!(!printed.unwrap().stdout.starts_with(b"{"), "{command:?}");
    }
}

#[test]
fn clouds_are_told_by_the_figures_that_are_set() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("own.csv");
    fs::write(&file, "zone,g_per_kwh\nFI,1.25\n").unwrap();
    let hetzner = |setting: &str, args: &[&str]| {
        let mut command = impact(folder.path());
        command
            .args(["cloud", "hetzner", "--config", setting, "--format", "json"])
            .args(args)
            .assert()
            .success()
    };
    let own = format!("intensities={}", file.display());
    hetzner(&own, &[]).stdout(contains("\"carbon_intensity\": 1.25"));
    let file = file.to_str().unwrap();
    hetzner("pue=1", &["--intensities", file]).stdout(contains("\"carbon_intensity\": 1.25"));
    hetzner("dataset=ember", &[]).stdout(contains("Ember"));
    hetzner("dataset=ember", &["--dataset", "eit-2019"]).stdout(contains("Ember").not());
}

#[test]
fn a_place_nobody_knows_is_not_kept() {
    let folder = TempDir::new().unwrap();
    for (key, value, nearest) in [
        ("zone", "Germny", "DE (Germany)"),
        ("region", "aws:us-esat-1", "us-east-1"),
        ("address", "Stanfrod, California", "Stanford, California"),
    ] {
        impact(folder.path())
            .args(["config", "set", key, value])
            .assert()
            .code(1)
            .stderr(contains(format!(
                "error: this is not a valid value of {key}"
            )))
            .stderr(contains(nearest));
    }
    impact(folder.path())
        .args(["config", "set", "zone", "de"])
        .assert()
        .success();
}

#[test]
fn a_bad_file_is_named_once_and_keeps_no_job_from_running() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("project/.impact.toml");
    let track = || {
        let mut command = impact(folder.path());
        command.args(["track", "--quiet", "--out", "log"]);
        command
    };
    for (text, complaint) in [
        (
            "peu = 1.2\npue = 1.3\n",
            ".impact.toml:1: there is no key `peu`",
        ),
        (
            "zone = \"Atlantis\"\npue = 1.3\n",
            ".impact.toml:1 cannot be used: no zone is called ATLANTIS",
        ),
    ] {
        let mut command = track();
        fs::write(&file, text).unwrap();
        let ended = command.args(["--", "sh", "-c", "exit 3"]).assert().code(3);
        let told = String::from_utf8_lossy(&ended.get_output().stderr).into_owned();
        assert_eq!(told.matches(complaint).count(), 1, "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
        let log = folder.path().join("project/deep/log");
        let info = fs::read_to_string(log.join("impacttracker/info.json")).unwrap();
        assert!(info.contains("a setting was ignored"), "{info}");
        assert!(info.contains("1.3"), "the other line counts: {info}");
        fs::remove_dir_all(log).unwrap();
    }
    impact(folder.path())
        .args(["estimate", "--memory", "1", "--hours", "1"])
        .assert()
        .code(1)
        .stderr(contains(".impact.toml:1 cannot be used\nbecause: no zone"));
    track()
        .args(["--zone", "Atlantis", "--", "true"])
        .assert()
        .code(125);
    fs::write(&file, "peu = 1.2\n").unwrap();
    let ended = impact(folder.path())
        .args(["config", "show"])
        .assert()
        .code(1);
    let told = String::from_utf8_lossy(&ended.get_output().stderr).into_owned();
    assert_eq!(told.matches("there is no key").count(), 1, "{told}");
}

#[test]
fn a_secret_is_kept_in_the_users_own_file_which_stays_closed() {
    let folder = TempDir::new().unwrap();
    let mode = |file: &Path| fs::metadata(file).unwrap().permissions().mode() & 0o777;
    let set = |args: &[&str]| {
        let mut command = impact(folder.path());
        command.args(["config", "set"]).args(args).assert()
    };
    set(&["electricitymaps-token", "S"])
        .code(1)
        .stderr(contains("try: --user, or ELECTRICITYMAPS_TOKEN"));
    assert!(!folder.path().join("project/deep/.impact.toml").exists());
    let user = folder.path().join("xdg/impact/config.toml");
    set(&["pue", "1.2", "--user"]).success();
    set(&["electricitymaps-token", "S", "--user"]).success();
    assert_eq!(mode(&user), 0o600);
    set(&["pue", "1.3", "--user"]).success();
    assert_eq!(mode(&user), 0o600);
    fs::set_permissions(&user, fs::Permissions::from_mode(0o640)).unwrap();
    set(&["pue", "1.4", "--user"]).success();
    assert_eq!(mode(&user), 0o640);
}
