use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::{Value, json};

use super::appendix::{Appendix, SiteError};
use super::entry::statistics;
use super::logs::LogRoot;
use super::problem::SpecError;
use super::site_map::{Place, SiteMap};
use super::spec::Spec;
use crate::account::{Assumptions, Skipped};
use crate::intensity::Dataset;
use crate::units::{GramsPerKwh, Pue};
use crate::zone::ZoneId;

/// Figures that differ by less are the same.
const TOLERANCE: f64 = 1e-9;

/// What came of comparing a site with the logs it was made from.
#[derive(Debug, Default)]
pub struct Checked {
    pub runs: usize,
    pub groups: usize,
    /// Figures that were compared.
    pub figures: usize,
    pub differences: Vec<String>,
    pub skipped: Vec<Skipped>,
}

/// Why a site cannot be compared with its logs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    #[error("{} is not a site of ours", .0.display())]
    NotASite(PathBuf),
    #[error("the site was made from {expected} folders of logs, {found} were given")]
    Roots { expected: usize, found: usize },
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error(transparent)]
    Site(#[from] SiteError),
}

#[derive(Deserialize)]
struct MadeFrom {
    schema: String,
    grouping: String,
    logs: Vec<MadeFromLogs>,
    #[serde(default)]
    assumptions: MadeWith,
}

#[derive(Deserialize)]
struct MadeFromLogs {
    path: String,
    shown: String,
}

#[derive(Default, Deserialize)]
struct MadeWith {
    pue: Option<Pue>,
    emissions_factor: Option<GramsPerKwh>,
    zone: Option<ZoneId>,
    dataset: Option<String>,
}

pub(super) fn assumptions_json(assumptions: &Assumptions) -> Value {
    json!({
        "pue": assumptions.pue,
        "emissions_factor": assumptions.emissions_factor,
        "zone": assumptions.elsewhere,
        "dataset": assumptions.dataset.map(Dataset::name),
    })
}

/// Reads the logs of a site again, from where they were or from the folders given, and compares.
pub fn check(
    site: &Path,
    moved_to: &[PathBuf],
    commands_allowed: bool,
) -> Result<Checked, CheckError> {
    let made_from: MadeFrom = read(&site.join("index.json"))
        .filter(|made_from: &MadeFrom| made_from.schema == super::SCHEMA)
        .ok_or_else(|| CheckError::NotASite(site.to_owned()))?;
    if !moved_to.is_empty() && moved_to.len() != made_from.logs.len() {
        return Err(CheckError::Roots {
            expected: made_from.logs.len(),
            found: moved_to.len(),
        });
    }
    let spec_text = fs::read(site.join("spec.json")).unwrap_or_default();
    let dataset = made_from.assumptions.dataset;
    let appendix = Appendix {
        roots: made_from
            .logs
            .into_iter()
            .enumerate()
            .map(|(place, logs)| LogRoot {
                path: moved_to
                    .get(place)
                    .cloned()
                    .unwrap_or_else(|| site.join(logs.path)),
                shown: logs.shown,
            })
            .collect(),
        spec: (made_from.grouping == "spec")
            .then(|| Spec::parse(&spec_text))
            .transpose()?,
        spec_text,
        title: None,
        assumptions: Assumptions {
            pue: made_from.assumptions.pue,
            emissions_factor: made_from.assumptions.emissions_factor,
            elsewhere: made_from.assumptions.zone,
            dataset: dataset.and_then(|name| name.parse().ok()),
        },
        country: None,
        commands_allowed,
        empty_allowed: true,
        force: false,
    };
    compare(site, &appendix)
}

fn compare(site: &Path, appendix: &Appendix) -> Result<Checked, CheckError> {
    let logs = appendix.logs()?;
    let tree = appendix.tree(&logs)?;
    let (entries, skipped) = appendix.read(&logs, &tree, &|_, _| {}, |_, _| Ok(()))?;
    let map = SiteMap {
        title: "",
        tree: &tree,
        logs: &logs.runs,
        labels: &[],
        readable: OnceLock::new(),
    };
    let mut checked = Checked {
        skipped,
        ..Checked::default()
    };
    for (run, entry) in entries.iter().enumerate() {
        let Some(entry) = entry else { continue };
        checked.runs += 1;
        let folder = map.folder(Place::Run(run, None));
        checked.compare(site, &folder, &logs.runs[run].shown, &json!(entry.figures));
    }
    for (place, group) in tree.groups.iter().enumerate() {
        checked.groups += 1;
        let runs = group.runs.iter().filter_map(|run| entries[*run].as_ref());
        let folder = map.folder(Place::Group(place));
        checked.compare(site, &folder, &group.name, &json!(statistics(runs)));
    }
    let whole = json!(statistics(entries.iter().flatten()));
    checked.compare(site, "", "the start page", &whole);
    Ok(checked)
}

impl Checked {
    fn compare(&mut self, site: &Path, folder: &str, what: &str, expected: &Value) {
        let Some(page) = read::<Value>(&site.join(format!("{folder}index.json"))) else {
            self.differences
                .push(format!("{what} has no page in the site"));
            return;
        };
        let (mut ours, mut theirs) = (BTreeMap::new(), BTreeMap::new());
        numbers("", expected, &mut ours);
        numbers("", &page["figures"], &mut theirs);
        for name in ours
            .keys()
            .chain(theirs.keys().filter(|name| !ours.contains_key(*name)))
        {
            self.figures += 1;
            let difference = match (ours.get(name), theirs.get(name)) {
                (Some(a), Some(b)) if (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()) => continue,
                (Some(now), Some(then)) => {
                    format!("{name} of {what} is {now}, the site says {then}")
                }
                (Some(now), None) => format!("{name} of {what} is {now}, the site has none"),
                (None, Some(then)) => {
                    format!("{name} of {what} is no longer there, the site says {then}")
                }
                (None, None) => continue,
            };
            self.differences.push(difference);
        }
    }
}

/// Every number in a value, by the names that lead to it.
fn numbers(name: &str, value: &Value, into: &mut BTreeMap<String, f64>) {
    match value {
        Value::Number(number) => {
            into.insert(name.to_owned(), number.as_f64().unwrap_or(f64::NAN));
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                let name = if name.is_empty() {
                    key.clone()
                } else {
                    format!("{name}.{key}")
                };
                numbers(&name, value, into);
            }
        }
        _ => {}
    }
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}
