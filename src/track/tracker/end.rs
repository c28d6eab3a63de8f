use std::time::Duration;

use super::{Tracker, cards};
use crate::meter::clock::{ClockReading, own_cpu_time};
use crate::meter::counter_lag::{CounterLag, POLL_PERIOD, TimedTotals, Totals};
use crate::track::child::Ending;
use crate::track::summary::Summary;

/// How long the end waits for details about the host that are still being gathered.
const DETAILS_PATIENCE: Duration = Duration::from_millis(4);

impl Tracker<'_> {
    /// The sample at the end of the measuring; gives how long it took.
    pub(super) fn last_sample(&mut self) -> Duration {
        let end = self.ended.unwrap_or_else(ClockReading::now);
        let at = self.sampler.elapsed(&end);
        if !self.is_lag_known {
            self.correct_start();
        }
        let before = self.sampler.sensors.totals();
        self.sampler.sensors.read(at);
        let timed_totals = self.sampler.timed_totals(at, self.sampler.sensors.totals());
        self.correct_end(&before, &timed_totals);
        let sample = self.sampler.account(&end, at, None);
        self.recorder.sample(&sample);
        self.clear_display();
        self.collect_notes();
        let left = sample.observed.process_ids.len();
        if left > 0 && self.ended.is_some() {
            self.recorder.note(format!(
                "{left} processes of the command were still running when it ended; what they draw \
                 from then on is not counted"
            ));
        }
        at
    }

    /// Waits for the next update of counters that have many, and adds what they were late by.
    fn correct_end(&mut self, before: &Totals, timed_totals: &TimedTotals) {
        // Held up, the reading may have seen an update that came after the end.
        let before = if timed_totals.is_sharp() {
            &timed_totals.totals
        } else {
            before
        };
        let mut lag = CounterLag::at(timed_totals.began, before, timed_totals);
        while !lag.is_over(&self.lag) {
            std::thread::sleep(POLL_PERIOD);
            let at = self.sampler.elapsed(&ClockReading::now());
            let totals = self.sampler.sensors.peek(at);
            lag.observe(&self.sampler.timed_totals(at, totals));
        }
        let correction = lag.correction_at_end(&self.lag, &self.recent_totals);
        self.sampler.sensors.correct(&correction);
    }

    /// Waits for a command that goes on after the measuring.
    pub(super) fn outlast(&mut self) -> Ending {
        self.is_over = true;
        // A mark that nobody hears any more must not wake us.
        self.mark_socket = None;
        loop {
            if let Some(ending) = self.handle_signals() {
                return ending;
            }
            self.wait_for_event(Duration::MAX);
        }
    }

    /// The completed info, and what it all came to.
    pub(super) fn finish(self, ending: Ending, elapsed: Duration) -> Summary {
        let overhead = own_cpu_time().saturating_sub(self.cpu_at_start);
        let mut info = self.info_writer.finish(DETAILS_PATIENCE);
        info.ended = Some(chrono::Local::now().fixed_offset());
        info.exit_code = (ending != Ending::Unknown).then(|| i32::from(ending.code()));
        info.overhead_cpu_s = Some(overhead.as_secs_f64());
        (info.host.gpus, info.host.gpu_driver) = cards(&self.sampler.boards);
        let sources: Vec<String> = self.realtime_sources.into_iter().collect();
        info.realtime_source = (!sources.is_empty()).then(|| sources.join("; "));
        info.balance = self.sampler.sensors.balance();
        info.sensors = self.sampler.sensors.sensors();
        let (run, notes) = self.recorder.close(info.clone());
        Summary {
            ending,
            elapsed,
            run,
            sensors: info.sensors,
            balance: info.balance,
            notes,
            region: self.plan.region.clone(),
            overhead,
        }
    }
}
