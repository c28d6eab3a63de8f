//! `impact appendix --check`: whether a site is what its logs give.

use std::fs;

use crate::support::impact;
use crate::support::site::{appendix_by, appendix_of, check, logs, pages, spec, write_spec};
use predicates::str::contains;

#[test]
fn a_site_can_be_checked_against_its_logs() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let spec = write_spec(folder.path(), &spec());
    let site = folder.path().join("out");
    appendix_by(&spec, &site)
        .args(["--pue", "1.1"])
        .assert()
        .success();
    let check = || check(&site);
    check()
        .assert()
        .success()
        .stdout(contains("agrees with its logs: 4 runs, 3 groups"));
    let moved = folder.path().join("elsewhere");
    fs::rename(&logs, &moved).unwrap();
    check().assert().code(1);
    check().arg(&moved).assert().success();
    let data = moved.join("fast/seed_0/impacttracker/data.json");
    let text = fs::read_to_string(&data).unwrap();
    fs::write(&data, text.replace("100", "101")).unwrap();
    check()
        .arg(&moved)
        .assert()
        .code(1)
        .stderr(contains("differs: total_power of data/fast/seed_0 is"));
}

#[test]
fn a_number_changed_in_any_file_of_a_site_is_found_by_its_check() {
    let folder = tempfile::tempdir().unwrap();
    logs(folder.path());
    let spec = write_spec(folder.path(), &spec());
    let site = folder.path().join("out");
    appendix_by(&spec, &site)
        .args(["--country", "DEU", "--title", "Ours"])
        .assert()
        .success();
    let check = || check(&site);
    let files = pages(&site, "");
    check()
        .assert()
        .success()
        .stdout(contains(format!(", {} files\n", files.len() - 1)));
    for ending in ["index.html", ".csv", "index.json", "log.zip", "runs.js"] {
        let mut found = pages(&site, ending);
        found.remove("index.json");
        assert!(!found.is_empty(), "{ending}");
        let before: Vec<Vec<u8>> = found.values().map(|path| fs::read(path).unwrap()).collect();
        for (path, bytes) in found.values().zip(&before) {
            let mut changed = bytes.clone();
            let last = changed.iter().rposition(u8::is_ascii_alphanumeric).unwrap();
            changed[last] = if changed[last] == b'7' { b'8' } else { b'7' };
            fs::write(path, changed).unwrap();
        }
        let mut checked = check().assert().code(1);
        for name in found.keys() {
            let words = format!("differs: {name} is not what the logs give");
            checked = checked.stderr(contains(words));
        }
        for (path, bytes) in found.values().zip(before) {
            fs::write(path, bytes).unwrap();
        }
    }
    let start = site.join("index.json");
    let text = fs::read_to_string(&start).unwrap();
    let other = text.replace("\"runs\": 4", "\"runs\": 5");
    assert_ne!(text, other);
    fs::write(&start, other).unwrap();
    check()
        .assert()
        .code(1)
        .stderr(contains("differs: index.json is not"));
    fs::write(&start, text).unwrap();
    let gone = site.join("groups.csv");
    let bytes = fs::read(&gone).unwrap();
    fs::remove_file(&gone).unwrap();
    check()
        .assert()
        .code(1)
        .stderr(contains("differs: groups.csv is not"));
    fs::write(&gone, bytes).unwrap();
    check().assert().success();
}

#[test]
fn logs_that_were_moved_give_the_same_site_in_whatever_order_they_lie_now() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let broken = logs.join("fast/broken/impacttracker");
    fs::create_dir_all(&broken).unwrap();
    fs::write(broken.join("data.json"), "nonsense\n").unwrap();
    let site = folder.path().join("out");
    impact()
        .current_dir(folder.path())
        .args(["appendix", "data/fast", "data/slow", "-o", "out"])
        .assert()
        .code(3);
    let check = |moved: &[&str]| {
        let mut command = impact();
        command.current_dir(folder.path());
        command.args(["appendix", "--check"]).arg(&site).args(moved);
        command.assert()
    };
    check(&[]).code(3).stdout(contains("agrees with its logs"));
    fs::rename(logs.join("fast"), folder.path().join("z")).unwrap();
    fs::rename(logs.join("slow"), folder.path().join("a")).unwrap();
    check(&["z", "a"])
        .code(3)
        .stdout(contains("agrees with its logs"));
    check(&["a", "z"]).code(1);
}

#[test]
fn a_check_says_what_it_could_not_compare() {
    let folder = tempfile::tempdir().unwrap();
    let logs = logs(folder.path());
    let templates = folder.path().join("templates");
    fs::create_dir(&templates).unwrap();
    fs::write(templates.join("style.css"), "body { color: navy }").unwrap();
    let site = folder.path().join("out");
    appendix_of(&logs, &site)
        .arg("--templates")
        .arg(&templates)
        .assert()
        .success();
    let check = || check(&site);
    check()
        .assert()
        .success()
        .stderr(contains("its HTML and assets were not compared"));
    check()
        .arg("--templates")
        .arg(&templates)
        .assert()
        .success()
        .stderr("");
    let start = site.join("index.json");
    let text = fs::read_to_string(&start).unwrap();
    let generator = concat!("impact ", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(generator));
    fs::write(&start, text.replace(generator, "impact 0.0.1")).unwrap();
    check()
        .assert()
        .success()
        .stderr(contains("only the figures in its index.json files"));
}
