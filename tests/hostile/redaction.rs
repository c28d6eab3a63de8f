//! What a redacted log still tells about its machine.

use std::path::Path;

use crate::support::Machine;
use crate::support::machine::Log;

const UUID: &str = "GPU-12345678-1234-1234-1234-123456789012";

/// Tracks a redacted run on a machine with one board, which draws 42 J.
fn track(machine: &Machine, name: &str) {
    let scenario = machine.path("scenario");
    let board = |energy: u32| format!("board uuid={UUID} name=Stub power=150 energy={energy}");
    std::fs::write(&scenario, board(1000)).unwrap();
    let tests = std::env::current_exe().unwrap();
    let script = format!("echo '{}' > next; mv next scenario", board(43_000));
    let status = machine
        .impact()
        .env(
            "IMPACT_NVML_LIB",
            tests.parent().unwrap().join("libnvml_stub.so"),
        )
        .env("IMPACT_STUB_SCENARIO", &scenario)
        .env("CUDA_VISIBLE_DEVICES", UUID)
        .args([
            "track", "-q", "--redact", "--out", name, "--", "sh", "-c", &script,
        ])
        .status();
    assert!(status.unwrap().success());
}

/// The text of every file below a folder.
fn all_text(folder: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        text += &if path.is_dir() {
            all_text(&path)
        } else {
            std::fs::read_to_string(path).unwrap()
        };
    }
    text
}

#[test]
fn a_redacted_log_has_neither_the_boot_id_nor_the_uuid_of_a_board_and_two_still_merge_as_one_node()
{
    let machine = Machine::with_rapl();
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    for name in ["a", "b"] {
        track(&machine, name);
        let text = all_text(&machine.path(name));
        assert!(!text.contains(boot_id.trim()), "{text}");
        assert!(!text.contains("12345678"), "{text}");
    }
    let merged = machine
        .impact()
        .args(["merge", "a", "b", "--output", "merged"])
        .status();
    assert!(merged.unwrap().success());
    let log = Log::read(&machine.path("merged"));
    let notes = log.notes();
    assert!(notes.contains("2 runs on 1 node"), "{notes}");
    let energy = log.last()["energy"].as_object().unwrap();
    let boards: Vec<&String> = energy
        .keys()
        .filter(|key| key.starts_with("gpu:"))
        .collect();
    assert_eq!(boards.len(), 1, "{boards:?}");
    let total = energy[boards[0]]["total_j"].as_f64().unwrap();
    assert!((total - 84.0).abs() < 1e-6, "{total}");
}
