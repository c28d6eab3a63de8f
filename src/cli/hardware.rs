use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::sensor::Roots;

/// Where the kernel's trees and the GPU library are, for containers that mount the host's elsewhere.
#[derive(Debug, Args)]
#[command(next_help_heading = "Hardware")]
pub struct Hardware {
    /// What stands for /sys
    #[arg(
        long,
        env = "IMPACT_SYSFS_ROOT",
        value_name = "DIR",
        default_value = "/sys"
    )]
    sysfs_root: PathBuf,
    /// What stands for /proc
    #[arg(
        long,
        env = "IMPACT_PROCFS_ROOT",
        value_name = "DIR",
        default_value = "/proc"
    )]
    procfs_root: PathBuf,
    /// The NVML library [default: the one the loader finds, if there is an NVIDIA driver]
    #[arg(long, env = "IMPACT_NVML_LIB", value_name = "FILE")]
    nvml_lib: Option<OsString>,
}

impl Hardware {
    pub fn roots(&self) -> Roots {
        Roots {
            sysfs: self.sysfs_root.clone(),
            procfs: self.procfs_root.clone(),
            nvml_lib: self.nvml_lib.clone().filter(|path| !path.is_empty()),
        }
    }
}
