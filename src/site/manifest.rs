use std::collections::BTreeSet;
use std::io::Read as _;

use serde::{Deserialize, Serialize};

use crate::files::{Folder, is_inside};

/// Marks a folder as a site that impact wrote.
pub(super) const MANIFEST: &str = "impact-site.json";

/// Room for the names of a million files.
const LARGEST: u64 = 256 << 20;

/// The list of a site's files.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Manifest {
    schema: String,
    pub(super) files: BTreeSet<String>,
    /// Set while files are replaced one by one: the site may have pages of two versions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) unfinished: bool,
}

impl Manifest {
    pub(super) fn of(files: BTreeSet<String>, unfinished: bool) -> Self {
        Self {
            schema: crate::site::SCHEMA.to_owned(),
            files,
            unfinished,
        }
    }

    /// The manifest of a site; none if the folder has none, or one of something else.
    ///
    /// Names that lead out of the folder are left out, because a manifest may come from somebody else.
    pub(super) fn read(site: &Folder) -> Option<Self> {
        let mut bytes = Vec::new();
        let file = site.file(MANIFEST).ok()?;
        file.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
        if bytes.len() as u64 > LARGEST {
            return None;
        }
        let mut manifest: Self = serde_json::from_slice(&bytes).ok()?;
        manifest.files.retain(|name| is_inside(name));
        (manifest.schema == crate::site::SCHEMA).then_some(manifest)
    }
}
