use crate::files;
use std::io;
use std::path::{Component, Path, PathBuf};

use toml_edit::{Document, DocumentMut, Item, Value};

use super::key::{Key, NoSuchKey};
use super::keys::KEYS;
use crate::cli::bad_value::BadValue;

/// The largest settings file that is read.
const LARGEST: u64 = 1 << 20;

/// A line of a settings file that sets a key.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) key: &'static Key,
    pub(super) value: String,
    pub(super) number: usize,
}

impl Line {
    /// Why the file of a project must not have this line.
    pub(super) fn refused_to_projects(&self, path: &Path) -> Option<BadFile> {
        let (path, line, key) = (path.to_owned(), self.number, self.key.name);
        if self.key.is_personal {
            return Some(BadFile::Personal { path, line, key });
        }
        (self.key.is_folder && is_outside(&self.value)).then_some(BadFile::Outside {
            path,
            line,
            key,
        })
    }
}

/// Whether a folder is not below the working directory, by its name.
pub(crate) fn is_outside(folder: &str) -> bool {
    let is_below = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    !Path::new(folder).components().all(is_below)
}

/// An error in a settings file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum BadFile {
    #[error("cannot read {}", .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} is larger than 1 MB, too large for a settings file", .0.display())]
    TooLarge(PathBuf),
    #[error("{}:{line}: {why}", .path.display())]
    Syntax {
        path: PathBuf,
        line: usize,
        why: String,
    },
    #[error("{}:{line}: {unknown}", .path.display())]
    Key {
        path: PathBuf,
        line: usize,
        unknown: NoSuchKey,
    },
    #[error(
        "{}:{line}: {key} is not allowed in the file of a project, whose author could have any \
         file read or library loaded; set it in your own file, in the environment or by an option",
        .path.display()
    )]
    Personal {
        path: PathBuf,
        line: usize,
        key: &'static str,
    },
    #[error(
        "{}:{line}: {key} names a folder outside of the working directory, which the file of a project cannot; set it \
         in your own file, in the environment or by an option",
        .path.display()
    )]
    Outside {
        path: PathBuf,
        line: usize,
        key: &'static str,
    },
    #[error("{}:{line}: not a valid value of {key}: {why}", .path.display())]
    Value {
        path: PathBuf,
        line: usize,
        key: &'static str,
        why: BadValue,
    },
}

/// The settings and the errors of a file; nothing if there is no such file.
pub(super) fn read(path: &Path) -> (Vec<Line>, Vec<BadFile>) {
    let text = match text_of(path) {
        Ok(text) => text.unwrap_or_default(),
        Err(unreadable) => return (Vec::new(), vec![unreadable]),
    };
    let document = match Document::parse(text.as_str()) {
        Ok(document) => document,
        Err(error) => {
            let wrong = BadFile::Syntax {
                path: path.to_owned(),
                line: error.span().map_or(1, |span| line_of(&text, span.start)),
                why: error.message().to_owned(),
            };
            return (Vec::new(), vec![wrong]);
        }
    };
    let table = document.as_table();
    let (mut lines, mut faults) = (Vec::new(), Vec::new());
    for (name, item) in table {
        let span = table.key(name).and_then(toml_edit::Key::span);
        let number = line_of(&text, span.map_or(0, |span| span.start));
        match line(path, number, name, item) {
            Ok(line) => lines.push(line),
            Err(fault) => faults.push(fault),
        }
    }
    (lines, faults)
}

fn line(path: &Path, number: usize, name: &str, item: &Item) -> Result<Line, BadFile> {
    let key = Key::find(name).map_err(|unknown| BadFile::Key {
        path: path.to_owned(),
        line: number,
        unknown,
    })?;
    let wrong = |why: BadValue| BadFile::Value {
        path: path.to_owned(),
        line: number,
        key: key.name,
        why,
    };
    let value = as_text(item).ok_or_else(|| wrong(BadValue::NotAScalar))?;
    let value = key.read(&value).map_err(wrong)?;
    Ok(Line { key, value, number })
}

fn text_of(path: &Path) -> Result<Option<String>, BadFile> {
    let failed = |source| BadFile::Io {
        path: path.to_owned(),
        source,
    };
    match files::read_text(path, LARGEST) {
        Ok(text) => Ok(Some(text)),
        // There is no such file, or it is in a folder that cannot be read.
        Err(_) if path.symlink_metadata().is_err() => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            Err(BadFile::TooLarge(path.to_owned()))
        }
        Err(error) => Err(failed(error)),
    }
}

/// A value as text; the items of a list are joined by commas, as on the command line.
fn as_text(item: &Item) -> Option<String> {
    fn scalar(value: &Value) -> Option<String> {
        match value {
            Value::String(text) => Some(text.value().clone()),
            Value::Integer(number) => Some(number.value().to_string()),
            Value::Float(number) => Some(number.value().to_string()),
            Value::Boolean(flag) => Some(flag.value().to_string()),
            _ => None,
        }
    }
    match item.as_value()? {
        Value::Array(list) => {
            let words: Option<Vec<String>> = list.iter().map(scalar).collect();
            Some(words?.join(","))
        }
        value => scalar(value),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or_default();
    before.matches('\n').count() + 1
}

/// The text of a file with one key set; comments and order are kept.
pub(crate) fn with_value(path: &Path, key: &Key, value: &str) -> Result<String, BadFile> {
    let text = text_of(path)?.unwrap_or_default();
    let mut document: DocumentMut =
        text.parse()
            .map_err(|error: toml_edit::TomlError| BadFile::Syntax {
                path: path.to_owned(),
                line: error.span().map_or(1, |span| line_of(&text, span.start)),
                why: error.message().to_owned(),
            })?;
    let value = match (value.parse::<i64>(), value.parse::<f64>()) {
        (Ok(number), _) => Value::from(number),
        (_, Ok(number)) if number.is_finite() => Value::from(number),
        _ => Value::from(value),
    };
    // An older spelling of the same key would set it twice.
    let spelled = document
        .as_table()
        .iter()
        .map(|(name, _)| name.to_owned())
        .find(|name| Key::find(name).is_ok_and(|known| known.name == key.name));
    document[spelled.as_deref().unwrap_or(key.name)] = toml_edit::value(value);
    Ok(document.to_string())
}

/// The text of a file that explains every key and sets none.
#[must_use]
pub(crate) fn commented() -> String {
    let mut out = String::from(
        "# Settings of impact. Stronger than this file: variables such as IMPACT_PUE, and the command line.\n",
    );
    for key in KEYS {
        let value = match key.default {
            Some(default) => format!("\"{default}\""),
            None => "\"\"".to_owned(),
        };
        out.push_str(&format!("\n# {}\n# {} = {value}\n", key.help, key.name));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_does_not_fit_is_refused_and_never_written_back_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("impact.toml");
        let key = Key::find("pue").unwrap();
        let largest = usize::try_from(LARGEST).unwrap();
        std::fs::write(&path, "#".repeat(largest)).unwrap();
        assert!(with_value(&path, key, "1.2").is_ok());
        std::fs::write(&path, "#".repeat(largest - 1) + "é").unwrap();
        assert!(matches!(
            with_value(&path, key, "1.2"),
            Err(BadFile::TooLarge(_))
        ));
        assert!(matches!(read(&path).1.as_slice(), [BadFile::TooLarge(_)]));
    }
}
