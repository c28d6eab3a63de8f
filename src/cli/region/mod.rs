mod answer;
pub(super) mod place_resolver;
pub(super) mod show;

use clap::{ArgGroup, Args};

use answer::Answer;
use place_resolver::{PlaceResolver, Tables};
use show::{Format, show};

use super::output::{bold_heading, print};
use super::settings::{Config, Sources};
use super::{Advise, Failure, Outcome, configured, exit};
use crate::grid::zone::{AreaId, Iso3, Point, ZoneId, cloud, register};

/// The ways to name a place; the network is asked only by `--ip`.
const PLACES: &[&str] = &[
    "address",
    "lat",
    "zone",
    "country",
    "cloud",
    "current",
    "top",
    "bottom",
    "all",
    #[cfg(feature = "live")]
    "ip",
];

/// Find the electricity zone of a place and how dirty its electricity is
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("place").required(true).args(PLACES)))]
#[command(after_help = "Example:\n  impact region --address \"Stanford, California\"")]
pub(super) struct RegionArgs {
    /// A city, as one writes it: `Cambridge, UK`, `Cambridge MA`, `Genève`
    #[arg(long, value_name = "TEXT")]
    address: Option<String>,
    /// Latitude in degrees
    #[arg(
        long,
        value_name = "DEGREES",
        requires = "lon",
        allow_negative_numbers = true
    )]
    lat: Option<f64>,
    /// Longitude in degrees
    #[arg(
        long,
        value_name = "DEGREES",
        requires = "lat",
        allow_negative_numbers = true
    )]
    lon: Option<f64>,
    /// A zone of the electricity map, such as US-CA
    #[arg(long, value_name = "ZONE", value_parser = register::named)]
    zone: Option<ZoneId>,
    /// A country, by code or name
    #[arg(long, value_name = "COUNTRY")]
    country: Option<Iso3>,
    /// A cloud region, such as aws:us-east-1
    #[arg(long, visible_alias = "region", value_name = "PROVIDER:REGION")]
    cloud: Option<String>,
    /// This machine: the zone, region or address that is set, else the cloud its own files name
    #[arg(long)]
    current: bool,
    /// Where this machine's network address is, as a geolocation service sees it
    #[cfg(feature = "live")]
    #[arg(long)]
    ip: bool,
    /// The N dirtiest zones
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// The N cleanest zones
    #[arg(long, value_name = "N")]
    bottom: Option<usize>,
    /// Every area of the map
    #[arg(long)]
    all: bool,
    /// Also the N zones around the place
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "10", conflicts_with_all = ["top", "bottom", "all"])]
    near: Option<usize>,
    #[command(flatten)]
    tables: Tables,
    /// How to write the answer [default: text]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

impl RegionArgs {
    pub(super) fn run(self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        let places = PlaceResolver::open(&self.tables, &config)?;
        let answers = self.answers(&places, &config)?;
        let format = self.format.or_else(|| configured::format(&config));
        let format = format.unwrap_or(Format::Text);
        let alone = answers.len() == 1 && !self.is_list();
        let text = show(&answers, alone, format, || places.map())?;
        print(&if format == Format::Text {
            bold_heading(text, settings)
        } else {
            text
        })?;
        Ok(exit::DONE)
    }

    fn is_list(&self) -> bool {
        self.all || self.top.is_some() || self.bottom.is_some() || self.near.is_some()
    }

    fn answers(&self, places: &PlaceResolver, config: &Config) -> Result<Vec<Answer>, Failure> {
        if self.all {
            return places.all();
        }
        if let Some(count) = self.top.or(self.bottom) {
            return places.ranked(count, self.top.is_some());
        }
        let (answer, point) = self.place(places, config)?;
        let Some(count) = self.near else {
            return Ok(vec![answer]);
        };
        let point = point
            .or_else(|| places.middle_of(&answer.area))
            .ok_or_else(|| {
                Failure::new(anyhow::anyhow!(
                    "the zone {} has no place on the map",
                    answer.area
                ))
            })?;
        places.around(point, count)
    }

    fn place(
        &self,
        places: &PlaceResolver,
        config: &Config,
    ) -> Result<(Answer, Option<Point>), Failure> {
        if let Some(address) = &self.address {
            return places.address(address);
        }
        if let (Some(lat), Some(lon)) = (self.lat, self.lon) {
            let point = Point::new(lat, lon)
                .map_err(|nowhere| Failure::new(nowhere).exit_with(exit::USAGE))?;
            return Ok((places.point(point, None)?, Some(point)));
        }
        if let Some(id) = &self.zone {
            let area = places.area_called(id)?;
            return Ok((
                places.answer(area, None, "the zone's own name".into())?,
                None,
            ));
        }
        if let Some(country) = self.country {
            let zone = register::of_country(country)
                .ok_or_else(|| anyhow::anyhow!("{country} is no zone of the map"))?;
            let how = format!("the country {}", country.name());
            return Ok((
                places.answer(AreaId::from(zone.id.clone()), None, how)?,
                None,
            ));
        }
        #[cfg(feature = "live")]
        if self.ip {
            return places.network_address(config);
        }
        let region = match &self.cloud {
            Some(text) => cloud::find(text).advise("impact cloud all")?,
            None => return places.this_machine(config),
        };
        places.cloud(region, None)
    }
}
