use std::ffi::OsString;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

use super::child::{Child, Ending, News};
use super::clock::Moment;
use super::lag::{GLANCE, Lag};
use super::mailbox::{Mailbox, VARIABLE};
use super::plan::{Plan, Subject};
use super::record::Record;
use super::scope::Scope;
use super::scribe::Scribe;
use super::signals::Signals;
use super::spawn::Launch;
use super::summary::{Glance, Screen, Summary};
use super::tree::Top;
use super::witness::Witness;
use super::{git, host, python};
use crate::log::info::{GpuCard, Host};
use crate::log::{Info, Mark, SCHEMA};
use crate::sensor::accelerator::{Board, POWER_PERIOD_S};
use crate::sensor::{Accelerator, Boards, Processor, Roots, Survey};

/// How long the start waits for the GPU library; a slow one is taken in when it is ready.
const BOARDS_PATIENCE: Duration = Duration::from_millis(3);
/// How long it waits for a library that was asked for by its path.
const NAMED_PATIENCE: Duration = Duration::from_secs(2);
/// How long the end waits for details about the host that are still being gathered.
const DETAILS_PATIENCE: Duration = Duration::from_millis(4);
/// A pause longer than this may hide a counter's wrap.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Why a run never began.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the command `{command}` cannot be started")]
    Command {
        command: String,
        #[source]
        source: io::Error,
    },
    #[error("process {pid} cannot be tracked")]
    Process {
        pid: u32,
        #[source]
        source: io::Error,
    },
    #[error("signals cannot be received")]
    Signals(#[source] io::Error),
}

/// Runs the plan's command to its end, or follows the plan's process, and measures it.
pub fn track<'p>(
    plan: &'p Plan,
    screen: Option<&'p mut dyn Screen>,
) -> Result<Summary, StartError> {
    let mut tracker = Tracker::start(plan, screen)?;
    // A fault of ours must not cost the job its end: it is waited for in any case.
    let watched = catch_unwind(AssertUnwindSafe(|| tracker.watch()));
    let ending = watched.unwrap_or_else(|_| {
        tracker
            .record
            .note("the tracker failed; the log ends early".to_owned());
        Ending::Unknown
    });
    let elapsed = tracker.last_sample();
    let ending = match ending {
        Ending::Unknown if tracker.child.is_ours() => tracker.outlast(),
        ending => ending,
    };
    Ok(tracker.finish(ending, elapsed))
}

/// The subject, ready to be measured.
enum Ready<'p> {
    Found(Child),
    Launch(Launch, &'p [OsString]),
}

struct Tracker<'p> {
    plan: &'p Plan,
    screen: Option<&'p mut dyn Screen>,
    witness: Witness,
    record: Record,
    scribe: Scribe,
    signals: Signals,
    mailbox: Option<Mailbox>,
    child: Child,
    boards: Option<Receiver<Boards>>,
    lag: Lag,
    is_lag_known: bool,
    last_awake: Moment,
    /// What this process had used when it became a tracker: an exec keeps its clock.
    cpu_at_start: Duration,
    /// A request to stop reached us, and waits for the command to stop.
    stop_asked: bool,
    /// When the command was seen to have ended.
    ended: Option<Moment>,
    /// Who said the carbon intensities recorded so far.
    realtime_source: Option<String>,
}

impl<'p> Tracker<'p> {
    fn start(plan: &'p Plan, screen: Option<&'p mut dyn Screen>) -> Result<Self, StartError> {
        let cpu_at_start = own_cpu_time();
        let id = new_id();
        let signals = Signals::hold().map_err(StartError::Signals)?;
        let mailbox = Mailbox::open(&id).ok();
        let ready = match &plan.subject {
            Subject::Process(pid) => Ready::Found(find(*pid)?),
            Subject::Command(words) => {
                let address = mailbox.as_ref().map(Mailbox::address).unwrap_or_default();
                let launch = Launch::new(words, &[(VARIABLE, &address)]);
                Ready::Launch(launch.map_err(|source| unstartable(words, source))?, words)
            }
        };
        let boards = look_for_boards(&plan.roots);
        let survey = Survey::of(&plan.roots);
        let (top, scope) = match &ready {
            Ready::Found(child) => (Top::Process(child.pid()), None),
            Ready::Launch(..) if plan.own_group => (Top::Ours, Scope::make(&plan.roots)),
            Ready::Launch(..) => (Top::Ours, None),
        };
        let mut witness = Witness::new(&plan.roots, &survey, top, scope);
        for sensor in survey.sensors {
            witness.panel.add(sensor, Duration::ZERO);
        }
        let mut info = first_info(plan, &id);
        let patience = match plan.roots.nvml_lib {
            Some(_) => NAMED_PATIENCE,
            None => BOARDS_PATIENCE,
        };
        let early = boards
            .as_ref()
            .and_then(|boards| boards.recv_timeout(patience).ok());
        let boards = boards.filter(|_| early.is_none());
        let mut notes = witness.take_in(early.unwrap_or_default(), Duration::ZERO);
        (info.host.gpus, info.host.gpu_driver) = cards(&witness.boards);
        info.sensors = witness.panel.sensors();
        info.counters_at_start = witness.panel.counters();
        let first = witness.begin(Moment::now());
        let mut record = Record::create(plan, &id, &info, &first);
        notes.drain(..).for_each(|note| record.note(note));
        // The last thing before the command starts: everything read anew.
        witness.begin(Moment::now());
        let baseline = witness.panel.faces();
        let (child, began) = match ready {
            Ready::Found(child) => (child, Moment::now()),
            Ready::Launch(launch, words) => {
                match Child::start(&launch, &signals.before, witness.scope()) {
                    Ok((child, started)) => {
                        if !started.is_in_group {
                            witness.do_without_group();
                        }
                        (child, Moment::now().back_at(started.began))
                    }
                    Err(source) => {
                        record.discard();
                        return Err(unstartable(words, source));
                    }
                }
            }
        };
        let at = witness.follow(child.pid().as_raw_pid() as u32, began);
        let lag = Lag::starting(&baseline, &witness.panel.faces(), at);
        let place = record
            .log()
            .and_then(|log| Some((log.folder().to_owned(), log.data().ok()?)));
        let memory = witness.machine().memory().map(|memory| memory.total);
        let scribe = Scribe::start(info, place, gather(plan, survey.processor, memory));
        let last_awake = *witness.started();
        Ok(Self {
            plan,
            screen,
            witness,
            record,
            scribe,
            signals,
            mailbox,
            child,
            boards,
            lag,
            is_lag_known: false,
            last_awake,
            cpu_at_start,
            stop_asked: false,
            ended: None,
            realtime_source: None,
        })
    }

    /// Samples until the command ends or the time is up.
    fn watch(&mut self) -> Ending {
        let mut next_tick = self.plan.interval;
        let mut next_read = self.gap();
        loop {
            let now = Moment::now();
            self.mind_the_gap(&now);
            let at = self.witness.elapsed(&now);
            if self.plan.duration.is_some_and(|duration| at >= duration) {
                return Ending::Unknown;
            }
            if !self.is_lag_known {
                self.learn_lag(at);
            } else if at >= next_tick {
                self.tick(&now, None);
                next_tick = next_after(next_tick, self.plan.interval, at);
                next_read = at.saturating_add(self.gap());
            } else if at >= next_read {
                self.witness.panel.read(at);
                next_read = at.saturating_add(self.gap());
            }
            self.take_in_late_boards(at);
            self.collect_notes();

            let mut until = next_tick.min(next_read).saturating_sub(at);
            if let Some(duration) = self.plan.duration {
                until = until.min(duration.saturating_sub(at));
            }
            if !self.is_lag_known {
                until = GLANCE;
            }
            if !self.await_news(until) {
                continue;
            }
            // A mark sent just before the end is older than the end.
            let ending = self.hear_signals();
            self.open_mail();
            if let Some(ending) = ending.or_else(|| self.has_vanished()) {
                return ending;
            }
        }
    }

    /// Sleeps until something happens, but no longer than this; says whether it did.
    fn await_news(&self, until: Duration) -> bool {
        let mut sources = vec![PollFd::new(&self.signals, PollFlags::IN)];
        sources.extend(
            self.mailbox
                .iter()
                .map(|mail| PollFd::new(mail, PollFlags::IN)),
        );
        let handle = self.child.handle();
        sources.extend(
            handle
                .iter()
                .map(|handle| PollFd::new(handle, PollFlags::IN)),
        );
        let timeout = Timespec {
            tv_sec: until.as_secs().min(86_400) as i64,
            tv_nsec: i64::from(until.subsec_nanos()),
        };
        !matches!(poll(&mut sources, Some(&timeout)), Ok(0))
    }

    /// How soon the meters must be read again, whatever is logged.
    fn gap(&self) -> Duration {
        let gap = self.witness.panel.longest_gap();
        if self.witness.panel.has_gauges() {
            gap.min(Duration::from_secs_f64(POWER_PERIOD_S))
        } else {
            gap
        }
    }

    fn tick(&mut self, now: &Moment, mark: Option<Mark>) {
        let mut sample = self.witness.sample(now, mark);
        if let Some(latest) = self.plan.grid.as_ref().and_then(|grid| grid.latest()) {
            sample.observed.realtime_carbon_intensity = Some(latest.intensity.get());
            self.realtime_source = Some(latest.source);
        }
        self.record.sample(&sample);
        self.scribe.flush();
        if let Some(screen) = &mut self.screen {
            screen.show(&Glance::of(
                &sample,
                self.plan.region.as_ref(),
                self.plan.pue,
            ));
        }
    }

    fn clear_screen(&mut self) {
        if let Some(screen) = &mut self.screen {
            screen.clear();
        }
    }

    fn collect_notes(&mut self) {
        let grid = self.plan.grid.iter().flat_map(|grid| grid.notices());
        for note in self.witness.panel.take_notes().into_iter().chain(grid) {
            self.record.note(note);
        }
    }

    /// While the machine slept, counters may have gone anywhere: nothing is counted for that time.
    fn mind_the_gap(&mut self, now: &Moment) {
        let slept = now.slept_since(&self.last_awake);
        if slept > Duration::from_millis(500) {
            let at = self.witness.elapsed(now);
            self.witness.panel.resume(at);
            self.record.note(format!(
                "after {:.3} s: the machine slept for {:.0} s, which is not counted",
                at.as_secs_f64(),
                slept.as_secs_f64()
            ));
        }
        self.last_awake = *now;
    }

    fn learn_lag(&mut self, at: Duration) {
        self.witness.panel.read(at);
        self.lag.glance(&self.witness.panel.faces(), at);
        if self.lag.is_settled() {
            self.witness.panel.correct(&self.lag.at_start());
            self.is_lag_known = true;
        }
    }

    fn take_in_late_boards(&mut self, at: Duration) {
        let Some(boards) = self
            .boards
            .as_ref()
            .and_then(|boards| boards.try_recv().ok())
        else {
            return;
        };
        self.boards = None;
        if !boards.found.is_empty() {
            let seconds = at.as_secs_f64();
            self.record
                .note(format!("accelerators are counted from {seconds:.3} s on"));
        }
        for note in self.witness.take_in(boards, at) {
            self.record.note(note);
        }
    }

    fn open_mail(&mut self) {
        while let Some(letter) = self.mailbox.as_ref().and_then(Mailbox::next) {
            self.tick(&Moment::now(), Some(letter.mark.clone()));
            if let Some(mailbox) = &self.mailbox {
                mailbox.acknowledge(&letter);
            }
        }
    }

    /// Hands signals on, waits for the dead, and stops when the command is stopped.
    fn hear_signals(&mut self) -> Option<Ending> {
        while let Some(arrival) = self.signals.next() {
            if arrival.is_child_news() {
                continue;
            }
            self.stop_asked |= arrival.is_stop();
            if self.child.is_ours() {
                arrival.forward_to(self.child.pid());
            } else if arrival.is_end() {
                return Some(Ending::Unknown);
            }
        }
        if !self.child.is_ours() {
            return None;
        }
        match self.child.reap() {
            News::Ended(ending) => {
                self.ended = Some(Moment::now());
                return Some(ending);
            }
            News::Stopped if self.stop_asked => self.stop_along(),
            _ => {}
        }
        None
    }

    fn stop_along(&mut self) {
        let before = Moment::now();
        self.tick(&before, None);
        self.clear_screen();
        self.child.stop_along();
        self.stop_asked = false;
        let now = Moment::now();
        let at = self.witness.elapsed(&now);
        let pause = at.saturating_sub(self.witness.elapsed(&before));
        if pause > LONGEST_PAUSE.min(self.gap()) {
            self.witness.panel.resume(at);
            self.record.note(format!(
                "after {:.3} s: stopped for {:.1} s, which is not counted",
                at.as_secs_f64(),
                pause.as_secs_f64()
            ));
        }
    }

    /// The end of a process that is not our child shows in its handle.
    fn has_vanished(&mut self) -> Option<Ending> {
        let handle = self.child.handle()?;
        let mut handle = [PollFd::new(&handle, PollFlags::IN)];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        matches!(poll(&mut handle, Some(&now)), Ok(ready) if ready > 0).then_some(Ending::Unknown)
    }

    /// The sample at the end of the measuring; gives how long it took.
    fn last_sample(&mut self) -> Duration {
        let end = self.ended.unwrap_or_else(Moment::now);
        let at = self.witness.elapsed(&end);
        self.witness.panel.read(at);
        self.set_right_at_end(at);
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

    /// Waits for a command that goes on after the measuring.
    fn outlast(&mut self) -> Ending {
        loop {
            if let Some(ending) = self.hear_signals() {
                return ending;
            }
            self.await_news(Duration::MAX);
        }
    }

    /// The completed info, and what it all came to.
    fn finish(self, ending: Ending, elapsed: Duration) -> Summary {
        let overhead = own_cpu_time().saturating_sub(self.cpu_at_start);
        let mut info = self.scribe.finish(DETAILS_PATIENCE);
        info.ended = Some(chrono::Local::now().fixed_offset());
        info.exit_code = (ending != Ending::Unknown).then(|| i32::from(ending.code()));
        info.overhead_cpu_s = Some(overhead.as_secs_f64());
        (info.host.gpus, info.host.gpu_driver) = cards(&self.witness.boards);
        info.realtime_source.clone_from(&self.realtime_source);
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

    /// Waits for the next update of counters that have a rhythm, and adds what they were late by.
    fn set_right_at_end(&mut self, end: Duration) {
        if !self.is_lag_known {
            return;
        }
        let Some(patience) = self.lag.patience() else {
            return;
        };
        let faces = self.witness.panel.faces();
        let mut after = Lag::ending(&faces, end);
        loop {
            let at = self.witness.elapsed(&Moment::now());
            if at > end + patience || after.has_seen_the_end(&self.lag) {
                break;
            }
            std::thread::sleep(GLANCE);
            let at = self.witness.elapsed(&Moment::now());
            after.glance(&self.witness.panel.peek(), at);
        }
        self.witness.panel.correct(&after.at_end(&self.lag, end));
    }
}

fn unstartable(words: &[OsString], source: io::Error) -> StartError {
    StartError::Command {
        command: words
            .first()
            .map(|word| word.to_string_lossy().into_owned())
            .unwrap_or_default(),
        source,
    }
}

fn find(pid: u32) -> Result<Child, StartError> {
    Pid::from_raw(pid as i32)
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))
        .and_then(Child::find)
        .map_err(|source| StartError::Process { pid, source })
}

/// The next tick on the grid of intervals that still lies ahead.
fn next_after(due: Duration, interval: Duration, now: Duration) -> Duration {
    let mut next = due + interval;
    if next <= now {
        let missed = now.saturating_sub(due).as_nanos() / interval.as_nanos().max(1);
        next = due + interval * (missed as u32 + 1);
    }
    next
}

/// Six bytes nobody else has: two trackers never meet.
fn new_id() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    format!("{:012x}", hasher.finish() & 0xffff_ffff_ffff)
}

/// What is known before the command starts; the rest is gathered while it runs.
fn first_info(plan: &Plan, id: &str) -> Info {
    Info {
        schema: SCHEMA,
        impact_version: env!("CARGO_PKG_VERSION").to_owned(),
        id: id.to_owned(),
        name: plan.name.clone(),
        tags: plan.tags.clone(),
        command: plan.command_line(),
        started: Some(chrono::Local::now().fixed_offset()),
        interval_s: Some(plan.interval.as_secs_f64()),
        pue: plan.pue,
        region: plan.region.clone(),
        scheduler: host::scheduler(),
        ..Info::default()
    }
}

/// What takes time to find out, to be done beside the running command.
fn gather(
    plan: &Plan,
    processor: Processor,
    memory: Option<u64>,
) -> impl FnOnce(&mut Info) + Send + use<> {
    let roots = plan.roots.clone();
    let redact = plan.redact;
    let subject = plan.subject.clone();
    move |info| {
        info.host = Host {
            gpus: std::mem::take(&mut info.host.gpus),
            gpu_driver: info.host.gpu_driver.take(),
            ..host::host(&roots, &processor, memory)
        };
        let folder = std::env::current_dir().ok();
        info.git = folder.as_deref().and_then(git::state);
        if let Subject::Command(words) = &subject {
            info.python = python::state(words);
        }
        if redact {
            info.host.hostname = None;
            info.host.cgroup = None;
        } else {
            info.working_directory = folder.map(|folder| folder.display().to_string());
        }
    }
}

/// Looks for accelerators beside the start, since loading their library may take long.
fn look_for_boards(roots: &Roots) -> Option<Receiver<Boards>> {
    if !Boards::are_likely(roots) {
        return None;
    }
    let (sender, receiver) = channel();
    let roots = roots.clone();
    std::thread::Builder::new()
        .name("boards".to_owned())
        .spawn(move || sender.send(Boards::of(&roots)))
        .ok()?;
    Some(receiver)
}

/// The boards as the info lists them, and their driver.
fn cards(boards: &[Box<dyn Accelerator>]) -> (Vec<GpuCard>, Option<String>) {
    let boards: Vec<Board> = boards.iter().map(|board| board.board()).collect();
    let driver = boards.iter().find_map(|board| board.driver.clone());
    let card = |board: Board| GpuCard {
        uuid: Some(board.uuid),
        name: board.name,
        memory_bytes: board.memory_bytes,
        power_limit_w: board.power_limit_w,
    };
    (boards.into_iter().map(card).collect(), driver)
}

/// CPU time of this process itself, which is no part of the run.
fn own_cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_that_were_missed_are_not_made_up_for() {
        let second = Duration::from_secs(1);
        assert_eq!(next_after(second, second, second), second * 2);
        assert_eq!(next_after(second, second, second * 7 / 2), second * 4);
    }
}
