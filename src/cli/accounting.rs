use std::path::PathBuf;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::output::tell;
use super::settings::Origin;
use super::{Advise, Failure, folder, left_out};
use crate::grid::intensity::Dataset;
use crate::grid::zone::{ZoneId, register};
use crate::ledger::collect::Progress;
use crate::ledger::{Assumptions, Collection, collect};
use crate::text::number::counted;
use crate::units::{GramsPerKwh, Pue};

/// Options of every command that turns logs into figures.
#[derive(Debug, Args)]
pub struct Accounting {
    #[arg(
        long,
        value_name = "PUE",
        help = "Power usage effectiveness of the data centre [default: as recorded, else 1.58] [env: IMPACT_PUE, OVERRIDE_PUE]"
    )]
    pub pue: Option<Pue>,
    /// Use this carbon intensity for all runs, in g CO2eq per kWh
    #[arg(long, value_name = "G_PER_KWH")]
    pub emissions_factor: Option<GramsPerKwh>,
    /// Zone of the runs that recorded none, such as US-CA
    #[arg(long, value_name = "ZONE", value_parser = register::named)]
    pub zone: Option<ZoneId>,
    /// Where the configuration has the zone from; none where the command line names it.
    #[arg(skip)]
    pub zone_origin: Option<Origin>,
    /// Use the yearly averages of this data set: auto, electricity-maps, eit-2019 or ember; live
    /// intensities in the logs are kept [default: what the runs recorded, else auto]
    #[arg(long, value_name = "NAME")]
    pub dataset: Option<Dataset>,
    /// Fail if any log cannot be read, instead of leaving it out
    #[arg(long)]
    pub strict: bool,
}

/// Says on standard error when an emissions factor looks like one in kilograms.
pub fn doubt(factor: Option<GramsPerKwh>) {
    const BELOW_ANY_GRID: f64 = 5.0;
    if let Some(grams) = factor.map(GramsPerKwh::get)
        && 0.0 < grams
        && grams < BELOW_ANY_GRID
    {
        tell(format!(
            "note: an emissions factor of {grams} g CO2eq/kWh is far below any grid; were {} g meant, given in kg?",
            grams * 1000.0
        ));
    }
}

impl Accounting {
    /// The options of a command that only reads logs.
    pub fn strictly(strict: bool) -> Self {
        Self {
            pue: None,
            emissions_factor: None,
            zone: None,
            zone_origin: None,
            dataset: None,
            strict,
        }
    }

    pub fn assumptions(&self) -> Result<Assumptions, Failure> {
        if let Some(zone) = &self.zone {
            register::find_area(zone)
                .advise("impact region --address PLACE names the zone of a place")
                .map_err(|failure| match &self.zone_origin {
                    Some(origin) => {
                        failure.within(format!("the zone set by {origin} cannot be used"))
                    }
                    None => failure,
                })?;
        }
        Ok(Assumptions {
            pue: self.pue,
            emissions_factor: self.emissions_factor,
            default_zone: self.zone.clone(),
            dataset: self.dataset,
        })
    }

    /// Reads the runs, tells on standard error what is left out, and fails where nothing is left.
    pub fn collect(&self, folders: &[PathBuf]) -> Result<Collection, Failure> {
        folder::check(folders.iter().map(PathBuf::as_path))?;
        let bar = progress_bar();
        let collection = collect(folders, &|progress| match progress {
            Progress::Found(runs) => {
                bar.set_message(format!("{} found", counted(runs, "run")));
            }
            Progress::Read(read, total) => {
                bar.set_length(total as u64);
                bar.set_position(read as u64);
            }
        });
        bar.finish_and_clear();
        left_out::tell_all(&collection.skipped);
        if collection.runs.is_empty() {
            let names: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
            let failure = anyhow::anyhow!("no usable run under {}", names.join(", "));
            return Err(Failure::new(failure).advise(folder::WITH_RUNS));
        }
        left_out::refuse(&collection.skipped, self.strict)?;
        self.tell_where_the_zone_applies(&collection);
        self.tell_where_the_data_set_applies(&collection);
        Ok(collection)
    }

    /// Says which runs a zone on the command line applies to: it applies only to runs without a place.
    fn tell_where_the_zone_applies(&self, collection: &Collection) {
        let Some(zone) = self.zone.as_ref().filter(|_| self.zone_origin.is_none()) else {
            return;
        };
        let all = collection.runs.len();
        let without = collection
            .runs
            .iter()
            .filter(|(_, run)| run.region.is_none())
            .count();
        if without == 0 {
            tell(format!(
                "--zone {zone} applies to no run; every one recorded its own"
            ));
        } else if without < all {
            tell(format!(
                "--zone {zone} applies to {without} of {all} runs; the others recorded their own"
            ));
        }
    }

    fn tell_where_the_data_set_applies(&self, collection: &Collection) {
        let assumptions = Assumptions {
            dataset: self.dataset,
            emissions_factor: self.emissions_factor,
            ..Assumptions::default()
        };
        let runs = collection.runs.iter().map(|(_, run)| run);
        if let Some(words) = assumptions.past_the_data_set(runs) {
            tell(words);
        }
    }
}

/// The exit code that tells whether anything was left out.
pub fn exit_code(collection: &Collection) -> u8 {
    left_out::exit_code(left_out::missing(&collection.skipped) > 0)
}

/// Drawn on standard error, and only if that is a terminal.
pub fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("reading logs {wide_bar} {pos}/{len} {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
