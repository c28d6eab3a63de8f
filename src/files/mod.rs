//! Reading files of others within limits, and writing files so that a reader never sees half of one.

mod atomic_file;
#[cfg(feature = "site")]
mod folder;
mod regular_file;
mod trusted_owners;

pub(crate) use atomic_file::AtomicFile;
#[cfg(feature = "site")]
pub(crate) use folder::{EntryKind, Folder, is_inside};
pub(crate) use regular_file::{open, open_unless_link, read, read_text};
pub(crate) use trusted_owners::{TrustedOwners, UntrustedOwner};
