use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use anyhow::anyhow;

use super::super::{Failure, exit};
use crate::text::escape;
use crate::text::nearest;

/// A command to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) name: String,
    pub(super) words: Vec<OsString>,
}

/// The commands between `--`, the baseline first.
pub(super) fn commands(
    words: &[OsString],
    names: &[String],
    baseline: Option<&str>,
) -> Result<Vec<Command>, Failure> {
    let usage = |error: anyhow::Error| Failure::new(error).exit_with(exit::USAGE);
    let parts: Vec<&[OsString]> = words.split(|word| word == "--").collect();
    if parts.iter().any(|part| part.is_empty()) {
        return Err(usage(anyhow!("there is no command between two `--`"))
            .advise("impact bench -- CMD -- CMD2"));
    }
    if names.len() > parts.len() {
        let (names, commands) = (names.len(), parts.len());
        return Err(
            usage(anyhow!("{names} names are given for {commands} commands"))
                .advise("--name once for each command"),
        );
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut commands = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let own = names.get(index).cloned().unwrap_or_else(|| shown(part));
        let times = seen.entry(own.clone()).or_default();
        *times += 1;
        commands.push(Command {
            name: if *times == 1 {
                own
            } else {
                format!("{own} ({times})")
            },
            words: command_line(part),
        });
    }
    if let Some(baseline) = baseline {
        let place = place(baseline, &commands)?;
        commands[..=place].rotate_right(1);
    }
    Ok(commands)
}

/// By name, else by number from 1.
fn place(baseline: &str, commands: &[Command]) -> Result<usize, Failure> {
    let named = commands.iter().position(|command| command.name == baseline);
    let numbered = || {
        let number: usize = baseline.parse().ok()?;
        number
            .checked_sub(1)
            .filter(|place| *place < commands.len())
    };
    named.or_else(numbered).ok_or_else(|| {
        let all: Vec<&str> = commands.iter().map(|command| &*command.name).collect();
        let nearest = nearest::said(&nearest::of(baseline, all.iter().copied()));
        Failure::new(anyhow!(
            "no command is called or numbered {}{nearest}",
            baseline.escape_debug()
        ))
        .advise(format!("1 to {}, or one of {}", all.len(), all.join(", ")))
        .exit_with(exit::USAGE)
    })
}

/// One word with blanks is a line for a shell.
fn command_line(words: &[OsString]) -> Vec<OsString> {
    match words {
        [line] if has_blank(line) => ["sh".into(), "-c".into(), line.clone()].into(),
        _ => words.to_vec(),
    }
}

fn has_blank(word: &OsStr) -> bool {
    let word = word.as_encoded_bytes();
    word.iter().any(|byte| matches!(byte, b' ' | b'\t' | b'\n'))
}

/// The command as it was typed.
fn shown(words: &[OsString]) -> String {
    if let [line] = words {
        return line.to_string_lossy().into_owned();
    }
    let words = words.iter().map(|word| {
        let word = word.to_string_lossy();
        escape::shell(&word).into_owned()
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(
        words: &[&str],
        names: &[&str],
        baseline: Option<&str>,
    ) -> Result<Vec<Command>, String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        commands(&words, &names, baseline).map_err(|failure| failure.line())
    }

    fn names(commands: &[Command]) -> Vec<&str> {
        commands
            .iter()
            .map(|command| command.name.as_str())
            .collect()
    }

    #[test]
    fn commands_are_separated_and_one_word_with_blanks_is_for_a_shell() {
        let found = parsed(&["a", "x y", "--", "b -- c", "--", "true"], &[], None).unwrap();
        assert_eq!(names(&found), ["a 'x y'", "b -- c", "true"]);
        assert_eq!(found[0].words, ["a", "x y"]);
        assert_eq!(found[1].words, ["sh", "-c", "b -- c"]);
        assert_eq!(found[2].words, ["true"]);
    }

    #[test]
    fn the_baseline_comes_first_by_name_or_number() {
        let words = ["a", "--", "b", "--", "c"];
        for baseline in ["c", "3"] {
            let found = parsed(&words, &[], Some(baseline)).unwrap();
            assert_eq!(names(&found), ["c", "a", "b"]);
        }
        assert!(
            parsed(&words, &[], Some("0"))
                .unwrap_err()
                .contains("numbered 0")
        );
        assert!(parsed(&words, &[], Some("4")).is_err());
        // A name is stronger than a number.
        let found = parsed(&words, &["2", "1"], Some("1")).unwrap();
        assert_eq!(names(&found), ["1", "2", "c"]);
    }

    #[test]
    fn equal_names_are_numbered_and_too_many_are_refused() {
        let found = parsed(&["a", "--", "a"], &[], None).unwrap();
        assert_eq!(names(&found), ["a", "a (2)"]);
        assert!(parsed(&["a"], &["x", "y"], None).is_err());
        assert!(parsed(&["a", "--"], &[], None).is_err());
    }
}
