//! From a collection of runs to the paragraph a paper needs.

/// The works that a statement cites.
pub mod bibliography;
mod html;
mod json;
mod latex;
mod markdown;
mod prose;
mod report;
mod runs;
mod text;

use std::path::PathBuf;

use super::figure::Figures;
use super::{Assumptions, Collection, Skipped, Tally};
use crate::grid::social_cost;
use crate::grid::social_cost::SocialCost;
use crate::grid::zone::Iso3;
use crate::units::{Money, PricePerKwh};

pub use html::html;
pub use json::json;
pub use latex::latex;
pub use markdown::markdown;
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
    Unknown(String),
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
    /// Whether to add a table of the runs.
    pub per_run: bool,
}

impl Statement {
    /// The statement on some runs.
    #[must_use]
    pub fn of(collection: &Collection, options: &Options) -> Self {
        let mut tally = Tally::default();
        let mut runs = options.per_run.then(Vec::new);
        for accounted in collection.accounted(&options.assumptions) {
            if let Some(lines) = &mut runs {
                lines.push(RunLine {
                    path: accounted.path.to_owned(),
                    figures: accounted.figures(),
                });
            }
            tally = tally.merge(accounted.tally);
        }
        Self {
            cost: Cost::of(&tally, options.country),
            tally,
            skipped: collection.skipped.clone(),
            price: options.price.clone(),
            url: options.url.clone(),
            runs,
        }
    }
}

impl Cost {
    fn of(tally: &Tally, named: Option<Iso3>) -> Self {
        let Some(mass) = tally.mass() else {
            return Self::Unknown("the mass of CO2eq is not known".to_owned());
        };
        let stated = named.map(|country| (country, Chosen::Named));
        let (country, chosen) = match stated.map_or_else(|| country_of_zones(tally), Ok) {
            Ok(stated) => stated,
            Err(why) => return Self::Unknown(why),
        };
        let Some(cost) = social_cost::of(country) else {
            return Self::Unknown(format!(
                "the source paper has no figure for {}",
                country.name()
            ));
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

fn country_of_zones(tally: &Tally) -> Result<(Iso3, Chosen), String> {
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
            Ok((*country, Chosen::Place { runs, of }))
        }
        [] => Err("no country was named and no run recorded where it took place".to_owned()),
        several => {
            let names: Vec<&str> = several.iter().map(Iso3::as_str).collect();
            Err(format!(
                "no country was named and the runs took place in several ({})",
                names.join(", ")
            ))
        }
    }
}
