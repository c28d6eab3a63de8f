use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::files;
use crate::log::{DATA_FILE, FOLDER, INFO_FILE, MESSAGES_FILE, checksum, legacy};
use crate::model::secret;
use crate::model::{Names, Redaction};

/// The fastest level; logs are repetitive and shrink to a tenth with it.
const LEVEL: i64 = 1;

/// Longer lines are left out of a redacted copy.
const LONGEST_LINE: u64 = 16 << 20;
/// Larger files are no logs, such as one with holes.
const LARGEST_DATA: u64 = 64 << 30;
/// The same for all but the samples.
const LARGEST_TEXT: u64 = 64 << 20;

/// Packs the log of a run without what is not to be published; the same log always gives the same bytes.
pub(super) fn pack(
    run: &Path,
    redaction: Redaction,
    names: &Names,
    into: File,
) -> io::Result<File> {
    let mut zip = ZipWriter::new(BufWriter::new(into));
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
        // A pickle cannot be redacted, and messages name whatever was opened.
        let is_published = match name {
            legacy::INFO_FILE | MESSAGES_FILE => redaction != Redaction::Identity,
            _ => true,
        };
        if !is_published {
            continue;
        }
        let file = files::open_unless_link(&path)?;
        let size = file.metadata()?.len();
        let largest = if name == DATA_FILE {
            LARGEST_DATA
        } else {
            LARGEST_TEXT
        };
        if size > largest {
            let text = format!("{} is larger than {} MB", path.display(), largest >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        let large = size >= u64::from(u32::MAX);
        zip.start_file(format!("{FOLDER}/{name}"), options.large_file(large))?;
        match name {
            INFO_FILE => zip.write_all(&info(&file, redaction)?)?,
            MESSAGES_FILE => copy_lines(&file, &mut zip, |line| secret::redact(line).into())?,
            DATA_FILE if redaction == Redaction::Identity => {
                copy_lines(&file, &mut zip, |line| {
                    checksum::resealed(&redaction.line(line, names))
                })?;
            }
            _ => drop(io::copy(&mut (&file).take(size), &mut zip)?),
        }
    }
    zip.finish()?
        .into_inner()
        .map_err(io::IntoInnerError::into_error)
}

/// The bytes of `info.json`, unchanged where there is nothing to redact.
fn info(file: &File, redaction: Redaction) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(LARGEST_TEXT).read_to_end(&mut bytes)?;
    let Ok(mut value) = serde_json::from_slice::<serde_json::Value>(&bytes) else {
        return Ok(Vec::new());
    };
    let raw = value.clone();
    redaction.apply(&mut value);
    if value == raw {
        Ok(bytes)
    } else {
        // The checksum is that of what was recorded.
        if let Some(fields) = value.as_object_mut() {
            fields.remove("crc");
        }
        Ok(serde_json::to_vec_pretty(&value)?)
    }
}

/// Copies a text line by line; lines that are too long are left out.
fn copy_lines(
    from: &File,
    into: &mut impl Write,
    redact: impl Fn(&str) -> String,
) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut from)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        if read as u64 == LONGEST_LINE && !line.ends_with(b"\n") {
            from.skip_until(b'\n')?;
            continue;
        }
        into.write_all(redact(&String::from_utf8_lossy(&line)).as_bytes())?;
    }
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
        let packed = pack(
            &folder.path().join("run"),
            Redaction::Secrets,
            &Names::default(),
            tempfile::tempfile().unwrap(),
        )
        .unwrap();
        let packed = zip::ZipArchive::new(packed).unwrap();
        let names: Vec<_> = packed.file_names().map(Result::unwrap).collect();
        assert_eq!(names, [format!("{FOLDER}/{DATA_FILE}")]);
    }
}
