//! The commit of the working directory, read from the repository's files: no git is run beside a job.

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::model::info::Git;

/// The commit checked out around `folder`, if it lies in a repository.
pub(crate) fn state(folder: &Path) -> Option<Git> {
    let top = folder.ancestors().find(|top| top.join(".git").exists())?;
    let repository = repository(&top.join(".git"))?;
    let commit = head(&repository)?;
    let dirty = fs::read(repository.join("index"))
        .ok()
        .and_then(|index| is_dirty(&index, top))
        .filter(|dirty| *dirty || !was_reset(&repository));
    Some(Git { commit, dirty })
}

/// The repository's folder; in a worktree `.git` is a file that names it.
fn repository(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return Some(dot_git.to_owned());
    }
    let text = fs::read_to_string(dot_git).ok()?;
    let path = text.strip_prefix("gitdir:")?.trim();
    Some(dot_git.parent()?.join(path))
}

fn head(repository: &Path) -> Option<String> {
    let head = fs::read_to_string(repository.join("HEAD")).ok()?;
    let Some(name) = head.trim().strip_prefix("ref: ") else {
        return Some(head.trim().to_owned());
    };
    let common = fs::read_to_string(repository.join("commondir")).map_or_else(
        |_| repository.to_owned(),
        |path| repository.join(path.trim()),
    );
    for folder in [repository, &common] {
        if let Ok(commit) = fs::read_to_string(folder.join(name)) {
            return Some(commit.trim().to_owned());
        }
    }
    let packed = fs::read_to_string(common.join("packed-refs")).ok()?;
    packed.lines().find_map(|line| {
        let (commit, packed_name) = line.split_once(' ')?;
        (packed_name == name).then(|| commit.to_owned())
    })
}

/// Whether the commit was last chosen by a reset, which may have left the index at another.
fn was_reset(repository: &Path) -> bool {
    let moves = end_of(&repository.join("logs/HEAD")).unwrap_or_default();
    let moves = String::from_utf8_lossy(&moves);
    let last = moves.lines().last().and_then(|line| line.split_once('\t'));
    last.is_some_and(|(_, why)| why.starts_with("reset:"))
}

/// The last part of a file that may have grown for years.
fn end_of(path: &Path) -> std::io::Result<Vec<u8>> {
    const LONGEST: u64 = 4096;
    let file = fs::File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(LONGEST);
    let mut end = vec![0; LONGEST as usize];
    let length = file.read_at(&mut end, start)?;
    end.truncate(length);
    Ok(end)
}

/// Whether a tracked file differs from the index; none where only its contents could tell, or where
/// the index may differ from the commit.
fn is_dirty(index: &[u8], top: &Path) -> Option<bool> {
    let mut sure = true;
    let mut entries = Entries::of(index)?;
    for entry in entries.by_ref() {
        let entry = entry?;
        if entry.is_exempt {
            continue;
        }
        let Ok(file) = fs::symlink_metadata(top.join(&entry.path)) else {
            return Some(true);
        };
        if file.size() as u32 != entry.size {
            return Some(true);
        }
        let same_second = file.mtime() as u32 == entry.seconds;
        let same_instant = entry.nanos == 0 || file.mtime_nsec() as u32 == entry.nanos;
        sure &= same_second && same_instant;
    }
    (sure && has_whole_tree(entries.rest)).then_some(false)
}

/// Whether what follows the entries holds a tree of all of them, as a commit or a checkout leaves it.
///
/// Whatever is staged afterwards makes it invalid.
fn has_whole_tree(mut extensions: &[u8]) -> bool {
    while let Some(length) = number(extensions, 4) {
        let (head, rest) = extensions.split_at(8);
        let Some(content) = rest.get(..length as usize) else {
            return false;
        };
        if head.starts_with(b"TREE") {
            // The name of the root, which has none, and how many entries it covers.
            return content.first() == Some(&0) && content.get(1).is_some_and(u8::is_ascii_digit);
        }
        extensions = &rest[length as usize..];
    }
    false
}

/// A file as the index knows it.
#[derive(Debug, PartialEq)]
struct Entry {
    path: PathBuf,
    seconds: u32,
    nanos: u32,
    size: u32,
    /// A submodule, or a file git was told not to look at.
    is_exempt: bool,
}

/// The entries of an index of version 2, 3 or 4 with SHA-1 names.
struct Entries<'i> {
    rest: &'i [u8],
    version: u32,
    left: u32,
    path: Vec<u8>,
}

impl<'i> Entries<'i> {
    fn of(index: &'i [u8]) -> Option<Self> {
        let version = number(index, 4)?;
        (index.starts_with(b"DIRC") && (2..=4).contains(&version)).then_some(())?;
        Some(Self {
            left: number(index, 8)?,
            rest: &index[12..],
            version,
            path: Vec::new(),
        })
    }

    fn entry(&mut self) -> Option<Entry> {
        const FIXED: usize = 62;
        let flags = number(self.rest, 58)? & 0xffff;
        let is_extended = flags & 0x4000 != 0;
        let more = if is_extended {
            number(self.rest, 60)? & 0xffff
        } else {
            0
        };
        let kind = number(self.rest, 24)?;
        let fixed = if is_extended { FIXED + 2 } else { FIXED };
        let name = self.rest.get(fixed..)?;
        let used = if self.version == 4 {
            let (keep, skipped) = varint(name)?;
            let end = skipped + name[skipped..].iter().position(|b| *b == 0)?;
            self.path.truncate(self.path.len().checked_sub(keep)?);
            self.path.extend(&name[skipped..end]);
            fixed + end + 1
        } else {
            let end = name.iter().position(|b| *b == 0)?;
            self.path = name[..end].to_vec();
            (fixed + end) / 8 * 8 + 8
        };
        let entry = Entry {
            path: PathBuf::from(String::from_utf8_lossy(&self.path).into_owned()),
            seconds: number(self.rest, 8)?,
            nanos: number(self.rest, 12)?,
            size: number(self.rest, 36)?,
            is_exempt: flags & 0x8000 != 0 || more & 0x4000 != 0 || kind == 0o160_000,
        };
        self.rest = self.rest.get(used..)?;
        Some(entry)
    }
}

impl Iterator for Entries<'_> {
    type Item = Option<Entry>;
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        Some(self.entry())
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

/// A number in git's variable-length form, and how many bytes it took.
fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0usize;
    for (i, byte) in bytes.iter().enumerate().take(8) {
        value = (value << 7) | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, i + 1));
        }
        value += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index of version 2 with one file of a given size and time.
    fn index(path: &str, size: u32, seconds: u32) -> Vec<u8> {
        let mut index = b"DIRC\0\0\0\x02\0\0\0\x01".to_vec();
        let mut entry = vec![0; 62];
        entry[8..12].copy_from_slice(&seconds.to_be_bytes());
        entry[24..28].copy_from_slice(&0o100_644u32.to_be_bytes());
        entry[36..40].copy_from_slice(&size.to_be_bytes());
        entry[61] = path.len() as u8;
        entry.extend(path.as_bytes());
        entry.resize(entry.len() / 8 * 8 + 8, 0);
        index.extend(entry);
        index
    }

    /// The same with a tree that covers so many entries.
    fn index_of_tree(path: &str, size: u32, seconds: u32, covered: &str) -> Vec<u8> {
        let mut index = index(path, size, seconds);
        let tree = format!("\0{covered} 0\n");
        index.extend(b"TREE");
        index.extend((tree.len() as u32).to_be_bytes());
        index.extend(tree.as_bytes());
        index
    }

    fn repository_with(contents: &str) -> (tempfile::TempDir, u32) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".git")).unwrap();
        fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let packed = "# pack-refs with: peeled\n0123abcd refs/heads/main\n";
        fs::write(folder.path().join(".git/packed-refs"), packed).unwrap();
        fs::write(folder.path().join("a.txt"), contents).unwrap();
        let written = fs::metadata(folder.path().join("a.txt")).unwrap().mtime();
        (folder, written as u32)
    }

    #[test]
    fn an_untouched_tree_is_clean_and_a_longer_file_makes_it_dirty() {
        let (folder, seconds) = repository_with("hello");
        let committed = index_of_tree("a.txt", 5, seconds, "1");
        fs::write(folder.path().join(".git/index"), committed).unwrap();
        let git = state(folder.path()).unwrap();
        assert_eq!((git.commit.as_str(), git.dirty), ("0123abcd", Some(false)));
        fs::write(folder.path().join("a.txt"), "hello world").unwrap();
        assert_eq!(state(folder.path()).unwrap().dirty, Some(true));
    }

    #[test]
    fn after_a_reset_the_index_may_be_another_commits() {
        let (folder, seconds) = repository_with("hello");
        let committed = index_of_tree("a.txt", 5, seconds, "1");
        fs::write(folder.path().join(".git/index"), committed).unwrap();
        fs::create_dir(folder.path().join(".git/logs")).unwrap();
        let moved = |why: &str| {
            let line = format!("0 1 A <a@b> 1700000000 +0000\t{why}\n");
            fs::write(folder.path().join(".git/logs/HEAD"), line).unwrap();
            state(folder.path()).unwrap().dirty
        };
        assert_eq!(moved("reset: moving to HEAD~1"), None);
        assert_eq!(moved("commit: say why"), Some(false));
    }

    #[test]
    fn what_is_staged_and_not_committed_may_or_may_not_differ() {
        let (folder, seconds) = repository_with("hello");
        let staged = index_of_tree("a.txt", 5, seconds, "-1");
        fs::write(folder.path().join(".git/index"), staged).unwrap();
        assert_eq!(state(folder.path()).unwrap().dirty, None);
    }

    #[test]
    fn a_file_with_another_time_may_or_may_not_differ() {
        let (folder, seconds) = repository_with("hello");
        fs::write(
            folder.path().join(".git/index"),
            index("a.txt", 5, seconds - 9),
        )
        .unwrap();
        assert_eq!(state(folder.path()).unwrap().dirty, None);
    }

    #[test]
    fn a_damaged_index_is_no_answer_and_no_panic() {
        let whole = index_of_tree("a.txt", 5, 1, "1");
        for length in 0..whole.len() {
            let _ = is_dirty(&whole[..length], Path::new("/nowhere"));
        }
    }
}
