use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// What is written in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Words in the name of an option, variable or tag whose value is a secret.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)(?:^|[^a-z])(?:pass(?:word|wd|phrase|code)?|pwd|pat|pin|secrets?|tokens?|credentials?|cookie|auth|authorization|bearer|(?:api|access|private|secret|auth|account|signing|encryption|license|ssh|client|master|service|storage|webhook|deploy|wandb|comet|openai|anthropic|azure|aws)[-_.]?key|apikey)(?:$|[^a-z])",
    )
});

/// `name=value` or `name: value`; the value ends at a space, quote or separator of a query.
static ASSIGNMENT: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"([A-Za-z0-9_.-]+)("?'?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s"'&;,]+)"#));

static PATTERNS: LazyLock<[(Regex, &'static str); 4]> = LazyLock::new(|| {
    [
        // user:password@host, and token@host.
        (
            regex(r"([A-Za-z][A-Za-z0-9+.-]*://)[^\s/@:]*(?::[^\s/@]*)?@"),
            "${1}[redacted]@",
        ),
        (
            regex(r"(?i)\b(bearer|basic|digest|token)\s+[A-Za-z0-9+/=._~-]{8,}"),
            "${1} [redacted]",
        ),
        // Tokens of well-known services, by their prefixes.
        (
            regex(
                r"\b(?:gh[opsur]_|github_pat_|glpat-|hf_|sk-|pk-|rk_live_|sk_live_|xox[abeprs]-|AKIA|ASIA|AIza|ya29\.|npm_|pypi-|dop_v1_|wandb_)[A-Za-z0-9_./+=-]{10,}",
            ),
            REDACTED,
        ),
        // JSON web tokens.
        (
            regex(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?"),
            REDACTED,
        ),
    ]
});

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of the program")
}

/// Whether the value of an option, variable or tag of this name is a secret.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    // `apiKey` and `AuthToken` are words as well.
    let mut words = String::with_capacity(name.len() + 8);
    let mut before = ' ';
    for c in name.chars() {
        if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            words.push('_');
        }
        words.push(c);
        before = c;
    }
    NAME.is_match(&words)
}

/// A text without the secrets in it.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut redacted = ASSIGNMENT.replace_all(text, |found: &Captures| {
        let (whole, name, value) = (&found[0], &found[1], &found[3]);
        // A scheme such as `https://` is no name, and `Authorization: Bearer x` has its own rule.
        let is_scheme = &found[2] == ":" && value.starts_with("//");
        let is_kind = ["bearer", "basic", "digest", "token"]
            .iter()
            .any(|kind| value.eq_ignore_ascii_case(kind));
        if !is_scheme && !is_kind && is_secret_name(name) {
            format!("{name}{}{REDACTED}", &found[2])
        } else {
            whole.to_owned()
        }
    });
    for (pattern, with) in PATTERNS.iter() {
        if pattern.is_match(&redacted) {
            redacted = Cow::Owned(pattern.replace_all(&redacted, *with).into_owned());
        }
    }
    redacted
}

/// A command line without the secrets in it: also those that follow an option as a word of their own.
#[must_use]
pub fn redact_arguments(arguments: &[String]) -> Vec<String> {
    let mut is_value = false;
    arguments
        .iter()
        .map(|argument| {
            let option = argument
                .strip_prefix('-')
                .filter(|_| !argument.contains('='));
            let follows = option.is_some_and(is_secret_name);
            // `--token --verbose`: the option has no value.
            let is_secret = std::mem::replace(&mut is_value, follows) && option.is_none();
            if is_secret {
                REDACTED.to_owned()
            } else {
                redact(argument).into_owned()
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        redact_arguments(&words).join(" ")
    }

    #[test]
    fn secrets_of_a_command_line_are_replaced() {
        for text in [
            "train --token=s3cr3t",
            "train --api-key s3cr3t",
            "train -p x --db_password s3cr3t",
            "env AWS_SECRET_ACCESS_KEY=s3cr3t train",
            "env OPENAI_API_KEY=s3cr3t train",
            "train password=s3cr3t",
            "train --authToken s3cr3t",
            "train --wandb-key=s3cr3t",
            "env AZURE_STORAGE_KEY=s3cr3t train",
            "curl https://alice:s3cr3t@example.org/x",
            "git clone https://s3cr3t@example.org/x",
            "sh -c export HF_TOKEN='s3cr3t'; train",
            "curl https://example.org/?a=1&access_token=s3cr3t&b=2",
            "train {\"api_key\":\"s3cr3t\"}",
        ] {
            let redacted = line(text);
            assert!(
                !redacted.contains("s3cr3t") && redacted.contains(REDACTED),
                "{redacted}"
            );
        }
        let header = ["-H", "Authorization: Bearer abc.def-0123"].map(str::to_owned);
        assert!(!redact_arguments(&header).join(" ").contains("0123"));
        assert_eq!(redact("ghp_0123456789abcdefghij"), REDACTED);
    }

    #[test]
    fn other_arguments_stay() {
        for text in [
            "python train.py --tokenizer bert --lr=0.1 --seed 3",
            "train --passes 3 --key value --sort-key=name",
            "train https://example.org:8080/a?b=c file://x/y",
            "train --author alice --pattern x",
            "train --skip-ablation task-sk-x",
        ] {
            assert_eq!(line(text), text);
        }
        assert_eq!(line("train --token --verbose"), "train --token --verbose");
    }
}
