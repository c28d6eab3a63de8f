//! Quantities with their unit in the type; only arithmetic that makes physical sense.
//!
//! Quantities that are added up ([`Energy`], [`GramsCo2e`], [`Hours`]) are an integer count of
//! 1e-18 of the unit that is printed (kWh, kg, h). Integers add up to the same total in any order,
//! and a total printed in kWh is exactly the sum of the printed parts. Quantities that are only
//! multiplied ([`Watts`], [`GramsPerKwh`]) are a finite, non-negative `f64`.

mod bounded;
mod count;
mod energy;
mod exact;
mod hours;
#[cfg(feature = "live")]
mod instant;
mod intensity;
mod intensity_range;
mod mass;
pub mod moments;
mod money;
mod out_of_range;
mod pue;
mod relation;
mod span;
mod sum;
mod watts;

pub use count::Count;
pub use energy::Energy;
pub(crate) use energy::JOULES_PER_KWH;
pub use exact::Exact;
pub use hours::Hours;
pub(crate) use hours::SECONDS_PER_HOUR;
#[cfg(feature = "live")]
pub(crate) use instant::parse_instant;
pub use intensity::GramsPerKwh;
pub use intensity_range::IntensityRange;
pub use mass::GramsCo2e;
pub use money::{Money, PricePerKwh, UsdPerTonne};
pub use out_of_range::OutOfRange;
pub use pue::Pue;
pub use relation::Relation;
pub use span::{NotASpan, Span};
pub use watts::Watts;
