//! The gazetteer: from what people write to a city.

use std::cmp::Reverse;
use std::fmt;

use memchr::memmem;

use super::admin1::Admin1;
use super::fold::{capitalised, fold};
use super::namesake::Namesake;
use super::{Iso3, Point, admin1};
use crate::grid::data;
use crate::text::nearest;

/// A city.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// Its name.
    pub name: String,
    /// State or province, where known.
    pub region: Option<String>,
    /// The gazetteer's code of the state or province: two letters in the United States.
    pub state: &'static str,
    /// The country it lies in.
    pub country: Iso3,
    /// Where it is.
    pub point: Point,
    /// How many people live there.
    pub population: u64,
}

/// What an address names that is wider than a city.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Wider {
    /// A country.
    Country(Iso3),
    /// A state or province.
    State {
        /// Its name.
        name: &'static str,
        /// Its largest city, whose zone is taken for it.
        largest: Place,
    },
}

/// Text in which no city was found.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoSuchPlace {
    /// No city has this name.
    #[error("no city is called `{}`{}", .asked.escape_debug(), listed("the nearest names are", .nearest))]
    Unknown {
        /// The address.
        asked: String,
        /// The cities with the most similar names.
        nearest: Vec<Place>,
    },
    /// The address names a state or country.
    #[error("`{}` is a state or a country, not a city{}", .asked.escape_debug(), listed("towns called so are", .towns))]
    TooWide {
        /// The address.
        asked: String,
        /// The towns with this name.
        towns: Vec<Place>,
    },
}

fn listed(what: &str, places: &[Place]) -> String {
    if places.is_empty() {
        return String::new();
    }
    let names: Vec<String> = places.iter().map(Place::to_string).collect();
    format!("; {what} {}", names.join("; "))
}

const LONGEST: usize = 256;
const SUGGESTIONS: usize = 5;
/// No state or country people write without a comma has more words.
const LONGEST_STATE: usize = 5;
/// An alternate name counts as a tenth of the city's people: they are noisy, but Cologne is not the Italian village.
const ALTERNATE: u64 = 10;
/// A city with a tenth of the people of the state or country of its name is meant before it: Buenos Aires is the city.
const NAMESAKE: u64 = 10;

/// The cities an address may mean, the likeliest first: by the name people use, then by population.
///
/// Reads `City`, `City, State`, `City, State, Country`, `City ST` and addresses that start with a street.
pub fn find(address: &str) -> Result<Vec<Place>, NoSuchPlace> {
    let parts = parts(address);
    for (start, city) in parts.iter().enumerate() {
        let wanted: Vec<&str> = parts[start + 1..].iter().map(String::as_str).collect();
        let found = matching(city, &wanted);
        if !found.is_empty() {
            return Ok(found);
        }
        let words: Vec<&str> = city.split(' ').collect();
        for split in (1..words.len()).rev().take(LONGEST_STATE) {
            let last = words[split..].join(" ");
            if is_no_state_or_country(&last) {
                continue;
            }
            let mut wanted = wanted.clone();
            wanted.push(&last);
            let found = matching(&words[..split].join(" "), &wanted);
            if !found.is_empty() {
                return Ok(found);
            }
        }
    }
    Err(why_none(address.chars().take(LONGEST).collect(), &parts))
}

fn why_none(asked: String, parts: &[String]) -> NoSuchPlace {
    let Some((city, rest)) = parts.split_first() else {
        return NoSuchPlace::Unknown {
            asked,
            nearest: Vec::new(),
        };
    };
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let mut towns = by_people(called(city).filter(|(entry, _)| entry.is_in(&rest)));
    if !towns.is_empty() {
        towns.truncate(SUGGESTIONS);
        return NoSuchPlace::TooWide { asked, towns };
    }
    let mut nearest = like(city, &rest);
    if nearest.is_empty() {
        nearest = inside(city, &rest);
    }
    NoSuchPlace::Unknown { asked, nearest }
}

/// The cities whose name a longer one starts with, as that of `Stanford University` does.
fn inside(name: &str, wanted: &[&str]) -> Vec<Place> {
    let words: Vec<&str> = name.split(' ').collect();
    let shorter = (1..words.len()).rev().take(LONGEST_STATE);
    let mut found = shorter
        .map(|length| matching(&words[..length].join(" "), wanted))
        .find(|found| !found.is_empty())
        .unwrap_or_default();
    found.truncate(SUGGESTIONS);
    found
}

/// The folded text without house numbers and postcodes, which no name here has.
fn without_digits(part: &str) -> String {
    let folded = fold(&without_initials(part));
    let words = folded
        .split(' ')
        .filter(|word| !word.bytes().all(|b| b.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}

/// The text with `D.C.` written as `DC`.
fn without_initials(part: &str) -> String {
    let is_initials = |word: &str| {
        let letters: Vec<&str> = word.trim_end_matches('.').split('.').collect();
        letters.len() > 1 && letters.iter().all(|letter| letter.chars().count() == 1)
    };
    let words = part.split_whitespace().map(|word| {
        if is_initials(word) {
            word.replace('.', "")
        } else {
            word.to_owned()
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The name as it is folded if its writer had no umlauts: `Zuerich` is Zürich. None if nothing changes.
fn with_umlauts(name: &str) -> Option<String> {
    let folded = name
        .replace("ue", "u")
        .replace("oe", "o")
        .replace("ae", "a");
    (folded != name).then_some(folded)
}

fn is_no_state_or_country(text: &str) -> bool {
    Iso3::called(text).is_none() && !admin1::exists(text)
}

/// The cities of this name in what the rest of the address names. `California` is the state and not the
/// town in Maryland, unless that is where the rest of the address says it is.
fn matching(city: &str, wanted: &[&str]) -> Vec<Place> {
    let found: Vec<(Entry, bool)> = called(city)
        .filter(|(entry, _)| entry.is_in(wanted))
        .collect();
    if found.is_empty() {
        return with_umlauts(city).map_or_else(Vec::new, |city| matching(&city, wanted));
    }
    let wider: Vec<(Namesake, u64)> = Namesake::all(city, wanted)
        .into_iter()
        .map(|namesake| {
            let people = namesake.people();
            (namesake, people)
        })
        .collect();
    by_people(found.into_iter().filter(|(entry, _)| {
        let is_meant = |(namesake, people): &(Namesake, u64)| {
            namesake.contains(entry.iso2, entry.code)
                || *people <= entry.population.saturating_mul(NAMESAKE)
        };
        wanted.iter().any(|text| entry.is_in_state(text)) || wider.iter().all(is_meant)
    }))
}

/// Largest first, those of which it is only an alternate name after the others of their size.
fn by_people(found: impl Iterator<Item = (Entry, bool)>) -> Vec<Place> {
    let mut weighed: Vec<(u64, Entry)> = found
        .map(|(entry, alternate)| {
            let part = if alternate { ALTERNATE } else { 1 };
            (entry.population / part, entry)
        })
        .collect();
    weighed.sort_by_key(|(weight, entry)| (Reverse(*weight), entry.name()));
    weighed
        .iter()
        .filter_map(|(_, entry)| entry.place())
        .collect()
}

/// The rows with this folded name, and whether it is only an alternate name there.
fn called(name: &str) -> impl Iterator<Item = (Entry, bool)> {
    let bytes = data::PLACES.bytes();
    memmem::find_iter(bytes, name.as_bytes()).filter_map(move |hit| {
        let starts_name = hit == 0 || matches!(bytes[hit - 1], b'\n' | b'|');
        let ends_name = matches!(bytes.get(hit + name.len()), Some(b'|' | b'\t'));
        if !starts_name || !ends_name || name.is_empty() {
            return None;
        }
        let start = memchr::memrchr(b'\n', &bytes[..hit]).map_or(0, |at| at + 1);
        let end = memchr::memchr(b'\n', &bytes[hit..]).map_or(bytes.len(), |length| hit + length);
        Some((Entry::read(&bytes[start..end])?, hit != start))
    })
}

/// The cities with the likest names, first those where the rest of the address says.
fn like(city: &str, wanted: &[&str]) -> Vec<Place> {
    let slack = (city.chars().count() / 3).clamp(1, 3);
    let mut ranked: Vec<(bool, usize, Reverse<u64>, Entry)> = data::PLACES
        .bytes()
        .split(|b| *b == b'\n')
        .filter_map(|line| {
            let key = line.split(|b| matches!(b, b'|' | b'\t')).next()?;
            let close = key.len().abs_diff(city.len()) <= slack;
            let key = close.then(|| std::str::from_utf8(key).ok())??;
            let distance = nearest::slips(city, key);
            if distance > slack {
                return None;
            }
            let entry = Entry::read(line)?;
            let is_outside = !entry.is_in(wanted);
            Some((is_outside, distance, Reverse(entry.population), entry))
        })
        .collect();
    ranked.sort_by_key(|(is_outside, distance, people, _)| (*is_outside, *distance, *people));
    ranked
        .iter()
        .take(SUGGESTIONS)
        .filter_map(|(.., entry)| entry.place())
        .collect()
}

/// The parts of an address between its commas, without the digits of postcodes.
fn parts(address: &str) -> Vec<String> {
    let address: String = address.chars().take(LONGEST).collect();
    let parts = address.split(',').map(without_digits);
    parts.filter(|part| !part.is_empty()).collect()
}

/// The state, province or country that an address names, if it names nothing smaller.
#[must_use]
pub fn wider(address: &str) -> Option<Wider> {
    let parts = parts(address);
    let (name, rest) = parts.split_first()?;
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    if rest.iter().any(|text| is_no_state_or_country(text)) {
        return None;
    }
    let widest = Namesake::all(name, &rest)
        .into_iter()
        .max_by_key(Namesake::people)?;
    match widest.state {
        None => Iso3::from_iso2(widest.iso2).map(Wider::Country),
        Some(code) => {
            let name = admin1::find(widest.iso2, code)?.name.as_str();
            let largest = entries()
                .filter(|entry| widest.contains(entry.iso2, entry.code))
                .max_by_key(|entry| entry.population)?
                .place()?;
            Some(Wider::State { name, largest })
        }
    }
}

/// The city nearest to a point, and its distance in kilometres.
#[must_use]
pub fn nearest_to(point: Point) -> Option<(Place, f64)> {
    let narrowing = point.lat().to_radians().cos();
    let mut best: Option<(f64, &'static [u8])> = None;
    for line in data::PLACES.bytes().split(|b| *b == b'\n') {
        let Some((lat, lon)) = position(line) else {
            continue;
        };
        let across = (lon - point.lon() + 540.0).rem_euclid(360.0) - 180.0;
        let (up, across) = (lat - point.lat(), across * narrowing);
        let square = up * up + across * across;
        if best.is_none_or(|(least, _)| square < least) {
            best = Some((square, line));
        }
    }
    let place = Entry::read(best?.1)?.place()?;
    let km = point.distance_km(place.point);
    Some((place, km))
}

/// Latitude and longitude of a row, the third and second field from its end.
fn position(line: &[u8]) -> Option<(f64, f64)> {
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<f64>().ok();
    let mut fields = line.rsplitn(4, |b| *b == b'\t').skip(1);
    let lon = number(fields.next()?)?;
    Some((number(fields.next()?)?, lon))
}

fn entries() -> impl Iterator<Item = Entry> {
    let lines = data::PLACES.bytes().split(|b| *b == b'\n');
    lines.filter_map(Entry::read)
}

/// Every city, those over 15,000 people first.
pub fn all() -> impl Iterator<Item = Place> {
    entries().filter_map(|entry| entry.place())
}

/// A row of the gazetteer.
struct Entry {
    key: &'static str,
    shown: &'static str,
    iso2: &'static str,
    code: &'static str,
    admin1: Option<&'static Admin1>,
    lat: f64,
    lon: f64,
    population: u64,
}

impl Entry {
    fn read(line: &'static [u8]) -> Option<Self> {
        let mut fields = std::str::from_utf8(line).ok()?.split('\t');
        let mut next = || fields.next();
        let (names, shown, iso2, code) = (next()?, next()?, next()?, next()?);
        Some(Self {
            key: names.split('|').next()?,
            shown,
            iso2,
            code,
            admin1: admin1::find(iso2, code),
            lat: next()?.parse().ok()?,
            lon: next()?.parse().ok()?,
            population: next()?.parse().ok()?,
        })
    }

    fn name(&self) -> String {
        if self.shown.is_empty() {
            capitalised(self.key)
        } else {
            self.shown.to_owned()
        }
    }

    /// Whether the city lies where the rest of the address says. What names no state or country at all, such as a
    /// county, is passed over if something else fits.
    fn is_in(&self, wanted: &[&str]) -> bool {
        let fits = |text: &str| {
            self.is_in_state(text)
                || Iso3::called(text)
                    .is_some_and(|country| Some(country) == Iso3::from_iso2(self.iso2))
        };
        wanted.is_empty()
            || (wanted.iter().any(|text| fits(text))
                && wanted
                    .iter()
                    .all(|text| fits(text) || is_no_state_or_country(text)))
    }

    fn is_in_state(&self, text: &str) -> bool {
        self.admin1.is_some_and(|state| state.is_called(text))
    }

    fn place(&self) -> Option<Place> {
        Some(Place {
            name: self.name(),
            region: self.admin1.map(|state| state.name.clone()),
            state: self.code,
            country: Iso3::from_iso2(self.iso2)?,
            point: Point::new(self.lat, self.lon).ok()?,
            population: self.population,
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(region) = self.region.as_ref().filter(|region| **region != self.name) {
            write!(f, ", {region}")?;
        }
        write!(f, ", {}", self.country.name())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_city_is_found_however_it_is_written() {
        for (address, expected) in [
            (
                "Stanford, California",
                "Stanford, California, United States",
            ),
            (
                "353 Jane Stanford Way, Stanford, CA 94305, USA",
                "Stanford, California, United States",
            ),
            ("Paris", "Paris, Île-de-France, France"),
            ("Paris, Texas", "Paris, Texas, United States"),
            ("Paris TX", "Paris, Texas, United States"),
            ("Cambridge, UK", "Cambridge, England, United Kingdom"),
            ("Cambridge MA", "Cambridge, Massachusetts, United States"),
            ("Genève", "Geneva, Switzerland"),
            ("geneve", "Geneva, Switzerland"),
            ("São Paulo", "São Paulo, Brazil"),
            ("Sao Paulo", "São Paulo, Brazil"),
            ("Montreal, QC, Canada", "Montréal, Quebec, Canada"),
            ("Cologne", "Köln, North Rhine-Westphalia, Germany"),
            ("New York, NY", "New York City, New York, United States"),
            ("Toronto, CA", "Toronto, Ontario, Canada"),
            (
                "Stanford, Santa Clara County, California",
                "Stanford, California, United States",
            ),
        ] {
            assert_eq!(find(address).unwrap()[0].to_string(), expected, "{address}");
        }
    }

    #[test]
    fn the_other_candidates_follow_by_population() {
        let found = find("Cambridge").unwrap();
        assert!(found.len() > 3);
        assert!(found.iter().any(|place| place.country.as_str() == "GBR"));
    }

    #[test]
    fn a_typo_gets_the_nearest_names() {
        for (typo, meant) in [
            ("Karlsruhee", "Karlsruhe, Baden-Wurttemberg, Germany"),
            ("Montrael, QC, Canada", "Montréal, Quebec, Canada"),
            (
                "Stanfrod, California",
                "Stanford, California, United States",
            ),
            (
                "Stanford University, California",
                "Stanford, California, United States",
            ),
        ] {
            let Err(NoSuchPlace::Unknown { nearest, .. }) = find(typo) else {
                panic!("{typo} was found");
            };
            assert_eq!(nearest[0].to_string(), meant, "{typo}");
        }
    }

    #[test]
    fn a_state_or_country_behind_an_unknown_city_is_not_a_town_of_the_same_name_elsewhere() {
        for address in [
            "xyz, Oregon",
            "Foo, Nevada",
            "Foo, Italy",
            "Foo, Georgia, USA",
        ] {
            assert!(
                matches!(find(address), Err(NoSuchPlace::Unknown { .. })),
                "{address}"
            );
        }
    }

    #[test]
    fn a_state_or_country_alone_is_no_city_unless_one_in_it_has_its_name() {
        for address in ["California", "California, USA", "Canada", "Oregon", "Peru"] {
            assert!(
                matches!(find(address), Err(NoSuchPlace::TooWide { .. })),
                "{address}"
            );
        }
        for (address, expected) in [
            ("New York", "New York City, New York, United States"),
            ("Singapore", "Singapore, Singapore"),
            ("Luxembourg", "Luxembourg, Luxembourg"),
            ("Nevada, Missouri", "Nevada, Missouri, United States"),
            (
                "Washington, DC",
                "Washington, District of Columbia, United States",
            ),
            // Parishes and departments elsewhere have these names too.
            (
                "Oxford Road, Manchester, UK",
                "Manchester, England, United Kingdom",
            ),
            ("Manchester", "Manchester, England, United Kingdom"),
            ("Granada", "Granada, Andalusia, Spain"),
            ("Victoria, Canada", "Victoria, British Columbia, Canada"),
        ] {
            assert_eq!(find(address).unwrap()[0].to_string(), expected, "{address}");
        }
    }

    #[test]
    fn a_city_is_not_moved_to_a_country_it_is_not_in() {
        assert!(find("Paris, Japan").is_err());
        assert!(find("Stanford, Zzz").is_err());
    }

    #[test]
    fn every_shipped_name_folds_to_its_key() {
        for line in data::PLACES
            .bytes()
            .split(|b| *b == b'\n')
            .filter(|line| !line.is_empty())
        {
            let entry = Entry::read(line).unwrap();
            assert_eq!(fold(&entry.name()), entry.key);
            assert!(entry.place().is_some(), "{}", entry.key);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn no_address_is_too_strange(address in "\\PC{0,80}|[a-z ,]{0,40}|.{0,300}") {
            match find(&address) {
                Ok(found) => prop_assert!(!found.is_empty()),
                Err(NoSuchPlace::Unknown { nearest: told, .. } | NoSuchPlace::TooWide { towns: told, .. }) => {
                    prop_assert!(told.len() <= SUGGESTIONS);
                }
            }
        }
    }
}
