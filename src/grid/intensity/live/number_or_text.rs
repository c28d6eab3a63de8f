use serde::Deserialize;

/// A number, which some services write as text.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum NumberOrText {
    Number(f64),
    Text(String),
}

impl NumberOrText {
    /// The number, if it is one that can be counted with.
    pub(super) fn finite(self) -> Option<f64> {
        match self {
            Self::Number(value) => Some(value),
            Self::Text(text) => text.trim().parse().ok(),
        }
        .filter(|value| value.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_come_as_text_but_not_as_infinity_or_words() {
        let read = |json: &str| serde_json::from_str::<NumberOrText>(json).unwrap().finite();
        assert_eq!(read("-1.5"), Some(-1.5));
        assert_eq!(read("\" 37.4 \""), Some(37.4));
        assert_eq!(read("\"inf\""), None);
        assert_eq!(read("\"much\""), None);
    }
}
