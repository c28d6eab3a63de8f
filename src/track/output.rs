use std::collections::BTreeSet;
use std::time::Duration;

use super::child::Ending;
use super::info_writer::InfoWriter;
use super::plan::Plan;
use super::recorder::Recorder;
use super::summary::{Display, LiveStatus, Summary};
use crate::grid::intensity::IntensityPoller;
use crate::meter::Measurement;
use crate::meter::clock::own_cpu_time;
use crate::model::{Provenance, Sample};

/// How long the end waits for details about the host that are still being gathered.
const DETAILS_PATIENCE: Duration = Duration::from_millis(4);

/// Where samples and notes go: the log, the table and the display.
pub(crate) struct Output<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) display: Option<&'p mut dyn Display>,
    pub(crate) recorder: Recorder,
    pub(crate) info_writer: InfoWriter,
    /// Gives the carbon intensity of the present hour.
    pub(crate) intensity: Option<IntensityPoller>,
    /// The sources of the carbon intensities recorded so far.
    pub(crate) realtime_sources: BTreeSet<Provenance>,
    /// CPU time of this process before it became a tracker: an exec keeps that clock.
    pub(crate) cpu_at_start: Duration,
}

impl Output<'_> {
    pub(crate) fn sample(&mut self, mut sample: Sample) {
        if let Some(latest) = self.intensity.as_ref().and_then(IntensityPoller::latest) {
            sample.observed.realtime_carbon_intensity = Some(latest.intensity.get());
            self.realtime_sources.extend(latest.sources);
        }
        self.recorder.sample(&sample);
        self.info_writer.sample_written();
        if let Some(display) = &mut self.display {
            display.show(&LiveStatus::of(&sample));
        }
    }

    pub(crate) fn notes(&mut self, notes: Vec<String>) {
        let services = self.intensity.iter().flat_map(IntensityPoller::notices);
        for note in notes.into_iter().chain(services) {
            self.recorder.note(note);
        }
    }

    pub(crate) fn clear_display(&mut self) {
        if let Some(display) = &mut self.display {
            display.clear();
        }
    }

    /// Writes the result of the measuring.
    pub(crate) fn measured(&mut self, measurement: &Measurement, has_command_ended: bool) {
        self.recorder.sample(&measurement.last);
        self.clear_display();
        self.notes(measurement.notes.clone());
        let left = measurement.last.observed.process_ids.len();
        if left > 0 && has_command_ended {
            self.recorder.note(format!(
                "{left} processes of the command were still running when it ended; what they draw \
                 from then on is not counted"
            ));
        }
    }

    /// Completes the log.
    pub(crate) fn finish(self, measurement: Measurement, ending: Ending) -> Summary {
        let overhead = own_cpu_time().saturating_sub(self.cpu_at_start);
        let mut info = self.info_writer.finish(DETAILS_PATIENCE);
        info.ended = Some(chrono::Local::now().fixed_offset());
        info.exit_code = (ending != Ending::Unknown).then(|| i32::from(ending.code()));
        info.overhead_cpu_s = Some(overhead.as_secs_f64());
        info.host.gpus.clone_from(&measurement.gpus);
        info.host.gpu_driver.clone_from(&measurement.gpu_driver);
        info.realtime_sources = self.realtime_sources.into_iter().collect();
        info.balance.clone_from(&measurement.balance);
        info.sensors.clone_from(&measurement.sensors);
        let (run, notes) = self.recorder.close(info);
        Summary {
            ending,
            run,
            measurement,
            notes,
            region: self.plan.region.clone(),
            overhead,
        }
    }
}
