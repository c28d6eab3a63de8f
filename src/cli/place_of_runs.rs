use clap::Args;

use super::Failure;
use super::output::tell;
use super::place::Place;
use super::settings::Config;
use crate::grid::PlaceResolver;
use crate::grid::zone::{Iso3, ZoneId, register};
use crate::text::escape;

const HEADING: &str = "Place of runs that recorded none";

/// Where runs took place whose logs do not say it.
#[derive(Debug, Default, Args)]
pub struct PlaceOfRuns {
    /// Zone of the electricity map, such as US-CA; or a country, for its average
    #[arg(long, value_name = "ZONE", value_parser = register::named, help_heading = HEADING)]
    zone: Option<ZoneId>,
    /// Cloud region, such as aws:us-east-1
    #[arg(long, value_name = "PROVIDER:REGION", conflicts_with = "zone", help_heading = HEADING)]
    region: Option<String>,
    /// City, such as "Montreal, Canada"
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["zone", "region"], help_heading = HEADING)]
    address: Option<String>,
    /// Country, by code or name, for its average
    #[arg(long, value_name = "COUNTRY", help_heading = HEADING)]
    country: Option<Iso3>,
    /// The place of the options above or of the configuration.
    #[arg(skip)]
    place: Place,
    /// The country for which figures are made; the weakest.
    #[arg(skip)]
    default_country: Option<Iso3>,
}

impl PlaceOfRuns {
    /// Takes the place from the configuration where no option names one; gives the key it is from.
    pub fn fill(&mut self, config: &Config) -> Option<&'static str> {
        let exact = Place::named(
            self.zone.clone(),
            self.region.clone(),
            self.address.clone(),
            None,
        );
        self.place = if exact.query().is_some() {
            exact
        } else {
            Place::named(None, None, None, self.country)
        };
        self.place.fill(config)
    }

    /// The country of the option.
    pub fn country(&self) -> Option<Iso3> {
        self.country
    }

    /// The option's country, which becomes that for which figures are made instead of the place of runs.
    pub fn take_country(&mut self) -> Option<Iso3> {
        self.default_country = self.country.take();
        self.default_country
    }

    /// The country for which figures are made: where nothing else is known of a run, its average is used.
    pub fn make_for(&mut self, country: Option<Iso3>) {
        self.default_country = country;
    }

    pub fn default_country(&self) -> Option<Iso3> {
        self.default_country
    }

    /// The zone of the place that is named.
    pub fn zone(&self) -> Result<Option<ZoneId>, Failure> {
        let Some(place) = self.place.find_given(&PlaceResolver::default())? else {
            return Ok(None);
        };
        let area = place.area;
        // A part of a zone, such as US-PJM:VA, has the name of its state.
        Ok(Some(
            register::named(&area.to_string()).unwrap_or(area.zone),
        ))
    }

    /// Says which runs a place on the command line applies to: only to those without one.
    pub fn tell_where_it_applies(&self, without: usize, all: usize) {
        if self.place.is_configured() {
            return;
        }
        let Some(option) = self.place.option() else {
            return;
        };
        let option = escape::terminal(&option).into_owned();
        if without == 0 {
            tell(format!(
                "{option} applies to no run; every one recorded its own place"
            ));
        } else if without < all {
            tell(format!(
                "{option} applies to {without} of {all} runs; the others recorded their own place"
            ));
        }
    }
}
