use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::settings::Config;
use crate::meter::sensor::Roots;
use crate::units::Watts;

/// Where to find /sys, /proc and the GPU library, for containers that mount those of the host.
#[derive(Debug, Args)]
#[command(next_help_heading = "Hardware")]
pub(crate) struct Hardware {
    #[arg(
        long,
        value_name = "DIR",
        help = "Use DIR instead of /sys [env: IMPACT_SYSFS_ROOT]"
    )]
    sysfs_root: Option<PathBuf>,
    #[arg(
        long,
        value_name = "DIR",
        help = "Use DIR instead of /proc [env: IMPACT_PROCFS_ROOT]"
    )]
    procfs_root: Option<PathBuf>,
    #[arg(
        long,
        value_name = "FILE",
        help = "Load this NVML library instead of the one that the dynamic loader finds [env: IMPACT_NVML_LIB]"
    )]
    nvml_lib: Option<OsString>,
}

impl Hardware {
    /// The roots of the options, else of the configuration.
    pub(crate) fn roots(&self, config: &Config) -> Roots {
        let usual = Roots::default();
        Roots {
            sysfs: config
                .or(self.sysfs_root.clone(), "sysfs-root")
                .unwrap_or(usual.sysfs),
            procfs: config
                .or(self.procfs_root.clone(), "procfs-root")
                .unwrap_or(usual.procfs),
            run: config.or(None, "run-root").unwrap_or(usual.run),
            nvml_lib: config
                .or(self.nvml_lib.clone(), "nvml-lib")
                .filter(|path| !path.is_empty()),
            cpu_tdp_w: config
                .or::<Watts>(None, "cpu-tdp")
                .map(|watts| watts.get().round() as u32),
            gpu_tdp_w: config
                .or::<Watts>(None, "gpu-tdp")
                .map(|watts| watts.get().round() as u32),
            memory_mw_per_gb: config
                .or::<Watts>(None, "memory-watts-per-gb")
                .map(|watts| (watts.get() * 1e3).round() as u32),
            environment: config.environment().clone(),
        }
    }
}
