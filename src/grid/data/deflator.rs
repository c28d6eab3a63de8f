//! The US consumer price index, to bring dollars of one year to those of another.

use serde::Deserialize;

use super::DEFLATOR;

/// The name of the index, to be stated beside every figure that it was applied to.
pub const NAME: &str = "US consumer price index CPI-U, annual average";

#[derive(Deserialize)]
struct Row {
    year: i32,
    cpi_u: f64,
}

/// How many dollars of the year `to` buy what a dollar of the year `from` bought; none for a year without an index.
#[must_use]
pub fn factor(from: i32, to: i32) -> Option<f64> {
    let rows = DEFLATOR.rows::<Row>();
    let index = |year| {
        rows.iter()
            .find(|row| row.year == year)
            .map(|row| row.cpi_u)
    };
    Some(index(to)? / index(from)?)
}

/// The newest year with an index.
#[must_use]
pub fn newest_year() -> Option<i32> {
    let rows = DEFLATOR.rows::<Row>();
    rows.iter().map(|row| row.year).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dollar_of_2005_is_more_than_one_and_a_half_of_2025() {
        let factor = factor(2005, 2025).unwrap();
        assert!((1.64..1.66).contains(&factor), "{factor}");
        assert_eq!(super::factor(2005, 2004), None);
    }
}
