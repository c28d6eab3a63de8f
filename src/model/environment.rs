use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

/// Environment variables, read once and handed to whatever needs them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// The variables of this process. Nothing else in the program reads them.
    #[must_use]
    pub fn of_process() -> Self {
        std::env::vars_os().collect()
    }

    /// A variable as it is set, also if it is empty; none if it is not valid text.
    #[must_use]
    pub fn raw(&self, name: &str) -> Option<&str> {
        self.0.get(OsStr::new(name))?.to_str()
    }

    /// All variables, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        let variables = self.0.iter();
        variables.map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// A variable that is set, not blank and valid text, without the spaces around it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let value = self.get_os(name)?.to_str()?.trim();
        Some(value).filter(|value| !value.is_empty())
    }

    /// A variable that is set and not empty.
    #[must_use]
    pub fn get_os(&self, name: &str) -> Option<&OsStr> {
        let value = self.0.get(OsStr::new(name))?;
        Some(value.as_os_str()).filter(|value| !value.is_empty())
    }

    /// A variable that holds an absolute path; the XDG specification says to ignore relative ones.
    #[must_use]
    pub fn absolute_path(&self, name: &str) -> Option<PathBuf> {
        let path = PathBuf::from(self.get_os(name)?);
        path.is_absolute().then_some(path)
    }
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        let mut environment = Self::default();
        environment.extend(variables);
        environment
    }
}

impl<N: Into<OsString>, V: Into<OsString>> Extend<(N, V)> for Environment {
    fn extend<I: IntoIterator<Item = (N, V)>>(&mut self, variables: I) {
        let variables = variables.into_iter();
        self.0
            .extend(variables.map(|(name, value)| (name.into(), value.into())));
    }
}

/// Values may be tokens, so only the names are shown.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_variable_is_not_set_and_a_relative_path_is_none() {
        let environment: Environment = [
            ("BLANK", " "),
            ("EMPTY", ""),
            ("PUE", " 1.2 "),
            ("HOME", "here"),
        ]
        .into_iter()
        .collect();
        assert_eq!(environment.get("BLANK"), None);
        assert_eq!(environment.raw("EMPTY"), Some(""));
        assert_eq!(environment.get_os("EMPTY"), None);
        assert_eq!(environment.get("PUE"), Some("1.2"));
        assert_eq!(environment.absolute_path("HOME"), None);
    }

    #[test]
    fn values_are_never_printed() {
        let environment: Environment = [("TOKEN", "secret")].into_iter().collect();
        assert_eq!(format!("{environment:?}"), "{\"TOKEN\"}");
    }
}
