use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::password_options::{self, Follows};
use super::secret_name::{SecretName, is_random, is_secret};

/// What is written in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Quotes within quotes are followed this deep.
const DEEPEST_QUOTE: usize = 4;

/// A name and what is between it and its value: `name=value`, `name: value`, `"name": "value"`.
static NAME: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"([A-Za-z0-9_.-]+)(?:\\?["'])?\s*[=:]\s*"#));

/// A value ends at its quote, or at a space, quote or separator of a query.
static VALUE: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"^(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\"[^"]*\\"|[^\s"'&;,\\]+)"#));

/// This much of a value tells whether it is a secret.
const TELLING_BYTES: usize = 520;

static PATTERNS: LazyLock<[(Regex, &'static str); 7]> = LazyLock::new(|| {
    [
        // Headers: everything up to the end of the line.
        (
            regex(r#"(?i)\b((?:proxy-)?authorization|(?:set-)?cookie)(\s*:\s*)[^"'\r\n]+"#),
            "${1}${2}[redacted]",
        ),
        // user:password@host, and token@host.
        (
            regex(r"([A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#]*@"),
            "${1}[redacted]@",
        ),
        (
            regex(r"(?i)\b(bearer|basic|digest|token)\s+[A-Za-z0-9+/=._~-]{8,}"),
            "${1} [redacted]",
        ),
        // Queries of addresses that are a permission by themselves.
        (
            regex(r#"(?i)([?&](?:sig|signature|x-amz-signature|x-goog-signature)=)[^\s&"']+"#),
            "${1}[redacted]",
        ),
        (
            regex(
                r#"(?i)(hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/)[^\s"']+"#,
            ),
            "${1}[redacted]",
        ),
        // Tokens of well-known services, by their prefixes.
        (
            regex(
                r"\b(?:gh[opsur]_|github_pat_|glpat-|hf_|sk-|pk-|[rs]k_(?:live|test)_|whsec_|xox[abeprs]-|AKIA|ASIA|AIza|ya29\.|npm_|pypi-|dop_v1_|dckr_pat_|wandb_|nvapi-|gsk_|r8_|pplx-|lsv2_[ps]t_|hvs\.|SG\.|shpat_|dapi[0-9a-f]{16}|AGE-SECRET-KEY-)[A-Za-z0-9_./+=-]{10,}",
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

/// A word of a shell, with its quotes, or what ends a command.
static SHELL_WORD: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?:[^\s"';|&]|"(?:[^"\\]|\\.)*"|'[^']*')+|[;|&\n]+"#));

static QUOTED: LazyLock<Regex> = LazyLock::new(|| regex(r#""(?:[^"\\]|\\.)*"|'[^']*'"#));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of the program")
}

/// A text without the secrets in it.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    redact_to(text, DEEPEST_QUOTE)
}

fn redact_to(text: &str, depth: usize) -> Cow<'_, str> {
    let mut redacted = redact_assignments(text);
    for (pattern, with) in PATTERNS.iter() {
        if pattern.is_match(&redacted) {
            redacted = Cow::Owned(pattern.replace_all(&redacted, *with).into_owned());
        }
    }
    if depth == 0 || !redacted.contains(char::is_whitespace) {
        return redacted;
    }
    Cow::Owned(redact_words(&redacted, depth))
}

/// Redacts the values of secret names; a value may have assignments in it, as in `--set=password=x`.
fn redact_assignments(text: &str) -> Cow<'_, str> {
    let mut redacted = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = NAME.captures_at(text, at) {
        at = found.get_match().end();
        let Some(name) = SecretName::of(&found[1]) else {
            continue;
        };
        let start = &text[at..];
        let telling = VALUE.find(&start[..floor_char_boundary(start, TELLING_BYTES)]);
        let telling = telling.map_or("", |value| unquoted(value.as_str()));
        // `Authorization: Bearer x` has its own rule.
        let is_kind = ["bearer", "basic", "digest", "token"]
            .iter()
            .any(|kind| telling.eq_ignore_ascii_case(kind));
        if is_kind || !name.is_secret_assigned(telling) {
            continue;
        }
        redacted.push_str(&text[copied..at]);
        redacted.push_str(REDACTED);
        at += VALUE.find(start).map_or(0, |value| value.end());
        copied = at;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    redacted.push_str(&text[copied..]);
    Cow::Owned(redacted)
}

/// The last end of a character up to this byte.
fn floor_char_boundary(text: &str, most: usize) -> usize {
    let mut at = most.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The text may be or contain a command line, as that of `sh -c`.
fn redact_words(text: &str, depth: usize) -> String {
    let mut command = Command::default();
    let mut redacted = String::with_capacity(text.len());
    let mut copied = 0;
    for found in SHELL_WORD.find_iter(text) {
        redacted.push_str(&text[copied..found.start()]);
        copied = found.end();
        let word = found.as_str();
        match command.redacted(word) {
            Some(without) => redacted.push_str(&without),
            // Quotes may hold another command line: `ssh host "..."`, `OPTIONS="..."`.
            None => redacted.push_str(&QUOTED.replace_all(word, |quoted: &Captures| {
                let quoted = &quoted[0];
                let quote = &quoted[..1];
                let inside = &quoted[1..quoted.len() - 1];
                format!("{quote}{}{quote}", redact_to(inside, depth - 1))
            })),
        }
    }
    redacted.push_str(&text[copied..]);
    redacted
}

/// A command line without the secrets in it: also those that follow an option as a word of their own.
#[must_use]
pub fn redact_arguments(arguments: &[String]) -> Vec<String> {
    let mut command = Command::default();
    arguments
        .iter()
        .map(|argument| {
            command
                .redacted(argument)
                .unwrap_or_else(|| redact(argument).into_owned())
        })
        .collect()
}

/// What the words of a command line so far say about the next one.
#[derive(Debug, Default)]
struct Command<'w> {
    /// A program that is known to take passwords.
    program: Option<&'w str>,
    is_login: bool,
    expected: Expected<'w>,
}

#[derive(Debug, Default)]
enum Expected<'w> {
    #[default]
    Nothing,
    /// The value of the option of this name.
    ValueOf(&'w str),
    Given(Follows),
}

impl<'w> Command<'w> {
    /// The next word without its secret; none if there is no secret in it that the words before reveal.
    fn redacted(&mut self, word: &'w str) -> Option<String> {
        let bare = unquoted(word);
        if bare.starts_with([';', '|', '&', '\n']) {
            *self = Self::default();
            return None;
        }
        let is_option = bare.len() > 1 && bare.starts_with('-');
        // `--token --verbose`: the option has no value.
        match std::mem::take(&mut self.expected) {
            Expected::ValueOf(name) if !is_option && is_secret(name, bare) => {
                return Some(REDACTED.to_owned());
            }
            Expected::Given(follows) if !is_option => return follows.redacted(bare),
            _ => {}
        }
        if is_option {
            return self.option(bare);
        }
        if self.is_login && is_random(bare) {
            return Some(REDACTED.to_owned());
        }
        self.is_login |= bare == "login";
        let program = bare.rsplit('/').next().unwrap_or(bare);
        if password_options::is_known(program) {
            self.program = Some(program);
        }
        // `OPTIONS=--token x`
        if let Some((_, option)) = bare.rsplit_once('=')
            && option.starts_with('-')
        {
            self.expected = Expected::ValueOf(option.trim_start_matches('-'));
        }
        variable(bare)
    }

    fn option(&mut self, word: &'w str) -> Option<String> {
        let program = self.program.unwrap_or_default();
        if let Some((known, value)) = password_options::find(program, self.is_login, word) {
            if value.is_empty() {
                self.expected = Expected::Given(known.follows);
                return None;
            }
            let before = &word[..word.len() - value.len()];
            let value = known.follows.redacted(value)?;
            return Some(format!("{before}{value}"));
        }
        if !word.contains('=') {
            self.expected = Expected::ValueOf(word.trim_start_matches('-'));
        }
        variable(word)
    }
}

impl Follows {
    /// The word after the option without the password.
    fn redacted(self, word: &str) -> Option<String> {
        match self {
            Self::Password => Some(REDACTED.to_owned()),
            Self::Account(separator) => {
                let (user, _) = word.split_once(separator)?;
                Some(format!("{user}{separator}{REDACTED}"))
            }
        }
    }
}

/// `--name=value` or `NAME=value` where all of the value is a secret.
fn variable(word: &str) -> Option<String> {
    let (name, value) = word.split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let known = SecretName::of(name).filter(|_| name.chars().all(is_name))?;
    let is_secret = known.is_secret_assigned(unquoted(value));
    is_secret.then(|| format!("{name}={REDACTED}"))
}

fn unquoted(word: &str) -> &str {
    let inside = |quote| word.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    /// As arguments of their own, and as the script of a shell.
    fn both(text: &str) -> [String; 2] {
        let script = ["sh".to_owned(), "-c".to_owned(), text.to_owned()];
        [
            redact_arguments(&words(text)).join(" "),
            redact_arguments(&script)[2].clone(),
        ]
    }

    #[test]
    fn secrets_of_a_command_line_are_replaced() {
        for text in [
            "train --token=s3cr3t",
            "train --token=s3cr3t,s3cr3t",
            "train --api-key s3cr3t",
            "train -p x --db_password s3cr3t",
            "env AWS_SECRET_ACCESS_KEY=s3cr3t train",
            "env OPENAI_API_KEY=s3cr3t train",
            "env PGPASSWORD=s3cr3t SSHPASS=s3cr3t psql -p 5432",
            "env HFTOKEN=s3cr3t train",
            "train password=s3cr3t",
            "train key=s3cr3t --key=s3cr3t",
            "train --authToken s3cr3t",
            "train --wandb-key=s3cr3t",
            "env AZURE_STORAGE_KEY=s3cr3t train",
            "curl https://alice:s3cr3t@example.org/x",
            "curl https://alice:s3cr3t@s3cr3t@example.org/x",
            "git clone https://s3cr3t@example.org/x",
            "sh -c export HF_TOKEN='s3cr3t'; train",
            "curl https://example.org/?a=1&access_token=s3cr3t&b=2",
            "curl https://example.org/?key=s3cr3t&sig=s3cr3t",
            "curl https://example.org/?token=s3cr3t",
            "helm install --set=auth.password=s3cr3t,b=c x",
            "train {\"api_key\":\"s3cr3t\"}",
            "train {\\\"api_key\\\":\\\"s3cr3t\\\"}",
            "train {\"password\":\"a\\\"s3cr3t\"}",
            "mysql -u root -ps3cr3t data",
            "/usr/bin/mysqldump -p s3cr3t data",
            "sshpass -p s3cr3t ssh -p 22 host",
            "sshpass -ps3cr3t ssh host",
            "redis-cli -h host -a s3cr3t",
            "unzip -P s3cr3t x.zip",
            "7z x -ps3cr3t x.7z",
            "curl -u alice:s3cr3t https://example.org",
            "curl --user=alice:s3cr3t https://example.org",
            "smbclient -U alice%s3cr3t //host/share",
            "docker login -u alice -p s3cr3t registry",
            "keytool -storepass s3cr3t",
            "openssl rsa -passin pass:s3cr3t",
            "env OPTIONS=--token s3cr3t train",
            "snakemake ; sshpass -p s3cr3t scp x y",
        ] {
            for redacted in both(text) {
                assert!(
                    !redacted.contains("s3cr3t") && redacted.contains(REDACTED),
                    "{text}: {redacted}"
                );
            }
        }
    }

    #[test]
    fn tokens_are_known_by_their_form() {
        for token in [
            "ghp_0123456789abcdefghij",
            "hf_abcdefghijklmnopqrst",
            "sk-proj-0123456789abcdef",
            "AKIAIOSFODNN7EXAMPLE",
            "glpat-0123456789abcdefghij",
            "hvs.0123456789abcdefghij",
        ] {
            assert_eq!(redact(token), REDACTED);
            assert_eq!(redact(&format!("train {token}")), "train [redacted]");
        }
        let hex = "0123456789abcdef0123456789abcdef01234567";
        for text in [
            format!("wandb login {hex}"),
            format!("wandb login --relogin {hex}"),
            format!("kaggle --key {hex}"),
        ] {
            for redacted in both(&text) {
                assert!(!redacted.contains(hex), "{redacted}");
            }
        }
        let commit = format!("git checkout {hex}");
        assert_eq!(both(&commit), [commit.clone(), commit]);
    }

    #[test]
    fn headers_are_redacted_to_their_end() {
        for header in [
            "Authorization: Bearer abc.def-0123",
            "Authorization: Basic YWxpY2U6 0123",
            "Cookie: a=b; session=0123",
            "X-Api-Key: 0123",
        ] {
            let arguments = ["curl", "-H", header].map(str::to_owned);
            let redacted = redact_arguments(&arguments).join(" ");
            assert!(!redacted.contains("0123"), "{redacted}");
            let script = format!("curl -H '{header}' https://example.org/x");
            let redacted = redact(&script);
            assert!(
                !redacted.contains("0123") && redacted.ends_with("https://example.org/x"),
                "{redacted}"
            );
        }
    }

    #[test]
    fn quotes_within_quotes_are_read() {
        let redacted = redact(r#"bash -c "cd x && sshpass -p 's3 cr3t' ssh host""#);
        assert_eq!(
            redacted,
            r#"bash -c "cd x && sshpass -p [redacted] ssh host""#
        );
        let redacted = redact(r#"OPTIONS="--token s3cr3t --seed 3" train"#);
        assert_eq!(redacted, r#"OPTIONS="--token [redacted] --seed 3" train"#);
        let deep = "'\"".repeat(10_000);
        assert_eq!(redact(&deep), deep);
    }

    #[test]
    fn other_arguments_stay() {
        for text in [
            "python train.py --tokenizer bert --lr=0.1 --seed 3",
            "train --passes 3 --key value --sort-key=name --pass 2",
            "train https://example.org:8080/a?b=c file://x/y",
            "train --author alice --pattern x --highpass 0.5",
            "train --skip-ablation task-sk-x",
            "python -m http.server -p 8080",
            "docker run -p 8080:80 -u 1000:1000 image",
            "ssh -p 2222 host",
            "psql -p 5432 -d data",
            "train --max-tokens 4096 --tokens-per-batch=1e6 --eos-token </s> --pad_token=[PAD]",
            "train --token-level word --stop-tokens END --token-file=x.txt --token_dropout 0.1 --pat-size 16",
            "train --pin-memory true --pin_mem --auth none",
            "train --password $PASSWORD --token=${HF_TOKEN}",
            "train 'don't stop' \"x",
        ] {
            assert_eq!(both(text), [text, text]);
        }
        let line = |text| redact_arguments(&words(text)).join(" ");
        assert_eq!(line("train --token --verbose"), "train --token --verbose");
    }
}
