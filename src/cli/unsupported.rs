//! The commands that measure, in a build that cannot measure: each says so.

use std::ffi::OsString;

use clap::Args;

use super::settings::Sources;
use super::{Failure, Outcome, exit};

const REASON: &str = if cfg!(target_os = "linux") {
    "this impact was built without the feature `track`"
} else {
    "energy is read on Linux only"
};

fn not_here(command: &str) -> Failure {
    Failure::new(anyhow::anyhow!(REASON))
        .within(format!("{command}: not on this system yet"))
        .advise("impact statement LOGS, which reads logs made on another machine")
}

macro_rules! command {
    ($module:ident, $name:ident, $code:expr) => {
        pub(super) mod $module {
            use super::{Args, OsString, Outcome, Sources, exit, not_here};

            #[derive(Debug, Args)]
            #[command(disable_help_flag = true)]
            pub struct $name {
                #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
                arguments: Vec<OsString>,
            }

            impl $name {
                pub fn run(self, _: &Sources) -> Outcome {
                    Err(not_here(stringify!($module)).exit_with($code))
                }
            }
        }
    };
}

command!(track, TrackArgs, exit::NOT_STARTED);
command!(bench, BenchArgs, exit::FAILED);
command!(powercap, PowercapArgs, exit::FAILED);
command!(doctor, DoctorArgs, exit::FAILED);
command!(require, RequireArgs, exit::FAILED);
