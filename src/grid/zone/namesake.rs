use super::{Iso3, admin1, country};
use crate::grid::data;

/// A state or country that a city shares its name with.
pub(super) struct Namesake {
    pub(super) iso2: &'static str,
    /// The code of the state; none for a whole country.
    pub(super) state: Option<&'static str>,
}

impl Namesake {
    /// The states and countries of this folded name that the rest of the address allows.
    pub(super) fn all(name: &str, rest: &[&str]) -> Vec<Self> {
        let iso2 = |wanted: Iso3| {
            let row = country::all()
                .iter()
                .find(|row| row.iso3 == wanted.as_str());
            row.map(|row| row.iso2.as_str())
        };
        let around: Vec<&str> = rest
            .iter()
            .filter_map(|text| Iso3::called(text))
            .filter_map(iso2)
            .collect();
        let country = Iso3::called(name).filter(|_| rest.is_empty());
        let country = country
            .and_then(iso2)
            .map(|iso2| Self { iso2, state: None });
        let states =
            admin1::called(name).filter(|(iso2, _)| around.is_empty() || around.contains(iso2));
        let states = states.map(|(iso2, code)| Self {
            iso2,
            state: Some(code),
        });
        country.into_iter().chain(states).collect()
    }

    /// Whether a city with these codes lies in it.
    pub(super) fn contains(&self, iso2: &str, code: &str) -> bool {
        self.iso2 == iso2 && self.state.is_none_or(|state| state == code)
    }

    /// How many people its cities have.
    pub(super) fn people(&self) -> u64 {
        let rows = data::PLACES.text().lines();
        rows.filter_map(|row| {
            let mut fields = row.split('\t').skip(2);
            let (iso2, code) = (fields.next()?, fields.next()?);
            let people = fields.nth(2)?;
            self.contains(iso2, code)
                .then(|| people.parse::<u64>().ok())?
        })
        .sum()
    }
}
