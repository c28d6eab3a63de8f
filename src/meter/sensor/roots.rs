use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::model::Environment;

/// Where to find /sys, /proc, the GPU library and the environment; tests and containers use others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// Used instead of /sys.
    pub sysfs: PathBuf,
    /// Used instead of /proc.
    pub procfs: PathBuf,
    /// Used instead of /run.
    pub run: PathBuf,
    /// The NVML library; without one the dynamic loader searches for it.
    pub nvml_lib: Option<OsString>,
    /// Design power of all processors in watts, as the user states it, for estimates.
    pub cpu_tdp_w: Option<u32>,
    /// Design power of a GPU without a power meter in watts, as the user states it, for estimates.
    pub gpu_tdp_w: Option<u32>,
    /// Power of a GB of memory in milliwatts, as the user states it, for estimates.
    pub memory_mw_per_gb: Option<u32>,
    /// Has `CUDA_VISIBLE_DEVICES` and the ids of batch systems.
    pub environment: Environment,
}

impl Default for Roots {
    fn default() -> Self {
        Self {
            sysfs: "/sys".into(),
            procfs: "/proc".into(),
            run: "/run".into(),
            nvml_lib: None,
            cpu_tdp_w: None,
            gpu_tdp_w: None,
            memory_mw_per_gb: None,
            environment: Environment::of_process(),
        }
    }
}

impl Roots {
    /// A path below sysfs.
    #[must_use]
    pub fn sys(&self, path: &str) -> PathBuf {
        self.sysfs.join(path)
    }

    /// A path below procfs.
    #[must_use]
    pub fn proc(&self, path: &str) -> PathBuf {
        self.procfs.join(path)
    }

    /// The /proc whose process ids are those that system calls of this process use.
    ///
    /// A host's /proc that is mounted into a container has the host's process ids.
    pub(crate) fn processes(&self) -> &Path {
        let own = std::process::id().to_string();
        match std::fs::read_link(self.proc("self")) {
            Ok(target) if target.as_os_str() == own.as_str() => &self.procfs,
            _ => Path::new("/proc"),
        }
    }
}
