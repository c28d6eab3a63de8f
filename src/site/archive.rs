use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::log::{DATA_FILE, FOLDER, INFO_FILE, MESSAGES_FILE, legacy};

/// Fast: a log is repetitive and shrinks to a tenth anyway.
const LEVEL: i64 = 3;

/// Packs a run's log; the same log gives the same bytes, whenever it is packed.
pub(super) fn pack(run: &Path, into: &Path) -> io::Result<u64> {
    let mut zip = ZipWriter::new(BufWriter::new(File::create(into)?));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(LEVEL))
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    for name in [DATA_FILE, INFO_FILE, legacy::INFO_FILE, MESSAGES_FILE] {
        let path = run.join(FOLDER).join(name);
        if !path.is_file() {
            continue;
        }
        let large = path.metadata()?.len() >= u64::from(u32::MAX);
        zip.start_file(format!("{FOLDER}/{name}"), options.large_file(large))?;
        io::copy(&mut File::open(path)?, &mut zip)?;
    }
    let file = zip
        .finish()?
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    file.metadata().map(|metadata| metadata.len())
}
