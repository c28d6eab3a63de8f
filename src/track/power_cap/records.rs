//! What was changed on which board, and which runs still need it: files that outlast the process that wrote them.
//!
//! For each board there is a record, named by its UUID and the boot. Runs that hold a cap lock a second file of the board
//! together. The kernel frees the lock when a process ends, so a record of a run that nobody has locked is left over.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::files::{self, AtomicFile};
use crate::meter::power_cap::Milliwatts;
use crate::meter::{Roots, host};

/// A larger record was not written by impact.
const LARGEST: u64 = 4096;
/// Ids of boards and boots are shorter.
const LONGEST_ID: usize = 96;

/// What impact has changed on a board since the machine was booted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) uuid: String,
    /// The limit before the first change.
    pub(super) original: Milliwatts,
    /// The cap that lasts until it is reset.
    pub(super) lasting: Option<Milliwatts>,
    /// The lasting cap before that one, which is still in force if the change was interrupted.
    pub(super) lasting_before: Option<Milliwatts>,
    /// The cap of the runs that hold the board.
    pub(super) run: Option<Milliwatts>,
}

impl Record {
    pub(super) fn new(uuid: &str, original: Milliwatts) -> Self {
        Self {
            uuid: uuid.to_owned(),
            original,
            lasting: None,
            lasting_before: None,
            run: None,
        }
    }

    /// The limit without runs.
    pub(super) fn without_runs(&self) -> Milliwatts {
        self.lasting.unwrap_or(self.original)
    }

    /// Whether impact has set this limit, and not somebody else since.
    pub(super) fn has_set(&self, limit: Milliwatts) -> bool {
        [self.lasting, self.lasting_before, self.run].contains(&Some(limit))
    }
}

/// The folder of the records.
#[derive(Debug)]
pub(super) struct Records {
    folder: PathBuf,
    boot: String,
}

/// Excludes every other process from caps and records.
#[derive(Debug)]
pub(super) struct Guard(#[expect(dead_code, reason = "the lock ends with the file")] File);

impl Records {
    /// The folder of this user, without looking whether it exists: that of root is in /run, which ends with the boot.
    fn folder(roots: &Roots) -> Option<PathBuf> {
        if rustix::process::geteuid().is_root() {
            return Some(roots.run.join("impact/power-caps"));
        }
        let environment = &roots.environment;
        let home = || Some(environment.absolute_path("HOME")?.join(".local/state"));
        let state = environment.absolute_path("XDG_STATE_HOME").or_else(home)?;
        Some(state.join("impact/power-caps"))
    }

    /// Whether there is any record; costs next to nothing where no cap was ever set.
    pub(super) fn are_there(roots: &Roots) -> bool {
        let entries = Self::folder(roots).and_then(|folder| fs::read_dir(folder).ok());
        entries.is_some_and(|entries| entries.flatten().any(|entry| is_record(&entry.path())))
    }

    /// The records of this user, and the lock on them; none if there never were any.
    pub(super) fn existing(roots: &Roots) -> io::Result<Option<(Self, Guard)>> {
        match Self::folder(roots) {
            Some(folder) if folder.symlink_metadata().is_ok() => Self::open(roots).map(Some),
            _ => Ok(None),
        }
    }

    /// The same, made if need be.
    pub(super) fn open(roots: &Roots) -> io::Result<(Self, Guard)> {
        let why = "neither XDG_STATE_HOME nor HOME is an absolute path";
        let folder = Self::folder(roots).ok_or_else(|| io::Error::other(why))?;
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        let about = folder.symlink_metadata()?;
        let is_own = about.uid() == rustix::process::geteuid().as_raw();
        if !about.is_dir() || !is_own || about.mode() & 0o022 != 0 {
            let why = format!("others may write to {}", folder.display());
            return Err(io::Error::other(why));
        }
        let boot = host::boot_id(roots).filter(|boot| is_id(boot));
        let boot = boot.ok_or_else(|| io::Error::other("the id of this boot is not known"))?;
        let guard = lock_file(&folder.join("lock"))?;
        guard.lock()?;
        let records = Self { folder, boot };
        records.tidy()?;
        Ok((records, Guard(guard)))
    }

    /// Removes files of earlier boots, since which no limit lasts, and those that a killed process was writing.
    fn tidy(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let is_partial = has_extension(&path, "part");
            let is_of_a_board = is_record(&path) || has_extension(&path, "held");
            let is_old = is_of_a_board && !self.is_of_this_boot(&path);
            if is_partial || is_old {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    fn is_of_this_boot(&self, path: &Path) -> bool {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        stem.is_some_and(|stem| stem.ends_with(&format!("@{}", self.boot)))
    }

    fn path(&self, uuid: &str) -> io::Result<PathBuf> {
        if is_id(uuid) {
            Ok(self.folder.join(format!("{uuid}@{}.json", self.boot)))
        } else {
            Err(io::Error::other("the board has no usable UUID"))
        }
    }

    /// All records of this boot.
    pub(super) fn all(&self) -> io::Result<Vec<Record>> {
        let mut records = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if is_record(&path) {
                records.push(read(&path)?);
            }
        }
        records.sort_by(|a: &Record, b| a.uuid.cmp(&b.uuid));
        Ok(records)
    }

    pub(super) fn of_board(&self, uuid: &str) -> io::Result<Option<Record>> {
        match read(&self.path(uuid)?) {
            Ok(record) => Ok(Some(record)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a record, or removes it if it says that nothing is changed.
    pub(super) fn write(&self, record: &Record) -> io::Result<()> {
        let path = self.path(&record.uuid)?;
        if record.lasting.is_none() && record.run.is_none() {
            return self.remove(&record.uuid);
        }
        let mut file = AtomicFile::private(&path)?;
        file.write_all(&serde_json::to_vec(record)?)?;
        // What a loss of power loses with the file, it loses of the limit too.
        file.replace_without_sync()
    }

    pub(super) fn remove(&self, uuid: &str) -> io::Result<()> {
        match fs::remove_file(self.path(uuid)?) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Holds the board together with other runs, until the file is closed.
    pub(super) fn hold(&self, uuid: &str) -> io::Result<File> {
        let file = lock_file(&self.path(uuid)?.with_extension("held"))?;
        file.lock_shared()?;
        Ok(file)
    }

    /// Whether a run holds the board.
    pub(super) fn is_held(&self, uuid: &str) -> io::Result<bool> {
        let file = lock_file(&self.path(uuid)?.with_extension("held"))?;
        match file.try_lock() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

fn is_record(path: &Path) -> bool {
    has_extension(path, "json")
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|kind| kind == extension)
}

/// Whether a text can be a part of a file's name.
fn is_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=LONGEST_ID).contains(&text.len()) && text.bytes().all(is_plain)
}

fn read(path: &Path) -> io::Result<Record> {
    let mut bytes = Vec::new();
    let file = files::open_unless_link(path)?;
    file.take(LARGEST).read_to_end(&mut bytes)?;
    serde_json::from_slice(&bytes).map_err(|_| {
        let why = format!(
            "{} is damaged; set the limit by nvidia-smi -pl and remove this file",
            path.display()
        );
        io::Error::new(io::ErrorKind::InvalidData, why)
    })
}

fn lock_file(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits() as i32)
        .open(path)
}
