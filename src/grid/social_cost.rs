//! What a tonne of CO2 costs the people of a country.

use std::sync::OnceLock;

use serde::Deserialize;

use super::data;
use super::zone::Iso3;
use crate::units::UsdPerTonne;

/// The paper the figures are from, as its BibTeX key.
pub const CITATION_KEY: &str = "ricke2018country";

/// The year of the dollars the figures are in.
pub const DOLLAR_YEAR: i32 = 2005;

/// The country-level social cost of carbon: the median and the 16.7 % and 83.3 % quantiles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SocialCost {
    /// The country.
    pub country: Iso3,
    /// The 16.7 % quantile.
    pub low: UsdPerTonne,
    /// The median.
    pub median: UsdPerTonne,
    /// The 83.3 % quantile.
    pub high: UsdPerTonne,
}

#[derive(Deserialize)]
struct Row {
    iso3: String,
    low_usd2005_per_t: UsdPerTonne,
    median_usd2005_per_t: UsdPerTonne,
    high_usd2005_per_t: UsdPerTonne,
}

/// The social cost for a country, or none where the paper has no figure for it.
#[must_use]
pub fn of(country: Iso3) -> Option<SocialCost> {
    table()
        .iter()
        .find(|row| row.iso3 == country.as_str())
        .map(|row| SocialCost {
            country,
            low: row.low_usd2005_per_t,
            median: row.median_usd2005_per_t,
            high: row.high_usd2005_per_t,
        })
}

fn table() -> &'static [Row] {
    static TABLE: OnceLock<Vec<Row>> = OnceLock::new();
    TABLE.get_or_init(|| data::SOCIAL_COST.rows())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_three_figures_in_order() {
        let mut rows = 0;
        for code in table().iter().map(|row| &row.iso3) {
            if code == "WLD" {
                continue;
            }
            let cost = of(code.parse().unwrap()).unwrap();
            assert!(
                cost.low <= cost.median && cost.median <= cost.high,
                "{code}"
            );
            rows += 1;
        }
        assert_eq!(rows, 169);
    }

    #[test]
    fn canada_gains_and_the_united_states_lose() {
        let median = |code: &str| of(code.parse().unwrap()).unwrap().median;
        assert!(median("CAN") < "0".parse().unwrap());
        assert!(median("USA") > "0".parse().unwrap());
    }
}
