use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::fold::fold;
use crate::grid::data;
use crate::text::nearest;

/// A country by its ISO 3166-1 alpha-3 code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Iso3([u8; 3]);

/// One row of the country table.
#[derive(Debug, Deserialize)]
pub struct Country {
    pub iso2: String,
    pub iso3: String,
    pub name: String,
    /// Other names people write, joined by `|`.
    aliases: String,
}

impl Country {
    /// Its codes and names.
    fn spellings(&self) -> impl Iterator<Item = &str> {
        let aliases = self.aliases.split('|').filter(|alias| !alias.is_empty());
        [self.name.as_str(), &self.iso2, &self.iso3]
            .into_iter()
            .chain(aliases)
    }
}

/// A code or name that is no country's, with the most similar ones.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("no country has the code or name `{}`{}", .asked.escape_debug(), nearest::said(.nearest))]
pub struct NoSuchCountry {
    pub asked: String,
    pub nearest: Vec<String>,
}

/// Every country, by ISO3.
pub fn all() -> &'static [Country] {
    static TABLE: OnceLock<Vec<Country>> = OnceLock::new();
    TABLE.get_or_init(|| data::COUNTRIES.rows())
}

/// Every code and name, folded, with its country.
fn by_name() -> &'static HashMap<String, Iso3> {
    static NAMES: OnceLock<HashMap<String, Iso3>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut names = HashMap::new();
        for row in all() {
            for name in row.spellings() {
                names.insert(fold(name), Iso3::of(row));
            }
        }
        names
    })
}

impl Iso3 {
    fn of(row: &Country) -> Self {
        let code: [u8; 3] = row
            .iso3
            .as_bytes()
            .try_into()
            .expect("codes have three letters");
        Self(code)
    }

    /// The three letters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("codes are ASCII")
    }

    /// The English name of the country.
    #[must_use]
    pub fn name(&self) -> &'static str {
        all()
            .iter()
            .find(|row| row.iso3 == self.as_str())
            .map_or("", |row| row.name.as_str())
    }

    /// Its name with the article that it has inside a sentence: `the United States`, `Germany`.
    #[must_use]
    pub fn in_a_sentence(&self) -> String {
        const WITH_ARTICLE: [&str; 11] = [
            "ARE", "BHS", "CAF", "COD", "DOM", "GBR", "GMB", "MDV", "PHL", "USA", "VAT",
        ];
        let name = self.name();
        if let Some(name) = name.strip_prefix("The ") {
            return format!("the {name}");
        }
        if WITH_ARTICLE.contains(&self.as_str()) || name.ends_with("Islands") {
            format!("the {name}")
        } else {
            name.to_owned()
        }
    }

    /// The country with this code or name, in any case.
    #[must_use]
    pub fn called(text: &str) -> Option<Self> {
        by_name().get(&fold(text)).copied()
    }

    /// As [`Self::called`], also for countries of the United Kingdom that share its grid. Addresses tell them apart.
    #[must_use]
    pub fn meant_by(text: &str) -> Option<Self> {
        const PARTS: [&str; 3] = ["england", "scotland", "wales"];
        let whole = PARTS.contains(&fold(text).as_str()).then_some("GBR");
        Self::called(whole.unwrap_or(text))
    }

    /// The country with this ISO 3166-1 alpha-2 code.
    #[must_use]
    pub fn from_iso2(code: &str) -> Option<Self> {
        all()
            .iter()
            .find(|row| row.iso2.eq_ignore_ascii_case(code))
            .map(Self::of)
    }
}

/// Accepts ISO3, ISO2, the English name and the other names people write, in any case.
impl FromStr for Iso3 {
    type Err = NoSuchCountry;
    fn from_str(text: &str) -> Result<Self, NoSuchCountry> {
        let asked = text.trim();
        Self::meant_by(asked).ok_or_else(|| NoSuchCountry {
            asked: nearest::short(asked),
            nearest: like(asked),
        })
    }
}

fn like(asked: &str) -> Vec<String> {
    let countries = all().iter().map(|row| {
        let spellings = row.spellings().map(fold);
        (row, spellings)
    });
    nearest::among(&fold(&nearest::short(asked)), countries)
        .into_iter()
        .map(|row| format!("{} ({})", row.iso3, row.name))
        .collect()
}

impl fmt::Display for Iso3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl TryFrom<String> for Iso3 {
    type Error = NoSuchCountry;
    fn try_from(text: String) -> Result<Self, NoSuchCountry> {
        text.parse()
    }
}

impl From<Iso3> for String {
    fn from(code: Iso3) -> Self {
        code.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_country_is_found_by_either_code_or_its_name() {
        for text in ["USA", "us", "United States", " usa ", "U.S.A.", "America"] {
            assert_eq!(text.parse::<Iso3>().unwrap().as_str(), "USA");
        }
    }

    #[test]
    fn a_country_has_its_article_inside_a_sentence() {
        for (code, words) in [
            ("USA", "the United States"),
            ("DEU", "Germany"),
            ("FRO", "the Faroe Islands"),
            ("NLD", "the Netherlands"),
        ] {
            assert_eq!(code.parse::<Iso3>().unwrap().in_a_sentence(), words);
        }
    }

    #[test]
    fn an_unknown_code_names_the_nearest() {
        let error = "GERMNY".parse::<Iso3>().unwrap_err();
        assert_eq!(error.nearest[0], "DEU (Germany)");
    }
}
