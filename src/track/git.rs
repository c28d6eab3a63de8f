//! The commit of the working directory, read from the repository's files.
//!
//! Git itself is not run: it would take CPU time beside the job, and a repository's settings can make
//! it run other programs. So it is not known whether files differ from the commit.

use std::path::{Path, PathBuf};

use crate::files;
use crate::files::TrustedOwners;
use crate::model::info::Git;

/// Larger files are not read; `packed-refs` has one line for each branch and tag.
const MOST_BYTES: u64 = 4 << 20;

/// The commit checked out around `folder`, if it lies in a repository of a trusted user.
pub(crate) fn state(folder: &Path, owners: &TrustedOwners) -> Option<Git> {
    let dot_git = folder
        .ancestors()
        .map(|top| top.join(".git"))
        .find(|dot_git| dot_git.exists())?;
    let is_trusted = |path: &Path| matches!(owners.check(path), Ok(Ok(())));
    // A `.git` of somebody else could name any file of this user as the repository's.
    if !is_trusted(&dot_git) {
        return None;
    }
    let repository = repository(&dot_git).filter(|folder| is_trusted(folder))?;
    let commit = head(&repository, &is_trusted)?;
    let is_hash = matches!(commit.len(), 40 | 64) && commit.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then_some(Git {
        commit,
        dirty: None,
    })
}

/// The repository's folder; in a worktree `.git` is a file that names it.
fn repository(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return Some(dot_git.to_owned());
    }
    let text = small_file(dot_git)?;
    let path = text.strip_prefix("gitdir:")?.trim();
    Some(dot_git.parent()?.join(path))
}

fn head(repository: &Path, is_trusted: &impl Fn(&Path) -> bool) -> Option<String> {
    let head = file_inside(repository, "HEAD", is_trusted)?;
    let Some(name) = head.trim().strip_prefix("ref: ") else {
        return Some(head.trim().to_owned());
    };
    if !name.starts_with("refs/") || name.split('/').any(|part| part == "..") {
        return None;
    }
    let common = small_file(&repository.join("commondir")).map_or_else(
        || repository.to_owned(),
        |path| repository.join(path.trim()),
    );
    for folder in [repository, &common] {
        if let Some(commit) = file_inside(folder, name, is_trusted) {
            return Some(commit.trim().to_owned());
        }
    }
    let packed = file_inside(&common, "packed-refs", is_trusted)?;
    packed.lines().find_map(|line| {
        let (commit, packed_name) = line.split_once(' ')?;
        (packed_name == name).then(|| commit.to_owned())
    })
}

/// A file of a trusted user that lies in `folder` behind all links.
fn file_inside(folder: &Path, name: &str, is_trusted: &impl Fn(&Path) -> bool) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let path = folder.join(name).canonicalize().ok()?;
    (path.starts_with(&folder) && is_trusted(&path)).then(|| small_file(&path))?
}

fn small_file(path: &Path) -> Option<String> {
    files::read_text(path, MOST_BYTES).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    fn repository_with(head: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".git/refs/heads")).unwrap();
        fs::write(folder.path().join(".git/HEAD"), head).unwrap();
        folder
    }

    fn commit(folder: &Path) -> Option<String> {
        state(folder, &TrustedOwners::of_process(None)).map(|git| git.commit)
    }

    #[test]
    fn the_commit_is_that_of_the_branch_loose_or_packed() {
        let folder = repository_with("ref: refs/heads/main\n");
        let packed = format!("# pack-refs with: peeled\n{COMMIT} refs/heads/main\n");
        fs::write(folder.path().join(".git/packed-refs"), packed).unwrap();
        let below = folder.path().join("src/deep");
        fs::create_dir_all(&below).unwrap();
        assert_eq!(commit(&below).as_deref(), Some(COMMIT));
        let newer = COMMIT.replace('0', "f");
        fs::write(folder.path().join(".git/refs/heads/main"), &newer).unwrap();
        assert_eq!(commit(&below), Some(newer));
    }

    #[test]
    fn a_detached_head_is_a_commit_and_other_text_is_none() {
        let detached = repository_with(&format!("{COMMIT}\n"));
        assert_eq!(commit(detached.path()).as_deref(), Some(COMMIT));
        assert_eq!(commit(repository_with("secret\n").path()), None);
        let outside = repository_with("ref: refs/../../secret\n");
        fs::write(outside.path().join("secret"), COMMIT).unwrap();
        assert_eq!(commit(outside.path()), None);
    }

    #[test]
    fn a_repository_of_somebody_else_has_no_commit() {
        let folder = repository_with(&format!("{COMMIT}\n"));
        let own = rustix::process::geteuid().as_raw();
        let by = |users: &[u32]| state(folder.path(), &TrustedOwners::these(users));
        assert!(by(&[own]).is_some());
        assert!(by(&[own + 1]).is_none());
    }

    #[test]
    fn a_worktree_names_its_repository_in_a_file() {
        let folder = repository_with("ref: refs/heads/main\n");
        fs::write(folder.path().join(".git/refs/heads/main"), COMMIT).unwrap();
        let its_own = folder.path().join(".git/worktrees/w");
        fs::create_dir_all(&its_own).unwrap();
        fs::write(its_own.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(its_own.join("commondir"), "../..\n").unwrap();
        let worktree = tempfile::tempdir().unwrap();
        let link = format!("gitdir: {}\n", its_own.display());
        fs::write(worktree.path().join(".git"), link).unwrap();
        assert_eq!(commit(worktree.path()).as_deref(), Some(COMMIT));
    }

    #[test]
    fn a_link_that_leads_out_of_the_repository_is_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        fs::create_dir(outside.path().join("heads")).unwrap();
        fs::write(outside.path().join("heads/main"), COMMIT).unwrap();
        let folder = repository_with("ref: refs/heads/main\n");
        let refs = folder.path().join(".git/refs");
        let main = refs.join("heads/main");
        std::os::unix::fs::symlink(outside.path().join("heads/main"), &main).unwrap();
        assert_eq!(commit(folder.path()), None);
        fs::remove_dir_all(&refs).unwrap();
        std::os::unix::fs::symlink(outside.path(), &refs).unwrap();
        assert_eq!(commit(folder.path()), None);
        let head = folder.path().join(".git/HEAD");
        fs::remove_file(&head).unwrap();
        std::os::unix::fs::symlink(outside.path().join("heads/main"), &head).unwrap();
        assert_eq!(commit(folder.path()), None);
    }

    #[test]
    fn a_pipe_in_place_of_a_file_is_not_waited_for() {
        let folder = repository_with("");
        let head = folder.path().join(".git/HEAD");
        fs::remove_file(&head).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&head).status();
        assert!(made.unwrap().success());
        assert_eq!(commit(folder.path()), None);
    }
}
