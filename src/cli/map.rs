use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::destination::{default_format, format_of};
use super::output::{print, write_file};
use super::place::unresolved;
use super::region::answer::Answer;
use super::region::tables::Tables;
use super::settings::{Config, Sources};
use super::{Advise, Failure, Outcome, exit};
use crate::grid::intensity::intensity_map::{Coloured, IntensityMap};
use crate::grid::zone::{Iso3, Point, ZoneId, register};
use crate::grid::{PlaceQuery, PlaceResolver, ResolveError};
use crate::text::escape;
use crate::text::table::Table;

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  impact map --address \"Stanford, California\" --output map.svg"
)]
pub(super) struct MapArgs {
    /// Where to write the map: a file that ends in .svg or .html [default: standard output]
    #[arg(long, short, alias = "out", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// A page with the map and a table of the zones, instead of SVG alone
    /// [default: by the extension of --output]
    #[arg(long)]
    html: bool,
    /// Mark a city
    #[arg(long, value_name = "TEXT", conflicts_with = "at")]
    address: Option<String>,
    /// Mark a point
    #[arg(long, value_name = "LAT,LON", allow_hyphen_values = true)]
    at: Option<Point>,
    /// Draw only this zone and its neighbourhood
    #[arg(long, value_name = "ZONE", value_parser = register::named)]
    zone: Option<ZoneId>,
    /// Draw only this country and its neighbourhood
    #[arg(long, value_name = "COUNTRY", conflicts_with = "zone")]
    country: Option<Iso3>,
    #[command(flatten)]
    tables: Tables,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Svg,
    Html,
}

impl MapArgs {
    fn format(&self) -> Result<Format, Failure> {
        match &self.output {
            _ if self.html => Ok(Format::Html),
            Some(file) => format_of(file).advise("a file that ends in .svg or .html"),
            None => Ok(default_format()),
        }
    }

    pub(super) fn run(mut self, settings: &Sources) -> Outcome {
        if let Some(country) = self.country {
            let zone = register::of_country(country).ok_or(ResolveError::Country(country));
            self.zone = Some(zone.map_err(unresolved)?.id.clone());
        }
        let format = self.format()?;
        let places = self.tables.open(&Config::load(settings)?)?;
        let mut sources: BTreeMap<String, usize> = BTreeMap::new();
        let colours: Vec<Coloured> = places
            .map()
            .areas()
            .iter()
            .map(|area| {
                let intensity = places.intensity(&area.id).ok();
                if let Some(known) = &intensity {
                    *sources
                        .entry(known.provenance.source.to_string())
                        .or_default() += 1;
                }
                Coloured {
                    area: area.id.clone(),
                    name: register::find(&area.id.zone)
                        .map_or_else(|_| String::new(), |zone| zone.name.clone()),
                    value: intensity.map(|intensity| intensity.value),
                }
            })
            .collect();
        let mut named: Vec<(String, usize)> = sources.into_iter().collect();
        named.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let map = IntensityMap {
            map: places.map(),
            title: self.title(),
            sources: named.into_iter().map(|(name, _)| name).collect(),
            mark: self.mark(&places)?,
        };
        let svg = match &self.zone {
            None => map.world(&colours),
            Some(zone) => map
                .detail(&places.area_called(zone).map_err(unresolved)?, &colours)
                .ok_or_else(|| anyhow::anyhow!("the zone {zone} has no polygon on the map"))?,
        };
        let text = match format {
            Format::Svg => svg,
            Format::Html => page(&map.title, &svg, &colours),
        };
        match &self.output {
            Some(path) => write_file(path, text.as_bytes(), self.force)?,
            None => print(&text)?,
        }
        Ok(exit::DONE)
    }

    fn title(&self) -> String {
        let year = self
            .tables
            .figures
            .year
            .map_or_else(String::new, |year| format!(", {year}"));
        let place = self.zone.as_ref().map_or_else(String::new, |zone| {
            register::find(zone)
                .map_or_else(|_| format!(", {zone}"), |known| format!(", {}", known.name))
        });
        format!("Carbon intensity of electricity{place}{year}")
    }

    fn mark(&self, places: &PlaceResolver) -> Result<Option<(Point, String)>, Failure> {
        let query = match (&self.address, self.at) {
            (Some(address), _) => PlaceQuery::Address(address.clone()),
            (None, Some(point)) => PlaceQuery::Point(point),
            (None, None) => return Ok(None),
        };
        let place = places.resolve(&query).map_err(unresolved)?;
        let point = place.point;
        let caption = Answer::new(place, None).caption();
        Ok(point.map(|point| (point, caption)))
    }
}

/// The map on a page, with the same figures as a table for those who cannot see it.
fn page(title: &str, svg: &str, colours: &[Coloured]) -> String {
    let title = escape::html(title);
    let mut rows: Vec<&Coloured> = colours.iter().filter(|zone| zone.value.is_some()).collect();
    rows.sort_by(|a, b| {
        a.value
            .partial_cmp(&b.value)
            .expect("intensities are finite")
    });
    let mut table = Table::new(&["Zone", "Name"], &["g CO2eq/kWh"]);
    for zone in rows {
        let grams = zone.value.map_or(0.0, crate::units::GramsPerKwh::get);
        table.push([zone.area.label(), zone.name.clone(), format!("{grams:.0}")]);
    }
    let table = table.html();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>body{{font-family:system-ui,sans-serif;max-width:1240px;margin:1rem auto;padding:0 1rem;color:#1f2933}}\
         svg{{max-width:100%;height:auto}}table{{border-collapse:collapse}}td,th{{padding:.2rem .8rem;text-align:left;border-bottom:1px solid #d9e2ec}}\
         td:last-child,th:last-child{{text-align:right}}</style>\n\
         <main>\n{svg}<details><summary>The figures as a table, cleanest first</summary>\n{table}</details>\n</main>\n</html>\n"
    )
}
