mod answer;
pub(super) mod show;

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use answer::{Answer, Candidate};
use geo::Centroid;
use show::{Format, grouped, say, show, with_bold_heading};

use super::{Advise, Failure, Outcome};
use crate::intensity::given::Given;
use crate::intensity::{Dataset, Fallback, Intensity, for_area};
use crate::zone::{self, AreaId, Found, Iso3, Located, Map, Point, ZoneId, cloud, detect, place, register};

/// Find the electricity zone of a place and how dirty its electricity is
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("place").required(true).args(
    ["address", "lat", "zone", "country", "cloud", "current", "top", "bottom", "all"]
)))]
#[command(after_help = "Example:\n  impact region --address \"Stanford, California\"")]
pub(super) struct Region {
    /// A city, as one writes it: `Cambridge, UK`, `Cambridge MA`, `Genève`
    #[arg(long, value_name = "TEXT")]
    address: Option<String>,
    /// Latitude in degrees
    #[arg(long, value_name = "DEGREES", requires = "lon", allow_negative_numbers = true)]
    lat: Option<f64>,
    /// Longitude in degrees
    #[arg(long, value_name = "DEGREES", requires = "lat", allow_negative_numbers = true)]
    lon: Option<f64>,
    /// A zone of the electricity map, such as US-CA
    #[arg(long, value_name = "ZONE")]
    zone: Option<ZoneId>,
    /// A country, by code or name
    #[arg(long, value_name = "COUNTRY")]
    country: Option<Iso3>,
    /// A cloud region, such as aws:us-east-1
    #[arg(long, value_name = "PROVIDER:REGION")]
    cloud: Option<String>,
    /// This machine: the zone in `IMPACT_ZONE`, else the cloud its own files name
    #[arg(long)]
    current: bool,
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
    /// The year the electricity was used [default: the newest there is]
    #[arg(long, value_parser = clap::value_parser!(i32).range(1900..=2200))]
    year: Option<i32>,
    /// Which figures: auto, electricity-maps, eit-2019 or ember
    #[arg(long, value_name = "NAME", default_value_t)]
    dataset: Dataset,
    /// A map of your own
    #[arg(long, value_name = "FILE.geojson")]
    zones: Option<PathBuf>,
    /// Intensities of your own: zone,g_per_kwh[,year][,source]
    #[arg(long, value_name = "FILE.csv")]
    intensities: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Region {
    pub(super) fn run(self) -> Outcome {
        let desk = Desk {
            own_map: self.zones.as_deref().map(read_map).transpose()?,
            given: self.intensities.as_deref().map(Given::read).transpose()?.unwrap_or_default(),
            year: self.year,
            dataset: self.dataset,
        };
        let answers = self.answers(&desk)?;
        let alone = answers.len() == 1 && !self.is_list();
        let map = desk.own_map.as_ref();
        let text = match self.format {
            Format::Geojson => show(&answers, alone, Format::Geojson, map.unwrap_or_else(|| Map::shipped()))?,
            Format::Text => with_bold_heading(show(&answers, alone, Format::Text, &Map::new(Vec::new()))?),
            other => show(&answers, alone, other, &Map::new(Vec::new()))?,
        };
        say(&text)
    }

    fn is_list(&self) -> bool {
        self.all || self.top.is_some() || self.bottom.is_some() || self.near.is_some()
    }

    fn answers(&self, desk: &Desk) -> Result<Vec<Answer>, Failure> {
        if self.all {
            return desk.all();
        }
        if let Some(count) = self.top.or(self.bottom) {
            return desk.ranked(count, self.top.is_some());
        }
        let (answer, point) = self.place(desk)?;
        let Some(count) = self.near else {
            return Ok(vec![answer]);
        };
        let point = point.or_else(|| desk.middle_of(&answer.area)).ok_or_else(|| {
            Failure::new(anyhow::anyhow!("the zone {} has no place on the map", answer.area))
        })?;
        desk.around(point, count)
    }

    fn place(&self, desk: &Desk) -> Result<(Answer, Option<Point>), Failure> {
        if let Some(address) = &self.address {
            return desk.address(address);
        }
        if let (Some(lat), Some(lon)) = (self.lat, self.lon) {
            let point = Point::new(lat, lon)?;
            return Ok((desk.point(point, None)?, Some(point)));
        }
        if let Some(id) = &self.zone {
            let area = desk.area_called(id)?;
            return Ok((desk.answer(area, None, "the zone's own name".into())?, None));
        }
        if let Some(country) = self.country {
            let zone = register::of_country(country)
                .ok_or_else(|| anyhow::anyhow!("{country} is no zone of the map"))?;
            let how = format!("the country {}", country.name());
            return Ok((desk.answer(AreaId::from(zone.id.clone()), None, how)?, None));
        }
        let region = match &self.cloud {
            Some(text) => cloud::find(text).advise("impact cloud all")?,
            None => return desk.this_machine(),
        };
        desk.cloud(region, None)
    }
}

fn read_map(path: &std::path::Path) -> Result<Map, Failure> {
    use anyhow::Context as _;
    const LARGEST: u64 = 256 << 20;
    let shown = path.display();
    let size = std::fs::metadata(path).with_context(|| format!("cannot read {shown}"))?.len();
    if size > LARGEST {
        return Err(anyhow::anyhow!("{shown} is larger than 256 MB").into());
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    Ok(zone::geojson::read(&text).with_context(|| format!("{shown} is not a map of zones"))?)
}

/// What every answer depends on.
struct Desk {
    own_map: Option<Map>,
    given: Given,
    year: Option<i32>,
    dataset: Dataset,
}

impl Desk {
    fn map(&self) -> &Map {
        self.own_map.as_ref().unwrap_or_else(|| Map::shipped())
    }

    fn intensity(&self, area: &AreaId) -> Result<Intensity, Failure> {
        match self.given.of(&area.zone, self.year) {
            Some(given) => Ok(given),
            None => for_area(area, self.year, self.dataset)
                .advise("add the zone to a table and pass it with --intensities FILE.csv"),
        }
    }

    fn answer(&self, area: AreaId, point: Option<Point>, how: String) -> Result<Answer, Failure> {
        let intensity = self.intensity(&area)?;
        Ok(Answer::new(area, &intensity, point, how))
    }

    fn area_called(&self, id: &ZoneId) -> Result<AreaId, Failure> {
        if self.own_map.is_some() || self.given.of(id, self.year).is_some() {
            return Ok(AreaId::from(id.clone()));
        }
        register::find_area(id).advise("impact region --all")
    }

    fn point(&self, point: Point, country: Option<Iso3>) -> Result<Answer, Failure> {
        let located = match (&self.own_map, country) {
            (Some(map), _) => map.locate(point),
            (None, Some(country)) => zone::locate_in(point, country),
            (None, None) => zone::locate(point),
        };
        let Located { area, found } =
            located.advise("a place on land, or --country or --zone for the electricity used there")?;
        let how = match found {
            Found::Inside => format!("the point lies inside {area}"),
            Found::Nearest { degrees } => {
                format!("the point lies in no zone; {area} is the nearest, {degrees:.2} degrees away")
            }
            _ => format!("there is no zone at the point; {area} is the whole country"),
        };
        self.answer(area, Some(point), how)
    }

    fn address(&self, address: &str) -> Result<(Answer, Option<Point>), Failure> {
        let places = place::find(address)
            .advise("another spelling, `City, Country`, or --lat and --lon, --zone or --country")?;
        let chosen = &places[0];
        let mut answer = self.point(chosen.point, Some(chosen.country))?;
        answer.explain_first(&format!("gazetteer: {chosen} ({} people)", grouped(chosen.population)));
        answer.candidates = places.iter().enumerate().map(|(n, place)| Candidate::new(place, n == 0)).collect();
        Ok((answer, Some(chosen.point)))
    }

    fn cloud(&self, region: &cloud::CloudRegion, evidence: Option<String>) -> Result<(Answer, Option<Point>), Failure> {
        let mut answer = match self.own_map {
            Some(_) => self.point(region.point, None)?,
            None => self.answer(region.area.clone(), Some(region.point), format!("its city lies in {}", region.area))?,
        };
        let evidence = evidence.map_or_else(String::new, |file| format!("{file}: "));
        answer.explain_first(&format!("{evidence}cloud region {}:{} in {}", region.provider, region.code, region.city));
        Ok((answer, Some(region.point)))
    }

    fn this_machine(&self) -> Result<(Answer, Option<Point>), Failure> {
        if let Some(configured) = std::env::var("IMPACT_ZONE").ok().filter(|zone| !zone.is_empty()) {
            let area = self.area_called(&configured.parse::<ZoneId>()?)?;
            return Ok((self.answer(area, None, "IMPACT_ZONE names the zone".into())?, None));
        }
        let nowhere = || Failure::new(anyhow::anyhow!("this machine's own files do not say where it is"));
        let found = detect::detect(&detect::Roots::from_env())
            .ok_or_else(|| nowhere().advise("IMPACT_ZONE=US-CA impact region --current, or --address"))?;
        let region = found.region.ok_or_else(|| {
            nowhere().advise(format!(
                "--cloud {0}:REGION; it is in {0}, says {1}",
                found.provider,
                found.evidence.display()
            ))
        })?;
        self.cloud(region, Some(found.evidence.display().to_string()))
    }

    fn all(&self) -> Result<Vec<Answer>, Failure> {
        let areas = self.map().areas().iter();
        areas.map(|area| self.answer(area.id.clone(), None, "listed".into())).collect()
    }

    /// The dirtiest or cleanest zones among those with a figure of their own.
    fn ranked(&self, count: usize, dirtiest: bool) -> Result<Vec<Answer>, Failure> {
        let mut zones: Vec<ZoneId> = self.map().areas().iter().map(|area| area.id.zone.clone()).collect();
        zones.sort();
        zones.dedup();
        let mut answers = Vec::new();
        for zone in zones {
            let area = AreaId::from(zone);
            let intensity = self.intensity(&area)?;
            let borrowed = |fallback: &Fallback| matches!(fallback, Fallback::Wider { .. } | Fallback::World);
            if !intensity.fallbacks.iter().any(borrowed) {
                answers.push(Answer::new(area, &intensity, None, "ranked by intensity".into()));
            }
        }
        answers.sort_by(|a, b| a.intensity().total_cmp(&b.intensity()));
        if dirtiest {
            answers.reverse();
        }
        answers.truncate(count);
        Ok(answers)
    }

    fn around(&self, point: Point, count: usize) -> Result<Vec<Answer>, Failure> {
        let mut answers = Vec::new();
        for (area, km) in self.map().around(point).into_iter().take(count.saturating_add(1)) {
            let mut answer = self.answer(area.clone(), None, format!("{km:.0} km from {point}"))?;
            answer.distance_km = Some(km.round());
            answers.push(answer);
        }
        Ok(answers)
    }

    fn middle_of(&self, area: &AreaId) -> Option<Point> {
        let shape = self.map().areas().iter().find(|known| known.id.zone == area.zone)?;
        let middle = shape.shape.centroid()?;
        Point::new(middle.y(), middle.x()).ok()
    }
}
