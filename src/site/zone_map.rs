use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::segment::Segments;
use crate::grid::intensity;
use crate::grid::intensity::Dataset;
use crate::grid::intensity::intensity_map::{Coloured, IntensityMap};
use crate::grid::zone::{Map, ZoneId, register};

/// Maps of the zones in which runs took place, each drawn once.
#[derive(Debug, Default)]
pub(super) struct ZoneMaps {
    colours: OnceLock<(Vec<Coloured>, Vec<String>)>,
    drawn: Mutex<BTreeMap<ZoneId, Option<ZoneMapFile>>>,
}

/// A map as a file of the site.
#[derive(Debug, Clone)]
pub(super) struct ZoneMapFile {
    pub(super) file: String,
    pub(super) alt: String,
    pub(super) svg: String,
}

impl ZoneMaps {
    /// The map of a zone; none if the zone has no area.
    pub(super) fn of(&self, zone: &ZoneId) -> Option<ZoneMapFile> {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        drawn
            .entry(zone.clone())
            .or_insert_with(|| self.draw(zone))
            .clone()
    }

    fn draw(&self, zone: &ZoneId) -> Option<ZoneMapFile> {
        let (colours, sources) = self.colours.get_or_init(colours);
        let name = register::find(zone).map_or_else(|_| zone.to_string(), |zone| zone.name.clone());
        let intensity_map = IntensityMap {
            map: Map::embedded(),
            title: format!("Electricity around {name}"),
            sources: sources.clone(),
            mark: None,
        };
        let area = register::find_area(zone).unwrap_or_else(|_| zone.clone().into());
        Some(ZoneMapFile {
            svg: intensity_map.detail(&area, colours)?,
            file: format!(
                "assets/map-{}.svg",
                Segments::default().claim(zone.as_str())
            ),
            alt: format!("Map of {name} and its neighbours, coloured by carbon intensity"),
        })
    }
}

/// The carbon intensity of every area, and the sources.
fn colours() -> (Vec<Coloured>, Vec<String>) {
    let mut sources = BTreeSet::new();
    let coloured = |area: &crate::grid::zone::map::MapArea| {
        let intensity = intensity::for_area(&area.id, None, Dataset::Auto).ok();
        if let Some(known) = &intensity {
            sources.insert(known.provenance.source.to_string());
        }
        Coloured {
            area: area.id.clone(),
            name: register::find(&area.id.zone)
                .map_or_else(|_| String::new(), |zone| zone.name.clone()),
            value: intensity.map(|intensity| intensity.value),
        }
    };
    let colours = Map::embedded().areas().iter().map(coloured).collect();
    (colours, sources.into_iter().collect())
}
