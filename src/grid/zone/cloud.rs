//! The regions of the cloud providers.

use std::sync::OnceLock;

use serde::Deserialize;

use super::{AreaId, Iso3, Point};
use crate::grid::data;
use crate::text::nearest;
use crate::units::Pue;

/// A region of a cloud provider.
#[derive(Debug, Clone, PartialEq)]
pub struct CloudRegion {
    /// `aws`, `gcp`, ...
    pub provider: String,
    /// The provider's own code, `us-east-1`.
    pub code: String,
    /// The provider's own name of the region.
    pub name: String,
    /// The city it is in or near.
    pub city: String,
    /// The country of the city.
    pub country: Iso3,
    /// Where the city is.
    pub point: Point,
    /// The area of the electricity map that the city lies in.
    pub area: AreaId,
}

/// The PUE that a provider publishes.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderPue {
    /// The PUE.
    pub pue: Pue,
    /// The year it is of.
    pub year: i32,
    /// Who published it.
    pub source: String,
}

impl ProviderPue {
    /// The source and the year.
    #[must_use]
    pub fn provenance(&self) -> String {
        format!("{}, {}", self.source, self.year)
    }
}

/// A provider or region that is not in the table.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoSuchRegion {
    /// No provider has this name.
    #[error("no cloud provider is called `{}`; known are {}", .asked.escape_debug(), .known.join(", "))]
    Provider {
        /// The name that was asked for.
        asked: String,
        /// The providers of the table.
        known: Vec<String>,
    },
    /// The provider has no such region.
    #[error("{provider} has no region `{}`{}", .asked.escape_debug(), nearest::said(.nearest))]
    Region {
        /// The provider.
        provider: String,
        /// The name that was asked for.
        asked: String,
        /// Its regions with the most similar names.
        nearest: Vec<String>,
    },
    /// The text does not name a provider and a region.
    #[error("`{}` is not of the form provider:region, such as aws:us-east-1", .0.escape_debug())]
    Form(String),
}

#[derive(Deserialize)]
struct Row {
    provider: String,
    region: String,
    name: String,
    city: String,
    country: String,
    lat: f64,
    lon: f64,
    area: String,
}

#[derive(Deserialize)]
struct PueRow {
    of: String,
    year: i32,
    pue: String,
    source: String,
}

/// Every region, by provider and code.
pub fn all() -> &'static [CloudRegion] {
    static REGIONS: OnceLock<Vec<CloudRegion>> = OnceLock::new();
    REGIONS.get_or_init(|| {
        let rows = data::CLOUDS.rows::<Row>().into_iter();
        rows.map(|row| CloudRegion {
            country: Iso3::from_iso2(&row.country).expect("shipped regions lie in countries"),
            point: Point::new(row.lat, row.lon).expect("shipped regions lie on Earth"),
            area: row.area.parse().expect("shipped areas are well named"),
            provider: row.provider,
            code: row.region,
            name: row.name,
            city: row.city,
        })
        .collect()
    })
}

/// The names of the providers.
fn providers() -> Vec<String> {
    let mut names: Vec<String> = all().iter().map(|region| region.provider.clone()).collect();
    names.dedup();
    names
}

/// The regions of a provider, also under its full name (`google` for `gcp`).
pub fn of_provider(name: &str) -> Result<Vec<&'static CloudRegion>, NoSuchRegion> {
    let asked = nearest::short(name.trim());
    let lower = asked.to_ascii_lowercase();
    let short = match lower.as_str() {
        "amazon" | "ec2" => "aws",
        "google" | "gce" => "gcp",
        "microsoft" => "azure",
        "oracle" => "oci",
        other => other,
    };
    let regions: Vec<_> = all()
        .iter()
        .filter(|region| region.provider == short)
        .collect();
    if regions.is_empty() {
        return Err(NoSuchRegion::Provider {
            asked,
            known: providers(),
        });
    }
    Ok(regions)
}

/// The region named by `provider:region`, by one of its zones (`us-east-1a`, `europe-west1-b`), or by its name
/// (`azure:East US`).
pub fn find(text: &str) -> Result<&'static CloudRegion, NoSuchRegion> {
    let (provider, code) = text
        .split_once([':', '/'])
        .ok_or_else(|| NoSuchRegion::Form(nearest::short(text)))?;
    let regions = of_provider(provider)?;
    let asked = nearest::short(code.trim());
    let code = asked.to_ascii_lowercase();
    let is = |code: &str| {
        let mut regions = regions.iter().copied();
        regions.find(|region| region.code.eq_ignore_ascii_case(code))
    };
    let shortened = code
        .strip_suffix(|c: char| c.is_ascii_lowercase())
        .map(|code| code.trim_end_matches('-'));
    is(&code)
        .or_else(|| shortened.and_then(is))
        .or_else(|| called(&asked, &regions))
        .ok_or_else(|| NoSuchRegion::Region {
            provider: regions[0].provider.clone(),
            nearest: nearest::among(
                &asked,
                regions
                    .iter()
                    .map(|region| (region.code.clone(), [&region.code, &region.name])),
            ),
            asked,
        })
}

/// The only region with this code or name, without regard to case, spaces and punctuation.
fn called(text: &str, regions: &[&'static CloudRegion]) -> Option<&'static CloudRegion> {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(char::is_ascii_alphanumeric);
        letters.map(|c| c.to_ascii_lowercase()).collect()
    };
    let asked = plain(text);
    let mut found = regions.iter().copied().filter(|region| {
        !asked.is_empty()
            && [&region.code, &region.name]
                .map(|name| plain(name))
                .contains(&asked)
    });
    let only = found.next()?;
    found.next().is_none().then_some(only)
}

/// The PUE that the provider publishes for the region, else for all of its regions.
#[must_use]
pub fn pue(region: &CloudRegion) -> Option<ProviderPue> {
    newest_pue(&format!("{}:{}", region.provider, region.code))
        .or_else(|| newest_pue(&region.provider))
}

/// The newest average over data centres of all operators.
#[must_use]
pub fn average_pue() -> ProviderPue {
    newest_pue("average").expect("the shipped table has averages")
}

fn newest_pue(of: &str) -> Option<ProviderPue> {
    let rows = data::PUE.rows::<PueRow>().into_iter();
    rows.filter(|row| row.of == of)
        .max_by_key(|row| row.year)
        .map(|row| ProviderPue {
            pue: row.pue.parse().expect("shipped PUEs are above 1"),
            year: row.year,
            source: row.source,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_found_by_its_code_or_that_of_one_of_its_zones() {
        for text in [
            "aws:us-east-1",
            "AWS:us-east-1a",
            "amazon/us-east-1",
            "google:europe-west1-b",
            "ovh:gra",
            "OVH:GRA",
            "azure:East US",
            "azure:east-us",
            "Azure: eastus",
        ] {
            assert!(find(text).is_ok(), "{text}");
        }
        assert_eq!(find("aws:us-east-1").unwrap().area.to_string(), "US-PJM:VA");
    }

    #[test]
    fn every_region_is_found_by_its_own_code() {
        for region in all() {
            let text = format!("{}:{}", region.provider, region.code);
            assert_eq!(find(&text), Ok(region), "{text}");
        }
        assert_eq!(find("ovh:gra").unwrap().city, "Gravelines");
    }

    #[test]
    fn an_unknown_region_names_the_nearest() {
        let error = find("aws:us-esat-1").unwrap_err();
        assert!(error.to_string().contains("us-east-1"), "{error}");
        assert!(find("acme:x").unwrap_err().to_string().contains("azure"));
        assert!(find("nothing").is_err());
    }

    #[test]
    fn the_large_providers_state_their_overhead() {
        for provider in ["aws", "azure", "gcp"] {
            assert!(
                newest_pue(provider).is_some_and(|said| said.pue.get() < 1.3),
                "{provider}"
            );
        }
        assert_eq!(newest_pue("hetzner"), None);
    }

    #[test]
    fn a_region_with_a_figure_of_its_own_has_that() {
        let of = |text| pue(find(text).unwrap()).map(|said| (said.pue.get(), said.year));
        assert_eq!(of("aws:eu-central-1"), Some((1.35, 2024)));
        assert_eq!(of("aws:eu-west-3"), Some((1.14, 2025)));
        assert_eq!(of("hetzner:hil"), None);
    }
}
