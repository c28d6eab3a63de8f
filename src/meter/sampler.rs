use std::collections::BTreeMap;
use std::time::Duration;

use super::clock::ClockReading;
use super::counter_lag::{TimedTotals, Totals};
use super::escaped_processes::EscapedProcesses;
use super::machine_state::MachineState;
use super::memory_use::MemoryUse;
use super::process_tree::{ProcessTree, TreeRoot};
use super::reaped_usage::ReapedUsage;
use super::run_cgroup::RunCgroup;
use super::sensor::{Accelerator, Boards, CpuTimes, Roots, Share, Survey};
use super::sensor_set::{SensorSet, Shares};
use crate::model::sample::{CpuTime, Observed};
use crate::model::{Component, Mark, SCHEMA, Sample};

/// Sees the machine and the run, and says what went by between two looks.
pub(crate) struct Sampler {
    pub(crate) sensors: SensorSet,
    pub(crate) boards: Vec<Box<dyn Accelerator>>,
    machine: MachineState,
    tree: ProcessTree,
    cgroup: Option<RunCgroup>,
    escaped: EscapedProcesses,
    memory_use: MemoryUse,
    threads: f64,
    /// The process the run is named after in the log.
    subject: u32,
    started: ClockReading,
    /// What the run had used when the counting began: much, if it was found running.
    at_start: CpuTimes,
    last: CpuSnapshot,
    /// By how much the machine's busy time has been taken for larger than it was counted.
    ahead: Duration,
    /// The processes seen at the last snapshot: some have ended since.
    seen: Vec<u32>,
}

/// What was seen at one moment.
#[derive(Debug, Clone, Default)]
struct CpuSnapshot {
    at: Duration,
    /// How long the machine has worked; none where nobody says.
    busy: Option<Duration>,
    run: CpuTimes,
}

impl Sampler {
    /// Everything is opened and read once, but nothing is counted before `begin`.
    pub(crate) fn new(
        roots: &Roots,
        survey: &Survey,
        top: TreeRoot,
        cgroup: Option<RunCgroup>,
    ) -> Self {
        Self {
            sensors: SensorSet::default(),
            boards: Vec::new(),
            machine: MachineState::of(roots, survey.clock.clone()),
            tree: ProcessTree::of(top, roots),
            cgroup,
            escaped: EscapedProcesses::of(roots),
            memory_use: MemoryUse::of(roots),
            threads: f64::from(survey.processor.threads),
            subject: 0,
            started: ClockReading::now(),
            at_start: CpuTimes::default(),
            last: CpuSnapshot::default(),
            ahead: Duration::ZERO,
            seen: Vec::new(),
        }
    }

    pub(crate) fn cgroup(&self) -> Option<&RunCgroup> {
        self.cgroup.as_ref()
    }

    pub(crate) fn machine(&self) -> &MachineState {
        &self.machine
    }

    pub(crate) fn started(&self) -> &ClockReading {
        &self.started
    }

    pub(crate) fn elapsed(&self, now: &ClockReading) -> Duration {
        now.monotonic.saturating_sub(self.started.monotonic)
    }

    /// Starts to count here, and gives the first sample.
    pub(crate) fn begin(&mut self, now: ClockReading) -> Sample {
        self.started = now;
        self.sensors.resume(Duration::ZERO);
        self.last = CpuSnapshot {
            at: Duration::ZERO,
            busy: self.machine.busy(),
            run: self.run_time(),
        };
        self.at_start = self.last.run;
        Sample {
            schema: SCHEMA,
            timestamp: now.wall,
            energy: self.sensors.meters(),
            ..Sample::default()
        }
    }

    /// The command has begun: its clock starts here, its energy at the reading before.
    pub(crate) fn follow(&mut self, pid: u32, began: ClockReading) {
        self.started = began;
        self.subject = pid;
        self.seen = vec![pid];
    }

    /// What has just been read, beginning at this time.
    pub(crate) fn timed_totals(&self, began: Duration, totals: Totals) -> TimedTotals {
        TimedTotals {
            began,
            done: self.elapsed(&ClockReading::now()),
            totals,
        }
    }

    /// Who waits for the dead of the run, and counts them.
    pub(crate) fn reaped(&mut self) -> &mut ReapedUsage {
        self.tree.reaped()
    }

    /// Counts these boards from here on; says what cannot be counted.
    pub(crate) fn add_boards(&mut self, boards: Boards, at: Duration) -> Vec<String> {
        let mut notes: Vec<String> = boards
            .missing
            .map(|why| format!("NVIDIA boards cannot be read: {why}"))
            .into_iter()
            .collect();
        for mut board in boards.found {
            match board.sensor() {
                Ok(sensor) => self.sensors.add(sensor, at),
                Err(why) => {
                    notes.push(format!("{} is not metered: {why}", board.board().component));
                }
            }
            // What others did on it before is not part of the first share.
            board.share(&[]);
            self.boards.push(board);
        }
        notes
    }

    /// The group turned out to be empty: count the processes one by one instead.
    pub(crate) fn drop_cgroup(&mut self) {
        self.cgroup = None;
    }

    /// The run's CPU time as the group or, without one, the processes themselves have it.
    fn run_time(&mut self) -> CpuTimes {
        match self.whole_cgroup().map(|group| group.read()) {
            // What was done outside of the group shows at the latest when it is waited for.
            Some(Ok(times)) if times.total() >= self.tree.reaped().time().total() => times,
            Some(Ok(_)) => self.tree.reaped().time(),
            _ => self.tree.read(),
        }
    }

    /// The control group, as long as all of the run is in it.
    fn whole_cgroup(&mut self) -> Option<&mut RunCgroup> {
        self.cgroup.as_mut().filter(|_| !self.escaped.are_known)
    }

    fn processes(&mut self) -> Vec<u32> {
        let Some(group) = self.whole_cgroup() else {
            return self.tree.processes();
        };
        let processes = group.processes().to_vec();
        if let Some(cgroup) = &mut self.cgroup
            && self.escaped.are_found(cgroup, &self.tree, &processes)
        {
            self.sensors.note(
                "processes of the command have left its control group; from here on all of them \
                 are counted one by one"
                    .to_owned(),
            );
        }
        processes
    }

    /// Reads what must be read more often than it is logged.
    pub(crate) fn read_between_samples(&mut self, at: Duration) {
        self.sensors.read(at);
        self.tree.remember_others();
    }

    /// Everything that went by since the last sample, read now.
    pub(crate) fn sample(&mut self, now: &ClockReading, mark: Option<Mark>) -> Sample {
        let at = self.elapsed(now);
        self.sensors.read(at);
        self.account(now, at, mark)
    }

    /// The same, from what the sensors has read already.
    pub(crate) fn account(
        &mut self,
        now: &ClockReading,
        at: Duration,
        mark: Option<Mark>,
    ) -> Sample {
        let run = self.run_time();
        let worked = self.machine.busy().or(self.last.busy);
        let processes = self.processes();
        let used = run.since(self.last.run).total();
        let busy = match worked.zip(self.last.busy) {
            Some((now, before)) => self.busy(now.saturating_sub(before), used),
            None => used,
        };
        let mut observed = Observed {
            cpu_count_adjusted_average_load: self
                .machine
                .load()
                .map(|l| l.map(|x| x / self.threads)),
            cpu_temperature: self.machine.temperature(),
            ..Observed::default()
        };
        let memory = self.observe_memory(&processes, &mut observed);
        let shares = Shares {
            cpu: Share::of_time(used, busy),
            memory: memory.unwrap_or(Share::of_time(used, busy)),
            boards: self.observe_boards(&processes, &mut observed),
        };
        self.sensors.post(&shares);
        let snapshot = CpuSnapshot {
            at,
            busy: worked,
            run,
        };
        self.observe_cpu(&snapshot, &shares, &mut observed);
        observed.process_ids.clone_from(&processes);
        self.seen = processes;
        self.last = snapshot;
        Sample {
            schema: SCHEMA,
            timestamp: now.wall,
            elapsed: at.as_secs_f64(),
            energy: self.sensors.meters(),
            mark,
            observed,
        }
    }

    /// The machine's busy time, no less than the run's; what that adds is taken back later.
    ///
    /// The kernel counts the machine in steps of milliseconds and the run in nanoseconds.
    fn busy(&mut self, counted: Duration, run: Duration) -> Duration {
        let most = Duration::from_secs_f64(0.1 * self.threads);
        let busy = counted.saturating_sub(self.ahead).max(run);
        self.ahead = (self.ahead + busy).saturating_sub(counted).min(most);
        busy
    }

    fn observe_memory(&mut self, processes: &[u32], observed: &mut Observed) -> Option<Share> {
        let largest_dead = self.tree.reaped().largest();
        let held = self
            .memory_use
            .held(processes, largest_dead, &self.machine)?;
        let (bytes, memory) = (held.bytes as f64, held.of);
        observed.absolute_mem_usage = Some(bytes);
        observed.relative_mem_usage = Some(bytes / memory.used as f64);
        Some(Share::of(bytes, memory.used as f64))
    }

    fn observe_boards(
        &mut self,
        processes: &[u32],
        observed: &mut Observed,
    ) -> BTreeMap<Component, Share> {
        let mut shares = BTreeMap::new();
        if self.boards.is_empty() {
            return shares;
        }
        let mut ours = processes.to_vec();
        ours.extend(&self.seen);
        let mut loads = Vec::new();
        for board in &mut self.boards {
            let Component::Gpu(uuid) = board.board().component else {
                continue;
            };
            let readings = board.readings();
            let share = board.share(&ours);
            loads.extend(readings.utilisation.map(|load| share.of_whole(load)));
            let keep = |value: Option<f64>, into: &mut BTreeMap<String, f64>| {
                into.extend(value.map(|value| (uuid.clone(), value)));
            };
            keep(readings.watts, &mut observed.per_gpu_power_draw);
            keep(readings.temperature_c, &mut observed.per_gpu_temperature);
            keep(readings.utilisation, &mut observed.per_gpu_utilization);
            let entry = |value| (uuid.clone(), value);
            observed
                .per_gpu_memory_usage
                .extend(readings.memory_used.map(|v| (uuid.clone(), v)));
            observed
                .per_gpu_clock_mhz
                .extend(readings.clock_mhz.map(|v| (uuid.clone(), v)));
            observed
                .per_gpu_performance_state
                .extend(readings.performance_state.map(entry));
            let component = Component::Gpu(uuid);
            if let Some(why) = board.counts_whole_because() {
                self.sensors.note_whole(&component, why);
            }
            shares.insert(component, share);
        }
        if !loads.is_empty() {
            let mean = loads.iter().sum::<f64>() / loads.len() as f64;
            observed.average_gpu_estimated_utilization_absolute = Some(mean);
        }
        shares
    }

    fn observe_cpu(&self, snapshot: &CpuSnapshot, shares: &Shares, observed: &mut Observed) {
        let seconds = snapshot.at.saturating_sub(self.last.at).as_secs_f64();
        let total = snapshot.run.since(self.at_start);
        observed.cpu_time_seconds.insert(
            self.subject.to_string(),
            CpuTime {
                user: total.user.as_secs_f64(),
                system: total.system.as_secs_f64(),
                ..CpuTime::default()
            },
        );
        observed.average_relative_cpu_utilization = match shares.cpu {
            Share::Of(part) => Some(part),
            Share::Idle => Some(0.0),
        };
        if seconds <= 0.0 {
            return;
        }
        let used = snapshot.run.since(self.last.run).total().as_secs_f64();
        observed.absolute_cpu_utilization = Some((used / seconds).min(self.threads));
        let power = self.sensors.power(seconds);
        observed.rapl_power_draw_absolute = power.processors.map(|(total, _)| total);
        observed.rapl_estimated_attributable_power_draw = power.processors.map(|(_, ours)| ours);
        observed.nvidia_draw_absolute = power.boards.map(|(total, _)| total);
        observed.nvidia_estimated_attributable_power_draw = power.boards.map(|(_, ours)| ours);
    }
}
