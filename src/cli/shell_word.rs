use std::borrow::Cow;
use std::path::Path;

/// A path as one word of a command that can be pasted into a POSIX shell.
pub fn of_path(path: &Path) -> String {
    let shown = path.display().to_string();
    // What begins so would be taken for an option, however it is quoted.
    if shown.starts_with('-') {
        return shell_word(&format!("./{shown}")).into_owned();
    }
    shell_word(&shown).into_owned()
}

/// A text as one word: in single quotes unless every letter of it is plainly safe.
pub fn shell_word(text: &str) -> Cow<'_, str> {
    let is_safe = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    if !text.is_empty() && text.chars().all(is_safe) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_reads_back_what_was_written() {
        for path in [
            "logs/run-1",
            "my logs/run",
            "$(touch evil)",
            "`id`",
            "it's",
            "\"two\"; ls & *",
            "~root",
            "a\\b!#",
            "{a,b}",
            "größer",
        ] {
            let printed = format!("printf %s {}", of_path(Path::new(path)));
            let read = Command::new("sh").args(["-c", &printed]).output().unwrap();
            assert_eq!(String::from_utf8(read.stdout).unwrap(), path);
        }
    }

    #[test]
    fn what_is_plainly_safe_stays_plain_and_no_path_is_an_option() {
        assert_eq!(of_path(Path::new("logs/run-1")), "logs/run-1");
        assert_eq!(of_path(Path::new("-rf")), "./-rf");
        assert_eq!(shell_word(""), "''");
    }
}
