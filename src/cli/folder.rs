use std::path::Path;

use super::Failure;

/// Advice if no run was found.
pub(crate) const WITH_RUNS: &str =
    "a folder with runs in it: each has a folder `impacttracker` with a data.json";

/// Fails if one of the folders does not exist.
pub(crate) fn check<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    match folders.into_iter().find(|folder| !folder.is_dir()) {
        Some(missing) => Err(Failure::new(anyhow::anyhow!(
            "{} is not a directory",
            missing.display()
        ))
        .advise("the folder that holds your runs, such as impact-logs")),
        None => Ok(()),
    }
}
