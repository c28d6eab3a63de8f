use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use geo::Centroid;

use super::answer::{Answer, Candidate};
use crate::cli::settings::Config;
use crate::cli::{Advise, Failure, configured};
use crate::grid::intensity::user_table::UserTable;
#[cfg(feature = "live")]
use crate::grid::intensity::{Dataset, Fallback, Intensity, for_area, live};
use crate::grid::zone;
use crate::grid::zone::{
    AreaId, Found, Iso3, Located, Map, Point, ZoneId, cloud, detect, place, register,
};
use crate::text::number::grouped;

fn read_map(path: &Path) -> Result<Map, Failure> {
    const LARGEST: u64 = 256 << 20;
    let shown = path.display();
    let mut bytes = Vec::new();
    // Read up to the limit, not asked for its size: a pipe or device has none.
    std::fs::File::open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
        .with_context(|| format!("cannot read {shown}"))?;
    if bytes.len() as u64 > LARGEST {
        return Err(anyhow::anyhow!("{shown} is larger than 256 MB").into());
    }
    let text = String::from_utf8(bytes).with_context(|| format!("cannot read {shown}"))?;
    Ok(zone::geojson::read(&text).with_context(|| format!("{shown} is not a map of zones"))?)
}

/// Which figures answers are from.
#[derive(Debug, Default, Args)]
pub(in crate::cli) struct Figures {
    /// The year the electricity was used [default: the newest there is]
    #[arg(long, value_parser = clap::value_parser!(i32).range(1900..=2200))]
    pub(in crate::cli) year: Option<i32>,
    /// Which figures: auto, electricity-maps, eit-2019 or ember [default: auto]
    #[arg(long, value_name = "NAME")]
    dataset: Option<Dataset>,
    /// Intensities of your own: `zone,g_per_kwh[,year][,source]`
    #[arg(long, value_name = "FILE.csv")]
    intensities: Option<PathBuf>,
}

/// Which map and which figures answers are from.
#[derive(Debug, Default, Args)]
pub(in crate::cli) struct Tables {
    #[command(flatten)]
    pub(in crate::cli) figures: Figures,
    /// A map of your own
    #[arg(long, value_name = "FILE.geojson")]
    zones: Option<PathBuf>,
}

/// What every answer depends on.
pub(in crate::cli) struct PlaceResolver {
    own_map: Option<Map>,
    given: UserTable,
    year: Option<i32>,
    dataset: Dataset,
}

impl PlaceResolver {
    pub(in crate::cli) fn open(tables: &Tables, config: &Config) -> Result<Self, Failure> {
        let zones: Option<PathBuf> = config.or(tables.zones.clone(), "zones");
        Ok(Self {
            own_map: zones.as_deref().map(read_map).transpose()?,
            ..Self::without_map(&tables.figures, config)?
        })
    }

    /// For areas that are known by name, so that nobody needs to look at a map.
    pub(in crate::cli) fn without_map(figures: &Figures, config: &Config) -> Result<Self, Failure> {
        let intensities: Option<PathBuf> = config.or(figures.intensities.clone(), "intensities");
        Ok(Self {
            own_map: None,
            given: intensities
                .as_deref()
                .map(UserTable::read)
                .transpose()?
                .unwrap_or_default(),
            year: figures.year,
            dataset: config.or(figures.dataset, "dataset").unwrap_or_default(),
        })
    }

    pub(in crate::cli) fn map(&self) -> &Map {
        self.own_map.as_ref().unwrap_or_else(|| Map::shipped())
    }

    pub(in crate::cli) fn intensity(&self, area: &AreaId) -> Result<Intensity, Failure> {
        match self.given.of(&area.zone, self.year) {
            Some(given) => Ok(given),
            None => for_area(area, self.year, self.dataset)
                .advise("add the zone to a table and pass it with --intensities FILE.csv"),
        }
    }

    pub(super) fn answer(
        &self,
        area: AreaId,
        point: Option<Point>,
        how: String,
    ) -> Result<Answer, Failure> {
        let intensity = self.intensity(&area)?;
        Ok(Answer::new(area, &intensity, point, how))
    }

    pub(in crate::cli) fn area_called(&self, id: &ZoneId) -> Result<AreaId, Failure> {
        if self.own_map.is_some() || self.given.of(id, self.year).is_some() {
            return Ok(AreaId::from(id.clone()));
        }
        register::find_area(id).advise("impact region --all")
    }

    fn locate(&self, point: Point, country: Option<Iso3>) -> Result<Located, Failure> {
        match (&self.own_map, country) {
            (Some(map), _) => map.locate(point),
            (None, Some(country)) => zone::locate_in(point, country),
            (None, None) => zone::locate(point),
        }
        .advise("a place on land, or --country or --zone for the electricity used there")
    }

    /// The area of the map in force that a point lies in.
    pub(in crate::cli) fn area_at(
        &self,
        point: Point,
        country: Option<Iso3>,
    ) -> Result<AreaId, Failure> {
        Ok(self.locate(point, country)?.area)
    }

    /// The area of the map in force that a cloud region lies in.
    pub(in crate::cli) fn area_of(&self, region: &cloud::CloudRegion) -> Result<AreaId, Failure> {
        match self.own_map {
            Some(_) => self.area_at(region.point, None),
            None => Ok(region.area.clone()),
        }
    }

    pub(in crate::cli) fn point(
        &self,
        point: Point,
        country: Option<Iso3>,
    ) -> Result<Answer, Failure> {
        let Located { area, found } = self.locate(point, country)?;
        let how = match found {
            Found::Inside => format!("the point lies inside {}", area.label()),
            Found::Nearest { degrees } => {
                format!(
                    "the point lies in no zone; {} is the nearest, {degrees:.2} degrees away",
                    area.label()
                )
            }
            Found::Border { degrees } => format!(
                "the map draws a border on the wrong side of the point; {} is its own country's, {degrees:.2} degrees away",
                area.label()
            ),
            Found::Country => {
                format!("there is no zone of the country at the point; {area} is the whole country")
            }
        };
        self.answer(area, Some(point), how)
    }

    pub(in crate::cli) fn address(
        &self,
        address: &str,
    ) -> Result<(Answer, Option<Point>), Failure> {
        let places = place::find(address)
            .advise("another spelling, `City, Country`, or --lat and --lon, --zone or --country")?;
        let chosen = &places[0];
        let mut answer = self.point(chosen.point, Some(chosen.country))?;
        answer.explain_first(&format!(
            "gazetteer: {chosen} ({} people)",
            grouped(&chosen.population.to_string())
        ));
        answer.candidates = places
            .iter()
            .enumerate()
            .map(|(n, place)| Candidate::new(place, n == 0))
            .collect();
        Ok((answer, Some(chosen.point)))
    }

    fn zone(&self, name: &str, how: String) -> Result<(Answer, Option<Point>), Failure> {
        let area = self.area_called(&name.parse()?)?;
        Ok((self.answer(area, None, how)?, None))
    }

    pub(super) fn cloud(
        &self,
        region: &cloud::CloudRegion,
        evidence: Option<String>,
    ) -> Result<(Answer, Option<Point>), Failure> {
        let mut answer = match self.own_map {
            Some(_) => self.point(region.point, None)?,
            None => self.answer(
                region.area.clone(),
                Some(region.point),
                format!("its city lies in {}", region.area.label()),
            )?,
        };
        let evidence = evidence.map_or_else(String::new, |file| format!("{file}: "));
        answer.explain_first(&format!(
            "{evidence}cloud region {}:{} in {}",
            region.provider, region.code, region.city
        ));
        Ok((answer, Some(region.point)))
    }

    /// Where the settings say this machine is, else the cloud that its own files name.
    pub(super) fn this_machine(&self, config: &Config) -> Result<(Answer, Option<Point>), Failure> {
        if let Some(setting) = config.strongest(&["zone", "region", "address"])
            && let Some(value) = &setting.value
        {
            let origin = setting.origin.to_string();
            let answered = match setting.key.name {
                "zone" => self.zone(value, format!("{origin} names the zone")),
                "region" => cloud::find(value)
                    .advise("impact cloud all")
                    .and_then(|region| self.cloud(region, Some(origin.clone()))),
                _ => self.address(value).map(|(mut answer, point)| {
                    answer.explain_first(&format!("{origin} names the address"));
                    (answer, point)
                }),
            };
            return answered.map_err(|failure| {
                failure.within(format!("the place set by {origin} cannot be used"))
            });
        }
        let nowhere = || {
            Failure::new(anyhow::anyhow!(
                "this machine's own files do not say where it is"
            ))
        };
        let found = detect::detect(&configured::machine(None, config)).ok_or_else(|| {
            nowhere().advise("IMPACT_ZONE=US-CA impact region --current, or --address")
        })?;
        let region = found.region.ok_or_else(|| {
            nowhere().advise(format!(
                "--cloud {0}:REGION; it is in {0}, says {1}",
                found.provider,
                found.evidence.display()
            ))
        })?;
        self.cloud(region, Some(found.evidence.display().to_string()))
    }

    #[cfg(feature = "live")]
    pub(super) fn network_address(
        &self,
        config: &Config,
    ) -> Result<(Answer, Option<Point>), Failure> {
        let place = live::geolocate(&configured::client(config))
            .map_err(|declined| {
                anyhow::anyhow!(declined.reason()).context("the geolocation service gave no answer")
            })
            .advise("--address or --zone, which ask nobody")?;
        let point = Point::new(place.lat, place.lon)?;
        let mut answer = self.point(point, None)?;
        answer.explain_first(&format!(
            "the network address is in {}, says the geolocation service",
            place.name
        ));
        Ok((answer, Some(point)))
    }

    pub(super) fn all(&self) -> Result<Vec<Answer>, Failure> {
        let areas = self.map().areas().iter();
        areas
            .map(|area| self.answer(area.id.clone(), None, "listed".into()))
            .collect()
    }

    /// The dirtiest or cleanest zones among those with a figure of their own.
    pub(super) fn ranked(&self, count: usize, dirtiest: bool) -> Result<Vec<Answer>, Failure> {
        // Also zones without an area of their own on the map; a map of the user's says all there are.
        let zones: BTreeSet<ZoneId> = match &self.own_map {
            Some(map) => map
                .areas()
                .iter()
                .map(|area| area.id.zone.clone())
                .collect(),
            None => register::all().keys().cloned().collect(),
        };
        let mut answers = Vec::new();
        for zone in zones {
            let area = AreaId::from(zone);
            let intensity = self.intensity(&area)?;
            let borrowed =
                |fallback: &Fallback| matches!(fallback, Fallback::Wider { .. } | Fallback::World);
            if !intensity.provenance.fallbacks.iter().any(borrowed) {
                answers.push(Answer::new(
                    area,
                    &intensity,
                    None,
                    "ranked by intensity".into(),
                ));
            }
        }
        answers.sort_by(|a, b| a.intensity().total_cmp(&b.intensity()));
        if dirtiest {
            answers.reverse();
        }
        answers.truncate(count);
        Ok(answers)
    }

    pub(super) fn around(&self, point: Point, count: usize) -> Result<Vec<Answer>, Failure> {
        let mut answers = Vec::new();
        for (area, km) in self
            .map()
            .around(point)
            .into_iter()
            .take(count.saturating_add(1))
        {
            let mut answer = self.answer(area.clone(), None, format!("{km:.0} km from {point}"))?;
            answer.distance_km = Some(km.round());
            answers.push(answer);
        }
        Ok(answers)
    }

    pub(super) fn middle_of(&self, area: &AreaId) -> Option<Point> {
        let shape = self
            .map()
            .areas()
            .iter()
            .find(|known| known.id.zone == area.zone)?;
        let middle = shape.shape.centroid()?;
        Point::new(middle.y(), middle.x()).ok()
    }
}
