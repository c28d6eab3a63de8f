use clap::Args;

use crate::cli::region::place_resolver::PlaceResolver;
use crate::cli::settings::{Config, Origin};
use crate::cli::{Advise, Failure};
use crate::grid::zone::cloud::{CloudRegion, ProviderPue};
use crate::grid::zone::{AreaId, Point, ZoneId, cloud, detect, place, register};
use crate::model::info::Region;

/// Where the run's electricity comes from.
#[derive(Debug, Default, Args)]
#[group(multiple = false)]
pub struct Place {
    /// The zone of the electricity map
    #[arg(long, value_name = "ZONE", value_parser = register::named)]
    zone: Option<ZoneId>,
    /// The cloud region, such as aws:us-east-1
    #[arg(long, value_name = "PROVIDER:REGION")]
    region: Option<String>,
    /// The city, such as "Montreal, Canada"
    #[arg(long, value_name = "ADDRESS")]
    address: Option<String>,
    /// Where the configuration has the place from.
    #[arg(skip)]
    origin: Option<Origin>,
}

impl Place {
    /// Takes the place from the configuration where the command line names none.
    pub fn fill(&mut self, config: &Config) {
        if self.is_given() {
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

    /// Whether the place stands in a file of settings, and not on the command line.
    pub fn is_from_a_file(&self) -> bool {
        self.origin.as_ref().is_some_and(Origin::is_file)
    }

    /// Whether any place is named.
    pub fn is_given(&self) -> bool {
        self.zone.is_some() || self.region.is_some() || self.address.is_some()
    }

    /// The cloud region, where one is named.
    pub fn cloud_region(&self) -> Result<Option<&'static CloudRegion>, Failure> {
        match &self.region {
            Some(code) => cloud::find(code).advise("impact cloud all").map(Some),
            None => Ok(None),
        }
    }

    /// The cloud region that is named or, where no place is, the one this machine's files say it is in.
    fn named_or_own_cloud(
        &self,
        machine: &detect::Roots,
    ) -> Result<Option<(&'static CloudRegion, &'static str)>, Failure> {
        if self.is_given() {
            return Ok(self.cloud_region()?.map(|region| (region, "given")));
        }
        let found = detect::detect(machine);
        Ok(found.and_then(|found| Some((found.region?, "this machine"))))
    }

    /// The PUE of the provider whose cloud the run is in.
    pub fn cloud_pue(&self, machine: &detect::Roots) -> Result<Option<ProviderPue>, Failure> {
        let region = self.named_or_own_cloud(machine)?;
        Ok(region.and_then(|(region, _)| cloud::pue(&region.provider)))
    }

    /// The region with its intensity, by the tables in force: as asked for, or where this machine's files
    /// say it is.
    pub fn find(
        &self,
        places: &PlaceResolver,
        machine: &detect::Roots,
    ) -> Result<Option<Region>, Failure> {
        if self.is_given() {
            return self.find_given(places);
        }
        match self.named_or_own_cloud(machine)? {
            Some((region, how)) => in_cloud(places, region, how).map(Some),
            None => Ok(None),
        }
    }

    /// The region that is asked for, with its intensity.
    pub fn find_given(&self, places: &PlaceResolver) -> Result<Option<Region>, Failure> {
        self.look_up(places).map_err(|failure| match &self.origin {
            Some(origin) => failure.within(format!("the place set by {origin} cannot be used")),
            None => failure,
        })
    }

    fn look_up(&self, places: &PlaceResolver) -> Result<Option<Region>, Failure> {
        if let Some(zone) = &self.zone {
            let area = places.area_called(zone)?;
            return known(places, &area, None, "the zone was given".to_owned()).map(Some);
        }
        if let Some(address) = &self.address {
            let candidates =
                place::find(address).advise("another spelling, `City, Country`, or --zone")?;
            let city = &candidates[0];
            let area = places.area_at(city.point, Some(city.country))?;
            let how = match candidates.len() - 1 {
                0 => format!("the address is in {city}"),
                others => format!(
                    "the address is in {city}, the likeliest; impact region --address shows {others} more"
                ),
            };
            return known(places, &area, Some(city.point), how).map(Some);
        }
        let region = self.cloud_region()?;
        region
            .map(|region| in_cloud(places, region, "given"))
            .transpose()
    }
}

fn in_cloud(places: &PlaceResolver, region: &CloudRegion, how: &str) -> Result<Region, Failure> {
    let how = format!("{how}: cloud region {}:{}", region.provider, region.code);
    known(places, &places.area_of(region)?, Some(region.point), how)
}

fn known(
    places: &PlaceResolver,
    area: &AreaId,
    point: Option<Point>,
    how: String,
) -> Result<Region, Failure> {
    let intensity = places.intensity(area)?;
    Ok(Region {
        zone: area.zone.clone(),
        state: area.state.clone(),
        name: register::find(&area.zone)
            .ok()
            .map(|zone| zone.name.clone()),
        lat: point.map(Point::lat),
        lon: point.map(Point::lon),
        how: Some(how),
        carbon_intensity: Some(intensity.value),
        year: intensity.provenance.year,
        source: Some(intensity.provenance.source.to_string()),
        fallbacks: intensity
            .provenance
            .fallbacks
            .iter()
            .map(ToString::to_string)
            .collect(),
    })
}
