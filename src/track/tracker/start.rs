use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::Pid;

use super::Tracker;
use crate::grid::intensity::IntensityPoller;
use crate::meter::clock::own_cpu_time;
use crate::meter::host;
use crate::meter::sensor::{Boards, Processor};
use crate::meter::{Roots, Scope, ScopeError, SensorSet, Session, SystemClock};
use crate::model::info::Host;
use crate::model::{Info, SCHEMA};
use crate::track::child::Child;
use crate::track::info_writer::{InfoTask, InfoWriter};
use crate::track::job::Job;
use crate::track::mark_socket::{MarkSocket, VARIABLE, outer_run};
use crate::track::output::Output;
use crate::track::recorder::Recorder;
use crate::track::run_cgroup::RunCgroup;
use crate::track::signals::Signals;
use crate::track::spawn::Launch;
use crate::track::{Display, Plan, Subject, git, python};

/// How long the start waits for the GPU library; boards that come later are added later.
const BOARDS_PATIENCE: Duration = Duration::from_millis(3);
/// How long it waits for a library that was given by its path.
const NAMED_PATIENCE: Duration = Duration::from_secs(2);

/// Why a run was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The command was not found or cannot be executed.
    #[error("the command `{command}` cannot be started")]
    Command {
        /// The program.
        command: String,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The process does not exist or may not be followed.
    #[error("process {pid} cannot be tracked")]
    Process {
        /// Its id.
        pid: u32,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The process has ended before it could be measured.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// Signals cannot be received.
    #[error("signals cannot be received")]
    Signals(#[source] io::Error),
}

/// The subject, ready to be measured.
enum Ready<'p> {
    Found(Child),
    Launch(Launch, &'p [OsString]),
}

impl<'p> Tracker<'p> {
    /// Prepares everything, starts the command or finds the process, and starts to count.
    pub(super) fn start(
        plan: &'p Plan,
        display: Option<&'p mut dyn Display>,
    ) -> Result<Self, StartError> {
        let cpu_at_start = own_cpu_time();
        let id = new_id();
        // Before any thread is started: one that does not block signals would receive ours.
        let signals = Signals::hold().map_err(StartError::Signals)?;
        let intensity = poll_intensity(plan);
        let mark_socket = MarkSocket::open(&id).ok();
        let ready = match &plan.subject {
            Subject::Process(pid) => Ready::Found(find(*pid)?),
            Subject::Command(words) => {
                let address = mark_socket.as_ref().map(MarkSocket::address);
                let launch = Launch::new(
                    words,
                    &plan.roots.environment,
                    &[(VARIABLE, &address.unwrap_or_default())],
                );
                Ready::Launch(launch.map_err(|source| unstartable(words, source))?, words)
            }
        };
        let boards = find_boards(&plan.roots);
        let mut sensors = SensorSet::of_processors(&plan.roots);
        let cgroup = match &ready {
            Ready::Launch(..) if plan.own_group => RunCgroup::make(&plan.roots),
            _ => None,
        };
        let patience = match plan.roots.nvml_lib {
            Some(_) => NAMED_PATIENCE,
            None => BOARDS_PATIENCE,
        };
        let early = boards
            .as_ref()
            .and_then(|boards| boards.recv_timeout(patience).ok());
        let boards = boards.filter(|_| early.is_none());
        sensors.add_boards(early.unwrap_or_default(), Duration::ZERO);
        let processor = sensors.processor.clone();
        let mut info = first_info(plan, &id);
        (info.host.gpus, info.host.gpu_driver) = sensors.gpus();
        info.sensors = sensors.sensors();
        info.counters_at_start = sensors.counters();
        let scope = match &ready {
            Ready::Found(child) => Scope::ProcessTree(child.pid().as_raw_pid() as u32),
            Ready::Launch(..) => Scope::Children {
                cgroup: cgroup.as_ref().map(|cgroup| cgroup.folder().to_owned()),
            },
        };
        let mut session = Session::prepare(sensors, &scope, SystemClock)?;
        let mut recorder = Recorder::create(plan, &id, &info, &session.first_sample());
        let notes = plan.notes.iter().cloned().chain(session.take_notes());
        notes.for_each(|note| recorder.note(note));
        // The last thing before the command starts.
        session.begin();
        let (child, began) = match ready {
            Ready::Found(child) => (child, session.now()),
            Ready::Launch(launch, words) => {
                match Child::start(launch, &signals.inherited, cgroup.as_ref()) {
                    Ok((child, started)) => {
                        if !started.is_in_group {
                            session.drop_cgroup();
                        }
                        (child, session.now().back_at(started.began))
                    }
                    Err(source) => {
                        recorder.discard();
                        return Err(unstartable(words, source));
                    }
                }
            }
        };
        session.follow(child.pid().as_raw_pid() as u32, began);
        let place = recorder
            .log()
            .and_then(|log| Some((log.folder().to_owned(), log.data().ok()?)));
        let memory = session.memory_bytes();
        let info_writer = InfoWriter::start(info, place, info_tasks(plan, processor, memory));
        Ok(Self {
            job: Job::new(child, signals, mark_socket),
            session,
            output: Output {
                plan,
                display,
                recorder,
                info_writer,
                intensity,
                realtime_sources: BTreeSet::new(),
                cpu_at_start,
            },
            cgroup,
            boards,
            ended: None,
        })
    }
}

/// Starts to ask for the carbon intensity of the present hour, if that is wanted.
fn poll_intensity(plan: &Plan) -> Option<IntensityPoller> {
    let chain = plan.grid.as_ref()?;
    let region = plan.region.as_ref()?;
    Some(IntensityPoller::start(
        Arc::clone(chain),
        region.zone.clone(),
    ))
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
    i32::try_from(pid)
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))
        .and_then(Child::find)
        .map_err(|source| StartError::Process { pid, source })
}

/// A random id of 48 bits, so that no two runs have the same.
fn new_id() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    format!("{:012x}", hasher.finish() & 0xffff_ffff_ffff)
}

/// The info that is known before the command starts; the rest is gathered while it runs.
fn first_info(plan: &Plan, id: &str) -> Info {
    Info {
        schema: SCHEMA,
        impact_version: env!("CARGO_PKG_VERSION").to_owned(),
        id: id.to_owned(),
        inside: outer_run(&plan.roots.environment),
        name: Some(plan.name()).filter(|name| !name.is_empty()),
        tags: plan.tags.clone(),
        command: plan.command_line(),
        started: Some(chrono::Local::now().fixed_offset()),
        interval_s: Some(plan.interval.as_secs_f64()),
        pue: plan.pue,
        pue_source: plan.pue_source.clone(),
        region: plan.region.clone(),
        scheduler: host::scheduler(&plan.roots.environment, plan.redact),
        ..Info::default()
    }
}

/// The parts of the info that take time, gathered while the command runs; the fastest first.
fn info_tasks(plan: &Plan, processor: Processor, memory: Option<u64>) -> Vec<InfoTask> {
    let roots = plan.roots.clone();
    let environment = plan.roots.environment.clone();
    let redact = plan.redact;
    let subject = plan.subject.clone();
    let folder = std::env::current_dir().ok();
    let working_directory = folder.as_ref().map(|folder| folder.display().to_string());
    vec![
        Box::new(move |info| {
            info.host = Host {
                gpus: std::mem::take(&mut info.host.gpus),
                gpu_driver: info.host.gpu_driver.take(),
                ..host::host(&roots, &processor, memory)
            };
            if redact {
                info.host.hostname = None;
                info.host.cgroup = None;
            } else {
                info.working_directory = working_directory;
            }
        }),
        Box::new(move |info| info.git = folder.as_deref().and_then(git::state)),
        Box::new(move |info| {
            if let Subject::Command(words) = &subject {
                info.python = python::state(words, &environment);
            }
        }),
    ]
}

/// Finds GPU boards in a thread, since loading their library may take long.
fn find_boards(roots: &Roots) -> Option<Receiver<Boards>> {
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
