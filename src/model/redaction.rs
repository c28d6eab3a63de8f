use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value};

use super::Info;
use super::secret::{REDACTED, redact, redact_arguments};
use super::secret_name::is_secret;

/// What is removed from the description of a run before it is published.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Redaction {
    /// Passwords, keys and tokens.
    #[default]
    Secrets,
    /// These, and what identifies the user and the machine: host, user, folders, command line, packages, device numbers.
    Identity,
}

/// Fields of `info.json` that identify the user and the machine.
const IDENTIFYING: [&str; 10] = [
    "command",
    "working_directory",
    "hostname",
    "boot_id",
    "cgroup",
    "scheduler",
    "packages",
    "uuid",
    "lat",
    "lon",
];

static DEVICE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(GPU|MIG)-[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b")
        .expect("a pattern of the program")
});

static HOME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(/home/|/Users/|/root\b|[A-Za-z]:\\Users\\)[^\s:;,"']*"#)
        .expect("a pattern of the program")
});

impl Redaction {
    /// Redacts `info.json` as it was read; its unknown fields stay.
    pub fn apply(self, info: &mut Value) {
        let names = names_in(info);
        self.redact_value(info, "", &names);
    }

    /// The description of a run without what is not to be published.
    pub fn info(self, info: &Info) -> Result<Info, serde_json::Error> {
        let mut value = serde_json::to_value(info)?;
        self.apply(&mut value);
        serde_json::from_value(value)
    }

    /// A sentence about a run without what is not to be published.
    #[must_use]
    pub fn sentence(self, text: &str, info: &Info) -> String {
        let host = info.host.hostname.iter();
        let names: Vec<String> = host.chain(&info.working_directory).cloned().collect();
        self.redact_text(text, &names)
    }

    /// Text in which the UUIDs of devices are replaced by their first four digits.
    #[must_use]
    pub fn without_devices(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Secrets => Cow::Borrowed(text),
            // The digits distinguish the devices of one machine, and are too few to identify one.
            Self::Identity => DEVICE.replace_all(text, |found: &Captures| {
                format!("{}-{}", &found[1], &found[0][4..8])
            }),
        }
    }

    fn redact_text(self, text: &str, names: &[String]) -> String {
        let text = redact(text);
        if self == Self::Secrets {
            return text.into_owned();
        }
        let mut text = self.without_devices(&text).into_owned();
        for name in names.iter().filter(|name| name.len() > 2) {
            text = text.replace(name, REDACTED);
        }
        HOME.replace_all(&text, REDACTED).into_owned()
    }

    fn redact_value(self, value: &mut Value, key: &str, names: &[String]) {
        match value {
            Value::String(text) if is_secret(key, text) => REDACTED.clone_into(text),
            Value::String(text) => *text = self.redact_text(text, names),
            Value::Array(items) if key == "command" => {
                let words: Option<Vec<String>> = items
                    .iter()
                    .map(|item| item.as_str().map(str::to_owned))
                    .collect();
                match words {
                    Some(words) => {
                        *items = redact_arguments(&words)
                            .into_iter()
                            .map(Value::from)
                            .collect();
                    }
                    None => items.clear(),
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.redact_value(item, key, names);
                }
            }
            Value::Object(fields) => {
                if self == Self::Identity {
                    fields.retain(|key, _| !IDENTIFYING.contains(&key.as_str()));
                    // Components are named by their device.
                    *fields = std::mem::take(fields)
                        .into_iter()
                        .map(|(key, value)| (self.without_devices(&key).into_owned(), value))
                        .collect::<Map<_, _>>();
                }
                for (key, value) in fields {
                    self.redact_value(value, key, names);
                }
            }
            _ => {}
        }
    }
}

/// Names that must not occur in any text either.
fn names_in(info: &Value) -> Vec<String> {
    let names = [&info["host"]["hostname"], &info["working_directory"]];
    names
        .into_iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn info() -> Value {
        json!({
            "schema": 2, "id": "x", "name": "train",
            "command": ["train", "--token", "s3cr3t", "--lr=0.1"],
            "tags": {"api_key": "s3cr3t", "model": "small"},
            "working_directory": "/home/alice/work",
            "host": {"hostname": "node17", "boot_id": "b0",
                "gpus": [{"uuid": "GPU-12345678-1234-1234-1234-123456789012", "name": "A100"}]},
            "python": {"version": "3.12", "packages": {"torch": "2.0"}},
            "notes": ["node17 lost /home/alice/work/x", "GPU-12345678-1234-1234-1234-123456789012 failed"],
        })
    }

    #[test]
    fn secrets_are_always_removed_and_the_rest_stays() {
        let mut value = info();
        Redaction::Secrets.apply(&mut value);
        let mut expected = info();
        expected["command"][2] = json!(REDACTED);
        expected["tags"]["api_key"] = json!(REDACTED);
        assert_eq!(value, expected);
    }

    #[test]
    fn nothing_tells_who_ran_it_and_where() {
        let mut value = info();
        Redaction::Identity.apply(&mut value);
        let text = value.to_string();
        for name in [
            "s3cr3t", "alice", "node17", "b0", "torch", "lr=", "12345678",
        ] {
            assert!(!text.contains(name), "{name}: {text}");
        }
        assert!(text.contains("A100") && text.contains("small"));
        let typed: Info = serde_json::from_value(info()).unwrap();
        let typed = Redaction::Identity.info(&typed).unwrap();
        assert_eq!(typed.host.hostname, None);
    }
}
