use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use impact::grid::intensity::live::ServiceClient;
use impact::grid::intensity::{
    Basis, Declined, IntensityPoller, IntensityProvider, Latest, Period, Point, ProviderChain,
    Series, live,
};
use impact::grid::zone::ZoneId;
use impact::model::Environment;
use impact::model::{Provenance, Source};
use impact::units::GramsPerKwh;

use super::server::{Reply, Server};

/// A last provider that always answers.
struct Table;

impl IntensityProvider for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn basis(&self) -> Basis {
        Basis::LIFE_CYCLE_CONSUMPTION
    }

    fn intensity(&self, zone: &ZoneId, period: &Period) -> Result<Series, Declined> {
        let point = Point {
            at: period.from(),
            intensity: GramsPerKwh::new(211.0).unwrap(),
        };
        Series::new(
            zone,
            [Provenance::of(Source::named("the table of 2025"))],
            Basis::LIFE_CYCLE_CONSUMPTION,
            TimeDelta::days(365),
            period,
            vec![point],
        )
    }
}

/// Says when it is asked, and answers once it is let go.
struct Slow {
    asked: Sender<()>,
    let_go: Mutex<Receiver<()>>,
    waited_out: Sender<()>,
}

impl IntensityProvider for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn basis(&self) -> Basis {
        Basis::LIFE_CYCLE_CONSUMPTION
    }

    fn intensity(&self, zone: &ZoneId, period: &Period) -> Result<Series, Declined> {
        self.asked.send(()).unwrap();
        let let_go = self.let_go.lock().unwrap();
        if let_go.recv_timeout(Duration::from_secs(60)).is_err() {
            let _ = self.waited_out.send(());
        }
        Table.intensity(zone, period)
    }
}

fn chain(url: &str) -> Arc<ProviderChain> {
    let settings: Environment = [("IMPACT_UK_URL".to_owned(), url.to_owned())]
        .into_iter()
        .collect();
    let service = live::named(&Arc::new(ServiceClient::new(settings, None)), "uk").unwrap();
    Arc::new(service.then(Box::new(Table)))
}

/// Waits for the first answer, as the tracker does by simply going on.
fn first(poller: &IntensityPoller) -> Latest {
    let began = Instant::now();
    loop {
        if let Some(latest) = poller.latest() {
            return latest;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "no answer");
        thread::yield_now();
    }
}

fn half_hour() -> DateTime<Utc> {
    Utc::now() - TimeDelta::minutes(10)
}

#[test]
fn the_newest_value_arrives_with_its_source() {
    let server = Server::start(|_| {
        let from = half_hour().format("%Y-%m-%dT%H:%MZ");
        let body = format!(r#"{{"data":[{{"from":"{from}","intensity":{{"actual":77}}}}]}}"#);
        Reply::Body(200, body)
    });
    let poller = IntensityPoller::start(chain(&server.url), "GB".parse().unwrap());
    let latest = first(&poller);
    assert_eq!(latest.intensity.get(), 77.0);
    assert_eq!(
        latest.source(),
        "UK Carbon Intensity API (direct, consumption mix)"
    );
    let notices = poller.notices();
    assert_eq!(notices.len(), 1);
    assert!(poller.notices().is_empty());
}

#[test]
fn a_service_that_fails_falls_back_to_the_table_and_says_so() {
    let server = Server::start(|_| Reply::Body(503, String::new()));
    let poller = IntensityPoller::start(chain(&server.url), "GB".parse().unwrap());
    assert_eq!(
        first(&poller).source(),
        "the table of 2025 (life cycle, consumption mix)"
    );
    let notices = poller.notices();
    assert!(notices[0].contains("the table of 2025"), "{notices:?}");
    assert!(notices[0].contains("uk: it answered with HTTP status 503"));
}

#[test]
fn a_silent_service_delays_neither_a_sample_nor_the_end() {
    let (asked, was_asked) = mpsc::channel();
    let (release, let_go) = mpsc::channel();
    let (waited_out, was_waited_for) = mpsc::channel();
    let slow = Slow {
        asked,
        let_go: Mutex::new(let_go),
        waited_out,
    };
    let chain = Arc::new(ProviderChain::new(vec![Box::new(slow)]));
    let poller = IntensityPoller::start(chain, "GB".parse().unwrap());
    was_asked.recv().unwrap();
    assert_eq!(poller.latest(), None);
    drop(poller);
    assert!(was_waited_for.try_recv().is_err());
    release.send(()).unwrap();
}
