//! Programs of a spec that give figures; they run only if the user allows it.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

const LARGEST_OUTPUT: u64 = 16 << 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Runs a program in this folder, and returns its standard output if it succeeds within the limit.
pub(super) fn output(command: &[String], folder: &Path, limit: Duration) -> io::Result<Vec<u8>> {
    let (program, arguments) = command
        .split_first()
        .ok_or_else(|| io::Error::other("there is no program to run"))?;
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let pipe = child
        .stdout
        .take()
        .ok_or_else(|| io::Error::other("it has no output"))?;
    // Read in another thread, because a full pipe would stop the program.
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.take(LARGEST_OUTPUT + 1).read_to_end(&mut bytes);
        // After the limit the receiver is gone.
        let _ = sender.send(read.map(|_| bytes));
    });
    let deadline = Deadline::after(limit);
    let status = wait(&mut child, &deadline)?;
    let bytes = receive(&receiver, &deadline)?;
    if bytes.len() as u64 > LARGEST_OUTPUT {
        return Err(io::Error::other(format!(
            "it wrote more than {} MB",
            LARGEST_OUTPUT >> 20
        )));
    }
    if !status.success() {
        return Err(io::Error::other(format!("it ended with {status}")));
    }
    Ok(bytes)
}

struct Deadline {
    limit: Duration,
    /// None if the limit is too far away for the clock.
    at: Option<Instant>,
}

impl Deadline {
    fn after(limit: Duration) -> Self {
        Self {
            limit,
            at: Instant::now().checked_add(limit),
        }
    }

    fn left(&self) -> Duration {
        self.at.map_or(Duration::MAX, |at| {
            at.saturating_duration_since(Instant::now())
        })
    }

    fn missed(&self, what: &str) -> io::Error {
        io::Error::other(format!("{what} longer than {} s", self.limit.as_secs()))
    }
}

fn wait(child: &mut Child, deadline: &Deadline) -> io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if deadline.left().is_zero() {
            child.kill()?;
            child.wait()?;
            return Err(deadline.missed("it took"));
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

/// The output; a process that the program started can keep it open after its end.
fn receive(receiver: &Receiver<io::Result<Vec<u8>>>, deadline: &Deadline) -> io::Result<Vec<u8>> {
    receiver
        .recv_timeout(deadline.left())
        .unwrap_or_else(|error| {
            Err(match error {
                RecvTimeoutError::Timeout => deadline.missed("what it started held its output"),
                RecvTimeoutError::Disconnected => io::Error::other("its output could not be read"),
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Result<String, String> {
        let command = ["sh", "-c", script].map(str::to_owned);
        output(&command, Path::new("/"), limit)
            .map(|bytes| String::from_utf8(bytes).unwrap())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_limit_further_away_than_time_goes_is_no_limit() {
        let said = shell("echo 1", Duration::from_secs(u64::MAX));
        assert_eq!(said.as_deref(), Ok("1\n"));
    }

    #[test]
    fn output_that_does_not_fit_is_an_error_and_not_cut() {
        let write = |bytes: u64| {
            let script = format!("head -c {bytes} /dev/zero");
            shell(&script, Duration::from_secs(u64::MAX)).map(|text| text.len() as u64)
        };
        assert_eq!(write(LARGEST_OUTPUT), Ok(LARGEST_OUTPUT));
        let error = write(LARGEST_OUTPUT + 1).unwrap_err();
        assert_eq!(error, "it wrote more than 16 MB");
        assert_eq!(write(4 * LARGEST_OUTPUT), Err(error));
    }

    #[test]
    fn a_program_left_behind_does_not_hold_the_output_past_the_limit() {
        let said = shell("sleep 30 & echo 1", Duration::from_millis(50));
        assert!(said.unwrap_err().contains("longer than"));
    }
}
