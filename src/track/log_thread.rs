use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};

use super::meter_thread::JobEnd;
use super::output::{FirstEntries, Output, OutputSetup};
use super::summary::Summary;
use crate::meter::Measurement;
use crate::model::Sample;

/// This many entries may wait for a slow disk; more samples are dropped and counted.
const LONGEST_QUEUE: usize = 1024;
/// How long the start of the command waits for the log to be created or removed.
const CREATE_PATIENCE: Duration = Duration::from_secs(2);

/// Entries for the log.
enum Entry {
    /// The first one. Answered with the run's folder.
    Create(Box<FirstEntries>, SyncSender<Option<PathBuf>>),
    /// The command has started as this process.
    Started(u32),
    Sample(Box<Sample>),
    Notes(Vec<String>),
    ClearDisplay(SyncSender<()>),
    /// The result, and whether the command has ended.
    Measured(Box<Measurement>, bool),
    Finish(Box<JobEnd>),
    /// The command could not be started. Answered when the log is gone.
    Discard(SyncSender<()>),
}

/// Sends entries to the thread that writes the log. Never waits for the disk.
#[derive(Clone)]
pub(crate) struct LogSender {
    entries: SyncSender<Entry>,
    samples: SampleCount,
}

/// Samples that were taken, and those of them that are in the log.
#[derive(Debug, Clone, Default)]
pub(crate) struct SampleCount {
    taken: Arc<AtomicU64>,
    written: Arc<AtomicU64>,
}

impl SampleCount {
    fn take(&self) {
        self.taken.fetch_add(1, Ordering::Relaxed);
    }

    fn write(&self, samples: usize) {
        self.written.fetch_add(samples as u64, Ordering::Relaxed);
    }

    /// Samples that are not in the log, or not yet.
    pub(crate) fn unwritten(&self) -> u64 {
        let written = self.written.load(Ordering::Relaxed);
        self.taken.load(Ordering::Relaxed).saturating_sub(written)
    }
}

/// Starts the thread that writes the log. The receiver gives the summary when the log is complete.
pub(crate) fn start(setup: OutputSetup) -> (LogSender, Receiver<Summary>) {
    let (entries, received) = sync_channel(LONGEST_QUEUE);
    let (done, summary) = channel();
    let samples = SampleCount::default();
    let count = samples.clone();
    // Without a thread there is no log, and the sender of the summary is dropped.
    let _ = thread::Builder::new()
        .name("log".to_owned())
        .stack_size(512 * 1024)
        .spawn(move || {
            let sent = write(setup, &received, &count, &done);
            drop(done);
            if sent {
                wake_job_thread();
            }
        });
    let sender = LogSender { entries, samples };
    (sender, summary)
}

/// Wakes the thread that waits for the job: it polls for signals, and a SIGCHLD without an ended child does nothing.
fn wake_job_thread() {
    let _ = kill_process(getpid(), Signal::CHILD);
}

/// Writes entries until the log is complete; says whether the summary was sent.
fn write(
    setup: OutputSetup,
    entries: &Receiver<Entry>,
    count: &SampleCount,
    done: &Sender<Summary>,
) -> bool {
    let Ok(Entry::Create(first, created)) = entries.recv() else {
        return false;
    };
    let mut output = Output::create(setup, *first);
    let run = output.recorder().run().map(std::path::Path::to_owned);
    let _ = created.send(run);
    let mut measurement = None;
    let mut samples = Vec::new();
    let mut next = entries.recv().ok();
    while let Some(entry) = next.take() {
        match entry {
            Entry::Sample(sample) => {
                samples.push(*sample);
                // All that came during a slow write is written at once.
                while let Ok(entry) = entries.try_recv() {
                    match entry {
                        Entry::Sample(sample) => samples.push(*sample),
                        other => {
                            next = Some(other);
                            break;
                        }
                    }
                }
                count.write(output.samples(&mut samples));
                samples.clear();
            }
            Entry::Started(pid) => output.started(pid),
            Entry::Notes(notes) => output.notes(notes),
            Entry::ClearDisplay(cleared) => {
                output.clear_display();
                let _ = cleared.send(());
            }
            Entry::Measured(result, has_command_ended) => {
                count.write(output.measured(&result, has_command_ended));
                measurement = Some(*result);
            }
            Entry::Finish(end) => {
                let summary = output.finish(measurement, &end, count.unwritten());
                return done.send(summary).is_ok();
            }
            Entry::Discard(discarded) => {
                output.discard();
                let _ = discarded.send(());
                return false;
            }
            Entry::Create(..) => {}
        }
        next = next.or_else(|| entries.recv().ok());
    }
    output.notes(vec!["the tracker failed; the log ends early".to_owned()]);
    let summary = output.finish(measurement, &JobEnd::unknown(), count.unwritten());
    done.send(summary).is_ok()
}

impl LogSender {
    /// Creates the log; gives the run's folder if that was done in time.
    pub(crate) fn create(&self, first: FirstEntries) -> Option<PathBuf> {
        let (created, answer) = sync_channel(1);
        let entry = Entry::Create(Box::new(first), created);
        self.entries.send(entry).ok()?;
        answer.recv_timeout(CREATE_PATIENCE).ok().flatten()
    }

    /// The command has started as this process.
    pub(crate) fn started(&self, pid: u32) {
        let _ = self.entries.try_send(Entry::Started(pid));
    }

    pub(crate) fn sample(&self, sample: Sample) {
        self.samples.take();
        // A sample that finds the queue full is never written.
        let _ = self.entries.try_send(Entry::Sample(Box::new(sample)));
    }

    pub(crate) fn sample_count(&self) -> SampleCount {
        self.samples.clone()
    }

    pub(crate) fn notes(&self, notes: Vec<String>) {
        if !notes.is_empty() {
            let _ = self.entries.try_send(Entry::Notes(notes));
        }
    }

    /// Clears the display; answered when that is done.
    pub(crate) fn clear_display(&self, cleared: SyncSender<()>) {
        let _ = self.entries.try_send(Entry::ClearDisplay(cleared));
    }

    /// The result. Waits while the queue is full.
    pub(crate) fn measured(&self, measurement: Measurement, has_command_ended: bool) {
        self.samples.take();
        let entry = Entry::Measured(Box::new(measurement), has_command_ended);
        let _ = self.entries.send(entry);
    }

    /// The end of the log. Waits while the queue is full.
    pub(crate) fn finish(&self, end: JobEnd) {
        let _ = self.entries.send(Entry::Finish(Box::new(end)));
    }

    /// Removes the log.
    pub(crate) fn discard(&self) {
        let (discarded, answer) = sync_channel(1);
        if self.entries.try_send(Entry::Discard(discarded)).is_ok() {
            let _ = answer.recv_timeout(CREATE_PATIENCE);
        }
    }
}
