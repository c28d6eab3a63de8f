use std::collections::BTreeMap;
use std::sync::OnceLock;

use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;

use super::{Declined, Point};
use crate::grid::data;
use crate::units::GramsPerKwh;

/// What a kWh is generated from, as finely as the emission factors distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fuel {
    BatteryDischarge,
    Biomass,
    Coal,
    Gas,
    Geothermal,
    Hydro,
    HydroDischarge,
    Nuclear,
    Oil,
    Solar,
    Unknown,
    Wind,
}

#[derive(Deserialize)]
struct Row {
    fuel: String,
    g_per_kwh: f64,
}

fn table() -> &'static [Row] {
    static TABLE: OnceLock<Vec<Row>> = OnceLock::new();
    TABLE.get_or_init(|| data::FUELS.rows())
}

impl Fuel {
    fn name(self) -> &'static str {
        match self {
            Self::BatteryDischarge => "battery discharge",
            Self::Biomass => "biomass",
            Self::Coal => "coal",
            Self::Gas => "gas",
            Self::Geothermal => "geothermal",
            Self::Hydro => "hydro",
            Self::HydroDischarge => "hydro discharge",
            Self::Nuclear => "nuclear",
            Self::Oil => "oil",
            Self::Solar => "solar",
            Self::Unknown => "unknown",
            Self::Wind => "wind",
        }
    }

    /// The life-cycle emissions of a kWh made from it.
    pub fn factor(self) -> GramsPerKwh {
        let row = table()
            .iter()
            .find(|row| row.fuel == self.name())
            .expect("the shipped fuel table has every fuel");
        GramsPerKwh::new(row.g_per_kwh).expect("the shipped factors are intensities")
    }
}

/// What a grid generates at one time, by fuel.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mix {
    megawatts: f64,
    tonnes_per_hour: f64,
    reports: u32,
}

impl Mix {
    /// Adds what one fuel generates; charging storage and night-time losses (below 0) are load.
    pub fn add(&mut self, fuel: Fuel, megawatts: f64) {
        self.reports += 1;
        if megawatts.is_finite() && megawatts > 0.0 {
            self.megawatts += megawatts;
            self.tonnes_per_hour += megawatts * fuel.factor().get() / 1000.0;
        }
    }

    /// The average over what is generated; a grid that generates nothing has none.
    pub fn intensity(&self) -> Result<GramsPerKwh, Declined> {
        if self.megawatts > 0.0 {
            Ok(GramsPerKwh::new(
                self.tonnes_per_hour * 1000.0 / self.megawatts,
            )?)
        } else {
            Err(Declined::NoValues)
        }
    }
}

/// The mixes without the newest ones that some fuels are still missing from.
///
/// Fuels are reported one by one. Until all of them are, the rest would pass for the whole.
fn without_incomplete_end(mut mixes: BTreeMap<DateTime<Utc>, Mix>) -> BTreeMap<DateTime<Utc>, Mix> {
    const LATE: TimeDelta = TimeDelta::hours(6);
    let most = mixes.values().map(|mix| mix.reports).max().unwrap_or(0);
    let Some(newest) = mixes.keys().next_back().copied() else {
        return mixes;
    };
    while let Some(last) = mixes.last_entry()
        && last.get().reports < most
        && newest.signed_duration_since(*last.key()) < LATE
    {
        last.remove();
    }
    mixes
}

/// The intensities of a grid over time; times at which it generates nothing are left out.
pub fn points(mixes: BTreeMap<DateTime<Utc>, Mix>) -> Result<Vec<Point>, Declined> {
    without_incomplete_end(mixes)
        .into_iter()
        .filter_map(|(at, mix)| match mix.intensity() {
            Ok(intensity) => Some(Ok(Point { at, intensity })),
            Err(Declined::NoValues) => None,
            Err(nonsense) => Some(Err(nonsense)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_is_the_average_of_its_fuels_by_what_they_generate() {
        let mut mix = Mix::default();
        mix.add(Fuel::Coal, 100.0);
        mix.add(Fuel::Wind, 300.0);
        mix.add(Fuel::Solar, -5.0);
        let intensity = mix.intensity().unwrap().get();
        assert!((intensity - (820.0 + 3.0 * 11.0) / 4.0).abs() < 1e-9);
    }

    #[test]
    fn the_newest_times_are_left_out_until_all_fuels_are_reported() {
        let mix = |fuels: &[Fuel]| {
            let mut mix = Mix::default();
            for fuel in fuels {
                mix.add(*fuel, 100.0);
            }
            mix
        };
        let at = |hour: i64| DateTime::UNIX_EPOCH + TimeDelta::hours(hour);
        let mixes = BTreeMap::from([
            (at(0), mix(&[Fuel::Wind])),
            (at(1), mix(&[Fuel::Coal, Fuel::Wind])),
            (at(2), mix(&[Fuel::Wind])),
        ]);
        let times: Vec<_> = points(mixes)
            .unwrap()
            .iter()
            .map(|point| point.at)
            .collect();
        assert_eq!(times, [at(0), at(1)]);
    }

    #[test]
    fn a_grid_that_generates_nothing_has_no_intensity() {
        assert_eq!(Mix::default().intensity(), Err(Declined::NoValues));
        let mixes = BTreeMap::from([(DateTime::UNIX_EPOCH, Mix::default())]);
        assert_eq!(points(mixes), Ok(Vec::new()));
    }
}
