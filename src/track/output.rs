use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::info_writer::{InfoTask, InfoWriter};
use super::meter_thread::JobEnd;
use super::plan::Plan;
use super::recorder::Recorder;
use super::running_python::PythonSearch;
use super::summary::{Display, LiveStatus, Summary};
use crate::grid::intensity::IntensityPoller;
use crate::meter::Measurement;
use crate::meter::clock::own_cpu_time;
use crate::model::{Info, Provenance, Sample};
use crate::track::child::Ending;

/// How long the end waits for details about the host that are still being gathered.
const DETAILS_PATIENCE: Duration = Duration::from_millis(4);

/// Where samples and notes go: the log, the table and the display.
pub(crate) struct Output {
    plan: Arc<Plan>,
    display: Option<Box<dyn Display>>,
    recorder: Recorder,
    details: Details,
    /// Gives the carbon intensity of the present hour.
    intensity: Option<IntensityPoller>,
    /// The sources of the carbon intensities recorded so far.
    realtime_sources: BTreeSet<Provenance>,
    /// CPU time of this process before it became a tracker: an exec keeps that clock.
    cpu_at_start: Duration,
}

/// The info, and what is to be found out about the host.
enum Details {
    /// Until the command has started, which has the processor for itself.
    Waiting(Box<Undetailed>),
    Gathering(InfoWriter),
}

struct Undetailed {
    info: Info,
    place: Option<(PathBuf, File)>,
    tasks: Vec<InfoTask>,
}

/// What is written when the log is created.
pub(crate) struct FirstEntries {
    pub(crate) info: Info,
    pub(crate) sample: Sample,
    pub(crate) notes: Vec<String>,
    pub(crate) tasks: Vec<InfoTask>,
}

/// What the output needs before the log is created.
pub(crate) struct OutputSetup {
    pub(crate) plan: Arc<Plan>,
    pub(crate) id: String,
    pub(crate) display: Option<Box<dyn Display + Send>>,
    pub(crate) intensity: Option<IntensityPoller>,
    pub(crate) cpu_at_start: Duration,
}

impl Output {
    /// Creates the log.
    pub(crate) fn create(setup: OutputSetup, first: FirstEntries) -> Self {
        let mut recorder = Recorder::create(&setup.plan, &setup.id, &first.info, &first.sample);
        first.notes.into_iter().for_each(|note| recorder.note(note));
        let place = recorder
            .log()
            .and_then(|log| Some((log.folder().to_owned(), log.data().ok()?)));
        Self {
            plan: setup.plan,
            display: setup.display.map(|display| display as Box<dyn Display>),
            recorder,
            details: Details::Waiting(Box::new(Undetailed {
                info: first.info,
                place,
                tasks: first.tasks,
            })),
            intensity: setup.intensity,
            realtime_sources: BTreeSet::new(),
            cpu_at_start: setup.cpu_at_start,
        }
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Removes the log of a command that could not be started.
    pub(crate) fn discard(self) {
        self.recorder.discard();
    }

    /// Gathers details about the host, now that the command runs as this process.
    pub(crate) fn started(&mut self, pid: u32) {
        if let Details::Waiting(known) = &mut self.details {
            let info = std::mem::take(&mut known.info);
            let (place, tasks) = (known.place.take(), std::mem::take(&mut known.tasks));
            let search = PythonSearch::below(pid, self.plan.roots.processes());
            let writer = InfoWriter::start(info, place, tasks, search);
            self.details = Details::Gathering(writer);
        }
    }

    /// Writes samples; gives how many of them are in the log.
    pub(crate) fn samples(&mut self, samples: &mut [Sample]) -> usize {
        // An average is not written as if it was of this time; the region has the average.
        let latest = self.intensity.as_ref().and_then(IntensityPoller::latest);
        if let Some(latest) = latest.filter(|latest| !latest.is_average()) {
            for sample in &mut *samples {
                sample.observed.realtime_carbon_intensity = Some(latest.intensity.get());
                sample.observed.realtime_source.clone_from(&latest.sources);
            }
            self.realtime_sources.extend(latest.sources);
        }
        let written = self.recorder.samples(samples);
        if let Details::Gathering(writer) = &mut self.details {
            writer.sample_written();
        }
        if let Some(display) = &mut self.display {
            for sample in samples {
                display.show(&LiveStatus::of(sample));
            }
        }
        written
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

    /// Writes the result of the measuring; gives how many samples of it are in the log.
    pub(crate) fn measured(&mut self, measurement: &Measurement, has_command_ended: bool) -> usize {
        let last = std::slice::from_ref(&measurement.last);
        let written = self.recorder.samples(last);
        self.clear_display();
        self.notes(measurement.notes.clone());
        let left = measurement.last.observed.process_ids.len();
        if left > 0 && has_command_ended {
            self.recorder.note(format!(
                "{left} processes of the command were still running when it ended; what they draw \
                 from then on is not counted"
            ));
        }
        written
    }

    /// Completes the log.
    pub(crate) fn finish(
        mut self,
        measurement: Option<Measurement>,
        end: &JobEnd,
        unwritten_samples: u64,
    ) -> Summary {
        let own = own_cpu_time().saturating_sub(self.cpu_at_start);
        let overhead = own + end.board_cpu_time;
        let mut info = match self.details {
            Details::Waiting(known) => known.info,
            Details::Gathering(writer) => writer.finish(DETAILS_PATIENCE),
        };
        info.ended = Some(end.at.local_time());
        info.exit_code = (end.ending != Ending::Unknown).then(|| i32::from(end.ending.code()));
        info.overhead_cpu_s = Some(overhead.as_secs_f64());
        info.realtime_sources = self.realtime_sources.into_iter().collect();
        if let Some(measurement) = &measurement {
            info.host.gpus.clone_from(&measurement.gpus);
            info.host.gpu_driver.clone_from(&measurement.gpu_driver);
            info.balance.clone_from(&measurement.balance);
            info.sensors.clone_from(&measurement.sensors);
        }
        for note in std::mem::take(&mut info.notes) {
            self.recorder.note(note);
        }
        let closed = self.recorder.close(info, unwritten_samples);
        Summary {
            ending: end.ending,
            run: closed.run,
            measurement,
            notes: closed.notes,
            not_in_log: closed.not_in_log,
            region: self.plan.region.clone(),
            overhead,
        }
    }
}
