use clap::Args;

use super::exit;
use super::settings::Sources;
use crate::model::{Edge, Mark};

/// Mark a phase of a job that is being tracked, from inside the job
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  impact mark --start train
  impact mark --end train
  impact mark \"epoch 3\"

Outside of a tracked job this does nothing and succeeds.")]
#[group(required = true, multiple = false)]
pub(crate) struct MarkArgs {
    /// Name of this instant
    #[arg(value_name = "NAME", value_parser = name)]
    name: Option<String>,
    /// Name of a phase that starts now
    #[arg(long, value_name = "NAME", value_parser = name)]
    start: Option<String>,
    /// Name of a phase that ends now
    #[arg(long, value_name = "NAME", value_parser = name)]
    end: Option<String>,
}

impl MarkArgs {
    pub(crate) fn run(self, settings: &Sources) -> u8 {
        let given = [
            (self.start, Edge::Start),
            (self.end, Edge::End),
            (self.name, Edge::Point),
        ];
        let mark = given
            .into_iter()
            .find_map(|(name, edge)| Some(Mark { name: name?, edge }));
        if let Some(mark) = mark {
            send(&mark, settings);
        }
        exit::DONE
    }
}

/// Sends the mark to the tracker. A job must run the same whether it is tracked or not, so no tracker is no failure.
#[cfg(all(feature = "track", target_os = "linux"))]
fn send(mark: &Mark, settings: &Sources) {
    use crate::track::mark_socket::{Delivery, VARIABLE, send};
    if let Some(address) = settings.environment.get_os(VARIABLE)
        && send(address, mark) == Delivery::Unanswered
    {
        super::output::tell("impact: the mark was sent, but the tracker has not answered");
    }
}

/// Without a tracker there is nobody to send a mark to.
#[cfg(not(all(feature = "track", target_os = "linux")))]
fn send(_: &Mark, _: &Sources) {}

/// A mark is one small message.
fn name(text: &str) -> Result<String, String> {
    const MOST_BYTES: usize = 512;
    if text.len() > MOST_BYTES {
        return Err(format!("a name has at most {MOST_BYTES} bytes"));
    }
    Ok(text.to_owned())
}
