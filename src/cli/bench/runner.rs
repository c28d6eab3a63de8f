use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::time::Duration;

use anyhow::anyhow;
use indicatif::{ProgressBar, ProgressStyle};

use super::super::Failure;
use super::command_list::Command;
use super::not_started;
use crate::ledger::bench::{
    Bench, BenchSample, CounterUpdates, DeviceEnergy, IdlePower, idle_energy, order,
    runs_of_a_sample,
};
use crate::meter::{Conditions, Measurement, Roots};
use crate::model::{Component, Method};
use crate::text::escape;
use crate::track::{CommandMeter, CommandRuns, Ending, IdleMachine, MeterError};
use crate::units::moments::Moments;
use crate::units::{Energy, Watts};

/// Idle power that varies by a larger share of its mean is noisy.
const MOST_NOISE: f64 = 0.1;
/// So many warnings are shown.
const MOST_WARNINGS: usize = 20;
const MORE: &str = "there were more warnings, which are not shown";
/// The shortest sample is known well enough if it is not shorter than this share of what the counters need.
const SHORT: f64 = 0.5;

/// Runs commands and fills in a benchmark.
pub(super) struct Runner {
    pub(super) meter: CommandMeter,
    pub(super) roots: Roots,
    pub(super) commands: Vec<Command>,
    pub(super) rounds: Rounds,
    pub(super) prepare: Option<OsString>,
    /// How often each command runs before, at least.
    pub(super) warm_up: u32,
    /// Runs in a sample; if none, as many as the counters need.
    pub(super) repeat: Option<u32>,
    /// How long the idle machine is measured; 0 for not at all.
    pub(super) idle: Duration,
    pub(super) ignores_failure: bool,
    pub(super) shows_progress: bool,
    pub(super) bench: Bench,
    /// What measurements noted, and of which commands.
    pub(super) notes: Vec<(String, BTreeSet<usize>)>,
}

/// How many samples of each command are measured.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rounds {
    Count(u32),
    /// Until the samples of each command have lasted this long.
    Lasting(Duration),
}

/// Why the benchmark ended early.
enum Stop {
    Failed(Failure),
    Interrupted(u8),
}

impl From<MeterError> for Stop {
    fn from(error: MeterError) -> Self {
        match error {
            MeterError::Interrupted(signal) => Self::Interrupted(signal),
            MeterError::Start(error) => Self::Failed(not_started(error, "bench")),
        }
    }
}

impl Runner {
    /// Measures all samples; answers the signal that ended it early.
    pub(super) fn run(&mut self) -> Result<Option<u8>, Failure> {
        let bar = self.progress_bar();
        let outcome = self.measure(&bar);
        bar.finish_and_clear();
        self.warn_of_notes();
        match outcome {
            Ok(()) => Ok(None),
            Err(Stop::Failed(failure)) => Err(failure),
            Err(Stop::Interrupted(signal)) => {
                self.bench.is_interrupted = true;
                self.warn(format!(
                    "signal {signal} ended the benchmark before all samples were measured"
                ));
                Ok(Some(signal))
            }
        }
    }

    fn measure(&mut self, bar: &ProgressBar) -> Result<(), Stop> {
        let before = Conditions::of(&self.roots);
        for disturbance in before.disturbances() {
            self.warn(disturbance.to_string());
        }
        bar.set_message("idle machine");
        bar.tick();
        let updates = self.meter.counter_updates()?;
        let idle_watts = self.measure_idle()?;
        let mut runs = Vec::new();
        for index in 0..self.commands.len() {
            bar.set_message(format!("warm-up: {}", self.shown(index)));
            bar.tick();
            runs.push(self.warm_up(index, &updates)?);
        }
        let mut place = 0;
        let mut round = 0;
        while !self.is_done(round) {
            for index in order(self.commands.len(), round, self.bench.seed) {
                place += 1;
                bar.set_message(self.shown(index));
                self.show_progress(bar, place - 1);
                let measured = self.sample(index, runs[index])?;
                self.add(index, place, &measured, &idle_watts);
            }
            round += 1;
        }
        self.warn_of_short_samples(&updates);
        if let Some(disturbance) = Conditions::of(&self.roots).throttled_since(&before) {
            self.warn(disturbance.to_string());
        }
        Ok(())
    }

    /// The idle power of each device; none where it is not measured.
    fn measure_idle(&mut self) -> Result<BTreeMap<Component, f64>, Stop> {
        if self.idle.is_zero() {
            return Ok(BTreeMap::new());
        }
        let IdleMachine {
            measurement,
            windows,
            ..
        } = self.meter.idle(self.idle)?;
        let seconds = measurement.duration.as_secs_f64();
        let watts: BTreeMap<Component, f64> = measurement
            .balance
            .iter()
            .map(|(component, balance)| (component.clone(), balance.total_j / seconds))
            .collect();
        let moments = Moments::of(&windows);
        let standard_deviation = moments.and_then(|moments| moments.standard_deviation());
        let counted = || {
            let watts = watts.iter();
            let counted = watts.filter(|(of, _)| measurement.counted_as(of).is_some());
            counted.map(|(_, watts)| *watts)
        };
        let mean = counted().reduce(|all, more| all + more);
        self.bench.idle = mean
            .and_then(|mean| Watts::new(mean).ok())
            .map(|mean| IdlePower {
                duration: measurement.duration,
                mean,
                standard_deviation,
            });
        if let (Some(mean), Some(deviation)) = (mean, standard_deviation)
            && deviation > MOST_NOISE * mean
        {
            let share = (deviation / mean * 100.0).round();
            self.warn(format!(
                "the power of the idle machine varies by {share} %, so something else is running"
            ));
        }
        Ok(watts)
    }

    /// Runs a command without counting it; answers how often it must run in a sample.
    fn warm_up(
        &mut self,
        index: usize,
        updates: &BTreeMap<Component, Duration>,
    ) -> Result<u32, Stop> {
        let Some(unmeasured) = self.warm_up.checked_sub(1) else {
            return Ok(self.repeat.unwrap_or(1));
        };
        for _ in 0..unmeasured {
            self.prepare()?;
            let ending = self.meter.run(&self.commands[index].words)?;
            self.check(index, ending)?;
        }
        let once = self.sample(index, 1)?;
        self.bench.commands[index].warm_up_runs = self.warm_up;
        if let Some(repeat) = self.repeat {
            return Ok(repeat);
        }
        let runs = needed_runs(&once, updates);
        if runs == 1 || self.prepare.is_some() {
            return Ok(1);
        }
        // A single run takes longer than one among many.
        let measured = self.sample(index, runs)?;
        self.bench.commands[index].warm_up_runs += runs;
        Ok(needed_runs(&measured, updates))
    }

    /// One measurement of a command, which is repeated if it was stopped meanwhile, as by Ctrl-Z.
    fn sample(&mut self, index: usize, runs: u32) -> Result<CommandRuns, Stop> {
        loop {
            self.prepare()?;
            let measured = self.meter.measure(&self.commands[index].words, runs)?;
            for ending in &measured.endings {
                self.check(index, *ending)?;
            }
            if !measured.was_stopped {
                return Ok(measured);
            }
            let name = &self.commands[index].name;
            self.warn(format!(
                "a sample of {name} was stopped meanwhile; it was measured again"
            ));
        }
    }

    fn prepare(&mut self) -> Result<(), Stop> {
        let Some(line) = &self.prepare else {
            return Ok(());
        };
        let ending = self.meter.run(&["sh".into(), "-c".into(), line.clone()])?;
        if is_success(ending) {
            return Ok(());
        }
        let how = how(ending);
        let failure = Failure::new(anyhow!("the command of --prepare {how}"));
        Err(Stop::Failed(failure.advise("--show-output to see why")))
    }

    fn check(&self, index: usize, ending: Ending) -> Result<(), Stop> {
        if self.ignores_failure || is_success(ending) {
            return Ok(());
        }
        let name = &self.commands[index].name;
        let failure = Failure::new(anyhow!("`{name}` {}", how(ending)));
        Err(Stop::Failed(failure.advise(
            "--show-output to see why, or --ignore-failure to measure it all the same",
        )))
    }

    fn add(
        &mut self,
        index: usize,
        place: usize,
        measured: &CommandRuns,
        idle_watts: &BTreeMap<Component, f64>,
    ) {
        let measurement = &measured.measurement;
        let failed = measured
            .endings
            .iter()
            .filter(|ending| !is_success(**ending));
        let counted = counted(measurement);
        let counted = counted.map(|(component, balance)| (component.clone(), *balance));
        let idle = idle_energy(&counted.collect(), idle_watts, measurement.duration);
        let command = &mut self.bench.commands[index];
        command.samples.push(BenchSample {
            place,
            runs: measured.endings.len() as u32,
            failed_runs: failed.count() as u32,
            duration: measurement.duration,
            energy: measurement.energy(),
            idle,
        });
        for sensor in &measurement.sensors {
            let balance = measurement.balance.get(&sensor.component);
            let joules = balance.map(|balance| balance.attributed_j);
            let device = DeviceEnergy {
                method: sensor.method.clone(),
                energy: joules.and_then(|joules| Energy::from_joules(joules).ok()),
                is_counted: measurement.counted_as(&sensor.component).is_some(),
            };
            command.add_device(sensor.component.clone(), device);
        }
        for note in &measurement.notes {
            if let Some((_, commands)) = self.notes.iter_mut().find(|(text, _)| text == note) {
                commands.insert(index);
            } else if self.notes.len() < MOST_WARNINGS {
                self.notes.push((note.clone(), BTreeSet::from([index])));
            } else {
                self.warn(MORE.to_owned());
            }
        }
    }

    fn warn(&mut self, warning: String) {
        let warnings = &mut self.bench.warnings;
        if warnings.contains(&warning) || warnings.len() > MOST_WARNINGS {
            return;
        }
        warnings.push(if warnings.len() < MOST_WARNINGS {
            warning
        } else {
            MORE.to_owned()
        });
    }

    /// A note on all commands is one on the machine.
    fn warn_of_notes(&mut self) {
        for (note, commands) in std::mem::take(&mut self.notes) {
            if commands.len() == self.commands.len() {
                self.warn(note);
                continue;
            }
            let names = commands.iter().map(|index| &*self.commands[*index].name);
            let names: Vec<&str> = names.collect();
            self.warn(format!("{}: {note}", names.join(", ")));
        }
    }

    /// Samples that are too short for their counters, where a sample is not repeated by itself.
    fn warn_of_short_samples(&mut self, updates: &BTreeMap<Component, Duration>) {
        let mut short = Vec::new();
        for (index, command) in self.bench.commands.iter().enumerate() {
            let measured = command.devices.iter().filter_map(|(component, device)| {
                let is_read = device.is_counted && !matches!(device.method, Method::Absent { .. });
                Some(CounterUpdates {
                    period: *updates.get(component).filter(|_| is_read)?,
                    watts: device.energy?.joules(),
                })
            });
            let counters: Vec<CounterUpdates> = measured.collect();
            let shortest = command.samples.iter().map(|sample| sample.duration).min();
            let needed = shortest.map(|shortest| runs_of_a_sample(shortest, &counters));
            if needed.is_some_and(|needed| f64::from(needed) * SHORT > 1.0) {
                short.push(format!(
                    "a sample of {} is so short that the steps of the counters show in its energy; --repeat makes it longer",
                    self.commands[index].name
                ));
            }
        }
        for warning in short {
            self.warn(warning);
        }
    }

    fn is_done(&self, round: usize) -> bool {
        match self.rounds {
            Rounds::Count(count) => round >= count as usize,
            Rounds::Lasting(time) => self.shortest() >= time,
        }
    }

    /// How long the samples of each command have lasted at least.
    fn shortest(&self) -> Duration {
        let commands = self.bench.commands.iter();
        let lasted = commands.map(|command| command.samples.iter().map(|of| of.duration).sum());
        lasted.min().unwrap_or_default()
    }

    /// Drawn on standard error, and only if that is a terminal. It is drawn by this thread alone: another would receive the
    /// signals for the command.
    fn progress_bar(&self) -> ProgressBar {
        if !self.shows_progress {
            return ProgressBar::hidden();
        }
        let length = match self.rounds {
            Rounds::Count(count) => u64::from(count) * self.commands.len() as u64,
            Rounds::Lasting(time) => time.as_secs().max(1),
        };
        let style = ProgressStyle::with_template("measuring {wide_bar} {pos}/{len} {eta} {msg}");
        ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    }

    /// The name of a command for a terminal.
    fn shown(&self, index: usize) -> String {
        escape::terminal(&self.commands[index].name).into_owned()
    }

    fn show_progress(&self, bar: &ProgressBar, samples: usize) {
        bar.set_position(match self.rounds {
            Rounds::Count(_) => samples as u64,
            Rounds::Lasting(_) => self.shortest().as_secs(),
        });
        bar.tick();
    }
}

/// How often a command must run in a sample, by what was measured of it.
fn needed_runs(measured: &CommandRuns, updates: &BTreeMap<Component, Duration>) -> u32 {
    let measurement = &measured.measurement;
    let seconds = measurement.duration.as_secs_f64();
    let counters = counted(measurement).filter_map(|(component, balance)| {
        Some(CounterUpdates {
            period: *updates.get(component)?,
            watts: balance.attributed_j / seconds,
        })
    });
    let counters: Vec<CounterUpdates> = counters.collect();
    let runs = measured.endings.len() as u32;
    runs_of_a_sample(measurement.duration / runs, &counters)
}

/// The devices whose energy is added up.
fn counted(
    measurement: &Measurement,
) -> impl Iterator<Item = (&Component, &crate::model::info::Balance)> {
    let balance = measurement.balance.iter();
    balance.filter(|(component, _)| measurement.counted_as(component).is_some())
}

fn is_success(ending: Ending) -> bool {
    ending == Ending::Exited(0)
}

fn how(ending: Ending) -> String {
    match ending {
        Ending::Exited(code) => format!("ended with exit code {code}"),
        Ending::Killed(signal) => format!("was killed by signal {signal}"),
        _ => "ended in an unknown way".to_owned(),
    }
}
