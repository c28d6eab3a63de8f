mod start;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

use super::child::Ending;
use super::job::Job;
use super::log_thread::{LogSender, SampleCount};
use super::mark_socket::MarkSocket;
use super::meter_thread::{JobEnd, JobEvent};
use super::plan::Plan;
use super::power_cap::RunCaps;
use super::recorder::unwritten;
use super::run_cgroup::RunCgroup;
use super::summary::{Display, Summary};
use crate::meter::{Clock as _, SystemClock};

pub use start::StartError;
pub(super) use start::unstartable;

/// How long the end of the job waits for sensors and disk before the tracker ends without them.
const END_PATIENCE: Duration = Duration::from_secs(5);
/// How long a stop, as by Ctrl-Z, waits for the display to be cleared.
const STOP_PATIENCE: Duration = Duration::from_millis(100);

/// Runs the plan's command to its end, or follows the plan's process, and measures it.
///
/// The calling thread starts the command, receives signals and waits; threads that already run must block their
/// signals. Sensors are read and the log is written by other threads, so that neither can hold up the job.
///
/// # Errors
///
/// If the command cannot be started or the process cannot be followed. What fails later becomes a
/// note in the log.
pub fn track(plan: Plan, display: Option<Box<dyn Display + Send>>) -> Result<Summary, StartError> {
    let plan = Arc::new(plan);
    let mut tracker = Tracker::start(&plan, display)?;
    let end = tracker.wait_for_job();
    if let Some(end) = end {
        tracker.tell_end(end);
    }
    let still_capped = tracker.caps.release();
    let summary = match end {
        Some(end) => tracker.wait_for_log(&plan, end),
        // The time of measuring a process was up.
        None => tracker.complete.take(),
    };
    let mut summary = summary.unwrap_or_else(|| Summary::of_nothing(&plan, Ending::Unknown));
    summary.notes.extend(still_capped.clone());
    summary.not_in_log.extend(still_capped);
    if let Some(socket) = &tracker.mark_socket {
        socket.close();
    }
    if let Some(control) = &plan.control {
        control.ended(&summary);
    }
    Ok(summary)
}

/// The thread that waits for the job.
struct Tracker {
    job: Job,
    measuring: Measuring,
    /// Gives the summary when the log is complete.
    done: Receiver<Summary>,
    /// The summary of a log that was complete before the job ended.
    complete: Option<Summary>,
    /// The run's folder, as far as that is known.
    run: Option<PathBuf>,
    mark_socket: Option<Arc<MarkSocket>>,
    samples: SampleCount,
    caps: RunCaps,
    /// The control group of the command, which is removed at the end.
    _cgroup: Option<RunCgroup>,
}

/// Who is told what happens to the job.
enum Measuring {
    By(Sender<JobEvent>),
    /// The sensors did not answer, so only the log is told of the end.
    Nobody(LogSender),
}

impl Tracker {
    /// Waits for the end of the job; none if the log is complete before.
    fn wait_for_job(&mut self) -> Option<JobEnd> {
        loop {
            self.job.wait(None);
            let now = SystemClock.now();
            let events = self.job.events(now);
            for child in events.reaped {
                self.tell(JobEvent::Reaped(child));
            }
            if let Some(ending) = events.ending {
                return Some(JobEnd::new(ending, now));
            }
            if events.must_stop {
                self.stop_along();
            }
            if self.job.has_vanished() {
                return Some(JobEnd {
                    has_vanished: true,
                    ..JobEnd::new(Ending::Unknown, now)
                });
            }
            self.complete = self.done.try_recv().ok();
            if self.complete.is_some() {
                return None;
            }
        }
    }

    fn tell(&self, event: JobEvent) {
        if let Measuring::By(meter) = &self.measuring {
            let _ = meter.send(event);
        }
    }

    /// Stops with the command.
    fn stop_along(&mut self) {
        let (cleared, answer) = sync_channel(1);
        self.tell(JobEvent::Stopping(cleared));
        let _ = answer.recv_timeout(STOP_PATIENCE);
        self.job.stop_along();
        self.tell(JobEvent::Continued);
    }

    fn tell_end(&self, end: JobEnd) {
        match &self.measuring {
            Measuring::By(meter) => drop(meter.send(JobEvent::Ended(end))),
            Measuring::Nobody(log) => log.finish(end),
        }
    }

    /// Waits until the log is complete, but not longer than the user or the patience allows.
    fn wait_for_log(&self, plan: &Plan, end: JobEnd) -> Option<Summary> {
        let deadline = Instant::now() + END_PATIENCE;
        loop {
            let why = match self.done.try_recv() {
                Ok(summary) => {
                    return Some(Summary {
                        ending: end.ending,
                        ..summary
                    });
                }
                Err(TryRecvError::Disconnected) => "the tracker failed".to_owned(),
                Err(TryRecvError::Empty) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    let is_ended = self.job.wait_after_end(left);
                    if is_ended {
                        "a signal ended the tracker".to_owned()
                    } else if Instant::now() < deadline {
                        continue;
                    } else {
                        let seconds = END_PATIENCE.as_secs();
                        format!("sensors or disk did not answer within {seconds} s")
                    }
                }
            };
            let mut note = format!("{why}, so the end of the run is not in the log");
            let samples = self.samples.unwritten();
            if samples > 0 {
                note.push_str(&format!("; {}", unwritten(samples)));
            }
            return Some(Summary {
                run: self.run.clone(),
                notes: vec![note.clone()],
                not_in_log: vec![note],
                ..Summary::of_nothing(plan, end.ending)
            });
        }
    }
}
