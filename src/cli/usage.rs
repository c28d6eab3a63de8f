//! What is wrong with a command line, in the same form as every other failure.

use std::error::Error as _;
use std::ffi::OsString;

use anyhow::anyhow;
use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use super::{Cli, Failure, exit};

/// The failure that an error of the parser is; none where it prints help, or says it best itself.
pub(crate) fn failure(error: &Error, arguments: &[OsString]) -> Option<Failure> {
    let texts = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    };
    let help = format!("{} --help", called(arguments));
    let wrong = texts(ContextKind::InvalidArg);
    let value = texts(ContextKind::InvalidValue).concat();
    let (failure, advice) = match error.kind() {
        ErrorKind::UnknownArgument => {
            let wrong = wrong.concat();
            let what = if wrong.starts_with('-') {
                anyhow!("there is no option `{wrong}`")
            } else {
                anyhow!("`{wrong}` is one argument too many")
            };
            let nearest = texts(ContextKind::SuggestedArg);
            let lists = format!("{help} lists the options");
            (Failure::new(what), joined(nearest, "", lists))
        }
        ErrorKind::InvalidSubcommand => {
            let wrong = texts(ContextKind::InvalidSubcommand).concat();
            let nearest = texts(ContextKind::SuggestedSubcommand);
            let nearest = nearest.into_iter().take(1).collect();
            let caller = help.trim_end_matches("--help").to_owned();
            let lists = format!("{help} lists the commands");
            (
                Failure::new(anyhow!("there is no command `{wrong}`")),
                joined(nearest, &caller, lists),
            )
        }
        ErrorKind::MissingRequiredArgument => {
            let missing: Vec<String> = wrong.iter().map(|argument| one_of(argument)).collect();
            let is = if missing.len() == 1 { "is" } else { "are" };
            let what = format!("{} {is} missing", missing.join(" and "));
            (
                Failure::new(anyhow!(what)),
                format!("{help}, which has examples"),
            )
        }
        ErrorKind::ArgumentConflict => {
            let others = texts(ContextKind::PriorArg);
            if others.is_empty() {
                return None;
            }
            let what = format!(
                "{} cannot be used with {}",
                wrong.concat(),
                others.join(", ")
            );
            (Failure::new(anyhow!(what)), "one of them".to_owned())
        }
        ErrorKind::InvalidValue if value.is_empty() => (
            Failure::new(anyhow!("{} needs a value", wrong.concat())),
            format!("{help}, which has examples"),
        ),
        ErrorKind::InvalidValue => (
            not_a_value(&value, &wrong.concat()),
            texts(ContextKind::ValidValue).join(", "),
        ),
        ErrorKind::ValueValidation => {
            let failure = error.source().map_or_else(
                || not_a_value(&value, &wrong.concat()),
                |why| {
                    let what = format!("`{value}` is not a value of {}", wrong.concat());
                    // The parser writes a range as in its own language: 1..=9.
                    let why = why.to_string().replace("..=", " to ");
                    Failure::new(anyhow!(why)).within(what)
                },
            );
            (failure, format!("{help}, which has examples"))
        }
        _ => return None,
    };
    Some(failure.advise(advice).exit_with(exit::USAGE))
}

fn not_a_value(value: &str, argument: &str) -> Failure {
    Failure::new(anyhow!("`{value}` is not a value of {argument}"))
}

/// The nearest name, with what stands before it, and where all names are.
fn joined(nearest: Vec<String>, before: &str, lists: String) -> String {
    let nearest = nearest.into_iter().map(|name| format!("{before}{name}"));
    nearest.chain([lists]).collect::<Vec<_>>().join("; ")
}

/// `<--a <A>|--b <B>>` as words.
fn one_of(argument: &str) -> String {
    let group = argument
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'));
    match group.filter(|group| group.contains('|')) {
        Some(group) => format!("one of {}", group.replace('|', ", ")),
        None => argument.to_owned(),
    }
}

/// The command with its subcommands, as far as the arguments name them.
fn called(arguments: &[OsString]) -> String {
    let mut command = Cli::command();
    command.build();
    let mut name = command.get_name().to_owned();
    for argument in arguments {
        let found = argument
            .to_str()
            .and_then(|text| command.find_subcommand(text));
        let Some(found) = found.cloned() else {
            break;
        };
        name = format!("{name} {}", found.get_name());
        command = found;
    }
    name
}
