use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::files;
use crate::log::{DATA_FILE, FOLDER, INFO_FILE, MESSAGES_FILE, legacy};

/// The fastest level; logs are repetitive and shrink to a tenth with it.
const LEVEL: i64 = 1;

/// Packs the log of a run; the same log always gives the same bytes.
pub(super) fn pack(run: &Path, into: &Path) -> io::Result<u64> {
    let mut zip = ZipWriter::new(BufWriter::new(File::create(into)?));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(LEVEL))
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    for name in [DATA_FILE, INFO_FILE, legacy::INFO_FILE, MESSAGES_FILE] {
        let path = run.join(FOLDER).join(name);
        // A link could point to a file that is not part of the log and must not be published.
        if !path.symlink_metadata().is_ok_and(|about| about.is_file()) {
            continue;
        }
        let file = files::open_unless_link(&path)?;
        let large = file.metadata()?.len() >= u64::from(u32::MAX);
        zip.start_file(format!("{FOLDER}/{name}"), options.large_file(large))?;
        io::copy(&mut &file, &mut zip)?;
    }
    let file = zip
        .finish()?
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    file.metadata().map(|metadata| metadata.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_a_link_points_to_is_not_packed() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("run").join(FOLDER);
        fs::create_dir_all(&log).unwrap();
        fs::write(folder.path().join("secret"), "secret").unwrap();
        fs::write(log.join(DATA_FILE), "{}\n").unwrap();
        std::os::unix::fs::symlink("../../secret", log.join(MESSAGES_FILE)).unwrap();
        let into = folder.path().join("log.zip");
        pack(&folder.path().join("run"), &into).unwrap();
        let packed = zip::ZipArchive::new(File::open(into).unwrap()).unwrap();
        let names: Vec<_> = packed.file_names().map(Result::unwrap).collect();
        assert_eq!(names, [format!("{FOLDER}/{DATA_FILE}")]);
    }
}
