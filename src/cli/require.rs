use clap::{Args, ValueEnum};
use serde::Serialize;

use super::destination::Destination;
use super::hardware::Hardware;
use super::settings::{Config, Sources};
use super::{Failure, Outcome, exit};
use crate::meter::require::{Expectation, Found, Line, Requirements};
use crate::meter::sensor::Roots;
use crate::text::escape;
use crate::text::table::Table;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  impact require --cores '>=1'
  impact require --gpu-name \"TITAN V\" --gpu-count 1 --cpu-brand ~\"Xeon.*2630\" --driver \">=535\"

A value is a name, a regular expression after ~, a glob with * or ?, or a version after >=, <=, >,
<, = or !=. A GPU or CPU may have any name that `impact estimate` knows. Exit code 5 means that a
requirement is not met. `impact track` has the same options, with the prefix --require-.")]
pub(crate) struct RequireArgs {
    #[command(flatten)]
    destination: Destination<Format>,
    #[command(flatten)]
    wanted: Wanted,
    #[command(flatten)]
    hardware: Hardware,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// The requirements and what the machine has, for machines.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    impact_version: &'static str,
    met: bool,
    requirements: &'a [Line],
}

macro_rules! wanted {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Args)]
        #[command(next_help_heading = "Requirements")]
        pub(crate) struct $name {
            /// The name of every GPU
            #[arg(id = concat!($prefix, "gpu-name"), long = concat!($prefix, "gpu-name"), value_name = "NAME")]
            gpu_name: Option<Expectation>,
            /// How many GPUs there are
            #[arg(id = concat!($prefix, "gpu-count"), long = concat!($prefix, "gpu-count"), value_name = "COUNT")]
            gpu_count: Option<Expectation>,
            /// The version of the GPU driver
            #[arg(id = concat!($prefix, "driver"), long = concat!($prefix, "driver"), value_name = "VERSION")]
            driver: Option<Expectation>,
            /// The name of the processors
            #[arg(id = concat!($prefix, "cpu-brand"), long = concat!($prefix, "cpu-brand"), value_name = "NAME")]
            cpu_brand: Option<Expectation>,
            /// How many cores there are
            #[arg(id = concat!($prefix, "cores"), long = concat!($prefix, "cores"), value_name = "COUNT")]
            cores: Option<Expectation>,
            /// The version of the kernel
            #[arg(id = concat!($prefix, "kernel"), long = concat!($prefix, "kernel"), value_name = "VERSION")]
            kernel: Option<Expectation>,
        }

        impl $name {
            pub(crate) fn requirements(&self) -> Requirements {
                Requirements {
                    gpu_name: self.gpu_name.clone(),
                    gpu_count: self.gpu_count.clone(),
                    driver: self.driver.clone(),
                    cpu_brand: self.cpu_brand.clone(),
                    cores: self.cores.clone(),
                    kernel: self.kernel.clone(),
                }
            }
        }
    };
}

wanted!(
    /// The requirements of `impact require`.
    Wanted,
    ""
);
wanted!(
    /// The requirements that `impact track` checks before it starts a command.
    WantedBefore,
    "require-"
);

impl RequireArgs {
    pub(crate) fn run(self, settings: &Sources) -> Outcome {
        let requirements = self.wanted.requirements();
        if requirements.is_empty() {
            return Err(Failure::new(anyhow::anyhow!("no requirement is given"))
                .advise("impact require --gpu-name NAME")
                .exit_with(exit::USAGE));
        }
        let config = Config::load(settings)?;
        let format = self.destination.format(&Config::defaults())?;
        let lines = requirements.check(&Found::of(&self.hardware.roots(&config)));
        let met = lines.iter().all(|line| line.met);
        let text = match format {
            Format::Text => escape::terminal(&table(&lines)).into_owned(),
            Format::Json => escape::pretty_json(&Document {
                schema: "impact-require/1",
                impact_version: env!("CARGO_PKG_VERSION"),
                met,
                requirements: &lines,
            })?,
        };
        self.destination.write(&text)?;
        Ok(if met { exit::DONE } else { exit::NOT_MET })
    }
}

impl WantedBefore {
    /// Fails, with the table, if the machine does not meet the requirements.
    pub(crate) fn check(&self, roots: &Roots) -> Result<(), Failure> {
        let requirements = self.requirements();
        if requirements.is_empty() {
            return Ok(());
        }
        let lines = requirements.check(&Found::of(roots));
        if lines.iter().all(|line| line.met) {
            return Ok(());
        }
        Err(Failure::new(anyhow::anyhow!(
            "this machine does not meet the requirements\n{}",
            table(&lines).trim_end()
        ))
        .advise("another machine, or other values after --require-")
        .exit_with(exit::NOT_STARTED))
    }
}

fn table(lines: &[Line]) -> String {
    let mut table = Table::new(&["", "what", "expected", "found"], &[]);
    for line in lines {
        table.push([
            if line.met { "ok" } else { "no" }.to_owned(),
            line.what.to_owned(),
            line.expected.clone(),
            match line.found.as_slice() {
                [] => "none".to_owned(),
                found => found.join(", "),
            },
        ]);
    }
    table.text()
}
