//! Attacks by logs that are damaged, copied, nested or made up.

mod bounds;
mod counted_once;
mod damage;
mod plausibility;
#[cfg(feature = "live")]
mod sources;
