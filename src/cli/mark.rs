use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::bad_value::BadValue;
use super::exit;
use super::settings::Sources;
use crate::model::{BadMark, Edge, Mark};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").args(["name", "start", "end", "count"]).required(true).multiple(true))]
#[command(after_help = "\
Examples:
  impact mark --start train
  impact mark --end train --count tokens=4096
  impact mark \"epoch 3\"
  impact mark --run logs/a --start train

A phase of --start lasts until its --end, a phase of NAME until the next NAME. Counts add up;
`impact report` gives the energy for each unit. If the job is not tracked, that is said on standard
error, and the exit code is 0: the same script also runs without impact.")]
pub(crate) struct MarkArgs {
    /// Name of a phase that starts now and lasts until the next such name
    #[arg(value_name = "NAME", conflicts_with_all = ["start", "end"])]
    name: Option<String>,
    /// Name of a phase that starts now
    #[arg(long, value_name = "NAME", conflicts_with = "end")]
    start: Option<String>,
    /// Name of a phase that ends now
    #[arg(long, value_name = "NAME")]
    end: Option<String>,
    /// Work done since the last count, such as tokens=4096; may be given several times
    #[arg(long, value_name = "UNIT=NUMBER", value_parser = count)]
    count: Vec<(String, f64)>,
    /// Send it to the tracker that writes this run [default: the tracker of this process]
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// Send it to the tracker that follows this process, or one of its ancestors
    #[arg(long, value_name = "PID", conflicts_with = "run", value_parser = clap::value_parser!(u32).range(1..))]
    pid: Option<u32>,
}

impl MarkArgs {
    /// A job must run the same whether it is tracked or not, so no tracker is no failure.
    pub(crate) fn run(self, settings: &Sources) -> u8 {
        let mark = self.mark();
        if let Err(error) = mark.check() {
            super::output::tell(format!("impact: the mark is not sent: {error}"));
            return exit::USAGE;
        }
        send(&mark, &self, settings);
        exit::DONE
    }

    fn mark(&self) -> Mark {
        let given = [
            (&self.start, Edge::Start),
            (&self.end, Edge::End),
            (&self.name, Edge::Point),
        ];
        let named = given
            .into_iter()
            .find_map(|(name, edge)| Some(Mark::new(name.clone()?, edge)));
        let mut count: BTreeMap<String, f64> = BTreeMap::new();
        for (unit, number) in &self.count {
            *count.entry(unit.clone()).or_default() += number;
        }
        Mark {
            count,
            ..named.unwrap_or(Mark::new("", Edge::Count))
        }
    }
}

#[cfg(all(feature = "track", target_os = "linux"))]
fn send(mark: &Mark, args: &MarkArgs, settings: &Sources) {
    use std::ffi::{OsStr, OsString};
    use std::path::Path;

    use super::output::tell;
    use crate::log::Record;
    use crate::track::mark_sender::{self, Delivery, ancestors, tracker_of_process};
    use crate::track::mark_socket::VARIABLE;

    let procfs = Path::new("/proc");
    let is_asked_for = args.run.is_some() || args.pid.is_some();
    let address: Option<OsString> = if let Some(run) = &args.run {
        match Record::open(run) {
            Ok(record) => Some(mark_sender::tracker_of_run(&record.info.id)),
            Err(error) => {
                tell(format!("impact: the mark is not sent: {error}"));
                return;
            }
        }
    } else if let Some(pid) = args.pid {
        tracker_of_process(procfs, &ancestors(procfs, pid))
    } else if let Some(address) = settings.environment.get_os(VARIABLE) {
        Some(OsStr::to_owned(address))
    } else {
        tracker_of_process(procfs, &ancestors(procfs, std::process::id()))
    };
    let delivery = address.map_or(Delivery::NoTracker, |address| {
        mark_sender::send(&address, mark)
    });
    match delivery {
        Delivery::Unanswered => {
            tell("impact: the mark was sent, but the tracker has not answered");
        }
        Delivery::NoTracker if is_asked_for => {
            tell(
                "impact: the mark is not sent: no tracker of yours measures this any more, or not yet",
            );
        }
        Delivery::NoTracker => tell(
            "impact: the mark is not sent: this job is not tracked; start it with impact track -- COMMAND",
        ),
        Delivery::Measured => {}
    }
}

/// On systems without a tracker a mark is not sent.
#[cfg(not(all(feature = "track", target_os = "linux")))]
fn send(_: &Mark, _: &MarkArgs, _: &Sources) {}

fn count(text: &str) -> Result<(String, f64), BadValue> {
    let (unit, number) = text.split_once('=').ok_or(BadValue::NotAPair {
        example: Some("tokens=4096"),
    })?;
    let number = number
        .parse()
        .map_err(|_| BadValue::Unparsed(Box::new(BadMark::Count)))?;
    Ok((unit.to_owned(), number))
}
