//! Files written so that a reader never sees half of one.

pub mod atomic_file;
