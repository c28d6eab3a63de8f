//! Files written so that a reader never sees half of one.

mod atomic_file;

pub(crate) use atomic_file::AtomicFile;
