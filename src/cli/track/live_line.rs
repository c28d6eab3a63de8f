use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use rustix::termios::{LocalModes, tcgetattr, tcgetpgrp, tcgetwinsize};

use crate::track::{Glance, Screen};
use crate::units::GramsCo2e;

/// One line on standard error that is written over itself.
#[derive(Debug, Default)]
pub struct LiveLine {
    is_shown: bool,
}

impl LiveLine {
    /// Whether standard error is a terminal on which a line can be written over.
    pub fn can_be_shown() -> bool {
        io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
    }
}

impl Screen for LiveLine {
    fn show(&mut self, glance: &Glance) {
        if !is_ours() {
            self.is_shown = false;
            return;
        }
        // A line that is wider than the terminal would become two.
        let width = tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
        let most = if width > 0 { width - 1 } else { usize::MAX };
        let line: String = text(glance).chars().take(most).collect();
        // The cursor goes back to the start, so that what the job prints next covers the line.
        let _ = write!(io::stderr(), "\r\x1b[2K\x1b[2m{line}\x1b[0m\r");
        self.is_shown = true;
    }

    fn clear(&mut self) {
        if self.is_shown && is_ours() {
            let _ = write!(io::stderr(), "\r\x1b[2K");
        }
        self.is_shown = false;
    }
}

/// Whether the terminal is one that is read line by line, with us in the foreground.
///
/// A job that draws the whole screen has switched lines or echo off.
fn is_ours() -> bool {
    let stderr = io::stderr();
    tcgetpgrp(&stderr).is_ok_and(|group| group == rustix::process::getpgrp())
        && tcgetattr(&stderr).is_ok_and(|modes| {
            modes
                .local_modes
                .contains(LocalModes::ICANON | LocalModes::ECHO)
        })
}

fn text(glance: &Glance) -> String {
    let mut parts = vec![clock(glance.elapsed)];
    parts.extend(glance.power.map(|power| format!("{:.1} W", power.get())));
    parts.push(glance.energy.map_or_else(
        || "energy unknown".to_owned(),
        |energy| format!("{:.6} kWh", energy.kwh()),
    ));
    let emissions = glance.emissions.map(GramsCo2e::grams);
    parts.extend(emissions.map(|grams| format!("{grams:.3} g CO2eq")));
    parts.extend(glance.measured.map(|measured| match measured {
        all if all > 0.999 => "measured".to_owned(),
        none if none <= 0.0 => "estimated".to_owned(),
        part => format!("{:.0} % measured", part * 100.0),
    }));
    parts.join(" | ")
}

/// Hours, minutes and seconds.
pub fn clock(elapsed: Duration) -> String {
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
    use crate::units::{Joules, Watts};

    #[test]
    fn the_line_says_how_long_how_much_and_how_well() {
        let glance = Glance {
            elapsed: Duration::from_secs(3_725),
            power: Some(Watts::new(61.25).unwrap()),
            energy: Some(Joules::from_joules(3.6e5).unwrap()),
            emissions: Some(GramsCo2e::from_grams(21.0).unwrap()),
            measured: Some(1.0),
        };
        assert_eq!(
            text(&glance),
            "1:02:05 | 61.2 W | 0.100000 kWh | 21.000 g CO2eq | measured"
        );
    }
}
