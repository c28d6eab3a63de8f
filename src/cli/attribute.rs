use std::io;
use std::ops::Bound;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, ValueEnum};

use super::bad_value::BadValue;
use super::destination::Destination;
use super::number::{fraction, within};
use super::output::{cannot_write, tell, write_file};
use super::settings::{Config, Sources};
use super::{Failure, Outcome, exit, folder};
use crate::ledger::attribute::{
    self, AttributeError, Attribution, By, Options, ProfileError, Zero,
};
use crate::log::{DATA_FILE, FOLDER};
use crate::text::escape;
use crate::text::number::percent;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  impact attribute impact-logs/0 --profile trace.json
  impact attribute impact-logs/0 --profile trace.json --flame flame.svg --graph graph.svg
  impact attribute impact-logs/0 --profile spans.csv --bands bands.svg --target 90%
  impact attribute impact-logs/0 --profile stacks.txt --format json

Reads Chrome trace events (PyTorch, JAX, exports of Nsight and perf), speedscope and pyinstrument JSON, dumps
of Python's cProfile, collapsed stacks (py-spy, perf, async-profiler), mprof files, and CSV with the columns
name, start, end in seconds, and device and thread if wanted.
The power of a device is divided equally among the threads that are busy on it; a thread's part is that of its
innermost span. A profile without times is divided by own time, and is labelled as estimated.
Exit code 6: the spans cover less than --target.")]
pub struct AttributeArgs {
    /// The folder of the run
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The profile; its format is told by how it begins
    #[arg(long, value_name = "FILE")]
    profile: PathBuf,
    /// When the profile's time 0 was, in seconds after the start of the run [default: by the times of the profile]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    offset: Option<f64>,
    /// The profile's time 0 was when this phase of the run began, as marked with `impact mark`
    #[arg(long, value_name = "PHASE", conflicts_with = "offset")]
    starts_with: Option<String>,
    /// What each row of the table is
    #[arg(long, value_enum, default_value_t = Rows::Name)]
    by: Rows,
    /// How many names the table shows
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Fail unless the spans cover this share of the energy, such as 90%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    target: Option<f64>,
    /// Draw an energy flame graph that can be searched and zoomed, as SVG
    #[arg(long, value_name = "FILE")]
    flame: Option<PathBuf>,
    /// Draw the calls between the names with most energy, as SVG
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    /// Draw the power over time in bands by name, as SVG
    #[arg(long, value_name = "FILE")]
    bands: Option<PathBuf>,
    #[command(flatten)]
    destination: Destination<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rows {
    /// Each name of spans
    Name,
    /// Each device
    Device,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Csv,
}

impl AttributeArgs {
    pub fn run(self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        let format = self.destination.format(&config)?;
        folder::check([self.run.as_path()])?;
        if !self.run.join(FOLDER).join(DATA_FILE).exists() {
            return Err(
                Failure::new(anyhow!("{} is not the folder of a run", self.run.display()))
                    .advise("a folder with a folder `impacttracker` in it: impact list shows them"),
            );
        }
        self.check_pictures()?;
        let attribution = self.attribution()?;
        self.draw(&attribution)?;
        let text = match format {
            Format::Text => {
                let by = match self.by {
                    Rows::Name => By::Name,
                    Rows::Device => By::Device,
                };
                escape::terminal(&attribute::text(&attribution, by, self.top)).into_owned()
            }
            Format::Json => attribute::json(&attribution),
            Format::Csv => attribute::csv(&attribution),
        };
        self.destination.write(&text)?;
        Ok(self.judge(&attribution))
    }

    fn attribution(&self) -> Result<Attribution, Failure> {
        let offset = self.offset.map(|seconds| (seconds * 1e9).round() as i64);
        let phase = self.starts_with.clone().map(Zero::Phase);
        let zero = offset.map(Zero::Offset).or(phase);
        let options = Options {
            zero,
            over_time: self.bands.is_some(),
        };
        let attribution = Attribution::of(&self.run, &self.profile, &options);
        attribution.map_err(|error| {
            let advice = advice(&error);
            let failure = Failure::new(error);
            match advice {
                Some(advice) => failure.advise(advice),
                None => failure,
            }
        })
    }

    /// Refuses names that are taken, before the profile is read, which can take long.
    fn check_pictures(&self) -> Result<(), Failure> {
        let pictures = [&self.flame, &self.graph, &self.bands]
            .into_iter()
            .flatten();
        let mut before: Vec<&PathBuf> = Vec::new();
        for picture in pictures {
            self.destination.refuse_again(Some(picture))?;
            if before.contains(&picture) {
                return Err(Failure::new(anyhow!(
                    "{} is given as the name of two files",
                    picture.display()
                ))
                .advise("a different name for each")
                .exit_with(exit::USAGE));
            }
            if !self.destination.force && picture.exists() {
                return Err(cannot_write(picture, io::ErrorKind::AlreadyExists.into()));
            }
            before.push(picture);
        }
        Ok(())
    }

    fn draw(&self, attribution: &Attribution) -> Result<(), Failure> {
        let force = self.destination.force;
        if let Some(file) = &self.flame {
            write_file(file, attribute::flame(attribution).as_bytes(), force)?;
        }
        if let Some(file) = &self.graph {
            write_file(file, attribute::graph(attribution).as_bytes(), force)?;
        }
        if let Some(file) = &self.bands {
            let picture = attribute::bands(attribution).ok_or_else(|| {
                Failure::new(anyhow!(
                    "the profile does not say when its calls were, so --bands has nothing to draw"
                ))
                .advise("--flame, or a profile with times, such as a trace")
            })?;
            write_file(file, picture.as_bytes(), force)?;
        }
        Ok(())
    }

    /// Whether the spans cover enough.
    fn judge(&self, attribution: &Attribution) -> u8 {
        let Some(target) = self.target else {
            return exit::DONE;
        };
        let coverage = attribution.coverage().unwrap_or(0.0);
        if coverage >= target {
            return exit::DONE;
        }
        tell(format!(
            "failed: --target {}: the spans cover {} of the energy",
            percent(target),
            percent(coverage)
        ));
        exit::GATE_FAILED
    }
}

fn advice(error: &AttributeError) -> Option<&'static str> {
    match error {
        AttributeError::Apart(_) => Some(
            "the profile of this run, or --offset SECONDS from the start of the run to the profile's time 0",
        ),
        AttributeError::NoPhase(_) => Some("a phase of the run: impact report lists them"),
        AttributeError::Profile(ProfileError::Compressed(_)) => {
            Some("the file that is in it, such as by gunzip")
        }
        AttributeError::Profile(ProfileError::Unknown(_)) => Some(
            "a Chrome trace, speedscope or pyinstrument JSON, a cProfile dump, collapsed stacks, an mprof file, or CSV \
             that begins with name,start,end",
        ),
        AttributeError::Profile(ProfileError::Empty(_)) => {
            Some("a profile that was recorded until its end, with time stamps or samples")
        }
        _ => None,
    }
}

fn seconds(text: &str) -> Result<f64, BadValue> {
    within(
        text,
        -1e9..=1e9,
        "it must be a number of seconds, such as 1.5",
    )
}

fn share(text: &str) -> Result<f64, BadValue> {
    let range = (Bound::Excluded(0.0), Bound::Included(1.0));
    fraction(
        text,
        range,
        "it must lie between 0 and 1, such as 0.9 or 90%",
    )
}
