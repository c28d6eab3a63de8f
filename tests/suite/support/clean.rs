use std::path::Path;

use assert_cmd::Command;

/// The command in a folder, with nothing of the environment the tests run in.
pub fn impact(folder: &Path) -> Command {
    let mut command = Command::cargo_bin("impact").unwrap();
    command.current_dir(folder).env_clear();
    command
}
