use std::fs::File;
use std::io;
use std::io::Read as _;
use std::path::Path;

/// Opens a regular file. Does not wait for the other end of a pipe.
///
/// # Errors
///
/// `InvalidInput` if the path names something else, such as a folder, pipe or device.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    open_with(path, true)
}

/// Opens a regular file, and fails if the last part of the path is a link.
pub(crate) fn open_unless_link(path: &Path) -> io::Result<File> {
    open_with(path, false)
}

#[cfg_attr(not(unix), expect(unused_variables, reason = "links are rare there"))]
fn open_with(path: &Path, follow: bool) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let mut flags = OFlags::NONBLOCK;
        if !follow {
            flags |= OFlags::NOFOLLOW;
        }
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits() as i32);
    }
    if_regular(options.open(path)?)
}

/// The file, unless it is a folder, pipe or device.
pub(super) fn if_regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ))
    }
}

/// Reads a regular file of at most `largest` bytes.
///
/// # Errors
///
/// `FileTooLarge` if it is larger, and the errors of [`open`].
pub(crate) fn read(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let mut bytes = Vec::new();
    // The size in the metadata is not relied on: files in /proc have none, and a file may grow.
    file.take(largest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > largest {
        let text = match largest >> 20 {
            0 => format!("larger than {largest} bytes"),
            megabytes => format!("larger than {megabytes} MB"),
        };
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

/// Reads a regular file of at most `largest` bytes of UTF-8.
///
/// # Errors
///
/// `InvalidData` if it is not UTF-8, and the errors of [`read`].
pub(crate) fn read_text(path: &Path, largest: u64) -> io::Result<String> {
    String::from_utf8(read(path, largest)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        let error = read(&path, 4).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn pipes_devices_and_folders_are_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for path in [pipe.as_path(), Path::new("/dev/zero"), folder.path()] {
            let error = read(path, 10).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{path:?}");
        }
    }

    #[test]
    fn a_link_is_followed_unless_that_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "text").unwrap();
        symlink(&file, &link).unwrap();
        assert_eq!(read_text(&link, 10).unwrap(), "text");
        assert!(open_unless_link(&link).is_err());
        assert!(open_unless_link(&file).is_ok());
    }
}
