use std::sync::LazyLock;

use regex::Regex;

/// Words that make the value a secret wherever they are in a name, as in `PGPASSWORD`.
static ANYWHERE: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)passw(?:or)?d|passphrase|passcode|secret|credential|api[-_.]?key|private[-_.]?key")
});

/// Words that do so on their own.
static WORD: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)(?:^|[^a-z])(?:(?:ssh|db|user|root|admin|mail|smtp|ftp|key|store)?pass|pass(?:in|out)|pwd|pat$|pin$|cookie|auth|authorization|bearer|(?:access|auth|account|signing|encryption|license|ssh|client|master|service|storage|webhook|deploy|wandb|comet|openai|anthropic|azure|aws)[-_.]?key)(?:$|[^a-z])",
    )
});

/// `token` and `hftoken`.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)token$"));

/// Names of keys and tokens of any kind: `sort-key`, `stop-tokens`, `token-level`, but not `tokenizer`.
static KEY: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)(?:^|[^a-z])key$|tokens?(?:$|[^a-z])"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of the program")
}

/// A name whose value may be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretName {
    Password,
    /// Of a service, or of a text.
    Token,
    /// Of a lock, or of a table: `--key`.
    Key,
    /// The same with more words, which rarely is one: `--sort-key`, `--token-level`.
    SomeKey,
}

impl SecretName {
    pub(super) fn of(name: &str) -> Option<Self> {
        let words = words(name);
        if ANYWHERE.is_match(&words) || WORD.is_match(&words) {
            Some(Self::Password)
        } else if TOKEN.is_match(&words) {
            Some(Self::Token)
        } else if name.trim_start_matches('-').eq_ignore_ascii_case("key") {
            Some(Self::Key)
        } else {
            KEY.is_match(&words).then_some(Self::SomeKey)
        }
    }

    fn is_secret(self, value: &str) -> bool {
        !is_switch(value)
            && match self {
                Self::Password => true,
                Self::Token => !is_text_token(value),
                Self::Key | Self::SomeKey => is_random(value),
            }
    }

    /// As [`is_secret`](Self::is_secret), and `key=value`, which is one in most addresses and settings.
    pub(super) fn is_secret_assigned(self, value: &str) -> bool {
        self.is_secret(value) || (self == Self::Key && !is_switch(value))
    }
}

/// Whether the value of an option, variable or tag of this name is a secret.
pub(super) fn is_secret(name: &str, value: &str) -> bool {
    SecretName::of(name).is_some_and(|name| name.is_secret(value))
}

/// Whether a text has the form of a generated key.
pub(super) fn is_random(text: &str) -> bool {
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || "+=_-".contains(c);
    (16..=512).contains(&text.len())
        && text.chars().all(is_of_key)
        && text.contains(|c: char| c.is_ascii_digit())
        && text.contains(|c: char| c.is_ascii_alphabetic())
}

/// The name with `_` between the words of `apiKey` and `AuthToken`.
fn words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 8);
    let mut before = ' ';
    for c in name.chars() {
        if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            words.push('_');
        }
        words.push(c);
        before = c;
    }
    words
}

/// Whether the value switches something on or off, or names a variable: `--auth none`, `--token "$TOKEN"`.
fn is_switch(value: &str) -> bool {
    const SWITCHES: [&str; 9] = [
        "", "true", "false", "yes", "no", "on", "off", "none", "null",
    ];
    let is = |switch: &&str| value.eq_ignore_ascii_case(switch);
    let is_digit = value.len() == 1 && value.as_bytes()[0].is_ascii_digit();
    let variable = value.strip_prefix('$').map(|name| {
        let name = name.strip_prefix('{').unwrap_or(name);
        name.strip_suffix('}').unwrap_or(name)
    });
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    SWITCHES.iter().any(is) || is_digit || variable.is_some_and(is_name)
}

/// Whether this is a token of a text or a number of them: `--eos-token </s>`, `--max-tokens 4096`.
fn is_text_token(value: &str) -> bool {
    let is_number = value.len() <= 15
        && value.starts_with(|c: char| c.is_ascii_digit())
        && value
            .chars()
            .all(|c| c.is_ascii_digit() || "._,eEkKmMbB".contains(c));
    let is_within = |open, close| value.starts_with(open) && value.ends_with(close);
    is_number || is_within('<', '>') || is_within('[', ']')
}
