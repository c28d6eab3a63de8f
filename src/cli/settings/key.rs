use std::fmt;
use std::str::FromStr;

use crate::text::nearest;

/// One thing that can be set.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// What it means, in one line.
    pub(crate) help: &'static str,
    /// None where nothing is assumed.
    pub(crate) default: Option<&'static str>,
    /// Another name of the key, as other tools call it.
    pub(crate) alias: Option<&'static str>,
    /// A variable that other tools already use for it, besides `IMPACT_...`.
    pub(crate) foreign_variable: Option<&'static str>,
    /// Section and key of perun's file.
    pub(crate) perun: Option<(&'static str, &'static str)>,
    /// Not shown on a screen.
    pub(crate) is_secret: bool,
    /// Not taken from a project's file, which may be a stranger's.
    pub(crate) is_personal: bool,
    read: fn(&str) -> Result<String, String>,
}

/// A name that is no key's, with the nearest that are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no key `{}`{}", .asked.escape_debug(), nearest::said(.nearest))]
pub(crate) struct NoSuchKey {
    pub(crate) asked: String,
    pub(crate) nearest: Vec<String>,
}

impl Key {
    pub(super) const fn new(
        name: &'static str,
        read: fn(&str) -> Result<String, String>,
        help: &'static str,
    ) -> Self {
        Self {
            name,
            help,
            default: None,
            alias: None,
            foreign_variable: None,
            perun: None,
            is_secret: false,
            is_personal: false,
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

    pub(super) const fn perun(mut self, section: &'static str, key: &'static str) -> Self {
        self.perun = Some((section, key));
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

    /// The variable of the environment that sets it, such as `IMPACT_PUE`.
    #[must_use]
    pub(crate) fn variable_name(&self) -> String {
        format!(
            "IMPACT_{}",
            self.name.to_ascii_uppercase().replace('-', "_")
        )
    }

    /// A text as its value in the one spelling it is compared in, or why it cannot be its value.
    pub(crate) fn read(&self, value: &str) -> Result<String, String> {
        (self.read)(value)
    }

    /// The key with this name; `_` and `-` are the same.
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

/// A text that a type can be read from.
pub(super) fn parses<T: FromStr<Err: fmt::Display>>(value: &str) -> Result<String, String> {
    match value.parse::<T>() {
        Ok(_) => Ok(value.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
