use clap::{Args, ValueEnum};
use serde::Serialize;

use super::bad_value::BadValue;
use super::number::within;
use super::output::{bold_heading, print};
use super::place::unresolved;
use super::region::tables::Figures;
use super::settings::{Config, Sources};
use super::yaml::yaml;
use super::{Advise, Failure, Outcome, configured, exit};
use crate::grid::PlaceResolver;
use crate::grid::cleaner_regions::cleaner_regions;
use crate::grid::intensity::Intensity;
use crate::grid::zone::cloud::CloudRegion;
use crate::grid::zone::{Point, cloud};
use crate::text::escape;
use crate::text::table::Table;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  impact cloud --suggest aws:us-east-1")]
pub(super) struct CloudArgs {
    /// Provider: aws, gcp, azure, ... or all
    #[arg(required_unless_present = "suggest", conflicts_with = "suggest")]
    provider: Option<String>,
    /// Suggest cleaner regions of the same provider near this one
    #[arg(long, value_name = "PROVIDER:REGION")]
    suggest: Option<String>,
    /// Largest distance of a suggestion in km; if there is none, the nearest cleaner regions
    #[arg(
        long,
        value_name = "KM",
        default_value_t = 3000.0,
        value_parser = kilometres,
        allow_negative_numbers = true,
        requires = "suggest"
    )]
    within: f64,
    /// Order of the list
    #[arg(long, value_enum, default_value_t = Order::Name)]
    sort: Order,
    /// Add the distance from a place, and sort by it
    #[arg(long, value_name = "LAT,LON", allow_hyphen_values = true)]
    near: Option<Point>,
    #[command(flatten)]
    figures: Figures,
    /// Output format [default: text]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    Name,
    Intensity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Yaml,
}

/// What is said of one region.
#[derive(Debug, Clone, Serialize)]
struct Row {
    provider: String,
    region: String,
    city: String,
    country: String,
    zone: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    carbon_intensity: f64,
    year: Option<i32>,
    source: String,
    licence: Option<String>,
    fallbacks: Vec<String>,
    pue: Option<f64>,
    lat: f64,
    lon: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance_km: Option<f64>,
    /// Against the region a suggestion is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    saving_percent: Option<f64>,
}

impl CloudArgs {
    pub(super) fn run(self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        let places = self.figures.open(&config)?;
        let rows = match (&self.suggest, &self.provider) {
            (Some(text), _) => self.suggestions(
                cloud::find(text).advise("impact cloud all, which lists every region")?,
                &places,
            )?,
            (None, Some(provider)) => self.list(provider, &places)?,
            (None, None) => Vec::new(),
        };
        let format = self.format.or_else(|| configured::format(&config));
        let text = match format.unwrap_or(Format::Text) {
            Format::Json => escape::pretty_json(&rows)?,
            Format::Yaml => yaml(&rows)?,
            Format::Text if rows.len() <= 1 && self.suggest.is_some() => {
                "No region of this provider runs on cleaner electricity.\n".to_owned()
            }
            Format::Text => bold_heading(text(&rows), settings),
        };
        print(&text)?;
        Ok(exit::DONE)
    }

    fn row(&self, region: &CloudRegion, intensity: Intensity) -> Row {
        Row {
            provider: region.provider.clone(),
            region: region.code.clone(),
            city: region.city.clone(),
            country: region.country.to_string(),
            zone: region.area.zone.to_string(),
            state: region.area.state.clone(),
            carbon_intensity: intensity.value.get(),
            year: intensity.provenance.year,
            source: intensity.provenance.source.name.to_string(),
            licence: intensity.provenance.source.licence.map(Into::into),
            fallbacks: intensity
                .provenance
                .fallbacks
                .iter()
                .map(ToString::to_string)
                .collect(),
            pue: cloud::pue(region).map(|said| said.pue.get()),
            lat: region.point.lat(),
            lon: region.point.lon(),
            distance_km: self.near.map(|near| near.distance_km(region.point).round()),
            saving_percent: None,
        }
    }

    fn list(&self, provider: &str, places: &PlaceResolver) -> Result<Vec<Row>, Failure> {
        let regions = if provider.eq_ignore_ascii_case("all") {
            cloud::all().iter().collect()
        } else {
            cloud::of_provider(provider).advise("impact cloud all, which lists every region")?
        };
        let mut rows = regions
            .into_iter()
            .map(|region| {
                let intensity = places.intensity(&region.area).map_err(unresolved)?;
                Ok::<_, Failure>(self.row(region, intensity))
            })
            .collect::<Result<Vec<_>, _>>()?;
        if self.sort == Order::Intensity {
            rows.sort_by(|a, b| a.carbon_intensity.total_cmp(&b.carbon_intensity));
        } else if self.near.is_some() {
            rows.sort_by(|a, b| {
                a.distance_km
                    .partial_cmp(&b.distance_km)
                    .expect("distances are finite")
            });
        }
        Ok(rows)
    }

    /// The region itself, then the cleaner ones.
    fn suggestions(&self, here: &CloudRegion, places: &PlaceResolver) -> Result<Vec<Row>, Failure> {
        let intensity = places.intensity(&here.area).map_err(unresolved)?;
        let mut rows = vec![self.row(here, intensity)];
        let cleaner = cleaner_regions(here, self.within, places).map_err(unresolved)?;
        rows.extend(cleaner.into_iter().map(|other| Row {
            distance_km: Some(other.distance_km),
            saving_percent: Some((100.0 * other.saving).round()),
            ..self.row(other.region, other.intensity)
        }));
        Ok(rows)
    }
}

fn kilometres(text: &str) -> Result<f64, BadValue> {
    within(
        text,
        0.0..f64::INFINITY,
        "it must be a number of kilometres",
    )
}

fn text(rows: &[Row]) -> String {
    let mut numbers = vec!["g/kWh", "year", "PUE"];
    let far = rows.iter().any(|row| row.distance_km.is_some());
    let saves = rows.iter().any(|row| row.saving_percent.is_some());
    numbers.extend(far.then_some("km"));
    numbers.extend(saves.then_some("saves %"));
    let mut table = Table::new(&["region", "zone", "city"], &numbers);
    let maybe = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
    for row in rows {
        let state = row
            .state
            .as_ref()
            .filter(|state| row.zone != format!("US-{state}"));
        let zone = state.map_or_else(
            || row.zone.clone(),
            |state| format!("{} ({state})", row.zone),
        );
        let cells = [
            format!("{}:{}", row.provider, row.region),
            zone,
            format!("{}, {}", row.city, row.country),
            format!("{:.0}", row.carbon_intensity),
            row.year.map_or_else(String::new, |year| year.to_string()),
            row.pue.map_or_else(String::new, |pue| pue.to_string()),
        ];
        let far = far.then(|| maybe(row.distance_km));
        let saves = saves.then(|| maybe(row.saving_percent));
        table.push(cells.into_iter().chain(far).chain(saves));
    }
    escape::terminal(&table.text()).into_owned()
}
