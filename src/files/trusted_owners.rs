use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

/// The users whose files may decide what this program does: its own user and root.
///
/// Root through sudo also trusts the user who called sudo. The rule is that of git's `safe.directory`.
#[derive(Debug, Clone)]
pub(crate) struct TrustedOwners {
    users: Vec<u32>,
}

/// A file or folder of somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it or its folder belongs to user {user}, who is neither you nor root")]
pub(crate) struct UntrustedOwner {
    pub(crate) user: u32,
}

impl TrustedOwners {
    /// Those of this process, given the variable `SUDO_UID`.
    #[cfg(unix)]
    pub(crate) fn of_process(sudo_uid: Option<&str>) -> Self {
        let own = rustix::process::geteuid().as_raw();
        let caller = sudo_uid.filter(|_| own == 0).and_then(|id| id.parse().ok());
        Self {
            users: [own, 0].into_iter().chain(caller).collect(),
        }
    }

    /// Files have no such owner here, so all are trusted.
    #[cfg(not(unix))]
    pub(crate) fn of_process(_sudo_uid: Option<&str>) -> Self {
        Self { users: Vec::new() }
    }

    /// Whether a file or folder, the link to it if it is one, and the folder around it are all of trusted users.
    ///
    /// # Errors
    ///
    /// If one of them cannot be looked at.
    pub(crate) fn check(&self, path: &Path) -> io::Result<Result<(), UntrustedOwner>> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // The link first: a stranger's may lead nowhere.
        for metadata in [fs::symlink_metadata(path)?, fs::metadata(folder)?] {
            if let Err(untrusted) = self.own(&metadata) {
                return Ok(Err(untrusted));
            }
        }
        Ok(self.own(&fs::metadata(path)?))
    }

    /// Those with these numbers.
    #[cfg(test)]
    pub(crate) fn these(users: &[u32]) -> Self {
        Self {
            users: users.to_vec(),
        }
    }

    #[cfg(unix)]
    fn own(&self, metadata: &Metadata) -> Result<(), UntrustedOwner> {
        let user = std::os::unix::fs::MetadataExt::uid(metadata);
        if self.users.contains(&user) {
            Ok(())
        } else {
            Err(UntrustedOwner { user })
        }
    }

    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "the owner is only known on Unix")]
    fn own(&self, _metadata: &Metadata) -> Result<(), UntrustedOwner> {
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_user_and_of_root_are_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let owners = TrustedOwners::of_process(None);
        assert_eq!(owners.check(&file).unwrap(), Ok(()));
        let own = rustix::process::geteuid().as_raw();
        let others = TrustedOwners::these(&[own + 1]);
        assert_eq!(
            others.check(&file).unwrap(),
            Err(UntrustedOwner { user: own })
        );
        assert!(owners.check(&folder.path().join("none")).is_err());
    }

    #[test]
    fn root_trusts_the_user_who_called_sudo_and_nobody_else_does() {
        let own = rustix::process::geteuid().as_raw();
        let owners = TrustedOwners::of_process(Some("54321"));
        assert_eq!(owners.users.contains(&54_321), own == 0);
        assert!(!TrustedOwners::of_process(Some("x")).users.contains(&54_321));
    }
}
