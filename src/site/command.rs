//! External programs that give figures; only with the user's leave.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LARGEST_OUTPUT: u64 = 16 << 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// What a program run in this folder writes to its standard output, if it ends well and in time.
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
    let mut pipe = child
        .stdout
        .take()
        .ok_or_else(|| io::Error::other("it has no output"))?;
    // Read beside the waiting: a full pipe would stop the program.
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.by_ref().take(LARGEST_OUTPUT).read_to_end(&mut bytes)?;
        io::copy(&mut pipe, &mut io::sink())?;
        io::Result::Ok(bytes)
    });
    let deadline = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::other(format!(
                "it took longer than {} s",
                limit.as_secs()
            )));
        }
        std::thread::sleep(BETWEEN_LOOKS);
    };
    if !status.success() {
        return Err(io::Error::other(format!("it ended with {status}")));
    }
    reader
        .join()
        .map_err(|_| io::Error::other("its output could not be read"))?
}
