//! Pictures of which spans of a run used its energy, if a profile lies in its folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::entry::RunDetails;
use crate::ledger::attribute::{self, Attribution, Options};
use crate::ledger::collect::with_causes;
use crate::model::Redaction;

/// The name of a profile without its extension, such as that of `profile.json`.
const STEM: &str = "profile";

/// A picture in a file beside the page of a run.
pub(super) struct EnergyPicture {
    pub(super) file: &'static str,
    pub(super) title: &'static str,
    pub(super) svg: String,
}

/// The pictures of a run, or why its profile is not shown; none without a profile.
pub(super) fn energy_pictures(
    run: &Path,
    details: &RunDetails,
    redaction: Redaction,
) -> Option<Result<Vec<EnergyPicture>, String>> {
    let profile = profile_of(run)?;
    if redaction == Redaction::Identity {
        return Some(Err(
            "the profile is not shown: its names are not redacted".to_owned()
        ));
    }
    let options = Options {
        over_time: true,
        ..Options::default()
    };
    let mut attribution = match Attribution::of(run, &profile, &options) {
        Ok(attribution) => attribution,
        Err(error) => {
            let why = with_causes(&error);
            return Some(Err(format!("the profile is not shown: {why}")));
        }
    };
    // What is published of the name.
    attribution.run.clone_from(&details.entry.name);
    let mut pictures = vec![
        EnergyPicture {
            file: "flame.svg",
            title: "Energy flame graph",
            svg: attribute::flame(&attribution),
        },
        EnergyPicture {
            file: "calls.svg",
            title: "Calls by energy",
            svg: attribute::graph(&attribution),
        },
    ];
    pictures.extend(attribute::bands(&attribution).map(|svg| EnergyPicture {
        file: "bands.svg",
        title: "Power over time by name",
        svg,
    }));
    Some(Ok(pictures))
}

/// The profile in the folder of a run; a link could lead to what is not to be published.
fn profile_of(run: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(run).ok()?.filter_map(Result::ok);
    let profiles = entries.filter(|entry| {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        is_file && entry.path().file_stem().is_some_and(|stem| stem == STEM)
    });
    profiles.map(|entry| entry.path()).min()
}
