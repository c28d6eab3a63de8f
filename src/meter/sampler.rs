use std::collections::BTreeMap;
use std::time::Duration;

use super::machine_state::MachineState;
use super::memory_use::MemoryUse;
use super::run_usage::RunUsage;
use super::scope::{Scope, ScopeError};
use super::sensor::{CpuTimes, Share};
use super::sensor_set::{SensorSet, Shares};
use crate::model::Component;
use crate::model::sample::{CpuTime, Observed};

/// Finds the run's share of the machine in each interval, and reads what else a sample shows.
#[derive(Debug)]
pub(crate) struct Sampler {
    machine: MachineState,
    pub(crate) usage: RunUsage,
    memory_use: MemoryUse,
    threads: f64,
    /// The run's CPU time when the session started.
    at_start: CpuTimes,
    last: CpuSnapshot,
    /// By how much the machine's busy time was taken as larger than it was counted.
    ahead: Duration,
    /// The processes of the last sample; some have ended since.
    seen: Vec<u32>,
}

/// The CPU times at one instant.
#[derive(Debug, Clone, Default)]
struct CpuSnapshot {
    at: Duration,
    /// Of the machine; none where that cannot be read.
    busy: Option<Duration>,
    run: CpuTimes,
}

/// What one interval came to.
#[derive(Debug)]
pub(crate) struct Observation {
    pub(crate) shares: Shares,
    pub(crate) observed: Observed,
    /// The length of the interval.
    pub(crate) seconds: f64,
}

impl Sampler {
    /// Opens everything that is read later.
    pub(crate) fn new(scope: &Scope, sensors: &mut SensorSet) -> Result<Self, ScopeError> {
        let roots = &sensors.roots;
        let usage = RunUsage::of(scope, roots)?;
        let sampler = Self {
            machine: MachineState::of(roots, sensors.machine_cpu_time.clone()),
            memory_use: MemoryUse::of(roots),
            threads: f64::from(sensors.processor.threads),
            at_start: CpuTimes::default(),
            last: CpuSnapshot::default(),
            ahead: Duration::ZERO,
            seen: Vec::new(),
            usage,
        };
        if sensors.machine_cpu_time.is_none() && !sampler.usage.is_whole_machine() {
            sensors.note(
                "the machine's CPU time cannot be read, so all energy drawn while the run works is \
                 attributed to the run"
                    .to_owned(),
            );
        }
        Ok(sampler)
    }

    /// Starts to count CPU time here.
    pub(crate) fn begin(&mut self) {
        let busy = self.machine.busy();
        self.last = CpuSnapshot {
            at: Duration::ZERO,
            busy,
            run: self.usage.cpu_time().unwrap_or(whole_machine(busy)),
        };
        self.at_start = self.last.run;
    }

    /// The run is this process and its descendants, which have just been started.
    pub(crate) fn follow(&mut self, pid: u32) {
        self.usage.label = pid.to_string();
        self.seen = vec![pid];
    }

    /// This process of the run has just been started too.
    pub(crate) fn follow_next(&mut self, pid: u32) {
        self.seen.push(pid);
    }

    /// Total memory of the machine, in bytes.
    pub(crate) fn memory_bytes(&self) -> Option<u64> {
        self.machine.memory().map(|memory| memory.total)
    }

    /// The run's shares since the last call.
    pub(crate) fn observe(&mut self, at: Duration, sensors: &mut SensorSet) -> Observation {
        let run = self.usage.cpu_time();
        let by_machine = self.machine.busy().or(self.last.busy);
        let run = run.unwrap_or(whole_machine(by_machine));
        let (processes, have_escaped) = self.usage.processes();
        if have_escaped {
            sensors.note(
                "processes of the command have left its control group; from here on all of them \
                 are counted one by one"
                    .to_owned(),
            );
        }
        let used = run.since(self.last.run).total();
        let busy = match by_machine.zip(self.last.busy) {
            Some((now, before)) => self.busy(now.saturating_sub(before), used),
            None => used,
        };
        let load = self.machine.load();
        let mut observed = Observed {
            cpu_count_adjusted_average_load: load.map(|load| load.map(|x| x / self.threads)),
            cpu_temperature: self.machine.temperature(),
            ..Observed::default()
        };
        let cpu = if self.usage.is_whole_machine() {
            Share::Of(1.0)
        } else {
            Share::of_time(used, busy)
        };
        let memory = self.observe_memory(&processes, &mut observed);
        let shares = Shares {
            cpu,
            memory: memory.unwrap_or(cpu),
            boards: self.observe_boards(&processes, sensors, &mut observed),
        };
        let snapshot = CpuSnapshot {
            at,
            busy: by_machine,
            run,
        };
        let seconds = snapshot.at.saturating_sub(self.last.at).as_secs_f64();
        self.observe_cpu(&snapshot, seconds, cpu, &mut observed);
        observed.process_ids.clone_from(&processes);
        self.seen = processes;
        self.last = snapshot;
        Observation {
            shares,
            observed,
            seconds,
        }
    }

    /// The machine's busy time, at least that of the run; the difference is subtracted later.
    ///
    /// The kernel counts the machine in steps of milliseconds and the run in nanoseconds.
    fn busy(&mut self, counted: Duration, run: Duration) -> Duration {
        let most = Duration::from_secs_f64(0.1 * self.threads);
        let busy = counted.saturating_sub(self.ahead).max(run);
        self.ahead = (self.ahead + busy).saturating_sub(counted).min(most);
        busy
    }

    fn observe_memory(&mut self, processes: &[u32], observed: &mut Observed) -> Option<Share> {
        if self.usage.is_whole_machine() {
            observed.absolute_mem_usage = self.machine.memory().map(|memory| memory.used as f64);
            return None;
        }
        let largest_ended = self.usage.largest_ended();
        let held = self
            .memory_use
            .held(processes, largest_ended, &self.machine)?;
        let (bytes, used) = (held.bytes as f64, held.of.used as f64);
        observed.absolute_mem_usage = Some(bytes);
        observed.relative_mem_usage = Some(bytes / used);
        Some(Share::of(bytes, used))
    }

    fn observe_boards(
        &self,
        processes: &[u32],
        sensors: &mut SensorSet,
        observed: &mut Observed,
    ) -> BTreeMap<Component, Share> {
        let mut shares = BTreeMap::new();
        if sensors.boards.is_empty() {
            return shares;
        }
        let mut of_run = processes.to_vec();
        of_run.extend(&self.seen);
        let mut loads = Vec::new();
        let mut whole = Vec::new();
        for metered in &mut sensors.boards {
            let uuid = &metered.board.uuid;
            let readings = metered.readings();
            let share = if self.usage.is_whole_machine() {
                Share::Of(1.0)
            } else {
                metered.accelerator.share(&of_run).unwrap_or_else(|why| {
                    whole.push((metered.board.component(), why));
                    Share::Of(1.0)
                })
            };
            loads.extend(readings.utilisation.map(|load| share.of_whole(load)));
            keep(&mut observed.per_gpu_power_draw, uuid, readings.watts);
            keep(
                &mut observed.per_gpu_temperature,
                uuid,
                readings.temperature_c,
            );
            keep(
                &mut observed.per_gpu_utilization,
                uuid,
                readings.utilisation,
            );
            keep(
                &mut observed.per_gpu_memory_usage,
                uuid,
                readings.memory_used,
            );
            keep(&mut observed.per_gpu_clock_mhz, uuid, readings.clock_mhz);
            keep(
                &mut observed.per_gpu_performance_state,
                uuid,
                readings.performance_state,
            );
            shares.insert(metered.board.component(), share);
        }
        for (component, why) in whole {
            sensors.note_whole(&component, why);
        }
        if !loads.is_empty() {
            let mean = loads.iter().sum::<f64>() / loads.len() as f64;
            observed.average_gpu_estimated_utilization_absolute = Some(mean);
        }
        shares
    }

    fn observe_cpu(&self, now: &CpuSnapshot, seconds: f64, share: Share, observed: &mut Observed) {
        let total = now.run.since(self.at_start);
        observed.cpu_time_seconds.insert(
            self.usage.label.clone(),
            CpuTime {
                user: total.user.as_secs_f64(),
                system: total.system.as_secs_f64(),
                ..CpuTime::default()
            },
        );
        observed.average_relative_cpu_utilization = Some(share.of_whole(1.0));
        if seconds > 0.0 {
            let used = now.run.since(self.last.run).total().as_secs_f64();
            observed.absolute_cpu_utilization = Some((used / seconds).min(self.threads));
        }
    }
}

/// The CPU time of a run that is the whole machine.
fn whole_machine(busy: Option<Duration>) -> CpuTimes {
    CpuTimes {
        user: busy.unwrap_or_default(),
        system: Duration::ZERO,
    }
}

fn keep<T>(into: &mut BTreeMap<String, T>, uuid: &str, value: Option<T>) {
    into.extend(value.map(|value| (uuid.to_owned(), value)));
}
