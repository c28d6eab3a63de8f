//! Answers of services kept on disk.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::fetch::LARGEST_BODY;
use crate::files;
use crate::files::AtomicFile;
use crate::model::Environment;

const LARGEST_HEADER: u64 = 16 * 1024;

/// Answers of services on disk, each with the time it was fetched.
///
/// A file is one line of JSON and then the body as it came. Whatever a file holds, the worst it can
/// do is to be ignored: the body is read by the same code that reads it from the network.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

/// The first line of a file.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    url: String,
    fetched: DateTime<Utc>,
    /// Left out for history, which does not change any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<DateTime<Utc>>,
}

impl Cache {
    /// A cache in this folder, which is made when the first answer is stored.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// `$XDG_CACHE_HOME/impact`, or `~/.cache/impact`; none on a machine with neither.
    #[must_use]
    pub fn of_user(environment: &Environment) -> Option<Self> {
        let home = || Some(environment.absolute_path("HOME")?.join(".cache"));
        let folder = environment.absolute_path("XDG_CACHE_HOME").or_else(home)?;
        Some(Self::new(folder.join("impact")))
    }

    fn path(&self, url: &str) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        url.hash(&mut hasher);
        self.folder.join(format!("{:016x}.answer", hasher.finish()))
    }

    /// The body kept for this address, unless it has expired.
    #[must_use]
    pub fn load(&self, url: &str, now: DateTime<Utc>) -> Option<Vec<u8>> {
        let path = self.path(url);
        let mut file = BufReader::new(files::open(&path).ok()?);
        let mut line = Vec::new();
        file.by_ref()
            .take(LARGEST_HEADER)
            .read_until(b'\n', &mut line)
            .ok()?;
        let header: Header = serde_json::from_slice(&line).ok()?;
        let fresh = header.fetched <= now && header.expires.is_none_or(|end| now < end);
        if header.url != url || !fresh {
            return None;
        }
        let mut body = Vec::new();
        file.take(LARGEST_BODY + 1).read_to_end(&mut body).ok()?;
        (body.len() as u64 <= LARGEST_BODY).then_some(body)
    }

    /// Keeps a body; a reader never sees half of it.
    pub fn store(
        &self,
        url: &str,
        body: &[u8],
        fetched: DateTime<Utc>,
        expires: Option<DateTime<Utc>>,
    ) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let header = Header {
            url: url.to_owned(),
            fetched,
            expires,
        };
        let mut bytes = serde_json::to_vec(&header)?;
        bytes.push(b'\n');
        bytes.extend_from_slice(body);
        let mut file = AtomicFile::new(&self.path(url))?;
        file.write_all(&bytes)?;
        file.replace()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://example.org/now";

    fn instant(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn what_expires_is_forgotten_and_history_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("impact"));
        let (noon, one, years_later) = (
            instant("2026-01-01T12:00:00Z"),
            instant("2026-01-01T13:00:00Z"),
            instant("2036-01-01T12:00:00Z"),
        );
        cache.store(URL, b"now", noon, Some(one)).unwrap();
        assert_eq!(cache.load(URL, noon).as_deref(), Some(&b"now"[..]));
        assert_eq!(cache.load(URL, one), None);
        cache.store(URL, b"then", noon, None).unwrap();
        assert_eq!(cache.load(URL, years_later).as_deref(), Some(&b"then"[..]));
        assert_eq!(
            fs::read_dir(folder.path().join("impact")).unwrap().count(),
            1
        );
    }

    #[test]
    fn hostile_files_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let now = instant("2026-01-01T12:00:00Z");
        let other = r#"{"url":"https://example.org/other","fetched":"2026-01-01T11:00:00Z"}"#;
        let future = r#"{"url":"https://example.org/now","fetched":"2027-01-01T11:00:00Z"}"#;
        for bytes in [
            &b""[..],
            b"\0\xff\n",
            b"{}\nbody",
            b"[1,2]\n",
            other.as_bytes(),
            future.as_bytes(),
        ] {
            fs::write(cache.path(URL), bytes).unwrap();
            assert_eq!(cache.load(URL, now), None);
        }
        fs::remove_file(cache.path(URL)).unwrap();
        fs::create_dir(cache.path(URL)).unwrap();
        assert_eq!(cache.load(URL, now), None);
        assert!(cache.store(URL, b"body", now, None).is_err());
    }
}
