//! Several providers, asked one after the other.

use std::fmt;

use chrono::{DateTime, Utc};

use super::{Declined, IntensityProvider, Period, Series};
use crate::grid::zone::ZoneId;

/// Providers in the order they are asked; the first that answers is taken.
pub struct ProviderChain {
    providers: Vec<Box<dyn IntensityProvider>>,
}

/// A series, the provider it came from, and why the providers asked before it declined.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Answer {
    /// The intensities.
    pub series: Series,
    /// The name of the provider they come from.
    pub provider: &'static str,
    /// The providers asked before, and why each declined.
    pub declined: Vec<Refusal>,
}

/// One provider that did not answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The name of the provider.
    pub provider: &'static str,
    /// Why it did not answer.
    pub reason: Declined,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.provider, self.reason.reason())
    }
}

/// No provider answered; each says why.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("no provider has the carbon intensity of {zone} for this period")]
pub struct NoProviderAnswered {
    /// The zone that was asked for.
    pub zone: ZoneId,
    /// Why each provider declined.
    pub declined: Vec<Refusal>,
}

impl NoProviderAnswered {
    /// The reason of each provider, with this text between them.
    #[must_use]
    pub fn reasons(&self, separator: &str) -> String {
        let reasons: Vec<String> = self.declined.iter().map(ToString::to_string).collect();
        reasons.join(separator)
    }
}

impl ProviderChain {
    /// A chain of these providers, the first asked first.
    #[must_use]
    pub fn new(providers: Vec<Box<dyn IntensityProvider>>) -> Self {
        Self { providers }
    }

    /// The same chain with one more provider, asked last.
    #[must_use]
    pub fn then(mut self, provider: Box<dyn IntensityProvider>) -> Self {
        self.providers.push(provider);
        self
    }

    /// The names of the providers, in the order they are asked.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.providers.iter().map(|provider| provider.name())
    }

    /// The intensities of a zone over a period, from the first provider that has any.
    pub fn intensity(&self, zone: &ZoneId, period: &Period) -> Result<Answer, NoProviderAnswered> {
        self.ask_each(zone, |provider| provider.intensity(zone, period))
    }

    /// The newest values of the first provider that has any.
    pub fn latest(&self, zone: &ZoneId, now: DateTime<Utc>) -> Result<Answer, NoProviderAnswered> {
        self.ask_each(zone, |provider| provider.latest(zone, now))
    }

    fn ask_each(
        &self,
        zone: &ZoneId,
        ask: impl Fn(&dyn IntensityProvider) -> Result<Series, Declined>,
    ) -> Result<Answer, NoProviderAnswered> {
        let mut declined = Vec::new();
        for provider in &self.providers {
            match ask(provider.as_ref()) {
                Ok(series) => {
                    return Ok(Answer {
                        series,
                        provider: provider.name(),
                        declined,
                    });
                }
                Err(reason) => declined.push(Refusal {
                    provider: provider.name(),
                    reason,
                }),
            }
        }
        Err(NoProviderAnswered {
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
