use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::file_sink::FileSink;

/// Marks a folder as a site of ours and lists every file of it.
const MANIFEST: &str = "impact-site.json";

/// A site in the making, beside the folder it will be moved to.
///
/// Files that are there already with the same bytes are not written again.
#[derive(Debug)]
pub(super) struct SiteWriter {
    out: PathBuf,
    folder: TempDir,
    before: BTreeSet<String>,
    files: Mutex<BTreeSet<String>>,
}

/// What came of writing a site.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    pub files: usize,
    /// Files that are new or not what they were.
    pub changed: usize,
    /// Files of an earlier site that this one has no more.
    pub removed: usize,
}

/// Why a site cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    #[error("{} is not empty and not a site of ours", .0.display())]
    Foreign(PathBuf),
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    #[error("cannot write {}", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    schema: String,
    files: BTreeSet<String>,
}

impl SiteWriter {
    /// Begins a site for this folder, which must be new, empty or an earlier site unless `force` is given.
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
        // The folder becomes the site's own, which everybody may read whom the process lets.
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

    /// Whether the file is new to this site.
    fn keep(&self, name: &str) -> bool {
        let mut files = self
            .files
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        files.insert(name.to_owned())
    }

    /// Moves the site into its place and takes away what is no longer part of it.
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

/// The files that a site lists as its own.
fn manifest(site: &Path) -> Option<BTreeSet<String>> {
    let bytes = fs::read(site.join(MANIFEST)).ok()?;
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

/// A manifest is a file like any other: what it lists is only touched inside the site.
fn is_inside(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    !name.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

pub(super) fn is_same(path: &Path, bytes: &[u8]) -> bool {
    // Asked before opening: opening a FIFO would wait for a writer for ever.
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

/// Removes a file and the folders that it leaves empty.
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
    fn a_folder_of_others_is_not_touched_unless_forced() {
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
