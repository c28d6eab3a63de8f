//! The services under test: how each is set up, and what it answers when all is well.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use impact::grid::intensity::cache::Cache;
use impact::grid::intensity::live::ServiceClient;
use impact::grid::intensity::{Declined, IntensityProvider, Period, Series, live};
use impact::model::Environment;

use super::server::Reply;

pub(crate) struct Service {
    pub(crate) name: &'static str,
    pub(crate) zone: &'static str,
    pub(crate) url_variable: &'static str,
    pub(crate) tokens: &'static [(&'static str, &'static str)],
    pub(crate) good: fn(&str) -> Reply,
}

fn good(body: &str) -> Reply {
    Reply::Body(200, body.to_owned())
}

pub(crate) const ALL: &[Service] = &[
    Service {
        name: "uk",
        zone: "GB",
        url_variable: "IMPACT_UK_URL",
        tokens: &[],
        good: |path| {
            good(if path.starts_with("/regional") {
                include_str!("../../fixtures/answers/uk_region.json")
            } else {
                include_str!("../../fixtures/answers/uk.json")
            })
        },
    },
    Service {
        name: "denmark",
        zone: "DK-DK1",
        url_variable: "IMPACT_DENMARK_URL",
        tokens: &[],
        good: |_| good(include_str!("../../fixtures/answers/denmark.json")),
    },
    Service {
        name: "caiso",
        zone: "US-CA",
        url_variable: "IMPACT_CAISO_URL",
        tokens: &[],
        good: |path| {
            good(if path.ends_with("/co2.csv") {
                include_str!("../../fixtures/answers/caiso_co2.csv")
            } else {
                include_str!("../../fixtures/answers/caiso_fuelsource.csv")
            })
        },
    },
    Service {
        name: "electricitymaps",
        zone: "FR",
        url_variable: "IMPACT_ELECTRICITYMAPS_URL",
        tokens: &[("ELECTRICITYMAPS_TOKEN", "s3cret-em")],
        good: |path| {
            good(if path.contains("/latest") {
                include_str!("../../fixtures/answers/electricitymaps_latest.json")
            } else {
                include_str!("../../fixtures/answers/electricitymaps.json")
            })
        },
    },
    Service {
        name: "watttime",
        zone: "US-CA",
        url_variable: "IMPACT_WATTTIME_URL",
        tokens: &[
            ("WATTTIME_USERNAME", "s3cret-user"),
            ("WATTTIME_PASSWORD", "s3cret-password"),
        ],
        good: |path| {
            good(if path == "/login" {
                r#"{"token":"s3cret-bearer"}"#
            } else {
                include_str!("../../fixtures/answers/watttime.json")
            })
        },
    },
    Service {
        name: "entsoe",
        zone: "FR",
        url_variable: "IMPACT_ENTSOE_URL",
        tokens: &[("ENTSOE_TOKEN", "s3cret-entsoe")],
        good: |_| good(include_str!("../../fixtures/answers/entsoe.xml")),
    },
    Service {
        name: "eia",
        zone: "US-TX",
        url_variable: "IMPACT_EIA_URL",
        tokens: &[("EIA_API_KEY", "s3cret-eia")],
        good: |_| good(include_str!("../../fixtures/answers/eia.json")),
    },
];

impl Service {
    pub(crate) fn named(name: &str) -> &'static Self {
        ALL.iter().find(|service| service.name == name).unwrap()
    }

    pub(crate) fn settings(&self, url: &str, with_tokens: bool) -> Environment {
        let tokens = self.tokens.iter().filter(|_| with_tokens);
        [(self.url_variable, url)]
            .iter()
            .chain(tokens)
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    pub(crate) fn client(&self, url: &str) -> ServiceClient {
        ServiceClient::new(self.settings(url, true), None)
            .with_clock(now)
            .with_timeout(Duration::from_millis(1500))
    }

    pub(crate) fn provider(&self, client: ServiceClient) -> Box<dyn IntensityProvider> {
        live::all(&Arc::new(client))
            .into_iter()
            .find(|provider| provider.name() == self.name)
            .unwrap()
    }

    /// What the service makes of the period of the stored answers.
    pub(crate) fn ask(&self, client: ServiceClient) -> Result<Series, Declined> {
        let (from, to) = self.hours();
        let period = Period::new(from.parse().unwrap(), to.parse().unwrap()).unwrap();
        self.provider(client)
            .intensity(&self.zone.parse().unwrap(), &period)
    }

    pub(crate) fn ask_at(&self, url: &str) -> Result<Series, Declined> {
        self.ask(self.client(url))
    }

    pub(crate) fn with_cache(&self, url: &str, folder: &std::path::Path) -> ServiceClient {
        ServiceClient::new(self.settings(url, true), Some(Cache::new(folder))).with_clock(now)
    }

    /// Midnight is local in California.
    fn hours(&self) -> (&'static str, &'static str) {
        if self.name == "caiso" {
            ("2026-03-01T08:00:00Z", "2026-03-01T10:00:00Z")
        } else {
            ("2026-03-01T00:00:00Z", "2026-03-01T02:00:00Z")
        }
    }
}

pub(crate) fn now() -> DateTime<Utc> {
    "2026-03-20T12:30:00Z".parse().unwrap()
}
