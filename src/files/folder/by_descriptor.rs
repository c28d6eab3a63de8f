use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{self, AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::EntryKind;

/// An open folder. Every call is relative to it and follows no link.
#[derive(Debug)]
pub(super) struct Handle(OwnedFd);

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

impl Handle {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let folder = fs::openat(CWD, path, FOLDER, Mode::empty());
        folder
            .map(Self)
            .map_err(|error| folder_error(error, path.as_os_str()))
    }

    pub(super) fn folder(&self, name: &OsStr) -> io::Result<Self> {
        let folder = fs::openat(&self.0, name, FOLDER, Mode::empty());
        folder.map(Self).map_err(|error| folder_error(error, name))
    }

    pub(super) fn make_folder(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        Ok(fs::mkdirat(&self.0, name, bits(mode))?)
    }

    pub(super) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    pub(super) fn entries(&self) -> io::Result<Vec<(OsString, EntryKind)>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let about = fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
                    FileType::from_raw_mode(about.st_mode)
                }
                known => known,
            };
            let kind = match kind {
                FileType::RegularFile => EntryKind::File,
                FileType::Directory => EntryKind::Folder,
                _ => EntryKind::Other,
            };
            entries.push((name.to_owned(), kind));
        }
        Ok(entries)
    }

    pub(super) fn file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(fs::openat(&self.0, name, flags, Mode::empty())?.into())
    }

    pub(super) fn create_file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(fs::openat(&self.0, name, flags, bits(0o666))?.into())
    }

    pub(super) fn lock_file(&self, name: &OsStr) -> io::Result<File> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(fs::openat(&self.0, name, flags, bits(0o600))?.into())
    }

    pub(super) fn has(&self, name: &OsStr, file: &File) -> io::Result<bool> {
        let file = file.metadata()?;
        match fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            #[allow(
                clippy::unnecessary_cast,
                clippy::useless_conversion,
                reason = "the types differ between systems"
            )]
            Ok(there) => Ok(there.st_ino as u64 == file.ino() && there.st_dev as u64 == file.dev()),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    pub(super) fn rename(&self, from: &OsStr, into: &Self, to: &OsStr) -> io::Result<()> {
        Ok(fs::renameat(&self.0, from, &into.0, to)?)
    }

    pub(super) fn link(&self, name: &OsStr, into: &Self) -> io::Result<()> {
        let about = fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        // A file with a second name may change by it.
        if about.st_nlink != 1 || about.st_uid != rustix::process::geteuid().as_raw() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(fs::linkat(&self.0, name, &into.0, name, AtFlags::empty())?)
    }

    pub(super) fn exchange(&self, a: &OsStr, b: &OsStr) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        return Ok(fs::renameat_with(
            &self.0,
            a,
            &self.0,
            b,
            fs::RenameFlags::EXCHANGE,
        )?);
        #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
        return Err(io::ErrorKind::Unsupported.into());
    }

    pub(super) fn is_own(&self) -> io::Result<bool> {
        Ok(fs::fstat(&self.0)?.st_uid == rustix::process::geteuid().as_raw())
    }

    pub(super) fn mode(&self) -> io::Result<u32> {
        #[allow(
            clippy::useless_conversion,
            reason = "the types differ between systems"
        )]
        Ok(u32::from(fs::fstat(&self.0)?.st_mode) & 0o7777)
    }

    pub(super) fn set_mode(&self, mode: u32) -> io::Result<()> {
        Ok(fs::fchmod(&self.0, bits(mode))?)
    }
}

fn bits(mode: u32) -> Mode {
    Mode::from_bits_truncate(mode as _)
}

/// The kernel says of a link only that it is not a folder.
fn folder_error(error: Errno, name: &OsStr) -> io::Error {
    match error {
        Errno::LOOP | Errno::NOTDIR => io::Error::new(
            io::ErrorKind::NotADirectory,
            format!("{} is a link or not a folder", name.display()),
        ),
        error => error.into(),
    }
}
