use crate::log::{RecordedIntensity, Row};
use crate::model::Info;
use crate::units::{GramsCo2e, GramsPerKwh, IntensityRange, OutOfRange};

use super::stated_sources::StatedSources;
use crate::ledger::RecordedCarbon;

/// Carbon over a run whose intensity was recorded now and then.
///
/// A row without an answer takes the last known one; rows before the first answer take that first
/// answer. Whether anything was known at all shows only at the end.
#[derive(Debug, Default)]
pub(in crate::ledger) struct RecordedSeries {
    first: Option<f64>,
    last: Option<f64>,
    range: Option<IntensityRange>,
    waiting_kwh: f64,
    waiting_rows: u64,
    /// Since the first answer.
    later_grams: f64,
    grams: f64,
    sum: f64,
    rows: u64,
    sources: StatedSources,
}

impl RecordedSeries {
    /// Adds the energy of the interval that ends at a row with this answer.
    pub(in crate::ledger) fn add(&mut self, kwh: f64, recorded: RecordedIntensity) {
        if let Some(known) = recorded.known() {
            let range = IntensityRange::of(known);
            self.range = Some(self.range.map_or(range, |all| all.join(range)));
            let intensity = known.get();
            if self.last.is_none() {
                self.grams += self.waiting_kwh * intensity;
                self.sum += self.waiting_rows as f64 * intensity;
            }
            self.first.get_or_insert(intensity);
            self.last = Some(intensity);
        }
        self.rows += 1;
        if let Some(intensity) = self.last {
            self.grams += kwh * intensity;
            self.later_grams += kwh * intensity;
            self.sum += intensity;
        } else {
            self.waiting_kwh += kwh;
            self.waiting_rows += 1;
        }
    }

    /// Takes note of who stated the intensity of a row, as its text says.
    pub(in crate::ledger) fn see_source(&mut self, row: &Row) {
        if row.carbon_intensity.known().is_some() {
            self.sources.see(row.intensity_source);
        }
    }

    /// The first answer, in g/kWh.
    pub(in crate::ledger) fn first(&self) -> Option<f64> {
        self.first
    }

    /// kWh before the first answer, and grams since it.
    pub(in crate::ledger) fn so_far(&self) -> (f64, f64) {
        (self.waiting_kwh, self.later_grams)
    }

    /// The mass so far, or none if there never was an answer.
    pub(in crate::ledger) fn mass(&self) -> Option<Result<GramsCo2e, OutOfRange>> {
        self.last.map(|_| GramsCo2e::from_grams(self.grams))
    }

    /// What was recorded, or none if there never was an answer.
    pub(in crate::ledger) fn finish(
        &self,
        info: &Info,
    ) -> Result<Option<RecordedCarbon>, OutOfRange> {
        let Some((mass, range)) = self.mass().zip(self.range) else {
            return Ok(None);
        };
        let mean = match range.only() {
            Some(intensity) => intensity,
            None => GramsPerKwh::new(self.sum / self.rows as f64)?,
        };
        Ok(Some(RecordedCarbon {
            mass: mass?,
            mean,
            range,
            sources: self.sources.finish(info),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use RecordedIntensity::{Known, NotAsked, Unanswered};

    fn known(grams: f64) -> RecordedIntensity {
        Known(GramsPerKwh::new(grams).unwrap())
    }

    #[test]
    fn gaps_take_the_last_answer_and_the_beginning_takes_the_first() {
        let mut series = RecordedSeries::default();
        for (kwh, answer) in [
            (1.0, Unanswered),
            (2.0, known(100.0)),
            (4.0, NotAsked),
            (8.0, known(200.0)),
        ] {
            series.add(kwh, answer);
        }
        let carbon = series.finish(&Info::default()).unwrap().unwrap();
        assert_eq!(carbon.mass.grams(), 700.0 + 1600.0);
        assert_eq!(carbon.mean.get(), 125.0);
    }

    #[test]
    fn the_mean_of_equal_answers_is_the_answer() {
        let mut series = RecordedSeries::default();
        for _ in 0..1000 {
            series.add(0.1, known(41.3));
        }
        let carbon = series.finish(&Info::default()).unwrap().unwrap();
        assert_eq!(carbon.mean.get(), 41.3);
    }

    #[test]
    fn without_any_answer_nothing_is_recorded() {
        let mut series = RecordedSeries::default();
        series.add(1.0, Unanswered);
        assert_eq!(series.finish(&Info::default()).unwrap(), None);
    }
}
