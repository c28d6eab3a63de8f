use std::time::Duration;

use super::{Tracker, cards};
use crate::meter::clock::{ClockReading, own_cpu_time};
use crate::meter::counter_lag::{CounterLag, GLANCE, TimedTotals, Totals};
use crate::track::child::Ending;
use crate::track::summary::Summary;

/// How long the end waits for details about the host that are still being gathered.
const DETAILS_PATIENCE: Duration = Duration::from_millis(4);

impl Tracker<'_> {
    /// The sample at the end of the measuring; gives how long it took.
    pub(super) fn last_sample(&mut self) -> Duration {
        let end = self.ended.unwrap_or_else(ClockReading::now);
        let at = self.witness.elapsed(&end);
        if !self.is_lag_known {
            self.set_right_at_start();
        }
        let before = self.witness.panel.totals();
        self.witness.panel.read(at);
        let sighting = self.witness.sighting(at, self.witness.panel.totals());
        self.set_right_at_end(&before, &sighting);
        let sample = self.witness.account(&end, at, None);
        self.record.sample(&sample);
        self.clear_screen();
        self.collect_notes();
        let left = sample.observed.process_ids.len();
        if left > 0 && self.ended.is_some() {
            self.record.note(format!(
                "{left} processes of the command were still running when it ended; what they draw \
                 from then on is not counted"
            ));
        }
        at
    }

    /// Waits for the next update of counters that have many, and adds what they were late by.
    fn set_right_at_end(&mut self, before: &Totals, sighting: &TimedTotals) {
        // Held up, the reading may have seen an update that came after the end.
        let before = if sighting.is_sharp() {
            &sighting.totals
        } else {
            before
        };
        let mut lag = CounterLag::at(sighting.began, before, sighting);
        while !lag.is_over(&self.lag) {
            std::thread::sleep(GLANCE);
            let at = self.witness.elapsed(&ClockReading::now());
            let totals = self.witness.panel.peek(at);
            lag.glance(&self.witness.sighting(at, totals));
        }
        let correction = lag.correction_at_end(&self.lag, &self.trail);
        self.witness.panel.correct(&correction);
    }

    /// Waits for a command that goes on after the measuring.
    pub(super) fn outlast(&mut self) -> Ending {
        self.is_over = true;
        // A mark that nobody hears any more must not wake us.
        self.mailbox = None;
        loop {
            if let Some(ending) = self.hear_signals() {
                return ending;
            }
            self.await_news(Duration::MAX);
        }
    }

    /// The completed info, and what it all came to.
    pub(super) fn finish(self, ending: Ending, elapsed: Duration) -> Summary {
        let overhead = own_cpu_time().saturating_sub(self.cpu_at_start);
        let mut info = self.scribe.finish(DETAILS_PATIENCE);
        info.ended = Some(chrono::Local::now().fixed_offset());
        info.exit_code = (ending != Ending::Unknown).then(|| i32::from(ending.code()));
        info.overhead_cpu_s = Some(overhead.as_secs_f64());
        (info.host.gpus, info.host.gpu_driver) = cards(&self.witness.boards);
        let sources: Vec<String> = self.realtime_sources.into_iter().collect();
        info.realtime_source = (!sources.is_empty()).then(|| sources.join("; "));
        info.balance = self.witness.panel.balance();
        info.sensors = self.witness.panel.sensors();
        let (run, notes) = self.record.close(info.clone());
        Summary {
            ending,
            elapsed,
            run,
            sensors: info.sensors,
            balance: info.balance,
            notes,
            region: self.plan.region.clone(),
            pue: self.plan.pue,
            overhead,
        }
    }
}
