use std::collections::BTreeMap;
use std::time::Duration;

use super::{BenchFigure, CONFIDENCE, Statistics};
use crate::ledger::compare::{Comparison, Metric, Resampling};
use crate::model::{Component, Method};
use crate::units::{Energy, Watts};

/// What a benchmark has measured.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Bench {
    /// The commands; the others are compared with the first.
    pub commands: Vec<BenchCommand>,
    /// The power of the idle machine, where it was measured.
    pub idle: Option<IdlePower>,
    /// The work that one run does, as the user states it.
    pub work: Option<WorkOfRun>,
    /// Whether the energy without that of the idle machine is wanted too.
    pub subtract_idle: bool,
    /// The seed of the order and of the tests that draw.
    pub seed: u64,
    /// What makes the figures doubtful.
    pub warnings: Vec<String>,
    /// Whether a signal ended it before all samples were measured.
    pub is_interrupted: bool,
}

/// A command and what was measured of it.
#[derive(Debug, Clone, Default)]
pub struct BenchCommand {
    /// What people call it.
    pub name: String,
    /// The words of the command line.
    pub words: Vec<String>,
    /// How often it ran before the first sample.
    pub warm_up_runs: u32,
    /// In the order in which they were measured.
    pub samples: Vec<BenchSample>,
    /// The energy of each device over all samples, and how it is known.
    pub devices: BTreeMap<Component, DeviceEnergy>,
}

/// One measurement of a command, which may have run several times meanwhile.
#[derive(Debug, Clone, Copy)]
pub struct BenchSample {
    /// Its place among the samples of all commands, from 1.
    pub place: usize,
    /// How often the command ran.
    pub runs: u32,
    /// How many of these runs did not succeed.
    pub failed_runs: u32,
    /// From the start of the first run to the end of the last.
    pub duration: Duration,
    /// What was attributed to all runs; none where there is no sensor and no estimate.
    pub energy: Option<Energy>,
    /// What the idle machine would have drawn of it; none where that was not measured.
    pub idle: Option<Energy>,
}

/// The energy of a device.
#[derive(Debug, Clone)]
pub struct DeviceEnergy {
    /// How it is known; where that differs between samples, the least certain way.
    pub method: Method,
    /// What was attributed to the runs; none where it is not known.
    pub energy: Option<Energy>,
    /// Whether it is part of the energy of a run: some devices contain others.
    pub is_counted: bool,
}

/// The power of the machine before the first sample.
#[derive(Debug, Clone, Copy)]
pub struct IdlePower {
    /// How long it was measured.
    pub duration: Duration,
    /// Its mean.
    pub mean: Watts,
    /// The standard deviation of the power over shorter times; none if there was only one.
    pub standard_deviation: Option<f64>,
}

/// How much work one run does.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkOfRun {
    /// What is counted, such as tokens.
    pub unit: String,
    /// How many of them; more than 0.
    pub amount: f64,
}

impl Bench {
    /// The figures that it has, in the order in which they are shown.
    pub(super) fn figures(&self) -> Vec<BenchFigure> {
        let mut figures = vec![BenchFigure::Energy];
        figures.extend(self.subtract_idle.then_some(BenchFigure::MarginalEnergy));
        figures.extend(self.work.as_ref().map(BenchFigure::of_work));
        figures.extend([
            BenchFigure::Time,
            BenchFigure::Power,
            BenchFigure::Edp,
            BenchFigure::Ed2p,
        ]);
        figures
    }

    /// The figure of each sample of a command.
    pub(super) fn values(&self, command: &BenchCommand, figure: &BenchFigure) -> Vec<Option<f64>> {
        let samples = command.samples.iter();
        let value = |sample| figure.of(sample, self.work.as_ref());
        samples.map(value).collect()
    }

    /// The statistics of a figure of a command; none where no sample has it.
    #[must_use]
    pub fn statistics(&self, command: &BenchCommand, figure: &BenchFigure) -> Option<Statistics> {
        Statistics::of(&self.values(command, figure), CONFIDENCE)
    }

    /// The other commands compared with the first.
    pub fn comparison(&self) -> Comparison {
        let figures = self.figures().into_iter().map(|figure| {
            let commands = self.commands.iter();
            let values = commands.map(|command| self.values(command, &figure));
            let values = values.collect();
            (Metric::Bench(figure), values)
        });
        let resampling = Resampling {
            seed: self.seed,
            ..Resampling::default()
        };
        let names = self.commands.iter().map(|command| command.name.clone());
        Comparison::of_samples(names.collect(), figures.collect(), CONFIDENCE, resampling)
    }
}

impl BenchCommand {
    /// The part of its energy that sensors measured; none where no energy is known.
    #[must_use]
    pub fn measured_share(&self) -> Option<f64> {
        let sum = |is_wanted: &dyn Fn(&Method) -> bool| -> f64 {
            let counted = self.devices.values().filter(|device| device.is_counted);
            let wanted = counted.filter(|device| is_wanted(&device.method));
            wanted
                .filter_map(|device| device.energy)
                .map(Energy::joules)
                .sum()
        };
        let all = sum(&|_| true);
        (all > 0.0).then(|| sum(&Method::is_measured) / all)
    }

    /// Adds the energy of a device in a sample.
    pub fn add_device(&mut self, component: Component, more: DeviceEnergy) {
        match self.devices.get_mut(&component) {
            None => {
                self.devices.insert(component, more);
            }
            Some(device) => {
                device.energy = device.energy.zip(more.energy).map(|(all, more)| all + more);
                if more.method > device.method {
                    device.method = more.method;
                }
            }
        }
    }

    /// The smallest and the largest number of runs in a sample.
    pub(super) fn runs_of_samples(&self) -> Option<(u32, u32)> {
        let runs = || self.samples.iter().map(|sample| sample.runs);
        Some((runs().min()?, runs().max()?))
    }
}
