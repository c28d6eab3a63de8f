use std::path::Path;

use super::sensor::KernelFile;

/// Tells with one small read whether a process may have been started since the last call.
///
/// /proc/loadavg ends with the newest process id. As long as that is the same, none was started.
#[derive(Debug)]
pub(crate) struct NewestPid {
    file: Option<KernelFile>,
    newest: String,
}

impl NewestPid {
    pub(crate) fn of(processes: &Path) -> Self {
        Self {
            file: KernelFile::open(&processes.join("loadavg")).ok(),
            newest: String::new(),
        }
    }

    pub(crate) fn has_changed(&mut self) -> bool {
        let mut buffer = [0; 128];
        let Some(Ok(text)) = self.file.as_ref().map(|file| file.text(&mut buffer)) else {
            return true;
        };
        let newest = text.trim_end().rsplit(' ').next().unwrap_or_default();
        if newest == self.newest {
            return false;
        }
        newest.clone_into(&mut self.newest);
        true
    }
}
