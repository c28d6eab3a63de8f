use std::fmt;

use chrono::{DateTime, Utc};

use super::{Declined, IntensityProvider, Period, Series};
use crate::grid::zone::ZoneId;

/// Providers in the order they are asked; the first that answers is taken.
pub struct ProviderChain {
    rungs: Vec<Box<dyn IntensityProvider>>,
}

/// A series, the rung it came from, and why those above declined.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Answer {
    pub series: Series,
    pub rung: &'static str,
    pub declined: Vec<Refusal>,
}

/// One rung that did not answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    pub rung: &'static str,
    pub reason: Declined,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rung, self.reason.reason())
    }
}

/// No rung answered; each says why.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("nobody knows the carbon intensity of {zone} for this period")]
pub struct NobodyAnswered {
    pub zone: ZoneId,
    pub declined: Vec<Refusal>,
}

impl ProviderChain {
    #[must_use]
    pub fn new(rungs: Vec<Box<dyn IntensityProvider>>) -> Self {
        Self { rungs }
    }

    /// The same ladder with one more rung at its foot.
    #[must_use]
    pub fn then(mut self, rung: Box<dyn IntensityProvider>) -> Self {
        self.rungs.push(rung);
        self
    }

    /// The names of the rungs, in the order they are asked.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.rungs.iter().map(|rung| rung.name())
    }

    pub fn intensity(&self, zone: &ZoneId, period: &Period) -> Result<Answer, NobodyAnswered> {
        self.climb(zone, |rung| rung.intensity(zone, period))
    }

    /// The newest values of the first rung that has any.
    pub fn latest(&self, zone: &ZoneId, now: DateTime<Utc>) -> Result<Answer, NobodyAnswered> {
        self.climb(zone, |rung| rung.latest(zone, now))
    }

    fn climb(
        &self,
        zone: &ZoneId,
        ask: impl Fn(&dyn IntensityProvider) -> Result<Series, Declined>,
    ) -> Result<Answer, NobodyAnswered> {
        let mut declined = Vec::new();
        for rung in &self.rungs {
            match ask(rung.as_ref()) {
                Ok(series) => {
                    return Ok(Answer {
                        series,
                        rung: rung.name(),
                        declined,
                    });
                }
                Err(reason) => declined.push(Refusal {
                    rung: rung.name(),
                    reason,
                }),
            }
        }
        Err(NobodyAnswered {
            zone: zone.clone(),
            declined,
        })
    }
}

impl fmt::Debug for ProviderChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
