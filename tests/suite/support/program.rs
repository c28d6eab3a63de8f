//! The one way in which tests start a program.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The program under test.
pub const IMPACT: &str = env!("CARGO_BIN_EXE_impact");

thread_local! {
    // Each test runs in a thread of its own, so each has a home of its own.
    static HOME: TempDir = TempDir::new().unwrap();
}

/// A program in an environment that is the same on every machine: no variable of the caller but PATH, an empty
/// home folder, an empty working folder outside of any project, UTC and no other clock, no colours. `impact` is found by its name.
pub fn program(name: impl AsRef<OsStr>) -> Command {
    let home = HOME.with(|home| home.path().to_owned());
    let work = home.join("work");
    std::fs::create_dir_all(&work).unwrap();
    let no_clock = home.join("etc");
    let mut command = Command::new(name);
    command
        .current_dir(work)
        .env_clear()
        .env("PATH", search_path())
        .env("HOME", &home)
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("XDG_CACHE_HOME", home.join("cache"))
        .env("TMPDIR", std::env::temp_dir())
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC")
        .env("IMPACT_ETC_ROOT", no_clock)
        .env("NO_COLOR", "1");
    command
}

/// `impact`, in an empty folder.
pub fn impact() -> assert_cmd::Command {
    assert_cmd::Command::from_std(program(IMPACT))
}

/// `impact`, in this folder.
pub fn impact_in(folder: &Path) -> assert_cmd::Command {
    let mut command = impact();
    command.current_dir(folder);
    command
}

fn search_path() -> std::ffi::OsString {
    let own = Path::new(IMPACT).parent().unwrap().to_owned();
    let callers = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::iter::once(own)
        .chain(std::env::split_paths(&callers))
        .collect();
    std::env::join_paths(folders).unwrap()
}
