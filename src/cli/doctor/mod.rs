mod advice;
mod diagnosis;
mod json;
mod text;

use clap::Args;

use self::diagnosis::Diagnosis;
use super::destination::Destination;
use super::hardware::Hardware;
use super::settings::{Config, Sources};
use super::{Outcome, exit};
use crate::text::escape;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  impact doctor
  impact doctor --format json

Exit code 0: the energy of the CPUs can be measured. Exit code 4: it can only be estimated.")]
pub struct DoctorArgs {
    #[command(flatten)]
    destination: Destination<Format>,
    #[command(flatten)]
    hardware: Hardware,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

impl DoctorArgs {
    pub fn run(self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        let format = self.destination.format(&Config::defaults())?;
        let roots = self.hardware.roots(&config);
        let diagnosis = Diagnosis::of(&roots);
        let text = match format {
            Format::Text => escape::terminal(&text::text(&diagnosis)).into_owned(),
            Format::Json => json::json(&diagnosis)?,
        };
        self.destination.write(&text)?;
        Ok(if diagnosis.measures_a_processor() {
            exit::DONE
        } else {
            exit::ESTIMATED
        })
    }
}
