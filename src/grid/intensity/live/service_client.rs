use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::de::DeserializeOwned;

use crate::grid::intensity::cache::Cache;
use crate::grid::intensity::fetch::{Auth, BaseUrl, Request, Secret, fetch};
use crate::grid::intensity::{Declined, InvalidAnswer, Period};
use crate::model::Environment;

/// How long an answer is worth keeping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    Never,
    For(TimeDelta),
    Forever,
}

impl Keep {
    /// Grids correct their figures for some days; after that, figures are final.
    const SETTLED_AFTER: TimeDelta = TimeDelta::days(3);

    pub(super) fn period(period: &Period, now: DateTime<Utc>, resolution: TimeDelta) -> Self {
        if now.signed_duration_since(period.to()) > Self::SETTLED_AFTER {
            Self::Forever
        } else {
            Self::For(resolution)
        }
    }
}

/// Where services put their questions: settings, cache, time-out and clock.
#[derive(Debug)]
pub struct ServiceClient {
    /// Tokens and addresses by the name of their variable.
    settings: Environment,
    cache: Option<Cache>,
    timeout: Duration,
    clock: fn() -> DateTime<Utc>,
}

impl ServiceClient {
    /// The longest anyone waits for a service.
    pub const TIMEOUT: Duration = Duration::from_secs(5);

    /// A client with these settings; without a cache, every question goes to the service.
    #[must_use]
    pub fn new(settings: Environment, cache: Option<Cache>) -> Self {
        Self {
            settings,
            cache,
            timeout: Self::TIMEOUT,
            clock: Utc::now,
        }
    }

    /// The same client with another time-out for each request.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The same client with another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: fn() -> DateTime<Utc>) -> Self {
        self.clock = clock;
        self
    }

    /// The present time, by the client's clock.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        (self.clock)()
    }

    pub(super) fn setting(&self, name: &str) -> Option<&str> {
        self.settings.get(name)
    }

    pub(super) fn token(&self, variable: &'static str) -> Result<Secret, Declined> {
        self.settings
            .get(variable)
            .map(Secret::new)
            .ok_or(Declined::NoToken(variable))
    }

    /// The service's own address, unless the variable names another.
    pub(super) fn base(
        &self,
        variable: &'static str,
        default: &'static str,
    ) -> Result<BaseUrl, Declined> {
        BaseUrl::parse(self.settings.get(variable).unwrap_or(default))
            .ok_or(Declined::BadAddress { variable })
    }

    /// The answer to a question, from the cache if it is still good; only what reads well is kept.
    pub(super) fn ask<T>(
        &self,
        request: &Request,
        keep: Keep,
        read: impl Fn(&[u8]) -> Result<T, Declined>,
    ) -> Result<T, Declined> {
        self.ask_as(|| Ok(Auth::None), request, keep, read)
    }

    /// The same for a service that needs a login, which is done only if the service is asked at all.
    pub(super) fn ask_as<T>(
        &self,
        auth: impl FnOnce() -> Result<Auth, Declined>,
        request: &Request,
        keep: Keep,
        read: impl Fn(&[u8]) -> Result<T, Declined>,
    ) -> Result<T, Declined> {
        let now = self.now();
        let cache = self.cache.as_ref().filter(|_| keep != Keep::Never);
        let kept = cache.and_then(|cache| cache.load(request.url(), now));
        if let Some(Ok(answer)) = kept.map(|body| read(&body)) {
            return Ok(answer);
        }
        let body = fetch(request, &auth()?, self.timeout)?;
        let answer = read(&body)?;
        if let Some(cache) = cache {
            let expires = match keep {
                Keep::Never => Some(now),
                Keep::For(time) => now.checked_add_signed(time),
                Keep::Forever => None,
            };
            // A cache that cannot be written costs the next question a moment, nothing else.
            let _ = cache.store(request.url(), &body, now, expires);
        }
        Ok(answer)
    }
}

/// A body as JSON; what the parser says of it is left out, since it may quote the answer.
pub(super) fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Declined> {
    serde_json::from_slice(body).map_err(|_| InvalidAnswer::Unreadable("JSON").into())
}
