//! States and provinces, with the abbreviations people write.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::Deserialize;

use super::fold::fold;
use crate::grid::data;

/// A state or province.
#[derive(Debug)]
pub(super) struct Admin1 {
    pub name: String,
    /// Its name, abbreviations and, where it has letters, its code; all folded.
    called: Vec<String>,
}

#[derive(Deserialize)]
struct Row {
    code: String,
    name: String,
    aliases: String,
}

impl From<&Row> for Admin1 {
    fn from(row: &Row) -> Self {
        let code = row.code.split_once('.').map_or("", |(_, code)| code);
        let letters = code.bytes().all(|b| b.is_ascii_alphabetic());
        let names = [row.name.as_str(), if letters { code } else { "" }];
        Self {
            name: row.name.clone(),
            called: names
                .into_iter()
                .chain(row.aliases.split('|'))
                .map(fold)
                .filter(|name| !name.is_empty())
                .collect(),
        }
    }
}

fn all() -> &'static HashMap<String, Admin1> {
    static TABLE: OnceLock<HashMap<String, Admin1>> = OnceLock::new();
    TABLE.get_or_init(|| {
        data::ADMIN1
            .rows::<Row>()
            .iter()
            .map(|row| (row.code.clone(), Admin1::from(row)))
            .collect()
    })
}

/// The state or province with this code in a country given by its two letters.
pub(super) fn find(iso2: &str, code: &str) -> Option<&'static Admin1> {
    all().get(&format!("{iso2}.{code}"))
}

/// Every state or province that is called so: its country's two letters and its code.
pub(super) fn called(folded: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = all().iter().filter(move |(_, row)| row.is_called(folded));
    rows.filter_map(|(key, _)| key.split_once('.'))
}

/// Whether any state or province anywhere is called so.
pub(super) fn exists(folded: &str) -> bool {
    called(folded).next().is_some()
}

impl Admin1 {
    /// Whether this folded text is its code, its name or an abbreviation of it.
    pub(super) fn is_called(&self, folded: &str) -> bool {
        self.called.iter().any(|name| name == folded)
    }
}
