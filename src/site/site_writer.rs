use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::file_sink::FileSink;
use super::manifest::{MANIFEST, Manifest};
use super::staging::Staging;
use crate::files::{EntryKind, Folder};

/// Writes a site into a private folder beside its destination, and puts it in place at the end.
///
/// A folder that has only the files of an earlier site is exchanged in one step. Where there are other
/// files in it, the files of the site are replaced one by one, and the manifest says so until the last.
/// Files that an earlier site has with the same bytes are not written again.
#[derive(Debug)]
pub(super) struct SiteWriter {
    out: PathBuf,
    earlier: Option<Earlier>,
    files: Mutex<Files>,
    staging: Staging,
}

/// What is at the destination.
#[derive(Debug)]
struct Earlier {
    folder: Folder,
    /// The files of the earlier site.
    files: BTreeSet<String>,
}

#[derive(Debug, Default)]
struct Files {
    all: BTreeSet<String>,
    changed: BTreeSet<String>,
}

/// How many files a site has, and how many of them changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// All files of the site.
    pub files: usize,
    /// Files that are new or have other bytes than before.
    pub changed: usize,
    /// Files of the earlier site that were removed.
    pub removed: usize,
}

/// Why a site cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The folder has files in it that impact did not write.
    #[error("{} is not empty and not a site that impact wrote", .0.display())]
    Foreign(PathBuf),
    /// There is a file where the folder should be.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The destination is a link, which may lead anywhere.
    #[error("{} is a link", .0.display())]
    Link(PathBuf),
    /// Another process writes this site.
    #[error("another process is writing {}", .0.display())]
    Busy(PathBuf),
    /// A file cannot be written.
    #[error("cannot write {}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why it cannot be written.
        source: io::Error,
    },
}

impl SiteWriter {
    /// Begins a site; without `force` the folder must be new, empty or an earlier site.
    pub(super) fn begin(out: &Path, force: bool) -> Result<Self, WriteError> {
        // Before the lock, so that nothing is made where nothing may be written.
        earlier(out, force)?;
        let staging = Staging::beside(out)?;
        Ok(Self {
            earlier: earlier(out, force)?,
            out: out.to_owned(),
            files: Mutex::default(),
            staging,
        })
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the earlier site has this file with the bytes of `new`.
    fn is_unchanged(&self, name: &str, is_same: impl FnOnce(&Folder) -> bool) -> bool {
        let earlier = self.earlier.as_ref();
        earlier.is_some_and(|earlier| earlier.files.contains(name) && is_same(&earlier.folder))
    }

    fn create(&self, name: &str, bytes: &[u8]) -> Result<(), WriteError> {
        let file = self.staging.folder.create_file(name);
        file.and_then(|mut file| file.write_all(bytes))
            .map_err(failed(&self.out.join(name)))
    }

    /// Puts the site at its destination, without files of the earlier site that it no longer has.
    pub(super) fn finish(self) -> Result<Written, WriteError> {
        let (files, mut changed) = {
            let mut files = self.files();
            (
                std::mem::take(&mut files.all),
                std::mem::take(&mut files.changed),
            )
        };
        let mut all = files.clone();
        all.insert(MANIFEST.to_owned());
        let manifest = to_json(&Manifest::of(all.clone(), false));
        let is_same_list = self.is_unchanged(MANIFEST, |site| is_same(site, MANIFEST, &manifest));
        if !is_same_list {
            changed.insert(MANIFEST.to_owned());
        }
        self.create(MANIFEST, &manifest)?;
        let mut written = Written {
            files: all.len(),
            changed: changed.len(),
            removed: 0,
        };
        let staging = &self.staging;
        let Some(earlier) = &self.earlier else {
            staging
                .folder
                .open_to_readers(None)
                .and_then(|()| staging.parent.rename(&staging.name, &staging.site))
                .map_err(failed(&self.out))?;
            return Ok(written);
        };
        let gone: Vec<&String> = earlier.files.difference(&all).collect();
        if changed.is_empty() && gone.is_empty() {
            return Ok(written);
        }
        if self.exchange(earlier, &files, &changed)? {
            written.removed = gone.len();
            return Ok(written);
        }
        // A reader must not take a mixture of two sites for one.
        let both = all.union(&earlier.files).cloned().collect();
        self.replace_manifest(earlier, &Manifest::of(both, true))?;
        for name in changed.iter().filter(|name| *name != MANIFEST) {
            staging
                .folder
                .move_file(name, &earlier.folder)
                .map_err(failed(&self.out.join(name)))?;
        }
        for name in gone {
            written.removed +=
                usize::from(earlier.folder.remove_file_and_empty_folders(name).is_ok());
        }
        self.replace_manifest(earlier, &Manifest::of(all, false))?;
        Ok(written)
    }

    /// Exchanges the earlier site for the new one in one step; false where that is not possible.
    fn exchange(
        &self,
        earlier: &Earlier,
        files: &BTreeSet<String>,
        changed: &BTreeSet<String>,
    ) -> Result<bool, WriteError> {
        let staging = &self.staging;
        // Whoever writes to `.` is in the folder, and would stay in the old one.
        let can = self.out.file_name().is_some()
            && has_only(&earlier.folder, "", &earlier.files).unwrap_or(false);
        if !can {
            return Ok(false);
        }
        for name in files.difference(changed) {
            let there = earlier.folder.file(name);
            let copied = earlier
                .folder
                .link_file(name, &staging.folder)
                .or_else(|_| {
                    let mut copy = staging.folder.create_file(name)?;
                    io::copy(&mut there?, &mut copy).map(drop)
                });
            copied.map_err(failed(&self.out.join(name)))?;
        }
        let exchanged = staging
            .folder
            .open_to_readers(Some(&earlier.folder))
            .and_then(|()| staging.parent.exchange(&staging.name, &staging.site));
        Ok(exchanged.is_ok())
    }

    /// Replaces the list of files in one step.
    fn replace_manifest(&self, earlier: &Earlier, manifest: &Manifest) -> Result<(), WriteError> {
        let folder = &self.staging.folder;
        let replace = || {
            folder.remove_file(MANIFEST)?;
            let mut file = folder.create_file(MANIFEST)?;
            file.write_all(&to_json(manifest))?;
            file.sync_all()?;
            folder.move_file(MANIFEST, &earlier.folder)?;
            // The next call removes it.
            folder.create_file(MANIFEST).map(drop)
        };
        replace().map_err(failed(&self.out.join(MANIFEST)))
    }
}

impl FileSink for SiteWriter {
    /// Writes a file of the site, unless it is there already with the same bytes.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), WriteError> {
        if !self.files().all.insert(name.to_owned()) {
            return Ok(());
        }
        if self.is_unchanged(name, |site| is_same(site, name, bytes)) {
            return Ok(());
        }
        self.create(name, bytes)?;
        self.files().changed.insert(name.to_owned());
        Ok(())
    }

    fn write_with(
        &self,
        name: &str,
        make: &dyn Fn(File) -> io::Result<File>,
    ) -> Result<u64, WriteError> {
        let failed = || failed(&self.out.join(name));
        let file = self.staging.folder.create_file(name).map_err(failed())?;
        let mut file = make(file).map_err(failed())?;
        let size = file.metadata().map_err(failed())?.len();
        let is_same = |site: &Folder| same_file(site, name, &mut file).unwrap_or(false);
        if self.is_unchanged(name, is_same) {
            self.staging.folder.remove_file(name).map_err(failed())?;
        } else {
            self.files().changed.insert(name.to_owned());
        }
        self.files().all.insert(name.to_owned());
        Ok(size)
    }
}

fn to_json(manifest: &Manifest) -> Vec<u8> {
    serde_json::to_vec(manifest).unwrap_or_else(|_| unreachable!("names and a version are JSON"))
}

/// The folder at the destination with the files of an earlier site; none if there is nothing yet.
fn earlier(out: &Path, force: bool) -> Result<Option<Earlier>, WriteError> {
    match fs::symlink_metadata(out) {
        Ok(about) if about.is_symlink() => return Err(WriteError::Link(out.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        _ => {}
    }
    let folder = match Folder::open(out) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(WriteError::NotAFolder(out.to_owned()));
        }
        Err(error) => return Err(failed(out)(error)),
    };
    let files = match Manifest::read(&folder) {
        Some(manifest) => manifest.files,
        None if force || folder.entries().map_err(failed(out))?.is_empty() => BTreeSet::new(),
        None => return Err(WriteError::Foreign(out.to_owned())),
    };
    Ok(Some(Earlier { folder, files }))
}

/// Whether a folder has nothing in it but these files, and folders of them.
fn has_only(folder: &Folder, path: &str, files: &BTreeSet<String>) -> io::Result<bool> {
    for (name, kind) in folder.entries()? {
        let Some(text) = name.to_str() else {
            return Ok(false);
        };
        let is_listed = match kind {
            EntryKind::File => files.contains(&format!("{path}{text}")),
            EntryKind::Folder => {
                let below = format!("{path}{text}/");
                let first = files.range(below.clone()..).next();
                first.is_some_and(|first| first.starts_with(&below))
                    && has_only(&folder.folder(OsStr::new(text))?, &below, files)?
            }
            EntryKind::Other => false,
        };
        if !is_listed {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a file of a site has these bytes.
pub(super) fn is_same(site: &Folder, name: &str, bytes: &[u8]) -> bool {
    let read = || {
        let mut there = Vec::new();
        let file = site.file(name)?;
        if file.metadata()?.len() == bytes.len() as u64 {
            file.take(bytes.len() as u64 + 1).read_to_end(&mut there)?;
        }
        io::Result::Ok(there)
    };
    read().is_ok_and(|there| there == bytes)
}

/// Whether a file of a site has the bytes of another file.
pub(super) fn same_file(site: &Folder, name: &str, new: &mut File) -> io::Result<bool> {
    let mut there = site.file(name)?;
    if there.metadata()?.len() != new.metadata()?.len() {
        return Ok(false);
    }
    new.rewind()?;
    let (mut of_there, mut of_new) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        let read = new.read(&mut of_new)?;
        if read == 0 {
            return Ok(true);
        }
        there.read_exact(&mut of_there[..read])?;
        if of_there[..read] != of_new[..read] {
            return Ok(false);
        }
    }
}

pub(super) fn failed(path: &Path) -> impl FnOnce(io::Error) -> WriteError + use<> {
    let path = path.to_owned();
    move |source| WriteError::Io { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(out: &Path, files: &[(&str, &str)]) -> Written {
        let site = SiteWriter::begin(out, false).unwrap();
        for (name, text) in files {
            site.write(name, text.as_bytes()).unwrap();
        }
        site.finish().unwrap()
    }

    #[test]
    fn a_second_site_rewrites_only_what_changed_and_leaves_nothing_stale() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        site(
            &out,
            &[("a/x.html", "1"), ("b/y.html", "2"), ("z.html", "3")],
        );
        fs::write(out.join("mine.txt"), "not of the site").unwrap();
        let again = site(&out, &[("a/x.html", "1"), ("z.html", "4")]);
        assert_eq!((again.files, again.changed, again.removed), (3, 2, 1));
        assert_eq!(fs::read_to_string(out.join("z.html")).unwrap(), "4");
        assert!(!out.join("b").exists() && out.join("mine.txt").exists());
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "nothing is left beside it"
        );
    }

    #[test]
    fn a_folder_with_other_files_is_refused_unless_forced() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.tex"), "x").unwrap();
        assert!(matches!(
            SiteWriter::begin(folder.path(), false),
            Err(WriteError::Foreign(_))
        ));
        let site = SiteWriter::begin(folder.path(), true).unwrap();
        site.write("index.html", b"x").unwrap();
        site.finish().unwrap();
        assert!(folder.path().join("thesis.tex").exists());
    }

    #[test]
    fn a_manifest_cannot_have_files_elsewhere_removed() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        fs::create_dir(&out).unwrap();
        fs::write(folder.path().join("precious"), "x").unwrap();
        let manifest = format!(
            r#"{{"schema":"{}","files":["../precious"]}}"#,
            crate::site::SCHEMA
        );
        fs::write(out.join(MANIFEST), manifest).unwrap();
        site(&out, &[("a", "1")]);
        assert!(folder.path().join("precious").exists());
    }
}
