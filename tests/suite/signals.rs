//! Signals reach the command as without a tracker, by name and from the keys of a terminal.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::support::{IMPACT, Machine};

const CTRL_C: &str = "\x03";
const CTRL_Z: &str = "\x1a";

/// An interactive shell at a terminal of its own.
struct Terminal {
    shell: Child,
    keyboard: ChildStdin,
    screen: Receiver<String>,
    unread: String,
}

impl Terminal {
    fn on(machine: &Machine) -> Self {
        // Whoever runs the tests in the background has signals ignored, and hands that on.
        let mut script = machine.program("env");
        script.args(["--default-signal", "script", "-qec"]);
        script.args(["bash --norc --noprofile -i", "/dev/null"]);
        let mut shell = script
            .env("IMPACT", IMPACT)
            .env("TERM", "xterm")
            .env("PS1", "$ ")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`script`, of the package bsdutils, runs a shell at a terminal");
        let mut output = shell.stdout.take().unwrap();
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
                if sender.send(text).is_err() {
                    break;
                }
            }
        });
        Self {
            keyboard: shell.stdin.take().unwrap(),
            shell,
            screen,
            unread: String::new(),
        }
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Reads on until this stands on the screen.
    fn await_text(&mut self, text: &str) {
        let patience = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(at) = self.unread.find(text) {
                self.unread.drain(..at + text.len());
                return;
            }
            let left = patience.saturating_duration_since(Instant::now());
            match self.screen.recv_timeout(left) {
                Ok(more) => self.unread.push_str(&more),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("{text:?} never came; unread: {:?}", self.unread)
                }
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

#[test]
fn the_command_has_the_terminal_and_the_shell_controls_it() {
    let machine = Machine::with_rapl();
    let mut terminal = Terminal::on(&machine);
    terminal.press("stty cols 24 rows 24\n");
    terminal.press(
        "\"$IMPACT\" track --interval 50ms --out log -- sh -c 'stty size; exec sleep 600'\n",
    );
    terminal.await_text("24 24");
    // The live line says that it is measured, and is cut off where the terminal ends.
    terminal.await_text(" kWh | me\u{1b}[0m\u{1b}8");
    terminal.press(CTRL_Z);
    terminal.await_text("Stopped");
    terminal.press("fg\n");
    terminal.await_text("track");
    terminal.await_text(" kWh");
    terminal.press(CTRL_C);
    terminal.await_text("killed by signal 2");
    // Split, so that only what is printed can match and not what is typed.
    terminal.press("echo co\"\"de $?\n");
    terminal.await_text("code 130");
    let log = machine.log();
    assert_eq!(log.info["exit_code"], 130);
}

#[test]
fn ctrl_c_reaches_a_command_that_has_made_a_group_of_its_own() {
    let machine = Machine::with_rapl();
    let mut terminal = Terminal::on(&machine);
    terminal.press("stty cols 80 rows 24\n");
    terminal.press("\"$IMPACT\" track --interval 50ms -- timeout 600 sleep 500\n");
    terminal.await_text(" kWh");
    terminal.press(CTRL_C);
    terminal.await_text("next: ");
}

#[test]
fn a_benchmark_stops_and_ends_as_its_command_does() {
    let machine = Machine::with_rapl();
    let mut terminal = Terminal::on(&machine);
    terminal.press("stty cols 120 rows 24\n");
    // Split, so that only what is printed can match and not what is typed.
    let job = "trap \"echo go\\\"\\\"ing\" CONT; echo ru\"\"nning; while :; do :; done";
    let options = "--idle 0 --warmup 0 --show-output";
    terminal.press(&format!("\"$IMPACT\" bench {options} -- '{job}'\n"));
    terminal.await_text("running");
    terminal.press(CTRL_Z);
    terminal.await_text("Stopped");
    terminal.press("fg\n");
    terminal.await_text("going");
    terminal.press(CTRL_C);
    terminal.await_text("ended before the first sample was complete");
    terminal.press("echo co\"\"de $?\n");
    terminal.await_text("code 130");
}

#[test]
fn a_shell_that_suspends_itself_gives_the_terminal_back() {
    let machine = Machine::with_rapl();
    let mut terminal = Terminal::on(&machine);
    terminal.press("\"$IMPACT\" track -q --out log -- bash --norc --noprofile -i\n");
    terminal.press("echo in\"\"side\n");
    terminal.await_text("inside");
    terminal.press("suspend\n");
    terminal.await_text("Stopped");
    terminal.press("fg\n");
    terminal.press("echo ba\"\"ck; exit 5\n");
    terminal.await_text("back");
    terminal.press("echo co\"\"de $?\n");
    terminal.await_text("code 5");
}

#[test]
fn ctrl_z_stops_a_tracker_that_follows_a_process() {
    let machine = Machine::with_rapl();
    let mut terminal = Terminal::on(&machine);
    terminal.press("stty cols 80 rows 24; sleep 600 &\n");
    terminal.press("\"$IMPACT\" track --interval 50ms --out log --pid $!\n");
    terminal.await_text(" kWh");
    terminal.press(CTRL_Z);
    terminal.await_text("Stopped");
    terminal.press("fg\n");
    terminal.await_text(" kWh");
    terminal.press(CTRL_C);
    terminal.await_text("next: ");
    terminal.press("kill %1; echo co\"\"de\n");
    terminal.await_text("code");
}

#[test]
fn a_job_that_takes_the_screen_gets_all_of_its_rows() {
    let machine = Machine::with_rapl();
    let mut terminal = Terminal::on(&machine);
    terminal.press("stty cols 80 rows 24\n");
    let job = "read line; stty -echo; read line; stty echo";
    terminal.press(&format!(
        "\"$IMPACT\" track --interval 50ms -- sh -c '{job}'\n"
    ));
    terminal.await_text("\u{1b}[1;23r");
    terminal.await_text(" kWh");
    terminal.press("\n");
    terminal.await_text("\u{1b}[r");
    terminal.press("\n");
    terminal.await_text("next: ");
}

#[test]
fn a_signal_that_reaches_the_tracker_is_handed_on() {
    let machine = Machine::with_rapl();
    let mut child = machine
        .impact()
        .args(["track", "-q", "--out", "log", "--", "sh", "-c"])
        .arg("trap 'exit 7' TERM; echo ready; while :; do sleep 0.02; done")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = [0; 6];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut ready)
        .unwrap();
    kill(child.id(), "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(7));
    assert_eq!(machine.log().info["exit_code"], 7);
}

/// Who ignores SIGCHLD is not told how children end, and whom we are started by may ignore it.
#[test]
fn a_tracker_started_with_ignored_signals_sees_the_end_and_hands_them_on_ignored() {
    let machine = Machine::with_rapl();
    let track = |ignored: &str, command: &[&str]| {
        let mut tracker = machine.impact_ignoring(ignored);
        tracker.args(["track", "-q", "--"]).args(command);
        tracker.output().unwrap()
    };
    let ended = track("CHLD,HUP", &["sh", "-c", "exit 3"]);
    assert_eq!(ended.status.code(), Some(3));
    let (hangup, pipe, child) = (1, 1 << 12, 1 << 16);
    for (ignored, expected) in [("CHLD,HUP", child | hangup), ("PIPE", pipe)] {
        let output = track(ignored, &["grep", "SigIgn", "/proc/self/status"]);
        let bits = String::from_utf8(output.stdout).unwrap();
        let bits = u64::from_str_radix(bits.trim_start_matches("SigIgn:").trim(), 16).unwrap();
        assert_eq!(bits & expected, expected, "{ignored}");
        assert_eq!(bits & pipe, expected & pipe, "{ignored}");
    }
}

#[test]
fn who_follows_a_process_under_nohup_stays_when_the_terminal_goes() {
    let machine = Machine::with_rapl();
    let mut job = Command::new("sleep").arg("60").spawn().unwrap();
    let mut tracker = machine
        .impact_ignoring("HUP")
        .args(["track", "-q", "--out", "log", "--interval", "10ms", "--pid"])
        .arg(job.id().to_string())
        .spawn()
        .unwrap();
    let samples = || fs::read_to_string(machine.path("log/impacttracker/data.json"));
    let wait_for = |more: usize| {
        let began = Instant::now();
        let goal = samples().map_or(0, |text| text.lines().count()) + more;
        while samples().map_or(0, |text| text.lines().count()) < goal {
            assert!(began.elapsed().as_secs() < 10, "it has stopped sampling");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    wait_for(2);
    kill(tracker.id(), "HUP");
    wait_for(5);
    kill(tracker.id(), "TERM");
    assert_eq!(tracker.wait().unwrap().code(), Some(0));
    job.kill().unwrap();
    job.wait().unwrap();
}

/// Ctrl-Z may reach the command first, and its stop us before the key does.
#[test]
fn a_stop_that_comes_after_the_commands_own_stops_the_tracker_along() {
    let machine = Machine::with_rapl();
    let mut tracker = machine
        .impact()
        .args(["track", "-q", "--out", "log", "--", "sh", "-c"])
        .arg("echo $$; kill -STOP $$; exit 42")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut job = String::new();
    let mut lines = BufReader::new(tracker.stdout.take().unwrap());
    lines.read_line(&mut job).unwrap();
    await_stop(job.trim());
    kill(tracker.id(), "TSTP");
    await_stop(&tracker.id().to_string());
    kill(tracker.id(), "CONT");
    assert_eq!(tracker.wait().unwrap().code(), Some(42));
}

fn await_stop(pid: &str) {
    let began = Instant::now();
    loop {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        if stat.contains(") T ") {
            return;
        }
        assert!(began.elapsed().as_secs() < 10, "{stat}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn kill(pid: u32, signal: &str) {
    let status = Command::new("kill")
        .args([&format!("-{signal}"), &pid.to_string()])
        .status();
    assert!(status.unwrap().success());
}
