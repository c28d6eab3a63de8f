use std::path::PathBuf;

use clap::Args;

use crate::cli::settings::Config;
use crate::cli::{Advise as _, Failure};
use crate::grid::PlaceResolver;
use crate::grid::intensity::{Dataset, Emissions};

/// Which figures answers are from.
#[derive(Debug, Default, Args)]
pub(in crate::cli) struct Figures {
    /// The year the electricity was used [default: the newest]
    #[arg(long, value_parser = clap::value_parser!(i32).range(1900..=2200))]
    pub(in crate::cli) year: Option<i32>,
    /// Data set of intensities: auto, electricity-maps, eit-2019, ember or egrid [default: auto]
    #[arg(long, value_name = "NAME")]
    dataset: Option<Dataset>,
    /// Only figures that count these emissions: life-cycle or direct; direct ones are known of American states
    #[arg(long, value_name = "EMISSIONS")]
    basis: Option<Emissions>,
    /// Table of intensities to use before the built-in ones: `zone,g_per_kwh[,year][,source]`
    #[arg(long, value_name = "FILE.csv")]
    intensities: Option<PathBuf>,
}

/// Which map and which figures answers are from.
#[derive(Debug, Default, Args)]
pub(in crate::cli) struct Tables {
    #[command(flatten)]
    pub(in crate::cli) figures: Figures,
    /// Map of zones to use instead of the built-in one
    #[arg(long, value_name = "FILE.geojson")]
    zones: Option<PathBuf>,
}

impl Figures {
    /// A resolver for places that need no map: zones, countries and cloud regions.
    pub(in crate::cli) fn open(&self, config: &Config) -> Result<PlaceResolver, Failure> {
        let dataset = config.or(self.dataset, "dataset").unwrap_or_default();
        let resolver = PlaceResolver::new(self.year, dataset).counting(self.basis)?;
        let intensities: Option<PathBuf> = config.or(self.intensities.clone(), "intensities");
        Ok(match intensities {
            Some(path) => resolver
                .with_table(&path)
                .advise("a table with the header zone,g_per_kwh and rows such as DE,342")?,
            None => resolver,
        })
    }
}

impl Tables {
    /// A resolver with the map and the figures of the command line and the settings.
    pub(in crate::cli) fn open(&self, config: &Config) -> Result<PlaceResolver, Failure> {
        let resolver = self.figures.open(config)?;
        let zones: Option<PathBuf> = config.or(self.zones.clone(), "zones");
        Ok(match zones {
            Some(path) => resolver
                .with_map(&path)
                .advise("GeoJSON as `impact region --all --format geojson` writes it")?,
            None => resolver,
        })
    }
}
