//! From a collection of runs to the paragraph a paper needs.

/// The works that a statement cites.
pub mod bibliography;
mod brief;
mod checklist;
mod cost;
mod gaps;
mod html;
mod json;
mod latex;
mod markdown;
mod model_card;
mod no_cost;
mod phase_report;
mod place;
mod prose;
mod report;
mod runs;
mod text;
mod work;

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::figure::Figures;
use super::footprint::AssumedPlace;
use super::{Assumptions, Collection, Skipped, Tally, Totals};
use crate::grid::social_cost;
use crate::grid::social_cost::SocialCost;
use crate::grid::zone::Iso3;
use crate::units::{Money, PricePerKwh};

pub use checklist::checklist;
pub use html::html;
pub use json::json;
pub use latex::latex;
pub use markdown::markdown;
pub use model_card::model_card;
pub use no_cost::NoCost;
pub use report::Report;
pub use text::text;

/// Everything a statement says, before any format is chosen.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The sums over all runs.
    pub tally: Tally,
    /// What is not part of them.
    pub skipped: Vec<Skipped>,
    /// The social cost of carbon.
    pub cost: Cost,
    /// What the electricity cost.
    pub price: Option<Price>,
    /// Where the appendix with the details can be read.
    pub url: Option<String>,
    /// Settings behind these figures that a project's file made, when tracking or now: key and value.
    pub project_settings: BTreeSet<(String, String)>,
    /// The country that the user named.
    pub country: Option<Iso3>,
    /// Whether all details are told, or only what a paper needs.
    pub detail: bool,
    /// A table of the runs, where one is wanted.
    pub runs: Option<Vec<RunLine>>,
}

/// One row of the table of runs.
#[derive(Debug, Clone)]
pub struct RunLine {
    /// The folder of the run.
    pub path: PathBuf,
    /// Its figures.
    pub figures: Figures,
}

/// What a kWh costs, and in which currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    /// The price of a kWh.
    pub per_kwh: PricePerKwh,
    /// Such as EUR.
    pub currency: String,
}

/// Whether there is a social cost to state.
#[derive(Debug, Clone, PartialEq)]
pub enum Cost {
    /// The cost of the mass, with its confidence interval.
    Known {
        /// The cost per tonne.
        cost: SocialCost,
        /// 16.7 % quantile.
        low: Money,
        /// 50 % quantile.
        median: Money,
        /// 83.3 % quantile.
        high: Money,
        /// Why it is this country's cost.
        chosen: Chosen,
    },
    /// Why none can be stated.
    Unknown(NoCost),
}

/// Why it is this country's cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    /// The user named the country.
    Named,
    /// This many runs are known to have taken place there, and none in another country.
    Place {
        /// How many runs took place there.
        runs: u64,
        /// Out of how many.
        of: u64,
    },
    /// The clocks of some machines say that runs took place there, and no run is known to have taken place elsewhere.
    Clock,
}

/// What a statement needs besides the runs.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What is assumed where the logs do not say.
    pub assumptions: Assumptions,
    /// The country whose social cost is stated; where not given, the one the runs took place in.
    pub country: Option<Iso3>,
    /// What the electricity cost.
    pub price: Option<Price>,
    /// The address of the appendix.
    pub url: Option<String>,
    /// Whether to tell all details.
    pub detail: bool,
    /// Whether to add a table of the runs.
    pub per_run: bool,
}

impl Statement {
    /// The statement on some runs.
    #[must_use]
    pub fn of(collection: &Collection, options: &Options) -> Self {
        let totals = Totals::of(collection, &options.assumptions, options.per_run);
        Self::on(totals, options)
    }

    /// The statement on what runs come to under the same assumptions.
    #[must_use]
    pub fn on(totals: Totals, options: &Options) -> Self {
        let mut project_settings = totals.project_settings;
        project_settings.extend(options.assumptions.project_settings.clone());
        Self {
            project_settings,
            cost: Cost::of(&totals.tally, options.country),
            tally: totals.tally,
            skipped: totals.skipped,
            price: options.price.clone(),
            url: options.url.clone(),
            country: options.country,
            detail: options.detail,
            runs: totals.lines,
        }
    }

    /// Names only the last part of these folders, if they lead out of the working folder, wherever a run or a log below
    /// them is named.
    pub fn shorten_paths(&mut self, folders: &[PathBuf]) {
        let leads_out = |folder: &&PathBuf| folder.is_absolute() || folder.starts_with("..");
        let names: Vec<(String, String)> = folders
            .iter()
            .filter(leads_out)
            .filter_map(|folder| {
                let whole: PathBuf = folder.components().collect();
                let name = folder.file_name()?.to_string_lossy().into_owned();
                Some((whole.to_string_lossy().into_owned(), name))
            })
            .collect();
        let shorten = |text: &str| {
            let names = names.iter();
            names.fold(text.to_owned(), |text, (whole, name)| {
                text.replace(whole, name)
            })
        };
        let shorten_path = |path: &mut PathBuf| *path = shorten(&path.to_string_lossy()).into();
        for skipped in &mut self.skipped {
            shorten_path(&mut skipped.path);
            skipped.reason = shorten(&skipped.reason);
        }
        for run in self.runs.iter_mut().flatten() {
            shorten_path(&mut run.path);
        }
    }
}

impl Cost {
    fn of(tally: &Tally, named: Option<Iso3>) -> Self {
        let Some(mass) = tally.mass() else {
            return Self::Unknown(NoCost::NoMass);
        };
        let stated = named.map(|country| (country, Chosen::Named));
        let (country, chosen) = match stated.map_or_else(|| country_of_zones(tally), Ok) {
            Ok(stated) => stated,
            Err(why) => return Self::Unknown(why),
        };
        let Some(cost) = social_cost::of(country) else {
            return Self::Unknown(NoCost::NoFigure(country));
        };
        Self::Known {
            cost,
            low: mass * cost.low,
            median: mass * cost.median,
            high: mass * cost.high,
            chosen,
        }
    }
}

fn country_of_zones(tally: &Tally) -> Result<(Iso3, Chosen), NoCost> {
    let mut countries: Vec<Iso3> = Vec::new();
    let mut runs = 0;
    for (zone, there) in &tally.zones {
        let country = zone.as_ref().map(|zone| zone.country_prefix().parse());
        if let Some(Ok(country)) = country {
            countries.push(country);
            runs += there.runs;
        }
    }
    countries.dedup();
    match countries.as_slice() {
        [country] => {
            let of = tally.runs;
            let by_clock = |place: &AssumedPlace| matches!(place, AssumedPlace::TimeZone { .. });
            Ok(if tally.assumed_places.keys().any(by_clock) {
                (*country, Chosen::Clock)
            } else {
                (*country, Chosen::Place { runs, of })
            })
        }
        [] => Err(NoCost::NoCountry),
        _ => Err(NoCost::SeveralCountries(countries)),
    }
}
