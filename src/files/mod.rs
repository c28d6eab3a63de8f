//! Files written so that a reader never sees half of one.

pub mod replacement;
