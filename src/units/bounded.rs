//! Quantities that are only multiplied: a finite `f64` between zero and a bound.

macro_rules! bounded {
    ($(#[$doc:meta])* $name:ident, $quantity:literal, $largest:expr, $rule:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        #[must_use]
        pub struct $name(f64);

        impl $name {
            /// Fails outside of the range.
            pub fn new(value: f64) -> Result<Self, $crate::units::OutOfRange> {
                if value.is_finite() && (0.0..=$largest).contains(&value) {
                    Ok(Self(value))
                } else {
                    Err($crate::units::OutOfRange::new($quantity, value, $rule))
                }
            }

            /// The plain number.
            #[must_use]
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::units::OutOfRange;
            fn from_str(text: &str) -> Result<Self, $crate::units::OutOfRange> {
                text.trim()
                    .parse()
                    .map_err(|_| $crate::units::OutOfRange::new($quantity, format_args!("`{}`", text.escape_debug()), "it must be a number"))
                    .and_then(Self::new)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_f64(self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(<f64 as serde::Deserialize>::deserialize(deserializer)?).map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(super) use bounded;
