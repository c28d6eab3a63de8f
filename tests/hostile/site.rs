//! Attacks by specs, logs and folders that attack the appendix.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assert_cmd::assert::Assert;
use predicates::prelude::PredicateBooleanExt as _;
use predicates::str::contains;
use serde_json::{Value, json};

use crate::support::site::{logs, pages, write_spec};
use crate::support::{Run, impact};

fn build(logs: &Path, site: &Path, more: &[&str]) -> Assert {
    let mut command = impact();
    command.arg("appendix").arg(logs).arg("-o").arg(site);
    command.args(more).assert()
}

fn check(site: &Path) -> Assert {
    let mut command = impact();
    command.arg("appendix").arg("--check").arg(site).assert()
}

fn manifest(site: &Path) -> Value {
    serde_json::from_slice(&fs::read(site.join("impact-site.json")).unwrap()).unwrap()
}

fn set_manifest(site: &Path, manifest: &Value) {
    fs::write(site.join("impact-site.json"), manifest.to_string()).unwrap();
}

#[test]
fn a_folder_link_in_a_site_leads_no_write_and_no_removal_outside() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let (site, outside) = (folder.path().join("site"), folder.path().join("outside"));
    fs::create_dir_all(outside.join("inner")).unwrap();
    for name in ["x", "index.html", "inner/y"] {
        fs::write(outside.join(name), "precious").unwrap();
    }
    fs::write(folder.path().join("beside"), "precious").unwrap();
    build(&logs, &site, &[]).success();
    symlink(&outside, site.join("sub")).unwrap();
    let mut list = manifest(&site);
    for name in ["sub/x", "sub/inner/y", "../beside", "sub/../../beside"] {
        list["files"].as_array_mut().unwrap().push(json!(name));
    }
    set_manifest(&site, &list);
    build(&logs, &site, &[]).success();
    // The folder of the pages itself is a link now, so there is no place to write them to.
    let assets = site.join("assets");
    fs::remove_dir_all(&assets).unwrap();
    symlink(&outside, &assets).unwrap();
    build(&logs, &site, &[])
        .code(1)
        .stderr(contains("assets is a link or not a folder"));
    for name in ["x", "index.html", "inner/y"] {
        let text = fs::read_to_string(outside.join(name)).unwrap();
        assert_eq!(text, "precious", "{name}");
    }
    assert!(folder.path().join("beside").exists());
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 3);
}

#[test]
fn a_site_that_is_a_link_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let real = folder.path().join("real");
    build(&logs, &real, &[]).success();
    let link = folder.path().join("link");
    symlink(&real, &link).unwrap();
    build(&logs, &link, &[])
        .code(1)
        .stderr(contains("is a link"));
}

#[test]
fn a_second_builder_of_a_site_is_refused_and_leftovers_of_a_killed_one_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let site = folder.path().join("site");
    let leftover = folder.path().join(".site.0123456789abcdef.part");
    let other = folder.path().join(".site.mine.part");
    let link = folder.path().join(".site.0123456789abcdeg.part");
    let outside = folder.path().join("outside");
    for folder in [&leftover, &other, &outside] {
        fs::create_dir_all(folder.join("run")).unwrap();
    }
    symlink(&outside, &link).unwrap();
    symlink(&outside, leftover.join("out")).unwrap();
    let lock = fs::File::create(folder.path().join(".site.lock")).unwrap();
    lock.lock().unwrap();
    build(&logs, &site, &[])
        .code(1)
        .stderr(contains("another process is writing").and(contains("try: ")));
    assert!(leftover.exists() && !site.exists());
    drop(lock);
    build(&logs, &site, &[]).success();
    assert!(!leftover.exists(), "it is of a killed builder");
    assert!(other.exists() && link.is_symlink() && outside.join("run").exists());
    assert!(!folder.path().join(".site.lock").exists());
}

#[test]
fn a_rewrite_replaces_the_whole_site_in_one_step() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let site = folder.path().join("site");
    build(&logs, &site, &[]).success();
    // Whoever has the old folder open keeps seeing the old site.
    let open = fs::File::open(&site).unwrap();
    let old = PathBuf::from(format!(
        "/proc/self/fd/{}",
        std::os::fd::AsRawFd::as_raw_fd(&open)
    ));
    fs::remove_dir_all(logs.join("fast")).unwrap();
    build(&logs, &site, &[]).success();
    assert!(fs::read_link(&old).unwrap() != site);
    check(&site).success();
    assert_eq!(
        fs::metadata(&site).unwrap().permissions().mode() & 0o700,
        0o700
    );
    let beside = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(beside, 2, "only the logs and the site");
}

#[test]
fn a_site_whose_files_were_not_all_replaced_is_not_called_right() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let site = folder.path().join("site");
    build(&logs, &site, &[]).success();
    check(&site).success();
    let mut list = manifest(&site);
    list["unfinished"] = json!(true);
    set_manifest(&site, &list);
    check(&site).code(1).stderr(contains("not complete"));
    fs::write(site.join("mine.txt"), "x").unwrap();
    build(&logs, &site, &[]).success();
    check(&site).success();
    assert!(site.join("mine.txt").exists());
    fs::remove_file(site.join("impact-site.json")).unwrap();
    check(&site).code(1).stderr(contains("not complete"));
}

const UUID: &str = "GPU-12345678-abcd-abcd-abcd-123456789012";

/// A run whose log names a secret and everything that identifies it.
fn telling_run(folder: &Path) -> PathBuf {
    let mut run = Run::default();
    run.info["command"] = json!([
        "python",
        "train.py",
        "--token=s3cr3t",
        "--api-key",
        "s3cr3t",
        "password=s3cr3t",
        "AWS_SECRET_ACCESS_KEY=s3cr3t",
        "Authorization: Bearer s3cr3ts3cr3t",
        "https://alice:s3cr3t@example.org/x",
        "--lr=0.125"
    ]);
    run.info["id"] = json!("one");
    run.info["working_directory"] = json!("/home/alice/work");
    run.info["host"]["hostname"] = json!("node17.example.org");
    run.info["host"]["boot_id"] = json!("b00t-1d");
    run.info["host"]["gpus"] = json!([{"uuid": UUID, "name": "A100"}]);
    run.info["python"] = json!({"version": "3.12.1", "packages": {"leftpad": "2.0"}});
    run.info["git"] = json!({"commit": "c0ffee5c0ffee5"});
    run.info["scheduler"] = json!({"SLURM_JOB_NAME": "alices-job", "SLURM_NODELIST": "node17"});
    run.info["region"]["how"] = json!("gazetteer: Stanford, California, United States");
    run.info["sensors"] = json!([{
        "component": "package-0", "method": "measured", "source": "/opt/alices-tools/rapl"
    }]);
    run.info["notes"] = json!([
        "node17.example.org could not read /home/alice/work/x",
        "node17: alice may not open /scratch/project7/x",
    ]);
    run.watts.insert(format!("gpu:{UUID}"), (10.0, 10.0));
    let logs = folder.join("logs");
    run.write(&logs.join("one"));
    // A log that cannot be read.
    fs::create_dir_all(logs.join("bad/impacttracker")).unwrap();
    fs::write(logs.join("bad/impacttracker/data.json"), "").unwrap();
    logs
}

/// What a redacted site and statement of [`telling_run`] must not say.
const IDENTITY: [&str; 12] = [
    "s3cr3t",
    "alice",
    "node17",
    "b00t-1d",
    "leftpad",
    "train.py",
    "abcd-abcd",
    "c0ffee",
    "Stanford",
    "SLURM",
    "project7",
    "secret-folder",
];

/// Every text of a site, with those in its archives.
fn published(site: &Path) -> String {
    let mut all = String::new();
    for path in pages(site, "").values() {
        let bytes = fs::read(path).unwrap();
        if !path.to_string_lossy().ends_with(".zip") {
            all += &String::from_utf8(bytes).unwrap();
            continue;
        }
        let listed = std::process::Command::new("python3")
            .args(["-c", "import sys,zipfile\nz=zipfile.ZipFile(sys.argv[1])\nfor n in z.namelist(): print(z.read(n).decode())"])
            .arg(path)
            .output()
            .unwrap();
        assert!(listed.status.success());
        listed.stdout.as_slice().read_to_string(&mut all).unwrap();
    }
    all
}

#[test]
fn no_page_and_no_archive_publishes_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    let logs = telling_run(folder.path());
    let site = folder.path().join("site");
    build(&logs, &site, &[]).code(3);
    let text = published(&site);
    assert!(!text.contains("s3cr3t"));
    assert!(text.contains("[redacted]") && text.contains("--lr=0.125"));
    assert!(text.contains("node17") && text.contains("leftpad"));
    check(&site).code(3);
}

#[test]
fn a_redacted_site_does_not_tell_who_ran_it_and_where() {
    let folder = tempfile::tempdir().unwrap();
    let logs = telling_run(&folder.path().join("secret-folder"));
    // The option, and the key of the spec, in which comments, folders and commands may tell as much.
    let spec = json!({
        "_comment": "ask alice",
        "logs": [logs],
        "redact": true,
        "processors": { "unused": { "command": ["/home/alice/figures"], "figures": { "a": "last(a)" } } },
        "All": { "filter": null },
    });
    let spec = write_spec(folder.path(), &spec).display().to_string();
    for (name, options) in [
        ("option", ["--redact"].as_slice()),
        ("key", &["--site-spec", &spec]),
    ] {
        let site = folder.path().join(name);
        build(&logs, &site, options).code(3);
        let text = published(&site);
        let place = folder.path().display().to_string();
        for name in IDENTITY.into_iter().chain([place.as_str()]) {
            let found = text.find(name);
            let around = found.map(|at| &text[at.saturating_sub(80)..text.len().min(at + 80)]);
            assert_eq!(around, None, "{options:?}: {name}");
        }
        assert!(text.contains("A100") && text.contains("3.12.1"));
        let mut again = impact();
        again.args(["appendix", "--check"]).arg(&site).arg(&logs);
        again
            .assert()
            .code(3)
            .stdout(contains("agrees with its logs"));
    }
}

#[test]
fn a_redacted_merged_run_numbers_its_hosts_and_keeps_every_device() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Run::default();
    run.info["host"]["hostname"] = json!("node17.example.org+node18");
    run.info["notes"] = json!([
        "gpu:all@node18 is gpu:all of node18",
        "the runs on node17 claimed more"
    ]);
    run.info["sensors"] = json!([
        {"component": "gpu:all@node18", "method": "measured", "source": "the merged runs"},
    ]);
    for host in ["node17.example.org", "node18"] {
        run.watts.insert(format!("gpu:all@{host}"), (10.0, 10.0));
    }
    let logs = folder.path().join("logs");
    run.write(&logs.join("merged"));
    let site = folder.path().join("site");
    build(&logs, &site, &["--redact"]).success();
    let text = published(&site);
    assert!(
        !text.contains("node1"),
        "{}",
        &text[text.find("node1").unwrap()..][..200]
    );
    // In the page, its data, the description and each line of the log.
    for device in ["gpu:all@host-1", "gpu:all@host-2"] {
        assert!(text.matches(device).count() > 5, "{device}");
    }
    let mut again = impact();
    again.args(["appendix", "--check"]).arg(&site).arg(&logs);
    again.assert().success();
}

#[test]
fn a_redacted_statement_does_not_tell_who_ran_it_and_where() {
    let folder = tempfile::tempdir().unwrap();
    let logs = telling_run(&folder.path().join("secret-folder"));
    let place = folder.path().display().to_string();
    for format in ["json", "text", "latex", "html", "markdown", "checklist"] {
        let output = impact()
            .args([
                "statement",
                "--detail",
                "--per-run",
                "--redact",
                "--format",
                format,
            ])
            .arg(&logs)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        for name in IDENTITY.into_iter().chain([place.as_str()]) {
            assert!(!text.contains(name), "{format}: {name}: {text}");
        }
        if format == "json" {
            let json: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(json["per_run"][0]["path"], "logs/one");
            assert_eq!(json["skipped"][0]["path"], "logs/bad");
        }
    }
}

#[test]
fn a_page_runs_no_script_and_loads_nothing_but_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let site = folder.path().join("site");
    build(&logs, &site, &[]).success();
    for path in pages(&site, ".html").values() {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains("Content-Security-Policy\" content=\"default-src 'none'"));
        for inline in ["<script>", "<style", " style=", " onclick=", " onload="] {
            assert!(!text.contains(inline), "{inline} in {path:?}");
        }
    }
}

#[test]
fn yaml_reorders_no_text() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Run::default();
    run.info["name"] = json!("a\u{202e}b\u{9b}c");
    run.write(&folder.path().join("logs/one"));
    let output = impact()
        .args(["report", "--format", "yaml"])
        .arg(folder.path().join("logs"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && !text.is_empty());
    assert!(!text.contains(['\u{202e}', '\u{9b}']), "{text}");
}

/// The error of a spec, and that it came in time.
fn refused(spec: &Value, error: &str) {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let spec = write_spec(folder.path(), spec);
    let start = Instant::now();
    let site = folder.path().join("site");
    build(
        &logs,
        &site,
        &["--allow-empty", "--site-spec", spec.to_str().unwrap()],
    )
    .code(1)
    .stderr(contains(error));
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_spec_cannot_ask_for_more_than_its_limits() {
    let groups = |count: usize, group: &dyn Fn(usize) -> Value| -> Value {
        let groups = (0..count).map(|number| (format!("g{number}"), group(number)));
        Value::Object(groups.collect())
    };
    refused(&groups(8000, &|_| json!({})), "more than 2000 groups");
    refused(
        &groups(
            2,
            &|number| json!({"filter": format!("\\w{{900}}{number}")}),
        ),
        "the filter is not a regular expression",
    );
    refused(
        &groups(
            1900,
            &|number| json!({"filter": format!("{}{number}", "x".repeat(30))}),
        ),
        "longer than 32768 characters together",
    );
    refused(
        &groups(1, &|_| json!({"filter": "x".repeat(2000)})),
        "longer than 1000 characters",
    );
    refused(
        &json!({"processors": groups(1000, &|number| json!(format!("g{}", number + 1))), "g": {}}),
        "more than 500 processors",
    );
    let figures = |count: usize| -> Value {
        let figures = (0..count).map(|n| (format!("f{n}"), json!(format!("f{} + 1", n + 1))));
        Value::Object(figures.collect())
    };
    let block = json!({"file": "eval.csv", "figures": figures(3000)});
    refused(
        &json!({"processors": {"p": block}, "g": {}}),
        "more than 500 figures",
    );
}

#[test]
fn pipes_and_endless_files_are_no_input_of_a_site() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let site = folder.path().join("site");
    let pipe = folder.path().join("templates/run.html");
    fs::create_dir(folder.path().join("templates")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let templates = folder.path().join("templates");
    build(&logs, &site, &["--templates", templates.to_str().unwrap()]).code(1);
    build(&logs, &site, &["--site-spec", pipe.to_str().unwrap()]).code(1);
    let sparse = folder.path().join("sparse");
    fs::File::create(&sparse).unwrap().set_len(1 << 40).unwrap();
    build(&logs, &site, &["--site-spec", sparse.to_str().unwrap()])
        .code(1)
        .stderr(contains("larger than 16 MB"));
    let messages = logs.join("fast/seed_0/impacttracker/impact_tracker_log.log");
    fs::rename(&sparse, &messages).unwrap();
    build(&logs, &site, &[])
        .code(1)
        .stderr(contains("is larger than"));
}
