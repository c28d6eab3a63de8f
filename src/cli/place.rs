use clap::Args;

use super::settings::{Config, Origin};
use super::{Advise, Failure};
use crate::grid::zone::cloud::CloudRegion;
use crate::grid::zone::{ZoneId, cloud, detect, register};
use crate::grid::{PlaceQuery, PlaceResolver, ResolveError, ResolvedPlace};

/// Where the run's electricity comes from.
#[derive(Debug, Default, Args)]
#[group(multiple = false)]
pub struct Place {
    /// Zone of the electricity map, such as US-CA
    #[arg(long, value_name = "ZONE", value_parser = register::named)]
    zone: Option<ZoneId>,
    /// Cloud region, such as aws:us-east-1
    #[arg(long, value_name = "PROVIDER:REGION")]
    region: Option<String>,
    /// City, such as "Montreal, Canada"
    #[arg(long, value_name = "ADDRESS")]
    address: Option<String>,
    /// Where the configuration has the place from.
    #[arg(skip)]
    origin: Option<Origin>,
}

impl Place {
    /// Takes the place from the configuration where the command line names none.
    pub fn fill(&mut self, config: &Config) {
        if self.query().is_some() {
            return;
        }
        let Some(setting) = config.strongest(&["zone", "region", "address"]) else {
            return;
        };
        match setting.key.name {
            "zone" => self.zone = config.or(None, "zone"),
            "region" => self.region.clone_from(&setting.value),
            _ => self.address.clone_from(&setting.value),
        }
        self.origin = Some(setting.origin.clone());
    }

    /// Where the place was set, if it is not from the command line.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Whether the place was set in a file, and not on the command line.
    pub fn is_from_a_file(&self) -> bool {
        self.origin.as_ref().is_some_and(Origin::is_file)
    }

    /// The place that is named, if any is.
    pub fn query(&self) -> Option<PlaceQuery> {
        let zone = self.zone.clone().map(PlaceQuery::Zone);
        let address = || self.address.clone().map(PlaceQuery::Address);
        let cloud = || self.region.clone().map(PlaceQuery::Cloud);
        zone.or_else(address).or_else(cloud)
    }

    /// The cloud region, where one is named.
    pub fn cloud_region(&self) -> Result<Option<&'static CloudRegion>, Failure> {
        match &self.region {
            Some(code) => cloud::find(code).advise("impact cloud all").map(Some),
            None => Ok(None),
        }
    }

    /// The place that is named, or else the cloud region that this machine's files name.
    pub fn find(
        &self,
        resolver: &PlaceResolver,
        machine: detect::Roots,
    ) -> Result<Option<ResolvedPlace>, Failure> {
        if self.query().is_some() {
            return self.find_given(resolver);
        }
        match resolver.resolve(&PlaceQuery::ThisMachine(machine)) {
            Err(ResolveError::NoCloud | ResolveError::NoCloudRegion { .. }) => Ok(None),
            found => Ok(Some(found.map_err(unresolved)?)),
        }
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
        ResolveError::Zone(_) => "impact region --all",
        ResolveError::Intensity(_) => {
            "add the zone to a table and pass it with --intensities FILE.csv"
        }
        ResolveError::Address(_) => {
            "another spelling, `City, Country`, or --lat and --lon, --zone or --country"
        }
        ResolveError::Nowhere(_) => {
            "a place on land, or --country or --zone for the electricity used there"
        }
        ResolveError::Cloud(_) => "impact cloud all",
        ResolveError::NoCloud => "IMPACT_ZONE=US-CA impact region --current, or --address",
        ResolveError::NoCloudRegion { provider, evidence } => {
            let advice = format!(
                "--cloud {provider}:REGION; it is in {provider}, says {}",
                evidence.display()
            );
            return Failure::new(error).advise(advice);
        }
        #[cfg(feature = "live")]
        ResolveError::Geolocation(_) => "--address or --zone, which ask nobody",
        _ => return Failure::new(error),
    };
    Failure::new(error).advise(advice)
}
