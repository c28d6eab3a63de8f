//! What the hardware says: which parts draw energy, and how well that is known.

mod component;
mod method;

pub use component::{Component, Group, Unit};
pub use method::Method;
