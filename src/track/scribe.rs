use std::fs::File;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use super::shed::shed_start_up_pages;
use crate::log::Info;
use crate::log::write::write_info;

/// Samples are flushed to the disk at most this often: a flush costs as much as two samples.
const SHORTEST_PAUSE: Duration = Duration::from_millis(9_500);

/// Does what takes time beside the measuring: finds out about the host and flushes the disk.
#[derive(Debug)]
pub(crate) struct Scribe {
    info: Arc<Mutex<Draft>>,
    gathered: Receiver<()>,
    orders: SyncSender<Order>,
    last_flush: Instant,
    has_shed: bool,
}

#[derive(Debug, Clone, Copy)]
enum Order {
    /// Give back what only the start and the first sample needed.
    Shed,
    Flush,
}

/// Finds something out about the host or the working directory.
pub(crate) type Errand = Box<dyn FnOnce(&mut Info) + Send>;

#[derive(Debug)]
struct Draft {
    info: Info,
    /// The end has been written: nothing may be written over it.
    is_final: bool,
}

impl Scribe {
    /// Starts to gather, one thing after the other; what is found goes into the info, which is
    /// written anew at the end.
    pub(crate) fn start(info: Info, place: Option<(PathBuf, File)>, errands: Vec<Errand>) -> Self {
        let info = Arc::new(Mutex::new(Draft {
            info,
            is_final: false,
        }));
        let (gathered_sender, gathered) = sync_channel(1);
        let (sender, orders) = sync_channel(1);
        let shared = Arc::clone(&info);
        // Without a thread the run is measured all the same; only the details are missing.
        let _ = thread::Builder::new()
            .name("scribe".to_owned())
            .stack_size(256 * 1024)
            .spawn(move || {
                let mut found = lock(&shared).info.clone();
                for errand in errands {
                    errand(&mut found);
                    lock(&shared).info.clone_from(&found);
                }
                let draft = lock(&shared);
                if let (false, Some((folder, _))) = (draft.is_final, &place) {
                    let _ = write_info(folder, &draft.info);
                }
                drop(draft);
                let _ = gathered_sender.send(());
                shed_start_up_pages();
                while let Ok(order) = orders.recv() {
                    match (order, &place) {
                        (Order::Shed, _) => shed_start_up_pages(),
                        (Order::Flush, Some((_, data))) => {
                            let _ = data.sync_data();
                        }
                        (Order::Flush, None) => {}
                    }
                }
            });
        Self {
            info,
            gathered,
            orders: sender,
            last_flush: Instant::now(),
            has_shed: false,
        }
    }

    /// A sample has been written: it is put on the disk if that is due, without waiting for it.
    pub(crate) fn sampled(&mut self) {
        if !self.has_shed {
            self.has_shed = true;
            let _ = self.orders.try_send(Order::Shed);
        } else if self.last_flush.elapsed() >= SHORTEST_PAUSE {
            self.last_flush = Instant::now();
            let _ = self.orders.try_send(Order::Flush);
        }
    }

    /// The info with all that was found by now, to be completed; the scribe leaves it alone.
    pub(crate) fn finish(self, patience: Duration) -> Info {
        let _ = self.gathered.recv_timeout(patience);
        let mut draft = lock(&self.info);
        draft.is_final = true;
        draft.info.clone()
    }
}

/// A scribe that panicked has left a draft as good as any.
fn lock(info: &Mutex<Draft>) -> MutexGuard<'_, Draft> {
    info.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
