use super::{RecordedSeries, emissions};
use crate::ledger::AssumedPue;
use crate::log::RecordedIntensity;
use crate::model::info::Region;
use crate::units::{Energy, GramsCo2e, GramsPerKwh, Pue};

/// The emissions of a run that is still going on.
///
/// Intensities recorded with the samples are used as in the [`Footprint`](super::Footprint) of the
/// finished run; without any, the average of the region.
#[derive(Debug)]
pub(crate) struct RunningEmissions {
    average: Option<GramsPerKwh>,
    pue: Pue,
    recorded: RecordedSeries,
    energy: Energy,
}

impl RunningEmissions {
    pub(crate) fn new(region: Option<&Region>, pue: Option<Pue>) -> Self {
        Self {
            average: region.and_then(|region| region.carbon_intensity),
            pue: pue.unwrap_or_else(|| AssumedPue::newest().pue),
            recorded: RecordedSeries::default(),
            energy: Energy::ZERO,
        }
    }

    /// The mass up to a sample: the run's energy so far and the intensity recorded with it, if any.
    pub(crate) fn up_to(
        &mut self,
        energy: Energy,
        intensity: Option<GramsPerKwh>,
    ) -> Option<GramsCo2e> {
        let added = energy.saturating_sub(self.energy);
        self.energy = energy;
        let recorded = intensity.map_or(RecordedIntensity::NotAsked, RecordedIntensity::Known);
        self.recorded.add(added.kwh(), recorded);
        match self.recorded.mass() {
            Some(mass) => mass.ok().map(|mass| mass * self.pue),
            None => Some(emissions(energy, self.pue, self.average?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_intensities_replace_the_average_of_the_region() {
        let mut running = RunningEmissions {
            average: GramsPerKwh::new(400.0).ok(),
            ..RunningEmissions::new(None, "1.5".parse().ok())
        };
        let mut grams = |kwh: f64, intensity: Option<f64>| {
            let intensity = intensity.map(|grams| GramsPerKwh::new(grams).unwrap());
            let mass = running.up_to(Energy::from_kwh(kwh).unwrap(), intensity);
            mass.map(GramsCo2e::grams)
        };
        assert_eq!(grams(1.0, None), Some(600.0));
        assert_eq!(grams(2.0, Some(100.0)), Some(300.0));
        assert_eq!(grams(3.0, Some(200.0)), Some(600.0));
        assert_eq!(
            RunningEmissions::new(None, None).up_to(Energy::ZERO, None),
            None
        );
    }
}
