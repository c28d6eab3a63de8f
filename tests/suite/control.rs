//! A program that starts the tracker to measure itself, and hears of it through a socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{IMPACT, Machine, same};

/// A process that waits to be measured.
struct Job(Child);

impl Job {
    fn start() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a tracker of the job; gives the other end of its socket.
fn control(machine: &Machine, job: &Job, options: &str) -> UnixStream {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let script = format!(
        "exec {IMPACT} track -q --out log --pid {} --control 3 {options} 3<&0 0</dev/null",
        job.0.id()
    );
    let status = machine
        .program("sh")
        .args(["-c", &script])
        .stdin(OwnedFd::from(theirs))
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
    ours
}

fn event(socket: &UnixStream) -> Value {
    let mut line = String::new();
    let mut bytes = [0];
    while !line.ends_with('\n') && (&*socket).read(&mut bytes).unwrap() > 0 {
        line.push(char::from(bytes[0]));
    }
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
}

fn is_alive(pid: &Value) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

fn await_end(pid: &Value) {
    let patience = Instant::now() + Duration::from_secs(10);
    while is_alive(pid) {
        assert!(Instant::now() < patience, "the tracker goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_tracker_goes_on_in_the_background_until_it_is_told_to_stop() {
    let machine = Machine::with_rapl();
    let job = Job::start();
    let mut socket = control(&machine, &job, "");
    let started = event(&socket);
    assert_eq!(started["event"], "started");
    assert_eq!(started["run"], "log");
    assert!(is_alive(&started["pid"]));
    assert_eq!(machine.log().info["id"], started["id"]);
    assert_eq!(
        started["marks"],
        format!("@impact-{}", started["id"].as_str().unwrap())
    );
    machine.set("intel-rapl:0", 5_000_000);
    socket.write_all(b"stop").unwrap();
    let ended = event(&socket);
    assert_eq!(ended["event"], "ended");
    assert_eq!(ended["run"], "log");
    let log = machine.log();
    assert!(same(log.total("package-0"), 4.0));
    assert!(log.info["ended"].is_string());
    assert_eq!(socket.read(&mut [0]).unwrap(), 0);
    await_end(&started["pid"]);
}

#[test]
fn the_end_of_the_process_ends_the_tracker_although_the_socket_is_open() {
    let machine = Machine::with_rapl();
    let mut job = Job::start();
    let socket = control(&machine, &job, "");
    let started = event(&socket);
    job.0.kill().unwrap();
    job.0.wait().unwrap();
    assert_eq!(event(&socket)["event"], "ended");
    await_end(&started["pid"]);
    assert!(machine.log().info["ended"].is_string());
}

#[test]
fn a_closed_socket_does_not_end_the_measurement() {
    let machine = Machine::with_rapl();
    let mut job = Job::start();
    let socket = control(&machine, &job, "--interval 10ms");
    let started = event(&socket);
    drop(socket);
    let samples = || machine.log().samples.len();
    let before = samples();
    while samples() < before + 3 {
        std::thread::sleep(Duration::from_millis(5));
    }
    job.0.kill().unwrap();
    job.0.wait().unwrap();
    await_end(&started["pid"]);
}

#[test]
fn a_process_that_is_not_there_closes_the_socket_and_says_why() {
    let machine = Machine::with_rapl();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let script =
        format!("exec {IMPACT} track -q --pid 2147483647 --control 3 3<&0 0</dev/null 2>errors");
    let mut command = machine.program("sh");
    command
        .args(["-c", &script])
        .stdin(OwnedFd::from(theirs))
        .status()
        .unwrap();
    drop(command);
    let mut lines = BufReader::new(ours);
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    let event: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(event["event"], "failed");
    let why = "process 2147483647 cannot be tracked: No such process (os error 3)";
    assert_eq!(event["error"], why);
    assert_eq!(lines.read_line(&mut line).unwrap(), 0);
    // It is written when the socket is closed already, by a process that nobody waits for.
    let errors = || std::fs::read_to_string(machine.path("errors")).unwrap();
    for _ in 0..2000 {
        if errors().contains("process 2147483647 cannot be tracked") {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{}", errors());
}

#[test]
fn what_is_no_socket_is_refused() {
    let machine = Machine::with_rapl();
    let output = machine
        .impact()
        .args(["track", "--pid", "1", "--control", "2"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(125));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("--control cannot be used"), "{errors}");
}
