use std::cmp::Ordering;
use std::fmt;

/// A comparison that people type between two values, such as `<=`.
///
/// ```
/// use impact::units::Relation;
///
/// assert_eq!(Relation::split("energy <= 5 %"), Some(("energy", Relation::AtMost, "5 %")));
/// assert!(Relation::AtMost.holds_for(4.9, 5.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `<=`
    AtMost,
    /// `<`
    Below,
    /// `>=`
    AtLeast,
    /// `>`
    Above,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
}

/// Longer signs first, so that `<=` is not read as `<`; of two signs for one relation the first is printed.
const SIGNS: [(&str, Relation); 8] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("!=", Relation::NotEqual),
    ("≤", Relation::AtMost),
    ("≥", Relation::AtLeast),
    ("<", Relation::Below),
    (">", Relation::Above),
    ("=", Relation::Equal),
];

impl Relation {
    /// What is left and right of the first sign in a text, without the spaces around it.
    #[must_use]
    pub fn split(text: &str) -> Option<(&str, Self, &str)> {
        let (place, sign, relation) = SIGNS
            .iter()
            .filter_map(|(sign, relation)| Some((text.find(sign)?, sign, relation)))
            .min_by_key(|(place, sign, _)| (*place, std::cmp::Reverse(sign.len())))?;
        let right = &text[place + sign.len()..];
        Some((text[..place].trim(), *relation, right.trim()))
    }

    /// Whether it holds between two values that are ordered so.
    #[must_use]
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Self::AtMost => order != Ordering::Greater,
            Self::Below => order == Ordering::Less,
            Self::AtLeast => order != Ordering::Less,
            Self::Above => order == Ordering::Greater,
            Self::Equal => order == Ordering::Equal,
            Self::NotEqual => order != Ordering::Equal,
        }
    }

    /// Whether it holds between two numbers; numbers that differ in the last digits only are equal.
    #[must_use]
    pub fn holds_for(self, value: f64, limit: f64) -> bool {
        if (value - limit).abs() <= limit.abs() * 1e-12 {
            return self.holds(Ordering::Equal);
        }
        value
            .partial_cmp(&limit)
            .is_some_and(|order| self.holds(order))
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = SIGNS.iter().find(|(_, relation)| relation == self);
        f.write_str(sign.map_or("", |(sign, _)| sign))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_at_its_first_sign() {
        for (text, wanted) in [
            ("energy<=5%", Some(("energy", Relation::AtMost, "5%"))),
            ("energy ≥ 2", Some(("energy", Relation::AtLeast, "2"))),
            ("tag.note=a<b", Some(("tag.note", Relation::Equal, "a<b"))),
            ("host!=node-*", Some(("host", Relation::NotEqual, "node-*"))),
            (">535", Some(("", Relation::Above, "535"))),
            ("energy", None),
        ] {
            assert_eq!(Relation::split(text), wanted, "{text}");
        }
    }

    #[test]
    fn numbers_that_differ_in_the_last_digits_only_are_equal() {
        let limit = 0.3;
        let value = 0.1 + 0.2;
        assert!(value > limit && Relation::AtMost.holds_for(value, limit));
        assert!(!Relation::Above.holds_for(value, limit));
        assert!(Relation::Below.holds_for(0.29, limit));
        assert!(!Relation::NotEqual.holds_for(f64::NAN, limit));
    }

    #[test]
    fn a_relation_is_printed_as_its_sign() {
        assert_eq!(Relation::AtLeast.to_string(), ">=");
    }
}
