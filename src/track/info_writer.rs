use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use super::launcher;
use super::python::is_python;
use super::running_python::PythonSearch;
use crate::log::write::{settle_info, write_info};
use crate::meter::clock::thread_cpu_time;
use crate::model::Info;

/// Flushing the samples to disk may take one such part of a core, as much as all the measuring.
const PART_OF_A_CORE: u32 = 8_000;
/// And one such part of the disk's time: a slow or busy disk is left to the job.
const PART_OF_THE_DISK: u32 = 200;
/// The longest time between two flushes: a power failure loses no more samples than this.
const LONGEST_PAUSE: Duration = Duration::from_millis(9_500);

/// A thread that gathers details about the host, writes them to the info, and flushes samples to disk.
#[derive(Debug)]
pub(crate) struct InfoWriter {
    info: Arc<Mutex<Draft>>,
    gathered: Receiver<()>,
    flush: SyncSender<()>,
    last_flush: Instant,
    /// How long after a flush the next one is due, in nanoseconds.
    pause: Arc<AtomicU64>,
}

/// Finds something out about the host or the working directory.
pub(crate) type InfoTask = Box<dyn FnOnce(&mut Info) + Send>;

#[derive(Debug)]
struct Draft {
    info: Info,
    /// The completed info is being written; the thread must not write over it.
    is_final: bool,
}

impl InfoWriter {
    /// Starts the thread, which runs the tasks in turn and then writes the info.
    ///
    /// Unless the command is a Python, it searches the run's processes for one, and for programs that have their work done
    /// elsewhere.
    pub(crate) fn start(
        info: Info,
        place: Option<(PathBuf, File)>,
        tasks: Vec<InfoTask>,
        mut search: PythonSearch,
    ) -> Self {
        let info = Arc::new(Mutex::new(Draft {
            info,
            is_final: false,
        }));
        let (gathered_sender, gathered) = sync_channel(1);
        let (flush, flush_requests) = sync_channel(1);
        let shared = Arc::clone(&info);
        let pause = Arc::new(AtomicU64::new(0));
        let next_pause = Arc::clone(&pause);
        // If no thread can be started, the run is measured without these details.
        let _ = thread::Builder::new()
            .name("info-writer".to_owned())
            .stack_size(256 * 1024)
            .spawn(move || {
                let mut found = lock(&shared).info.clone();
                for task in tasks {
                    task(&mut found);
                    lock(&shared).info.clone_from(&found);
                }
                let draft = lock(&shared);
                if let (false, Some((folder, _))) = (draft.is_final, &place) {
                    let _ = write_info(folder, &draft.info);
                }
                drop(draft);
                let _ = gathered_sender.send(());
                if let Some((folder, _)) = &place {
                    let _ = settle_info(folder);
                }
                let Some((folder, data)) = &place else { return };
                let python = found.python.as_ref();
                let mut has_python = python.is_some_and(|python| !python.packages.is_empty());
                let program = found.command.first().map(Path::new);
                // A Python that is started as such does the work of the job.
                let mut has_client = has_python && program.is_some_and(is_python);
                loop {
                    let wait = search.next().filter(|_| !has_python || !has_client);
                    match flush_requests.recv_timeout(wait.unwrap_or(Duration::MAX)) {
                        Ok(()) => {
                            let next = flush_to_disk(data);
                            next_pause.store(next.as_nanos() as u64, Ordering::Relaxed);
                        }
                        Err(RecvTimeoutError::Timeout) => {
                            let look = search.look();
                            let python = look.python.filter(|_| !has_python);
                            let client = look.client.filter(|_| !has_client);
                            if python.is_none() && client.is_none() {
                                continue;
                            }
                            let mut draft = lock(&shared);
                            if python.is_some() {
                                draft.info.python = python;
                                has_python = true;
                            }
                            has_client |= client.is_some();
                            draft.info.notes.extend(client.map(launcher::note));
                            if !draft.is_final {
                                let _ = write_info(folder, &draft.info);
                            }
                        }
                        Err(RecvTimeoutError::Disconnected) => return,
                    }
                }
            });
        Self {
            info,
            gathered,
            flush,
            last_flush: Instant::now(),
            pause,
        }
    }

    /// Asks for a flush to disk if one is due; never waits for it.
    pub(crate) fn sample_written(&mut self) {
        if self.last_flush.elapsed() >= self.pause() {
            self.last_flush = Instant::now();
            // Until the writer thread has measured how long this flush takes.
            let longest = LONGEST_PAUSE.as_nanos() as u64;
            self.pause.store(longest, Ordering::Relaxed);
            let _ = self.flush.try_send(());
        }
    }

    fn pause(&self) -> Duration {
        Duration::from_nanos(self.pause.load(Ordering::Relaxed))
    }

    /// The info with what was found by now; the thread does not write it any more.
    pub(crate) fn finish(self, patience: Duration) -> Info {
        let _ = self.gathered.recv_timeout(patience);
        let mut draft = lock(&self.info);
        draft.is_final = true;
        draft.info.clone()
    }
}

/// Flushes all samples to disk; gives the time until the next flush.
fn flush_to_disk(data: &File) -> Duration {
    let began = (Instant::now(), thread_cpu_time());
    let _ = data.sync_data();
    let used = thread_cpu_time().saturating_sub(began.1);
    pause_after(used, began.0.elapsed())
}

fn pause_after(used: Duration, took: Duration) -> Duration {
    let for_the_core = used.saturating_mul(PART_OF_A_CORE);
    let for_the_disk = took.saturating_mul(PART_OF_THE_DISK);
    for_the_core.max(for_the_disk).min(LONGEST_PAUSE)
}

/// A thread that panicked has left a usable draft.
fn lock(info: &Mutex<Draft>) -> MutexGuard<'_, Draft> {
    info.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slower_flush_is_followed_by_a_longer_pause_up_to_a_limit() {
        let ms = Duration::from_millis;
        let us = Duration::from_micros;
        assert_eq!(pause_after(us(100), us(300)), ms(800));
        assert_eq!(pause_after(us(100), ms(20)), ms(4_000));
        assert_eq!(pause_after(ms(30), ms(900)), LONGEST_PAUSE);
    }
}
