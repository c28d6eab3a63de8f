use crate::files;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::file_sink::FileSink;

/// Marks a folder as a site that impact wrote, and lists its files.
const MANIFEST: &str = "impact-site.json";

/// Writes a site into a temporary folder beside its destination, and moves it there at the end.
///
/// Files that an earlier site has with the same bytes are not written again.
#[derive(Debug)]
pub(super) struct SiteWriter {
    out: PathBuf,
    folder: TempDir,
    before: BTreeSet<String>,
    files: Mutex<BTreeSet<String>>,
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
    /// A file cannot be written.
    #[error("cannot write {}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why it cannot be written.
        source: io::Error,
    },
}

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    schema: String,
    files: BTreeSet<String>,
}

impl SiteWriter {
    /// Begins a site; without `force` the folder must be new, empty or an earlier site.
    pub(super) fn begin(out: &Path, force: bool) -> Result<Self, WriteError> {
        let before = earlier(out, force)?;
        let name = out
            .file_name()
            .map_or_else(|| "site".into(), |name| name.to_string_lossy().into_owned());
        let parent = match out.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        fs::create_dir_all(parent).map_err(failed(parent))?;
        let mut folder = tempfile::Builder::new();
        // It becomes the folder of the site, so it has the default permissions of the process.
        #[cfg(unix)]
        folder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        let folder = folder
            .prefix(&format!(".{name}."))
            .suffix(".part")
            .tempdir_in(parent)
            .map_err(failed(parent))?;
        Ok(Self {
            out: out.to_owned(),
            folder,
            before,
            files: Mutex::default(),
        })
    }

    fn place(&self, name: &str) -> Result<PathBuf, WriteError> {
        let path = self.folder.path().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed(parent))?;
        }
        Ok(path)
    }

    /// Adds a file to the list; whether it was not in it.
    fn keep(&self, name: &str) -> bool {
        let mut files = self
            .files
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        files.insert(name.to_owned())
    }

    /// Moves the site to its destination, and removes files of the earlier site that it no longer has.
    pub(super) fn finish(self) -> Result<Written, WriteError> {
        let mut files = self
            .files
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .clone();
        files.insert(MANIFEST.to_owned());
        let manifest = Manifest {
            schema: crate::site::SCHEMA.to_owned(),
            files: files.clone(),
        };
        let bytes = serde_json::to_vec(&manifest)
            .map_err(|error| failed(self.folder.path())(error.into()))?;
        self.write(MANIFEST, &bytes)?;
        let mut written = Written {
            files: files.len(),
            ..Written::default()
        };
        if !self.out.exists() {
            written.changed = files.len();
            fs::rename(self.folder.path(), &self.out).map_err(failed(&self.out))?;
            return Ok(written);
        }
        for name in &files {
            let (from, to) = (self.folder.path().join(name), self.out.join(name));
            if !from.exists() {
                continue;
            }
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent).map_err(failed(parent))?;
            }
            fs::rename(&from, &to).map_err(failed(&to))?;
            written.changed += 1;
        }
        for name in self.before.difference(&files) {
            written.removed += usize::from(remove(&self.out, name));
        }
        Ok(written)
    }
}

impl FileSink for SiteWriter {
    /// Writes a file of the site, unless it is there already with the same bytes.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), WriteError> {
        if !self.keep(name) {
            return Ok(());
        }
        if self.before.contains(name) && is_same(&self.out.join(name), bytes) {
            return Ok(());
        }
        let path = self.place(name)?;
        fs::write(&path, bytes).map_err(failed(&path))
    }

    fn write_with(
        &self,
        name: &str,
        make: &dyn Fn(&Path) -> io::Result<u64>,
    ) -> Result<u64, WriteError> {
        let path = self.place(name)?;
        let size = make(&path).map_err(failed(&path))?;
        self.keep(name);
        let there = self.out.join(name);
        if self.before.contains(name) && same_file(&there, &path).unwrap_or(false) {
            fs::remove_file(&path).map_err(failed(&path))?;
        }
        Ok(size)
    }
}

/// The files of an earlier site in this folder.
fn earlier(out: &Path, force: bool) -> Result<BTreeSet<String>, WriteError> {
    let mut entries = match fs::read_dir(out) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(WriteError::NotAFolder(out.to_owned()));
        }
        Err(error) => return Err(failed(out)(error)),
    };
    match manifest(out) {
        Some(files) => Ok(files),
        None if force || entries.next().is_none() => Ok(BTreeSet::new()),
        None => Err(WriteError::Foreign(out.to_owned())),
    }
}

/// Room for the names of a million files.
const LARGEST_MANIFEST: u64 = 256 << 20;

/// The files that a site lists as its own.
fn manifest(site: &Path) -> Option<BTreeSet<String>> {
    let bytes = files::read(&site.join(MANIFEST), LARGEST_MANIFEST).ok()?;
    let manifest: Manifest = serde_json::from_slice(&bytes).ok()?;
    (manifest.schema == crate::site::SCHEMA).then(|| {
        let mut files = manifest.files;
        files.retain(|name| is_inside(name));
        files
    })
}

/// The files of a site besides the list of them.
pub(super) fn listed(site: &Path) -> BTreeSet<String> {
    let mut files = manifest(site).unwrap_or_default();
    files.remove(MANIFEST);
    files
}

/// Whether a name in a manifest is inside the site; a manifest may come from somebody else.
fn is_inside(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    !name.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

pub(super) fn is_same(path: &Path, bytes: &[u8]) -> bool {
    // Checked before opening, because opening a FIFO waits for a writer.
    let about = fs::symlink_metadata(path);
    about.is_ok_and(|about| about.is_file() && about.len() == bytes.len() as u64)
        && fs::read(path).is_ok_and(|there| there == bytes)
}

pub(super) fn same_file(a: &Path, b: &Path) -> io::Result<bool> {
    use std::io::Read as _;
    let (of_a, of_b) = (fs::symlink_metadata(a)?, fs::symlink_metadata(b)?);
    if !of_a.is_file() || !of_b.is_file() || of_a.len() != of_b.len() {
        return Ok(false);
    }
    let (mut a, mut b) = (fs::File::open(a)?, fs::File::open(b)?);
    let (mut of_a, mut of_b) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        let read = a.read(&mut of_a)?;
        if read == 0 {
            return Ok(true);
        }
        b.read_exact(&mut of_b[..read])?;
        if of_a[..read] != of_b[..read] {
            return Ok(false);
        }
    }
}

/// Removes a file, and the folders that are empty after that.
fn remove(out: &Path, name: &str) -> bool {
    let path = out.join(name);
    if fs::remove_file(&path).is_err() {
        return false;
    }
    let mut folder = path.parent();
    while let Some(here) = folder.filter(|here| *here != out && fs::remove_dir(here).is_ok()) {
        folder = here.parent();
    }
    true
}

pub(super) fn failed(path: &Path) -> impl FnOnce(io::Error) -> WriteError {
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
