use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, sync_channel};
use std::time::Duration;

use rustix::process::Pid;

use super::{Measuring, Tracker};
use crate::files::{self, TrustedOwners};
use crate::grid::intensity::IntensityPoller;
use crate::meter::clock::own_cpu_time;
use crate::meter::host;
use crate::meter::power_cap::CapError;
use crate::meter::sensor::Processor;
use crate::meter::{Clock as _, Roots, Scope, ScopeError, SystemClock};
use crate::model::info::{FollowedProcess, Host};
use crate::model::{Info, Pseudonyms, SCHEMA, Sample};
use crate::track::board_process::BoardProcess;
use crate::track::child::Child;
use crate::track::info_writer::InfoTask;
use crate::track::job::Job;
use crate::track::mark_socket::{
    FollowedOwner, MarkSocket, OUTER_RUNS, VARIABLE, outer_run, outer_runs,
};
use crate::track::meter_thread::{JobEvent, MeterSetup, Prepared, StartedJob};
use crate::track::open_files::{FileReserve, OpenFileLimit};
use crate::track::output::{FirstEntries, OutputSetup};
use crate::track::power_cap::RunCaps;
use crate::track::run_cgroup::RunCgroup;
use crate::track::signals::Signals;
use crate::track::spawn::Launch;
use crate::track::{Display, Plan, Subject, git, log_thread, meter_thread, python};

/// How long the start waits for the sensors; longer than for a GPU library that was given by its path.
const PREPARE_PATIENCE: Duration = Duration::from_secs(3);

/// The variable in which the command finds the folder of its run.
const RUN_DIR: &str = "IMPACT_RUN_DIR";

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
    /// The process may open too few files for a log. Nothing was started.
    #[error("only {0} files may be open, and tracking needs {least}", least = OpenFileLimit::LEAST)]
    TooFewFiles(u64),
    /// The power cap cannot be set. Nothing was started.
    #[error("the command was not started, because its power cap cannot be set")]
    PowerCap(#[source] CapError),
    /// Signals cannot be received.
    #[error("signals cannot be received")]
    Signals(#[source] io::Error),
}

/// The subject, ready to be measured.
enum Ready<'p> {
    Found(Child),
    Launch(Launch, &'p [OsString]),
}

impl<'p> Ready<'p> {
    fn of(plan: &'p Plan, id: &str, marks: Option<&MarkSocket>) -> Result<Self, StartError> {
        match &plan.subject {
            Subject::Process(pid) => Ok(Self::Found(find(*pid)?)),
            Subject::Command(words) => {
                let address = marks.map(MarkSocket::address).unwrap_or_default();
                let mut outer = outer_runs(&plan.roots.environment);
                outer.push(id.to_owned());
                let launch = Launch::new(
                    words,
                    &plan.roots.environment,
                    &[(VARIABLE, &address), (OUTER_RUNS, outer.join(",").as_ref())],
                );
                let launch = launch.map_err(|source| unstartable(words, source))?;
                Ok(Self::Launch(launch, words))
            }
        }
    }

    /// Tells the command the folder of its run; an outer run's is not it.
    fn name_folder(&mut self, run: Option<&Path>) {
        if let Self::Launch(launch, _) = self {
            let run = run.and_then(|run| std::path::absolute(run).ok());
            launch.set(RUN_DIR, run.as_deref().map(Path::as_os_str));
        }
    }

    fn scope(&self, cgroup: Option<&RunCgroup>) -> Scope {
        match self {
            Self::Found(child) => Scope::ProcessTree(child.pid().as_raw_pid() as u32),
            Self::Launch(..) => Scope::Children {
                cgroup: cgroup.map(|cgroup| cgroup.folder().to_owned()),
            },
        }
    }

    /// Starts the command.
    fn start(
        self,
        signals: &Signals,
        files: &OpenFileLimit,
        cgroup: Option<&RunCgroup>,
    ) -> Result<(Child, StartedJob), StartError> {
        let (child, began, is_in_group) = match self {
            Self::Found(child) => (child, SystemClock.now(), false),
            Self::Launch(launch, words) => {
                let (child, started) = Child::start(launch, &signals.inherited, files, cgroup)
                    .map_err(|source| unstartable(words, source))?;
                let began = SystemClock.now().back_at(started.began);
                (child, began, started.is_in_group)
            }
        };
        let job = StartedJob {
            pid: child.pid().as_raw_pid() as u32,
            began,
            is_in_group,
        };
        Ok((child, job))
    }
}

impl Tracker {
    /// Prepares everything, starts the command or finds the process, and starts to count.
    pub(super) fn start(
        plan: &Arc<Plan>,
        display: Option<Box<dyn Display + Send>>,
    ) -> Result<Self, StartError> {
        let cpu_at_start = own_cpu_time();
        let id = new_id();
        let files = OpenFileLimit::raise().map_err(StartError::TooFewFiles)?;
        // Before any thread is started: one that does not block signals would receive those of this process.
        let signals = Signals::hold().map_err(StartError::Signals)?;
        let pseudonyms = pseudonyms(plan);
        let mut notes = plan.notes.clone();
        let mut caps =
            RunCaps::begin(plan, pseudonyms.as_ref(), &mut notes).map_err(StartError::PowerCap)?;
        let boards = BoardProcess::start(&plan.roots);
        let owner = followed_owner(plan);
        let mark_socket = MarkSocket::open(&id, owner).ok().map(Arc::new);
        let mut ready = Ready::of(plan, &id, mark_socket.as_deref())?;
        let cgroup = match &ready {
            Ready::Launch(..) if plan.own_group => RunCgroup::make(&plan.roots),
            _ => None,
        };
        let (log, done) = log_thread::start(OutputSetup {
            plan: Arc::clone(plan),
            id: id.clone(),
            display,
            intensity: poll_intensity(plan),
            cpu_at_start,
        });
        let boards = boards.unwrap_or_else(|error| {
            notes.push(format!("GPU boards cannot be read: {error}"));
            None
        });
        // Sensors must not take the files that the log needs.
        let reserve = FileReserve::new();
        let (meter, prepared) = meter_thread::start(MeterSetup {
            roots: plan.roots.clone(),
            scope: ready.scope(cgroup.as_ref()),
            interval: plan.interval,
            duration: plan.duration,
            boards,
            pseudonyms: pseudonyms.clone(),
            mark_socket: mark_socket.clone(),
            log: log.clone(),
        });
        let prepared = prepared.recv_timeout(PREPARE_PATIENCE).ok().transpose()?;
        let is_measured = prepared.is_some();
        if !is_measured {
            let seconds = PREPARE_PATIENCE.as_secs();
            notes.push(format!(
                "the sensors did not answer within {seconds} s, so nothing was measured"
            ));
        }
        let mut info = first_info(plan, &id, pseudonyms.as_ref());
        info.power_cap = caps.recorded.take();
        if let Ready::Found(child) = &ready {
            info.followed = followed(&plan.roots, child.pid().as_raw_pid() as u32);
        }
        drop(reserve);
        let run = log.create(first_entries(plan, info, prepared, notes, pseudonyms));
        ready.name_folder(run.as_deref());
        // The last thing before the command starts.
        if is_measured {
            let (counted, answer) = sync_channel(1);
            let _ = meter.send(JobEvent::Begin(counted));
            let _ = answer.recv_timeout(PREPARE_PATIENCE);
        }
        let (child, job) = ready
            .start(&signals, &files, cgroup.as_ref())
            .inspect_err(|_| log.discard())?;
        log.started(job.pid);
        let _ = meter.send(JobEvent::Started(job));
        if let (Some(socket), true) = (&mark_socket, is_measured) {
            listen_for_marks(Arc::clone(socket), meter.clone());
        }
        if let Some(control) = &plan.control {
            let marks = mark_socket.as_ref().map(|socket| socket.address());
            let marks = marks.as_ref().and_then(|address| address.to_str());
            control.started(&id, run.as_deref(), marks);
        }
        let samples = log.sample_count();
        Ok(Self {
            job: Job::new(child, signals, plan.control.clone()),
            measuring: if is_measured {
                Measuring::By(meter)
            } else {
                Measuring::Nobody(log)
            },
            done,
            complete: None,
            run,
            mark_socket,
            samples,
            caps,
            _cgroup: cgroup,
        })
    }
}

/// What is written when the log is created.
fn first_entries(
    plan: &Plan,
    mut info: Info,
    prepared: Option<Prepared>,
    mut notes: Vec<String>,
    pseudonyms: Option<Pseudonyms>,
) -> FirstEntries {
    let Some(prepared) = prepared else {
        return FirstEntries {
            tasks: info_tasks(plan, Processor::default(), None, pseudonyms),
            info,
            sample: Sample {
                schema: SCHEMA,
                timestamp: SystemClock.now().wall,
                ..Sample::default()
            },
            notes,
        };
    };
    (info.host.gpus, info.host.gpu_driver) = prepared.gpus;
    info.sensors = prepared.sensors;
    info.counters_at_start = prepared.counters;
    notes.extend(prepared.notes);
    FirstEntries {
        tasks: info_tasks(plan, prepared.processor, prepared.memory_bytes, pseudonyms),
        info,
        sample: prepared.first,
        notes,
    }
}

/// Starts a thread that gives marks to the one that measures.
fn listen_for_marks(socket: Arc<MarkSocket>, meter: Sender<JobEvent>) {
    // Without a thread, marks are taken at the end only.
    let _ = std::thread::Builder::new()
        .name("marks".to_owned())
        .stack_size(128 * 1024)
        .spawn(move || socket.listen(|received| meter.send(JobEvent::Marks(received)).is_ok()));
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

/// Names for the machine and its devices in the log, if their own are to be kept out of it.
fn pseudonyms(plan: &Plan) -> Option<Pseudonyms> {
    plan.redact
        .then(|| Pseudonyms::of(host::boot_id(&plan.roots)))
}

pub(crate) fn unstartable(words: &[OsString], source: io::Error) -> StartError {
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

/// What distinguishes the followed process from others with the same id.
fn followed(roots: &Roots, pid: u32) -> Option<FollowedProcess> {
    let stat = roots.procfs.join(pid.to_string()).join("stat");
    let text = files::read_text(&stat, 4096).ok()?;
    // The name of the program may contain spaces and parentheses.
    let (_, fields) = text.rsplit_once(')')?;
    let started_ticks = fields.split_whitespace().nth(19)?.parse().ok()?;
    Some(FollowedProcess { pid, started_ticks })
}

/// The process that is followed, and the user who may send marks for it.
fn followed_owner(plan: &Plan) -> Option<FollowedOwner> {
    use std::os::unix::fs::MetadataExt as _;
    let Subject::Process(pid) = plan.subject else {
        return None;
    };
    let about = std::fs::metadata(plan.roots.proc(&pid.to_string())).ok();
    Some(FollowedOwner {
        pid,
        uid: about.map(|about| rustix::process::Uid::from_raw(about.uid())),
    })
}

/// A random id of 48 bits, so that no two runs have the same.
fn new_id() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    format!("{:012x}", hasher.finish() & 0xffff_ffff_ffff)
}

/// The info that is known before the command starts; the rest is gathered while it runs.
fn first_info(plan: &Plan, id: &str, redacted: Option<&Pseudonyms>) -> Info {
    Info {
        schema: SCHEMA,
        impact_version: env!("CARGO_PKG_VERSION").to_owned(),
        id: id.to_owned(),
        inside: outer_run(&plan.roots.environment),
        outer_runs: outer_runs(&plan.roots.environment),
        name: Some(plan.name()).filter(|name| !name.is_empty()),
        tags: plan.tags.clone(),
        command: plan.command_line(),
        started: Some(chrono::Local::now().fixed_offset()),
        interval_s: Some(plan.interval.as_secs_f64()),
        pue: plan.pue,
        pue_source: plan.pue_source.clone(),
        region: plan.region.clone(),
        project_settings: plan.project_settings.clone(),
        scheduler: host::scheduler(&plan.roots.environment, redacted),
        ..Info::default()
    }
}

/// The parts of the info that take time, gathered while the command runs; the fastest first.
fn info_tasks(
    plan: &Plan,
    processor: Processor,
    memory: Option<u64>,
    redacted: Option<Pseudonyms>,
) -> Vec<InfoTask> {
    let roots = plan.roots.clone();
    let environment = plan.roots.environment.clone();
    let owners = TrustedOwners::of_process(environment.raw("SUDO_UID"));
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
            if let Some(pseudonyms) = redacted {
                info.host.boot_id = pseudonyms.boot_id();
                info.host.hostname = None;
                info.host.cgroup = None;
            } else {
                info.working_directory = working_directory;
            }
        }),
        Box::new(move |info| {
            let folder = folder.as_deref();
            info.git = folder.and_then(|folder| git::state(folder, &owners));
        }),
        Box::new(move |info| {
            if let Subject::Command(words) = &subject {
                info.python = python::state(words, &environment);
            }
        }),
    ]
}
