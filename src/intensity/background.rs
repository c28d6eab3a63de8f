use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::ladder::{Answer, NobodyAnswered};
use super::{Basis, Ladder};
use crate::units::GramsPerKwh;
use crate::zone::ZoneId;

/// Keeps the intensity of a zone up to date on a thread of its own, so that no sample waits for it.
#[derive(Debug)]
pub struct Background {
    state: Arc<Mutex<State>>,
    /// Dropped with the fetcher, which ends the thread.
    _stop: Sender<()>,
}

/// The newest intensity there is, and where it is from.
#[derive(Debug, Clone, PartialEq)]
pub struct Latest {
    pub intensity: GramsPerKwh,
    pub source: String,
    pub basis: Basis,
    /// The time the value is for, which may be hours ago.
    pub at: DateTime<Utc>,
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
        let mut notice = format!(
            "carbon intensity from {} ({})",
            answer.series.source, answer.series.basis
        );
        for refusal in &answer.declined {
            notice.push_str("; ");
            notice.push_str(&refusal.to_string());
        }
        self.say(notice);
        self.latest = Some(Latest {
            intensity: newest.intensity,
            source: answer.series.source.clone(),
            basis: answer.series.basis,
            at: newest.at,
        });
    }

    fn give_up(&mut self, nobody: &NobodyAnswered) {
        let reasons: Vec<String> = nobody.declined.iter().map(ToString::to_string).collect();
        self.say(format!("{nobody} ({})", reasons.join("; ")));
        self.latest = None;
    }
}

impl Background {
    /// The shortest time between two questions.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// Starts asking at once, and again each time the provider that answers has something new.
    #[must_use]
    pub fn start(ladder: Ladder, zone: ZoneId) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let (stop, stopped) = mpsc::channel::<()>();
        let shared = Arc::clone(&state);
        let started = thread::Builder::new()
            .name("impact-grid".into())
            .spawn(move || {
                loop {
                    let answer = ladder.latest(&zone, Utc::now());
                    let pause = match &answer {
                        Ok(answer) => answer.pause().max(Self::PATIENCE),
                        Err(_) => Self::PATIENCE * 5,
                    };
                    match &answer {
                        Ok(answer) => lock(&shared).take(answer),
                        Err(nobody) => lock(&shared).give_up(nobody),
                    }
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

impl Answer {
    /// How long to wait before asking again: until the next value, or less if a better rung may be back.
    fn pause(&self) -> Duration {
        let step = self.resolution.to_std().unwrap_or(Background::PATIENCE);
        let longest = if self.declined.iter().any(|rung| rung.reason.may_pass()) {
            Background::PATIENCE * 5
        } else {
            Background::PATIENCE * 60
        };
        step.min(longest)
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
