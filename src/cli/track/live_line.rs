use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, tcgetattr, tcgetpgrp, tcgetwinsize};

use crate::ledger::footprint::RunningEmissions;
use crate::model::Environment;
use crate::text::quantity;
use crate::track::{Display, LiveStatus};
use crate::units::GramsCo2e;

/// A status line in the last row of the terminal, on standard error.
///
/// The job's output scrolls above it, so that neither covers the other.
#[derive(Debug)]
pub struct LiveLine {
    emissions: RunningEmissions,
    /// The number of the last row, while the line is shown.
    row: Option<u16>,
    /// The row of a line that was given up because the job draws on the whole screen.
    left: Option<u16>,
}

impl LiveLine {
    pub fn new(emissions: RunningEmissions) -> Self {
        Self {
            emissions,
            row: None,
            left: None,
        }
    }

    /// Whether standard error is a terminal that can show the line.
    pub fn can_be_shown(environment: &Environment) -> bool {
        io::stderr().is_terminal() && environment.get("TERM") != Some("dumb")
    }
}

impl Display for LiveLine {
    fn show(&mut self, status: &LiveStatus) {
        // Also where nothing is shown now: every sample is a part of the sum.
        let mass = status
            .energy
            .and_then(|energy| self.emissions.up_to(energy, status.intensity));
        // A terminal that was stopped with Ctrl-S would hold up the log.
        if !is_writable() {
            return;
        }
        let size = tcgetwinsize(io::stderr()).ok();
        let Some(size) = size.filter(|size| size.ws_row >= FEWEST_ROWS && is_in_line_mode()) else {
            self.give_up();
            return;
        };
        let row = size.ws_row;
        let mut output = String::new();
        match self.row {
            Some(before) if before == row => output += &keep(row),
            before => {
                let old = before.filter(|before| *before < row);
                output += &old.map(|old| in_row(old, "")).unwrap_or_default();
                output += DOWN_AND_UP;
                output += &keep(row);
            }
        }
        // A wider line would take two rows.
        let most = usize::from(size.ws_col).saturating_sub(1);
        let line: String = text(status, mass).chars().take(most).collect();
        output += &in_row(row, &format!("\x1b[2m{line}\x1b[0m"));
        let _ = io::stderr().write_all(output.as_bytes());
        self.row = Some(row);
        self.left = None;
    }

    fn clear(&mut self) {
        if !is_writable() {
            return;
        }
        let left = self.left.take();
        if let Some(row) = self.row.take().or(left) {
            let erased = if is_in_line_mode() {
                in_row(row, "")
            } else {
                String::new()
            };
            let _ = write!(io::stderr(), "{erased}{ALL_ROWS}");
        }
    }
}

impl LiveLine {
    /// Leaves all rows to the job.
    fn give_up(&mut self) {
        if let Some(row) = self.row.take() {
            let _ = io::stderr().write_all(ALL_ROWS.as_bytes());
            self.left = Some(row);
        }
    }
}

/// Whether standard error takes some bytes without waiting.
fn is_writable() -> bool {
    let stderr = io::stderr();
    let mut stderr = [PollFd::new(&stderr, PollFlags::OUT)];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    matches!(poll(&mut stderr, Some(&now)), Ok(ready) if ready > 0)
}

/// In a terminal with fewer rows nothing is shown.
const FEWEST_ROWS: u16 = 4;

/// Lets all rows scroll again.
const ALL_ROWS: &str = "\x1b7\x1b[r\x1b8";

/// Moves the cursor out of the last row.
const DOWN_AND_UP: &str = "\x1bD\x1bM";

/// Excludes the last row from scrolling; the cursor stays.
fn keep(row: u16) -> String {
    format!("\x1b7\x1b[1;{}r\x1b8", row - 1)
}

/// Writes a row and restores the cursor.
fn in_row(row: u16, text: &str) -> String {
    format!("\x1b7\x1b[{row};1H\x1b[2K{text}\x1b8")
}

/// Whether this process is in the foreground of a terminal in line mode.
///
/// A job that draws on the whole screen switches line mode or echo off.
fn is_in_line_mode() -> bool {
    let stderr = io::stderr();
    tcgetpgrp(&stderr).is_ok_and(|group| group == rustix::process::getpgrp())
        && tcgetattr(&stderr).is_ok_and(|modes| {
            modes
                .local_modes
                .contains(LocalModes::ICANON | LocalModes::ECHO)
        })
}

fn text(status: &LiveStatus, mass: Option<GramsCo2e>) -> String {
    let mut parts = vec![clock(status.elapsed)];
    parts.extend(status.power.map(quantity::power));
    let energy = status.energy.map(quantity::electricity);
    parts.push(energy.unwrap_or_else(|| "energy unknown".to_owned()));
    parts.extend(mass.map(|mass| format!("{} CO2eq", quantity::mass(mass))));
    parts.extend(status.measured.map(|measured| match measured {
        all if all > 0.999 => "measured".to_owned(),
        none if none <= 0.0 => "estimated".to_owned(),
        part => format!("{:.0} % measured", part * 100.0),
    }));
    parts.join(" | ")
}

/// Hours, minutes and seconds.
fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{:02}", seconds % 60)
    } else {
        format!("{minutes}:{:02}", seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Energy, Watts};

    #[test]
    fn the_line_says_how_long_how_much_and_how_well() {
        let status = LiveStatus {
            elapsed: Duration::from_secs(3_725),
            power: Some(Watts::new(61.25).unwrap()),
            energy: Some(Energy::from_joules(3.6e5).unwrap()),
            intensity: None,
            measured: Some(1.0),
        };
        assert_eq!(
            text(&status, GramsCo2e::from_grams(21.0).ok()),
            "1:02:05 | 61.25 W | 100 Wh | 21 g CO2eq | measured"
        );
    }
}
