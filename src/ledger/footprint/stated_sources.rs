use std::collections::BTreeSet;

use crate::log::intensity_sources;
use crate::model::{Info, Provenance, Source};

/// A run asks a few services; a log that names more is not believed.
const MOST_SOURCES: usize = 64;
/// The names, licences and fallbacks of a few sources.
const LONGEST_TEXT: usize = 4096;

/// Who stated the intensities in the samples of a log.
#[derive(Debug, Default)]
pub(super) struct StatedSources {
    /// The different texts in the samples.
    texts: Vec<Box<[u8]>>,
    /// Some sample has an intensity and does not say who stated it.
    is_incomplete: bool,
}

impl StatedSources {
    /// Takes note of the source of one intensity, as text.
    pub(super) fn see(&mut self, text: Option<&[u8]>) {
        let known = text.filter(|text| text.len() <= LONGEST_TEXT);
        match known {
            Some(text) if self.texts.iter().any(|seen| **seen == *text) => {}
            Some(text) if self.texts.len() < MOST_SOURCES => self.texts.push(text.into()),
            _ => self.is_incomplete = true,
        }
    }

    /// All of them; the info file names those of samples that do not.
    pub(super) fn finish(&self, info: &Info) -> Vec<Provenance> {
        let mut stated = BTreeSet::new();
        let mut is_incomplete = self.is_incomplete;
        for text in &self.texts {
            match intensity_sources(text) {
                Some(sources) if !sources.is_empty() => stated.extend(sources),
                _ => is_incomplete = true,
            }
        }
        if stated.is_empty() {
            return info.realtime_sources.clone();
        }
        if is_incomplete && info.realtime_sources.is_empty() {
            let unnamed = Source::named("a service that the log does not name");
            stated.insert(Provenance::of(unnamed));
        } else if is_incomplete {
            stated.extend(info.realtime_sources.iter().cloned());
        }
        stated.into_iter().collect()
    }
}
