use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::provider_chain::{Answer, NoProviderAnswered};
use super::series::described;
use super::{Basis, Provenance, ProviderChain};
use crate::grid::zone::ZoneId;
use crate::units::GramsPerKwh;

/// Keeps the intensity of a zone up to date on a thread of its own, so that no sample waits for it.
#[derive(Debug)]
pub struct IntensityPoller {
    state: Arc<Mutex<State>>,
    /// Dropped with the fetcher, which ends the thread.
    _stop: Sender<()>,
}

/// The newest intensity there is, and where it is from.
#[derive(Debug, Clone, PartialEq)]
pub struct Latest {
    /// The value.
    pub intensity: GramsPerKwh,
    /// What the value counts.
    pub basis: Basis,
    /// Where the value comes from.
    pub sources: Vec<Provenance>,
}

impl Latest {
    /// Whether the value is an average over years, which the tables give where no service answers.
    #[must_use]
    pub fn is_average(&self) -> bool {
        self.sources.iter().any(|source| source.year.is_some())
    }

    /// The sources and the basis as one line.
    #[must_use]
    pub fn source(&self) -> String {
        format!("{} ({})", described(&self.sources), self.basis)
    }
}

#[derive(Debug, Default)]
struct State {
    latest: Option<Latest>,
    /// What the user should know, each said once until it changes.
    notices: Vec<String>,
    last_notice: String,
}

impl State {
    fn say(&mut self, notice: String) {
        if notice != self.last_notice {
            self.notices.push(notice.clone());
            self.last_notice = notice;
        }
    }

    fn take(&mut self, answer: &Answer) {
        let newest = answer.series.last();
        let latest = Latest {
            intensity: newest.intensity,
            basis: answer.series.basis,
            sources: answer.series.sources.clone(),
        };
        let mut notice = format!("carbon intensity from {}", latest.source());
        for refusal in &answer.declined {
            notice.push_str("; ");
            notice.push_str(&refusal.to_string());
        }
        self.say(notice);
        self.latest = Some(latest);
    }

    fn give_up(&mut self, unanswered: &NoProviderAnswered) {
        self.say(format!("{unanswered} ({})", unanswered.reasons("; ")));
        self.latest = None;
    }
}

impl IntensityPoller {
    /// The shortest time between two questions.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// Starts asking at once, and again each time the provider that answers has something new.
    ///
    /// Its threads can take any signal that the caller does not hold back.
    #[must_use]
    pub fn start(chain: Arc<ProviderChain>, zone: ZoneId) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let (stop, stopped) = mpsc::channel::<()>();
        let shared = Arc::clone(&state);
        let started = thread::Builder::new()
            .name("impact-grid".into())
            .spawn(move || {
                loop {
                    let now = Utc::now();
                    let pause = match chain.latest(&zone, now) {
                        Ok(answer) => {
                            lock(&shared).take(&answer);
                            pause(&answer, now)
                        }
                        Err(unanswered) => {
                            lock(&shared).give_up(&unanswered);
                            Self::PATIENCE * 5
                        }
                    };
                    if stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                        break;
                    }
                }
            });
        if started.is_err() {
            lock(&state).say("no thread for asking the grid's carbon intensity".into());
        }
        Self { state, _stop: stop }
    }

    /// The newest intensity, or none as long as nobody has answered; never waits for the network.
    #[must_use]
    pub fn latest(&self) -> Option<Latest> {
        lock(&self.state).latest.clone()
    }

    /// What has changed since the last call: which source answers, and why better ones did not.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.state).notices)
    }
}

/// How long to wait before asking again: until the next value is due, or less if a better provider may be back.
fn pause(answer: &Answer, now: DateTime<Utc>) -> Duration {
    let step = answer.series.resolution;
    let due = answer.series.last().at + step - now;
    let wait = if due > TimeDelta::zero() { due } else { step };
    let longest = if answer
        .declined
        .iter()
        .any(|provider| provider.reason.may_pass())
    {
        IntensityPoller::PATIENCE * 5
    } else {
        IntensityPoller::PATIENCE * 60
    };
    wait.to_std()
        .unwrap_or(longest)
        .clamp(IntensityPoller::PATIENCE, longest)
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::intensity::provider_chain::Refusal;
    use crate::grid::intensity::{Declined, Period, Point, Series, Source};

    fn answer(at: &str, declined: Vec<Refusal>) -> Answer {
        let half_hour = TimeDelta::minutes(30);
        let at: DateTime<Utc> = at.parse().unwrap();
        let point = Point {
            at,
            intensity: GramsPerKwh::new(1.0).unwrap(),
        };
        let period = Period::until(at + half_hour, half_hour * 2);
        let zone = "GB".parse().unwrap();
        Answer {
            series: Series::new(
                &zone,
                [Provenance::of(Source::named("a test"))],
                Basis::DIRECT_CONSUMPTION,
                half_hour,
                &period,
                vec![point],
            )
            .unwrap(),
            provider: "test",
            declined,
        }
    }

    #[test]
    fn the_next_question_comes_when_the_next_value_is_due() {
        let now = "2026-01-01T12:20:00Z".parse().unwrap();
        let minutes = |at, declined| pause(&answer(at, declined), now).as_secs() / 60;
        assert_eq!(minutes("2026-01-01T12:00:00Z", vec![]), 10);
        assert_eq!(minutes("2026-01-01T09:00:00Z", vec![]), 30);
        let offline = Refusal {
            provider: "better",
            reason: Declined::Offline,
        };
        assert_eq!(minutes("2026-01-01T12:00:00Z", vec![offline]), 5);
    }

    #[test]
    fn what_has_been_said_is_not_said_again() {
        let mut state = State::default();
        state.take(&answer("2026-01-01T12:00:00Z", vec![]));
        state.take(&answer("2026-01-01T12:30:00Z", vec![]));
        assert_eq!(
            state.notices,
            ["carbon intensity from a test (direct, consumption mix)"]
        );
    }
}
