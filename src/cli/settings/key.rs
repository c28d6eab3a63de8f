use std::error::Error;
use std::fmt;
use std::str::FromStr;

use crate::cli::bad_value::BadValue;
use crate::text::nearest;

/// A key of the configuration.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// Its meaning, in one line.
    pub(crate) help: &'static str,
    /// None if the key has no default.
    pub(crate) default: Option<&'static str>,
    /// The name that other tools use.
    pub(crate) alias: Option<&'static str>,
    /// The environment variable that other tools use, besides `IMPACT_...`.
    pub(crate) foreign_variable: Option<&'static str>,
    /// Never printed.
    pub(crate) is_secret: bool,
    /// Not allowed in a project's file, which somebody else may have written.
    pub(crate) is_personal: bool,
    /// Names a folder, which in a project's file must lie below the working directory.
    pub(crate) is_folder: bool,
    read: fn(&str) -> Result<String, BadValue>,
}

/// An unknown key, with the keys of similar names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no key `{}`{}", .asked.escape_debug(), nearest::said(.nearest))]
pub(crate) struct NoSuchKey {
    pub(crate) asked: String,
    pub(crate) nearest: Vec<String>,
}

impl Key {
    pub(super) const fn new(
        name: &'static str,
        read: fn(&str) -> Result<String, BadValue>,
        help: &'static str,
    ) -> Self {
        Self {
            name,
            help,
            default: None,
            alias: None,
            foreign_variable: None,
            is_secret: false,
            is_personal: false,
            is_folder: false,
            read,
        }
    }

    pub(super) const fn default(mut self, value: &'static str) -> Self {
        self.default = Some(value);
        self
    }

    pub(super) const fn alias(mut self, name: &'static str) -> Self {
        self.alias = Some(name);
        self
    }

    pub(super) const fn variable(mut self, name: &'static str) -> Self {
        self.foreign_variable = Some(name);
        self
    }

    pub(super) const fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }

    pub(super) const fn personal(mut self) -> Self {
        self.is_personal = true;
        self
    }

    pub(super) const fn folder(mut self) -> Self {
        self.is_folder = true;
        self
    }

    /// The environment variable that sets it, such as `IMPACT_PUE`.
    #[must_use]
    pub(crate) fn variable_name(&self) -> String {
        format!(
            "IMPACT_{}",
            self.name.to_ascii_uppercase().replace('-', "_")
        )
    }

    /// The value in its usual spelling, or why the text is not a valid value.
    pub(crate) fn read(&self, value: &str) -> Result<String, BadValue> {
        (self.read)(value)
    }

    /// Finds a key by its name; `_` and `-` are the same.
    pub(crate) fn find(name: &str) -> Result<&'static Self, NoSuchKey> {
        let asked = name.trim().replace('_', "-").to_ascii_lowercase();
        let known = |key: &&Self| key.name == asked || key.alias == Some(asked.as_str());
        crate::cli::settings::keys::KEYS
            .iter()
            .find(known)
            .ok_or_else(|| {
                let names = crate::cli::settings::keys::KEYS.iter().map(|key| {
                    (
                        key.name.to_owned(),
                        [Some(key.name), key.alias].into_iter().flatten(),
                    )
                });
                NoSuchKey {
                    asked: nearest::short(name),
                    nearest: nearest::among(&asked, names),
                }
            })
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Accepts a text that parses as `T`.
pub(super) fn parses<T>(value: &str) -> Result<String, BadValue>
where
    T: FromStr<Err: Error + Send + Sync + 'static>,
{
    match value.parse::<T>() {
        Ok(_) => Ok(value.to_owned()),
        Err(error) => Err(BadValue::Unparsed(error.into())),
    }
}
