use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value};

use super::secret::{REDACTED, redact, redact_arguments};
use super::secret_name::is_secret;
use super::{Component, Info};

/// What is removed from the description of a run before it is published.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Redaction {
    /// Passwords, keys and tokens.
    #[default]
    Secrets,
    /// These, and what identifies the user and the machine: host, user, folders, command line, packages, commit, address,
    /// device numbers.
    Identity,
}

/// Fields of `info.json` that identify the user and the machine.
const IDENTIFYING: [&str; 12] = [
    "command",
    "working_directory",
    "hostname",
    "boot_id",
    "cgroup",
    "scheduler",
    "packages",
    "uuid",
    // A commit leads to its public repository.
    "git",
    // Names the address that was looked up.
    "how",
    "lat",
    "lon",
];

/// Folders whose names are the same on every machine.
const SYSTEM_FOLDERS: [&str; 7] = ["sys", "proc", "dev", "etc", "usr", "lib", "run"];

static DEVICE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(GPU|MIG)-[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b")
        .expect("a pattern of the program")
});

static HOME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?:/home/|/Users/|/root\b)[^\s:;,"'<\\]*|\b[A-Za-z]:\\{1,2}Users(?:\\{1,2}[^\s:;,"'<\\]+)+"#,
    )
    .expect("a pattern of the program")
});

/// An absolute path. Neither a part of a relative path or an address is one, nor what follows a number or `g`.
static FOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(^|\\[nt]|[^\w./~)%<-])/([^/\s:;,"'()\[\]<>\\{}&]+)((?:/[^/\s:;,"'()\[\]<>\\{}&]+)*)/?"#,
    )
    .expect("a pattern of the program")
});

/// A device of a merged run: its name, and its host or hosts.
static DEVICE_OF_HOST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"\b(gpu:[^"@\s]*)@([^"\s,;]+)"#).expect("a pattern of the program")
});

static USER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:/home/|/Users/|[A-Za-z]:\\Users\\)([^/\\]+)")
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
        self.redact_text(text, &Names::in_info(info))
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

    /// Text without the UUIDs of devices and without folders. It may be JSON, HTML or LaTeX, which it remains.
    #[must_use]
    pub fn without_places(self, text: &str) -> Cow<'_, str> {
        if self == Self::Secrets {
            return Cow::Borrowed(text);
        }
        let text = self.without_devices(text);
        let home = HOME.replace_all(&text, REDACTED);
        let folder = FOLDER.replace_all(&home, |found: &Captures| {
            if SYSTEM_FOLDERS.contains(&&found[2]) {
                found[0].to_owned()
            } else {
                format!("{}{REDACTED}", &found[1])
            }
        });
        Cow::Owned(folder.into_owned())
    }

    /// A line of a log with the names of its devices, without what is not to be published.
    #[must_use]
    pub fn line(self, line: &str, names: &Names) -> String {
        match self {
            Self::Secrets => line.to_owned(),
            Self::Identity => self.without_places(&names.number_hosts(line)).into_owned(),
        }
    }

    /// The name of a device without what is not to be published.
    #[must_use]
    pub fn component(self, component: &Component, names: &Names) -> Component {
        self.device(&component.to_string(), names).into()
    }

    fn device(self, name: &str, names: &Names) -> String {
        match self {
            Self::Secrets => name.to_owned(),
            Self::Identity => self.without_devices(&names.number_hosts(name)).into_owned(),
        }
    }

    fn redact_text(self, text: &str, names: &Names) -> String {
        let text = redact(text);
        if self == Self::Secrets {
            return text.into_owned();
        }
        let mut text = names.number_hosts(&text).into_owned();
        for name in names.words.iter().filter(|name| name.len() > 2) {
            text = without_word(&text, name);
        }
        self.without_places(&text).into_owned()
    }

    fn redact_value(self, value: &mut Value, key: &str, names: &Names) {
        match value {
            Value::String(text) if is_secret(key, text) => REDACTED.clone_into(text),
            // A host may be called as a device is.
            Value::String(text) if key == "component" => *text = self.device(text, names),
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
                        .map(|(key, value)| (self.device(&key, names), value))
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

fn names_in(info: &Value) -> Names {
    let host = info["host"]["hostname"].as_str();
    Names::of(host, info["working_directory"].as_str())
}

/// Names that must not occur in any text either.
#[derive(Debug, Default)]
pub struct Names {
    /// Of the folder, of each host with and without its domain, and of the user.
    words: Vec<String>,
    /// The hosts, of which a merged run has several.
    hosts: Vec<String>,
}

impl Names {
    /// Those in the description of a run.
    #[must_use]
    pub fn in_info(info: &Info) -> Self {
        Self::of(
            info.host.hostname.as_deref(),
            info.working_directory.as_deref(),
        )
    }

    fn of(host: Option<&str>, folder: Option<&str>) -> Self {
        let hosts: Vec<String> = host
            .map(|host| host.split('+').map(str::to_owned).collect())
            .unwrap_or_default();
        let short = hosts.iter().filter_map(|host| host.split('.').next());
        let user = folder.and_then(|folder| Some(USER.captures(folder)?.get(1)?.as_str()));
        let words = folder.into_iter().chain(host);
        let words = words.chain(hosts.iter().map(String::as_str)).chain(short);
        Self {
            words: words.chain(user).map(str::to_owned).collect(),
            hosts,
        }
    }

    /// Text in which the hosts of the devices of a merged run are numbers, so that their devices still differ.
    fn number_hosts<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let number = |host: &str| {
            let place = self.hosts.iter().position(|known| known == host);
            place.map_or_else(|| "host".to_owned(), |place| format!("host-{}", place + 1))
        };
        DEVICE_OF_HOST.replace_all(text, |found: &Captures| {
            let hosts: Vec<String> = found[2].split('+').map(number).collect();
            format!("{}@{}", &found[1], hosts.join("+"))
        })
    }
}

/// A text without a name, where that is a word and not a part of one.
fn without_word(text: &str, name: &str) -> String {
    let ends_word = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find(name) {
        let (before, after) = (&rest[..place], &rest[place + name.len()..]);
        out.push_str(before);
        let is_word = ends_word(out.chars().next_back()) && ends_word(after.chars().next());
        out.push_str(if is_word { REDACTED } else { name });
        rest = after;
    }
    out.push_str(rest);
    out
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
            "git": {"commit": "c0ffee"},
            "region": {"zone": "US-CA", "how": "gazetteer: Stanford"},
            "notes": ["node17 lost /home/alice/work/x", "alice has no right to /scratch/project7", "GPU-12345678-1234-1234-1234-123456789012 failed"],
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
    fn folders_are_removed_and_what_only_looks_like_one_is_not() {
        let without = |text: &str| Redaction::Identity.without_places(text).into_owned();
        for (text, kept) in [
            ("/scratch/alice/x: lost", "[redacted]: lost"),
            ("lost /data/x, /data/y.", "lost [redacted], [redacted]"),
            (r#"{"a":"x\n/data/y\"z"}"#, r#"{"a":"x\n[redacted]\"z"}"#),
            (r"see C:\Users\alice\x now", "see [redacted] now"),
            ("<td>/data/x</td>", "<td>[redacted]</td>"),
        ] {
            assert_eq!(without(text), kept);
        }
        for text in [
            "326 g/kWh at https://example.org/a/b and ../a/b.html",
            "RAPL through /sys/class/powercap/intel-rapl:0",
            "<p>1 / 2</p><br/>",
            "aws/us-east-1, Europe/Berlin",
        ] {
            assert_eq!(without(text), text);
        }
    }

    #[test]
    fn a_host_that_is_called_as_a_device_is_leaves_the_log_readable() {
        let mut value = info();
        value["host"]["hostname"] = json!("gpu");
        value["sensors"] = json!([
            {"component": "gpu", "source": "gpu said so", "method": "absent", "why": "gpus"},
        ]);
        Redaction::Identity.apply(&mut value);
        assert_eq!(value["sensors"][0]["component"], "gpu");
        assert_eq!(value["sensors"][0]["source"], "[redacted] said so");
        assert_eq!(value["sensors"][0]["why"], "gpus");
        serde_json::from_value::<Info>(value).unwrap();
    }

    #[test]
    fn nothing_tells_who_ran_it_and_where() {
        let mut value = info();
        Redaction::Identity.apply(&mut value);
        let text = value.to_string();
        for name in [
            "s3cr3t", "alice", "node17", "b0", "torch", "lr=", "12345678", "c0ffee", "Stanford",
            "project7",
        ] {
            assert!(!text.contains(name), "{name}: {text}");
        }
        assert!(text.contains("A100") && text.contains("small"));
        let typed: Info = serde_json::from_value(info()).unwrap();
        let typed = Redaction::Identity.info(&typed).unwrap();
        assert_eq!(typed.host.hostname, None);
    }
}
