use clap::Args;

use super::settings::{Config, Origin};
use super::{Advise, Failure};
use crate::grid::zone::cloud::CloudRegion;
use crate::grid::zone::{Iso3, ZoneId, cloud, detect, register};
use crate::grid::{PlaceQuery, PlaceResolver, ResolveError, ResolvedPlace};
use crate::model::PlaceSource;

/// The keys of the configuration that name a place; only the strongest of them is used.
pub const KEYS: [&str; 4] = ["zone", "region", "address", "country"];

/// Where the run's electricity comes from.
#[derive(Debug, Clone, Default, Args)]
#[group(multiple = false)]
pub struct Place {
    /// Zone of the electricity map, such as US-CA; or a country, for its average
    #[arg(long, value_name = "ZONE", value_parser = register::named)]
    zone: Option<ZoneId>,
    /// Cloud region, such as aws:us-east-1
    #[arg(long, value_name = "PROVIDER:REGION")]
    region: Option<String>,
    /// City, such as "Montreal, Canada"
    #[arg(long, value_name = "ADDRESS")]
    address: Option<String>,
    /// Country, by code or name, for its average
    #[arg(long, value_name = "COUNTRY")]
    country: Option<Iso3>,
    /// Where the configuration has the place from.
    #[arg(skip)]
    origin: Option<Origin>,
}

impl Place {
    /// A place that options of another form name.
    pub fn named(
        zone: Option<ZoneId>,
        region: Option<String>,
        address: Option<String>,
        country: Option<Iso3>,
    ) -> Self {
        Self {
            zone,
            region,
            address,
            country,
            origin: None,
        }
    }

    /// Takes the place from the configuration where the command line names none; gives the key it is from.
    pub fn fill(&mut self, config: &Config) -> Option<&'static str> {
        if self.query().is_some() {
            return None;
        }
        let setting = config.strongest(&KEYS)?;
        match setting.key.name {
            "zone" => self.zone = config.or(None, "zone"),
            "region" => self.region.clone_from(&setting.value),
            "address" => self.address.clone_from(&setting.value),
            _ => self.country = config.or(None, "country"),
        }
        self.origin = Some(setting.origin.clone());
        Some(setting.key.name)
    }

    /// Who named the place.
    pub fn source(&self) -> PlaceSource {
        match self.origin {
            Some(Origin::CommandLine) | None => PlaceSource::CommandLine,
            Some(_) => PlaceSource::Configuration,
        }
    }

    /// The option that names the place, with its value.
    pub fn option(&self) -> Option<String> {
        // The name of a country is that of its zone.
        let zone = self.zone.as_ref().map(|zone| {
            let meant = register::zone_or_country(zone).unwrap_or_else(|_| zone.clone());
            format!("--zone {meant}")
        });
        let address = || Some(format!("--address '{}'", self.address.as_ref()?));
        let region = || Some(format!("--region {}", self.region.as_ref()?));
        let country = || Some(format!("--country {}", self.country?));
        zone.or_else(address).or_else(region).or_else(country)
    }

    /// Where the place was set, if it is not from the command line.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Whether the place was set in a file or a variable, and not on the command line.
    pub fn is_configured(&self) -> bool {
        self.source() == PlaceSource::Configuration
    }

    /// The place that is named, if any is.
    pub fn query(&self) -> Option<PlaceQuery> {
        let zone = self.zone.clone().map(PlaceQuery::Zone);
        let address = || self.address.clone().map(PlaceQuery::Address);
        let cloud = || self.region.clone().map(PlaceQuery::Cloud);
        let country = || self.country.map(PlaceQuery::Country);
        zone.or_else(address).or_else(cloud).or_else(country)
    }

    /// The cloud region, where one is named.
    pub fn cloud_region(&self) -> Result<Option<&'static CloudRegion>, Failure> {
        match &self.region {
            Some(code) => cloud::find(code)
                .advise("impact cloud all, which lists every region")
                .map(Some),
            None => Ok(None),
        }
    }

    /// The place that is named, or else what this machine's files and its clock say.
    pub fn find(
        &self,
        resolver: &PlaceResolver,
        machine: detect::Roots,
    ) -> Result<Option<ResolvedPlace>, Failure> {
        if self.query().is_some() {
            return self.find_given(resolver);
        }
        // Nobody has asked for this place, so it is no failure that it has no figure.
        Ok(resolver.resolve(&PlaceQuery::ThisMachine(machine)).ok())
    }

    /// The place that is named, with its intensity.
    pub fn find_given(&self, resolver: &PlaceResolver) -> Result<Option<ResolvedPlace>, Failure> {
        let Some(query) = self.query() else {
            return Ok(None);
        };
        let found = resolver.resolve(&query).map_err(|error| {
            let failure = match error {
                ResolveError::Address(_) => {
                    Failure::new(error).advise("another spelling, `City, Country`, or --zone")
                }
                _ => unresolved(error),
            };
            self.within_origin(failure)
        });
        found.map(Some)
    }

    /// The failure, as the cause of an unusable setting if the place is from the settings.
    pub fn within_origin(&self, failure: Failure) -> Failure {
        match &self.origin {
            Some(origin) => failure.within(format!("the place set by {origin} cannot be used")),
            None => failure,
        }
    }
}

/// The failure of a place that was not resolved, with what to try instead.
pub(super) fn unresolved(error: ResolveError) -> Failure {
    let advice = match &error {
        ResolveError::Zone(_) => {
            "impact region --address CITY, which names its zone; impact region --all lists all"
        }
        ResolveError::Intensity(_) => {
            "add the zone to a table and pass it with --intensities FILE.csv"
        }
        ResolveError::Address(_) => {
            "another spelling, `City, Country`, or --lat and --lon, --zone or --country"
        }
        ResolveError::NoZoneNear(_) => {
            "a place on land, or --country or --zone for the electricity used there"
        }
        ResolveError::Cloud(_) => "impact cloud all, which lists every region",
        ResolveError::NoCloud => "IMPACT_ZONE=US-CA impact region --current, or --address",
        ResolveError::NoCloudRegion { provider, evidence } => {
            let advice = format!("--cloud {provider}:REGION; it is in {provider}, says {evidence}");
            return Failure::new(error).advise(advice);
        }
        #[cfg(feature = "live")]
        ResolveError::Geolocation(_) => "--address or --zone, which ask nobody",
        _ => return Failure::new(error),
    };
    Failure::new(error).advise(advice)
}
