use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where the kernel's trees and the GPU library are found; tests and containers bring their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    pub sysfs: PathBuf,
    pub procfs: PathBuf,
    /// The NVML library; none stands for the one the loader finds.
    pub nvml_lib: Option<OsString>,
}

impl Default for Roots {
    fn default() -> Self {
        Self {
            sysfs: "/sys".into(),
            procfs: "/proc".into(),
            nvml_lib: None,
        }
    }
}

impl Roots {
    #[must_use]
    pub fn sys(&self, path: &str) -> PathBuf {
        self.sysfs.join(path)
    }

    #[must_use]
    pub fn proc(&self, path: &str) -> PathBuf {
        self.procfs.join(path)
    }

    /// The process files that speak of the same process ids as our system calls do.
    ///
    /// A host's /proc mounted into a container counts processes otherwise than the container.
    #[must_use]
    pub fn processes(&self) -> &Path {
        let own = std::process::id().to_string();
        match std::fs::read_link(self.proc("self")) {
            Ok(target) if target.as_os_str() == own.as_str() => &self.procfs,
            _ => Path::new("/proc"),
        }
    }
}
