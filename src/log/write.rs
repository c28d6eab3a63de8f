use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{DATA_FILE, FOLDER, INFO_FILE, MESSAGES_FILE, checksum};
use crate::files::AtomicFile;
use crate::model::{Info, Sample};

/// The log of one run, being written.
#[derive(Debug)]
pub struct LogWriter {
    folder: PathBuf,
    data: File,
    /// Where the last complete line ends.
    end: u64,
    messages: Option<File>,
    line: Vec<u8>,
    lines: Vec<u8>,
}

impl LogWriter {
    /// Makes the log in `run`, or in a new folder `id` inside if `run` holds a log already.
    ///
    /// The log appears with its first sample and its info or not at all, even if the tracker is killed.
    pub fn create(run: &Path, id: &str, info: &Info, first: &Sample) -> io::Result<Self> {
        fs::create_dir_all(run)?;
        let hidden = run.join(format!(".{FOLDER}-{id}"));
        fs::create_dir(&hidden)?;
        let made = Self::fill(&hidden, info, first).and_then(|mut writer| {
            writer.folder = publish(&hidden, run, id)?;
            Ok(writer)
        });
        if made.is_err() {
            let _ = fs::remove_dir_all(&hidden);
        }
        made
    }

    fn fill(folder: &Path, info: &Info, first: &Sample) -> io::Result<Self> {
        let append = |name: &str| {
            OpenOptions::new()
                .create_new(true)
                .append(true)
                .open(folder.join(name))
        };
        let data = append(DATA_FILE)?;
        // `impact backfill` leaves a locked log alone. Not all file systems have locks.
        let _ = data.try_lock_shared();
        let mut writer = Self {
            folder: folder.to_owned(),
            data,
            end: 0,
            messages: append(MESSAGES_FILE).ok(),
            line: Vec::with_capacity(2048),
            lines: Vec::with_capacity(2048),
        };
        writer.sample(first)?;
        write_info(folder, info)?;
        Ok(writer)
    }

    /// The folder the log is in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of the run, which is what other commands are given.
    #[must_use]
    pub fn run(&self) -> &Path {
        self.folder.parent().unwrap_or(&self.folder)
    }

    /// The file of the samples, for a thread that flushes it to the disk.
    pub fn data(&self) -> io::Result<File> {
        self.data.try_clone()
    }

    /// Appends one line, which is there completely or not at all.
    pub fn sample(&mut self, sample: &Sample) -> io::Result<()> {
        self.samples(std::slice::from_ref(sample))
    }

    /// Appends lines in a single write, so that all of them are there or none.
    pub fn samples(&mut self, samples: &[Sample]) -> io::Result<()> {
        self.lines.clear();
        for sample in samples {
            self.line.clear();
            serde_json::to_writer(&mut self.line, sample)?;
            checksum::seal(&mut self.line);
            self.line.push(b'\n');
            self.lines.extend_from_slice(&self.line);
        }
        let written = self.data.write(&self.lines);
        match written {
            Ok(length) if length == self.lines.len() => {
                self.end += length as u64;
                Ok(())
            }
            Ok(_) => {
                // A full disk has taken part of the lines: remove it.
                self.data.set_len(self.end)?;
                Err(io::ErrorKind::StorageFull.into())
            }
            Err(error) => Err(error),
        }
    }

    /// Replaces the info.
    pub fn info(&self, info: &Info) -> io::Result<()> {
        write_info(&self.folder, info)
    }

    /// Appends a line to the tracker's own messages, if they can be kept.
    pub fn message(&mut self, text: &str) {
        if let Some(file) = &mut self.messages {
            let now = chrono::Local::now().to_rfc3339_opts(chrono::SecondsFormat::Millis, false);
            let _ = file.write_all(format!("{now} {text}\n").as_bytes());
        }
    }
}

/// Writes the info beside the old one and puts it in its place.
pub fn write_info(folder: &Path, info: &Info) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(info)?;
    checksum::seal(&mut text);
    text.push(b'\n');
    let mut file = AtomicFile::new(&folder.join(INFO_FILE))?;
    file.write_all(&text)?;
    file.replace_without_sync()
}

/// Flushes the info to the disk, and waits until that is done.
pub fn settle_info(folder: &Path) -> io::Result<()> {
    File::open(folder.join(INFO_FILE))?.sync_all()
}

/// Gives the finished folder its name, never over somebody else's log.
fn publish(hidden: &Path, run: &Path, id: &str) -> io::Result<PathBuf> {
    let place = run.join(FOLDER);
    if rename_new(hidden, &place).is_ok() {
        return Ok(place);
    }
    let run = run.join(id);
    fs::create_dir(&run)?;
    let place = run.join(FOLDER);
    rename_new(hidden, &place)?;
    Ok(place)
}

#[cfg(target_os = "linux")]
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        // Some file systems have no such rename. The usual one still fails if the folder has files in it.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => fs::rename(from, to),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create(run: &Path, id: &str) -> LogWriter {
        LogWriter::create(run, id, &Info::default(), &Sample::default()).unwrap()
    }

    #[test]
    fn two_logs_in_one_folder_do_not_collide() {
        let folder = tempfile::tempdir().unwrap();
        let first = create(folder.path(), "a");
        let second = create(folder.path(), "b");
        assert_eq!(first.folder(), folder.path().join(FOLDER));
        assert_eq!(second.folder(), folder.path().join("b").join(FOLDER));
    }

    #[test]
    fn nobody_else_can_lock_a_log_that_is_being_written() {
        let folder = tempfile::tempdir().unwrap();
        let writer = create(folder.path(), "a");
        let file = File::open(writer.folder().join(DATA_FILE)).unwrap();
        let lock = || file.try_lock();
        assert!(lock().is_err());
        drop(writer);
        assert!(lock().is_ok());
    }

    #[test]
    fn every_line_is_a_sample() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = create(folder.path(), "a");
        writer.sample(&Sample::default()).unwrap();
        let text = fs::read_to_string(writer.folder().join(DATA_FILE)).unwrap();
        assert_eq!(text.lines().count(), 2);
        for line in text.lines() {
            serde_json::from_str::<Sample>(line).unwrap();
        }
    }

    #[test]
    fn a_disk_that_is_full_is_an_error_and_nothing_worse() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = create(folder.path(), "a");
        writer.data = OpenOptions::new().write(true).open("/dev/full").unwrap();
        assert!(writer.sample(&Sample::default()).is_err());
    }
}
