//! A terminal stays the command's: its size, Ctrl-C, Ctrl-Z, and the shell's job control.

mod meters;

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use meters::Machine;

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
        let impact = machine.impact();
        // Whoever runs the tests in the background has signals ignored, and hands that on.
        let mut script = Command::new("env");
        script.args(["--default-signal", "script", "-qec"]);
        script.args(["bash --norc --noprofile -i", "/dev/null"]);
        for (name, value) in impact.get_envs() {
            match value {
                Some(value) => script.env(name, value),
                None => script.env_remove(name),
            };
        }
        let mut shell = script
            .env("IMPACT", impact.get_program())
            .env("TERM", "xterm")
            .env("PS1", "$ ")
            .current_dir(machine.path(""))
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
    terminal.press("stty cols 33 rows 24\n");
    terminal.press(
        "\"$IMPACT\" track --interval 50ms --out log -- sh -c 'stty size; exec sleep 600'\n",
    );
    terminal.await_text("24 33");
    // The live line says that it is measured, and is cut off where the terminal ends.
    terminal.await_text(" kWh | me\u{1b}[0m\r");
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
