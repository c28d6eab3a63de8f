mod show;

use clap::{Args, Subcommand};

use self::show::show;
use super::bad_value::BadValue;
use super::hardware::Hardware;
use super::output::{print, tell};
use super::settings::{Config, Sources};
use super::{Failure, Outcome, exit};
use crate::meter::Roots;
use crate::meter::power_cap::{CapError, Milliwatts, package_limits};
use crate::text::escape;
use crate::text::quantity::Quantity;
use crate::track::power_cap::{
    Changed, PowerCapProcess, Question, Recovered, Reset, Selection, ShownBoard, Wanted,
};
use crate::units::Watts;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  impact powercap show
  impact powercap set 180W --gpu 0
  impact powercap reset

For the time of one run: impact track --power-cap 180W -- CMD. NVIDIA's driver lets only root change
limits. docs/powercap.md says how limits are taken back.")]
pub struct PowercapArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show the power limits of NVIDIA boards and processors, and whether you may set them
    #[command(after_help = "Example:\n  impact powercap show")]
    Show {
        #[command(flatten)]
        hardware: Hardware,
    },
    /// Cap the power of NVIDIA boards until `impact powercap reset` or the next boot
    #[command(after_help = "Example:\n  impact powercap set 180W --gpu 0")]
    Set {
        /// The most that each board may draw, such as 180W
        #[arg(value_name = "POWER", value_parser = cap)]
        cap: Watts,
        #[command(flatten)]
        boards: Boards,
        #[command(flatten)]
        hardware: Hardware,
    },
    /// Give NVIDIA boards the limit that they had before impact capped them
    #[command(after_help = "Examples:\n  impact powercap reset\n  impact powercap reset --gpu all")]
    Reset {
        #[command(flatten)]
        boards: Boards,
        #[command(flatten)]
        hardware: Hardware,
    },
}

#[derive(Debug, Args)]
struct Boards {
    /// Number of a board, as `impact powercap show` and nvidia-smi have it, or `all`
    #[arg(long, value_name = "NUMBER", default_value = "all", value_parser = selection)]
    gpu: Selection,
}

impl PowercapArgs {
    pub fn run(self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        let text = match self.action {
            Action::Show { hardware } => {
                let roots = hardware.roots(&config);
                let boards = match ask::<Vec<ShownBoard>>(&roots, Question::Show) {
                    Err(CapError::NoBoard) => Ok(Vec::new()),
                    other => other,
                };
                show(&boards, &package_limits(&roots))
            }
            Action::Set {
                cap,
                boards,
                hardware,
            } => {
                let cap = Milliwatts::of(cap)
                    .ok_or_else(|| Failure::new(anyhow::anyhow!("no board allows so much")))?;
                let boards = boards.gpu;
                let question = Question::Set(Wanted { cap, boards });
                let set = ask::<Vec<Changed>>(&hardware.roots(&config), question);
                let set = set.map_err(|error| failure(error, "the power cap was not set"))?;
                lines(&set)
            }
            Action::Reset { boards, hardware } => {
                let question = Question::Reset(boards.gpu);
                let reset = ask::<Reset>(&hardware.roots(&config), question);
                let reset = reset.map_err(|error| failure(error, "the limits were not reset"))?;
                let left = reset.recovered.iter().filter(|board| board.back.is_err());
                if left.map(tell_left).count() > 0 {
                    print(&reset_text(&reset))?;
                    return Ok(exit::FAILED);
                }
                reset_text(&reset)
            }
        };
        print(&escape::terminal(&text))?;
        Ok(exit::DONE)
    }
}

/// What to do about a cap that a run cannot have.
pub(super) fn advice(error: &CapError) -> Option<String> {
    Some(match error {
        CapError::NotAllowed { .. } => {
            "sudo impact powercap set POWER before the run and sudo impact powercap reset after it, or --best-effort"
                .to_owned()
        }
        CapError::OutOfRange { least, most, .. } => {
            format!("a cap from {} to {}", shown(*least), shown(*most))
        }
        CapError::Held { .. } => {
            "the same cap, or wait for the end of that run (impact powercap show)".to_owned()
        }
        CapError::NotSupported { .. } => {
            "nvidia-smi, which shows what the board supports".to_owned()
        }
        CapError::NoSuchBoard { .. } => "impact powercap show".to_owned(),
        CapError::NoBoard | CapError::Board { .. } | CapError::NotTaken { .. } => {
            "nvidia-smi, which shows whether the driver works".to_owned()
        }
        CapError::Driver(_) | CapError::NoAnswer { .. } => {
            "nvidia-smi, which shows whether the driver works, then impact powercap reset".to_owned()
        }
        CapError::Record(_) => {
            "a folder that only you may write to: XDG_STATE_HOME, or for root IMPACT_RUN_ROOT".to_owned()
        }
        _ => return None,
    })
}

fn failure(error: CapError, what: &str) -> Failure {
    let advice = match &error {
        CapError::NotAllowed { .. } => Some("the same command with sudo".to_owned()),
        other => advice(other),
    };
    let failure = Failure::new(error).within(what);
    match advice {
        Some(advice) => failure.advise(advice),
        None => failure,
    }
}

fn ask<T: serde::de::DeserializeOwned>(roots: &Roots, question: Question) -> Result<T, CapError> {
    let mut process = PowerCapProcess::start(roots)
        .map_err(|error| CapError::Driver(format!("no process can be started: {error}")))?;
    process.ask(question)
}

/// A limit for people.
fn shown(limit: Milliwatts) -> String {
    Quantity::Power.amount(limit.watts())
}

fn lines(changed: &[Changed]) -> String {
    let line = |board: &Changed| {
        let (from, to) = (shown(board.from), shown(board.to));
        format!("{}: {to} instead of {from}\n", board.board)
    };
    changed.iter().map(line).collect()
}

fn reset_text(reset: &Reset) -> String {
    let recovered = reset.recovered.iter().filter_map(|recovered| {
        let back = shown(recovered.back.clone().ok()?);
        let board = &recovered.board;
        Some(format!(
            "{board}: {back} again; a run that was killed had capped it\n"
        ))
    });
    let text: String = recovered.chain([lines(&reset.boards)]).collect();
    if text.is_empty() {
        "no board has a cap of impact\n".to_owned()
    } else {
        text
    }
}

fn tell_left(recovered: &Recovered) {
    if let Err(why) = &recovered.back {
        let text = format!("impact: {} is still capped: {why}", recovered.board);
        tell(escape::terminal(&text));
    }
}

/// A power such as `180W`.
pub(super) fn cap(text: &str) -> Result<Watts, BadValue> {
    let rule = "it must be a power above 0, such as 180W";
    let text = text.trim();
    let number = text.strip_suffix(['W', 'w']).unwrap_or(text);
    let watts: Option<Watts> = number.parse().ok();
    watts
        .filter(|watts| watts.get() > 0.0)
        .ok_or(BadValue::OutOfRange { rule })
}

fn selection(text: &str) -> Result<Selection, BadValue> {
    let rule = "it must be the number of a board or `all`";
    match text {
        "all" => Ok(Selection::All),
        number => number
            .parse()
            .map(Selection::One)
            .map_err(|_| BadValue::OutOfRange { rule }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_is_a_power_above_zero() {
        for text in ["180W", "180", " 180 W", "180w"] {
            assert_eq!(cap(text).unwrap().get(), 180.0, "{text}");
        }
        for text in ["0W", "-5", "W", "", "180WW", "180 kg", "nan", "inf"] {
            assert!(cap(text).is_err(), "{text}");
        }
    }
}
