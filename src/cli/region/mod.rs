pub(super) mod answer;
pub(super) mod show;
pub(super) mod tables;

use clap::{ArgGroup, Args};

use answer::Answer;
use show::{Format, show};
use tables::Tables;

use super::output::{bold_heading, print};
use super::place::{Place, unresolved};
use super::settings::{Config, Sources};
use super::{Failure, Outcome, configured, exit};
use crate::grid::zone::{Iso3, Point, ZoneId, register};
use crate::grid::{PlaceQuery, PlaceResolver, ResolvedPlace};

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

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("place").required(true).args(PLACES)))]
#[command(after_help = "Example:\n  impact region --address \"Stanford, California\"")]
pub(super) struct RegionArgs {
    /// A city: `Cambridge, UK`, `Cambridge MA`, `Genève`
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
    /// This machine: the configured place, else the cloud region in its system files, else the country of its clock
    #[arg(long)]
    current: bool,
    /// The place of this machine's network address, from a geolocation service
    #[cfg(feature = "live")]
    #[arg(long)]
    ip: bool,
    /// The N zones with the highest carbon intensity
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// The N zones with the lowest carbon intensity
    #[arg(long, value_name = "N")]
    bottom: Option<usize>,
    /// Every area of the map
    #[arg(long)]
    all: bool,
    /// Also the N nearest zones; 10 if no number is given
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "10", conflicts_with_all = ["top", "bottom", "all"])]
    near: Option<usize>,
    #[command(flatten)]
    tables: Tables,
    /// Output format [default: text]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

impl RegionArgs {
    pub(super) fn run(self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        let resolver = self.tables.open(&config)?;
        let answers = self.answers(&resolver, &config)?;
        let format = self.format.or_else(|| configured::format(&config));
        let format = format.unwrap_or(Format::Text);
        let alone = answers.len() == 1 && !self.is_list();
        let text = show(&answers, alone, format, || resolver.map())?;
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

    fn answers(&self, resolver: &PlaceResolver, config: &Config) -> Result<Vec<Answer>, Failure> {
        let places = if self.all {
            resolver.all()
        } else if let Some(count) = self.top.or(self.bottom) {
            resolver.ranked().map(|mut ranked| {
                if self.top.is_some() {
                    ranked.reverse();
                }
                ranked.truncate(count);
                ranked
            })
        } else {
            let mut named = Place::default();
            let place = self.place(resolver, config, &mut named)?;
            let Some(count) = self.near else {
                return Ok(vec![Answer::new(place, named.origin())]);
            };
            resolver.around(&place, count)
        };
        let places = places.map_err(unresolved)?;
        Ok(places
            .into_iter()
            .map(|place| Answer::new(place, None))
            .collect())
    }

    /// The one place that is asked for; `set` becomes the place of the settings if that is asked for.
    fn place(
        &self,
        resolver: &PlaceResolver,
        config: &Config,
        set: &mut Place,
    ) -> Result<ResolvedPlace, Failure> {
        #[cfg(feature = "live")]
        if self.ip {
            let client = configured::client(config);
            return resolver.network_address(&client).map_err(unresolved);
        }
        if self.current {
            set.fill(config);
        }
        let query = match set.query() {
            Some(query) => query,
            None => self.query(config)?,
        };
        let found = resolver.resolve(&query).map_err(unresolved);
        found.map_err(|failure| set.within_origin(failure))
    }

    fn query(&self, config: &Config) -> Result<PlaceQuery, Failure> {
        if let (Some(lat), Some(lon)) = (self.lat, self.lon) {
            let point = Point::new(lat, lon);
            return point.map(PlaceQuery::Point).map_err(|nowhere| {
                Failure::new(nowhere)
                    .advise("degrees north and east, such as --lat 52.5 --lon 13.4")
                    .exit_with(exit::USAGE)
            });
        }
        let address = self.address.clone().map(PlaceQuery::Address);
        let zone = || self.zone.clone().map(PlaceQuery::Zone);
        let country = || self.country.map(PlaceQuery::Country);
        let cloud = || self.cloud.clone().map(PlaceQuery::Cloud);
        let named = address.or_else(zone).or_else(country).or_else(cloud);
        Ok(named.unwrap_or_else(|| PlaceQuery::ThisMachine(configured::machine(None, config))))
    }
}
