//! Reads accelerators in a process of its own.
//!
//! A driver that hangs or crashes takes only that process with it. The process is a fork of this one. It answers one
//! question at a time, as lines of JSON over a socket, and ends with its parent.

use std::ffi::CStr;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::meter::sensor::accelerator::{Accelerator, Board, BoardReadings};
use crate::meter::sensor::board_error::{DriverError, MeterError, ShareError};
use crate::meter::sensor::{Boards, Share};
use crate::meter::{PowerSource, ReadError, Reading, Roots, Sensor};
use crate::model::{Component, Method};

/// A driver that takes longer for one answer is not asked again.
const PATIENCE: Duration = Duration::from_secs(1);
/// A longer answer is nonsense.
const LONGEST_ANSWER: u64 = 1 << 20;

/// The process that reads the boards, before it has listed the boards.
#[derive(Debug)]
pub(crate) struct BoardProcess {
    link: Arc<Mutex<Link>>,
    pid: u32,
}

/// The tracker's end of the socket.
#[derive(Debug)]
struct Link {
    stream: BufReader<UnixStream>,
    pid: u32,
    /// Why the process is not asked any more.
    lost: Option<DriverError>,
}

#[derive(Debug, Serialize, Deserialize)]
enum Question {
    Read(usize),
    Readings(usize),
    Share(usize, Vec<u32>),
}

/// The first answer, which is not asked for.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Found {
    boards: Vec<FoundBoard>,
    missing: Option<DriverError>,
}

#[derive(Debug, Serialize, Deserialize)]
struct FoundBoard {
    board: Board,
    sensor: Result<FoundSensor, MeterError>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct FoundSensor {
    component: Component,
    method: Method,
    place: String,
    first: Reading,
}

impl BoardProcess {
    /// Starts the process if there are signs of a board.
    ///
    /// It is a copy of the calling thread only. Call this before other threads are started: a lock that one of them
    /// holds would stay locked in the copy, which would then be given up as a driver that hangs.
    pub(crate) fn start(roots: &Roots) -> io::Result<Option<Self>> {
        if !Boards::are_likely(roots) {
            return Ok(None);
        }
        let (own_end, readers_end) = UnixStream::pair()?;
        let parent = std::process::id();
        // SAFETY: the child does not return from here, and runs no destructor of the parent's values.
        let pid = match unsafe { libc::fork() } {
            -1 => return Err(io::Error::last_os_error()),
            0 => {
                drop(own_end);
                become_reader(parent, &readers_end);
                let _ = std::panic::catch_unwind(|| answer(roots, readers_end));
                // SAFETY: ends this process without the parent's exit handlers.
                unsafe { libc::_exit(0) }
            }
            pid => pid as u32,
        };
        drop(readers_end);
        own_end.set_write_timeout(Some(PATIENCE))?;
        Ok(Some(Self {
            link: Arc::new(Mutex::new(Link {
                stream: BufReader::new(own_end),
                pid,
                lost: None,
            })),
            pid,
        }))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// The boards, if the process has found them within this time; none if it is still searching.
    pub(crate) fn boards(&self, patience: Duration) -> Option<Boards> {
        let mut link = lock(&self.link);
        let found = match link.receive::<Found>(patience) {
            Ok(found) => found,
            Err(DriverError::NoAnswer { .. }) => return None,
            Err(gone) => Found {
                missing: Some(gone),
                ..Found::default()
            },
        };
        let remote = |(index, found): (usize, FoundBoard)| {
            Box::new(RemoteBoard {
                link: Arc::clone(&self.link),
                index,
                found,
            }) as Box<dyn Accelerator>
        };
        Some(Boards {
            found: found.boards.into_iter().enumerate().map(remote).collect(),
            missing: found.missing,
        })
    }
}

impl Link {
    fn ask<T: DeserializeOwned>(&mut self, question: &Question) -> Result<T, DriverError> {
        if let Some(why) = &self.lost {
            return Err(why.clone());
        }
        let answer = self
            .send(question)
            .map_err(|_| DriverError::Crashed)
            .and_then(|()| self.receive(PATIENCE));
        answer.map_err(|why| {
            if matches!(why, DriverError::NoAnswer { .. }) {
                // Nobody may find its late answer in place of another one.
                // SAFETY: a signal to a child that has not been waited for, as its socket is open.
                unsafe { libc::kill(self.pid as libc::pid_t, libc::SIGKILL) };
            }
            self.lost.insert(why).clone()
        })
    }

    fn send(&mut self, question: &Question) -> io::Result<()> {
        send(self.stream.get_mut(), question)
    }

    fn receive<T: DeserializeOwned>(&mut self, patience: Duration) -> Result<T, DriverError> {
        receive(&mut self.stream, patience)
    }
}

/// Waits for a line of JSON, but not longer than the patience allows.
pub(super) fn receive<T: DeserializeOwned>(
    stream: &mut BufReader<UnixStream>,
    patience: Duration,
) -> Result<T, DriverError> {
    let patience = patience.max(Duration::from_micros(1));
    let wait = stream.get_ref().set_read_timeout(Some(patience));
    let mut line = Vec::new();
    let read = wait.and_then(|()| stream.take(LONGEST_ANSWER).read_until(b'\n', &mut line));
    match read {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
            ) =>
        {
            Err(DriverError::NoAnswer {
                seconds: patience.as_secs(),
            })
        }
        Err(_) => Err(DriverError::Crashed),
        Ok(_) => serde_json::from_slice(&line).map_err(|_| DriverError::Crashed),
    }
}

fn lock(link: &Mutex<Link>) -> MutexGuard<'_, Link> {
    link.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A board that the process reads.
struct RemoteBoard {
    link: Arc<Mutex<Link>>,
    index: usize,
    found: FoundBoard,
}

struct RemoteSource {
    link: Arc<Mutex<Link>>,
    index: usize,
}

impl Accelerator for RemoteBoard {
    fn board(&self) -> Board {
        self.found.board.clone()
    }

    fn sensor(&self) -> Result<Sensor, MeterError> {
        let found = self.found.sensor.clone()?;
        Ok(Sensor {
            component: found.component,
            method: found.method,
            place: found.place,
            first: found.first,
            source: Box::new(RemoteSource {
                link: Arc::clone(&self.link),
                index: self.index,
            }),
        })
    }

    fn readings(&self) -> BoardReadings {
        lock(&self.link)
            .ask(&Question::Readings(self.index))
            .unwrap_or_default()
    }

    fn share(&mut self, processes: &[u32]) -> Result<Share, ShareError> {
        let question = Question::Share(self.index, processes.to_vec());
        // What the board drew after the driver was lost is not counted, so its share does not matter.
        lock(&self.link).ask(&question).unwrap_or(Ok(Share::Idle))
    }
}

impl PowerSource for RemoteSource {
    fn read(&mut self) -> Result<Reading, ReadError> {
        let answer = lock(&self.link).ask(&Question::Read(self.index));
        answer.unwrap_or_else(|why| Err(ReadError::Lost(why.to_string())))
    }
}

/// Makes a fork independent of the job; it ends with its parent.
fn become_reader(parent: u32, socket: &UnixStream) {
    // SAFETY: system calls on this process alone.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() as u32 != parent {
            libc::_exit(0);
        }
    }
    leave_the_job(c"impact-boards", socket);
}

/// Gives a fork its own name, and takes from it every signal, stream and file of the parent but this socket.
pub(super) fn leave_the_job(name: &CStr, socket: &UnixStream) {
    let socket = socket.as_raw_fd();
    // SAFETY: system calls on this process alone; the files closed here belong to values that are never used again.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, name.as_ptr());
        let mut all = std::mem::MaybeUninit::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, all.as_ptr(), std::ptr::null_mut());
        let none = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for stream in 0..3 {
            libc::dup2(nowhere, stream);
        }
        let socket = socket as libc::c_uint;
        if socket > 3 {
            libc::syscall(libc::SYS_close_range, 3, socket - 1, 0);
        }
        libc::syscall(libc::SYS_close_range, socket + 1, libc::c_uint::MAX, 0);
    }
}

/// Finds the boards and answers until the other end is closed.
fn answer(roots: &Roots, socket: UnixStream) -> io::Result<()> {
    let mut boards = Boards::of(roots);
    let mut sources = Vec::new();
    let found = boards.found.iter().map(|accelerator| FoundBoard {
        board: accelerator.board(),
        sensor: accelerator.sensor().map(|sensor| {
            let Sensor {
                component,
                method,
                place,
                first,
                source,
            } = sensor;
            sources.push(source);
            FoundSensor {
                component,
                method,
                place,
                first,
            }
        }),
    });
    let found: Vec<FoundBoard> = found.collect();
    let mut sources = sources.into_iter();
    let mut sources: Vec<Option<Box<dyn PowerSource>>> = found
        .iter()
        .map(|board| board.sensor.as_ref().ok().and_then(|_| sources.next()))
        .collect();
    let is_empty = found.is_empty();
    let mut questions = BufReader::new(socket.try_clone()?);
    let mut socket = socket;
    send(
        &mut socket,
        &Found {
            boards: found,
            missing: boards.missing.take(),
        },
    )?;
    if is_empty {
        return Ok(());
    }
    let mut line = Vec::new();
    loop {
        line.clear();
        if questions.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let board = |index: usize| boards.found.get(index);
        match serde_json::from_slice(&line)? {
            Question::Read(index) => {
                let reading = match sources.get_mut(index) {
                    Some(Some(source)) => source.read(),
                    _ => Err(ReadError::Lost("there is no such board".to_owned())),
                };
                send(&mut socket, &reading)?;
            }
            Question::Readings(index) => {
                let readings = board(index).map(|board| board.readings());
                send(&mut socket, &readings.unwrap_or_default())?;
            }
            Question::Share(index, processes) => {
                let board = boards.found.get_mut(index);
                let share = board.map(|board| board.share(&processes));
                send(&mut socket, &share.unwrap_or(Ok(Share::Idle)))?;
            }
        }
    }
}

/// Sends a value as a line of JSON.
pub(super) fn send(socket: &mut UnixStream, answer: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    socket.write_all(&line)
}
