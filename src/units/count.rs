//! Whole numbers in sentences.

use std::fmt;

/// A number of things, such as `1 run` or `3 runs`.
pub(crate) fn counted<N: Copy + fmt::Display + PartialEq + From<u8>>(
    number: N,
    noun: &str,
) -> String {
    let ending = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

/// Digits in groups of three: 1234567 becomes 1,234,567.
#[must_use]
pub fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!(
            (grouped("5"), grouped("1234567")),
            ("5".to_owned(), "1,234,567".to_owned())
        );
    }
}
