use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::appendix::{Appendix, SiteError, SiteInputs};
use super::logs::LogRoot;
use super::problem::SpecError;
use super::render::Renderer;
use super::site_checker::{CheckScope, FileDifferences, SiteChecker};
use super::site_map::{PageId, SiteMap};
use super::spec::Spec;
use super::statistic::statistics;
use crate::files;
use crate::grid::intensity::Dataset;
use crate::grid::zone::{Iso3, ZoneId};
use crate::ledger::{Assumptions, Skipped};
use crate::model::Redaction;
use crate::units::{GramsPerKwh, Pue};

/// Relative differences up to this are rounding errors.
const TOLERANCE: f64 = 1e-9;
/// The JSON of a page is always smaller.
const LARGEST: u64 = 1 << 30;

/// The result of comparing a site with the logs it was made from.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Checked {
    /// How many runs were compared.
    pub runs: usize,
    /// How many groups were compared.
    pub groups: usize,
    /// How many figures were compared.
    pub figures: usize,
    /// How many files were compared byte by byte.
    pub files: usize,
    /// Which kinds of files were compared byte by byte.
    pub scope: CheckScope,
    /// One sentence for each difference.
    pub differences: Vec<String>,
    /// The logs that are not part of the site.
    pub skipped: Vec<Skipped>,
}

/// Why a site cannot be compared with its logs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The folder was not written by `impact appendix`.
    #[error("{} is not a site that impact wrote", .0.display())]
    NotASite(PathBuf),
    /// The number of folders given for moved logs is wrong.
    #[error("the site was made from {expected} folders of logs, {found} were given")]
    Roots {
        /// How many folders the site was made from.
        expected: usize,
        /// How many folders were given.
        found: usize,
    },
    /// The spec of the site is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The site cannot be made again.
    #[error(transparent)]
    Site(#[from] SiteError),
}

/// What the start page's JSON says about how the site was made.
#[derive(Deserialize)]
struct Recorded {
    schema: String,
    generator: String,
    title: String,
    grouping: String,
    logs: Vec<RecordedLogs>,
    #[serde(default)]
    assumptions: RecordedAssumptions,
    country: Option<Iso3>,
    #[serde(default)]
    own_templates: bool,
    #[serde(default)]
    redacted: bool,
}

#[derive(Deserialize, Serialize)]
struct RecordedLogs {
    path: String,
    shown: String,
}

#[derive(Default, Deserialize)]
struct RecordedAssumptions {
    pue: Option<Pue>,
    emissions_factor: Option<GramsPerKwh>,
    #[serde(default)]
    project_settings: BTreeMap<String, String>,
    zone: Option<ZoneId>,
    dataset: Option<String>,
    #[serde(default)]
    basis: Option<String>,
}

pub(super) fn assumptions_json(assumptions: &Assumptions) -> Value {
    let mut json = json!({
        "pue": assumptions.pue,
        "emissions_factor": assumptions.emissions_factor,
        "zone": assumptions.default_zone,
        "dataset": assumptions.dataset.map(Dataset::name),
    });
    if let Some(emissions) = assumptions.emissions {
        json["basis"] = json!(emissions.name());
    }
    if !assumptions.project_settings.is_empty() {
        json["project_settings"] = json!(assumptions.project_settings);
    }
    json
}

/// Makes every file of a site again from its logs, and compares it with the file on disk.
///
/// The logs are looked for where they were, or in `moved_to`. `templates` is the folder of the user's
/// templates that the site was made with.
pub fn check(
    site: &Path,
    moved_to: &[PathBuf],
    templates: Option<&Path>,
    commands_allowed: bool,
) -> Result<Checked, CheckError> {
    let made_from: Recorded = read(&site.join("index.json"))
        .filter(|made_from: &Recorded| made_from.schema == crate::site::SCHEMA)
        .ok_or_else(|| CheckError::NotASite(site.to_owned()))?;
    if (made_from.redacted || !moved_to.is_empty()) && moved_to.len() != made_from.logs.len() {
        return Err(CheckError::Roots {
            expected: made_from.logs.len(),
            found: moved_to.len(),
        });
    }
    let scope = if made_from.generator != crate::site::GENERATOR {
        CheckScope::FiguresOnly
    } else if made_from.own_templates && templates.is_none() {
        CheckScope::WithoutPages
    } else {
        CheckScope::All
    };
    let renderer = Renderer::new(templates).map_err(SiteError::from)?;
    let logs_json = made_from.logs.iter().map(|logs| json!(logs)).collect();
    let own_templates = made_from.own_templates;
    let appendix = appendix(made_from, site, moved_to, commands_allowed)?;
    let logs = appendix.logs()?;
    let tree = appendix.tree(&logs)?;
    let from = SiteInputs {
        logs: &logs,
        tree: &tree,
        logs_json,
        own_templates,
    };
    compare(site, &appendix, &from, &renderer, scope)
}

/// What the site says it was made from.
fn appendix(
    made_from: Recorded,
    site: &Path,
    moved_to: &[PathBuf],
    commands_allowed: bool,
) -> Result<Appendix, SpecError> {
    let spec_text = bytes_of(&site.join("spec.json")).unwrap_or_default();
    let dataset = made_from.assumptions.dataset;
    let basis = made_from.assumptions.basis;
    Ok(Appendix {
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
        title: Some(made_from.title),
        assumptions: Assumptions {
            pue: made_from.assumptions.pue,
            emissions_factor: made_from.assumptions.emissions_factor,
            default_zone: made_from.assumptions.zone,
            default_country: made_from.country,
            dataset: dataset.and_then(|name| name.parse().ok()),
            emissions: basis.and_then(|name| name.parse().ok()),
            project_settings: made_from.assumptions.project_settings,
        },
        country: made_from.country,
        commands_allowed,
        empty_allowed: true,
        force: false,
        redaction: if made_from.redacted {
            Redaction::Identity
        } else {
            Redaction::Secrets
        },
    })
}

fn compare(
    site: &Path,
    appendix: &Appendix,
    from: &SiteInputs,
    renderer: &Renderer,
    scope: CheckScope,
) -> Result<Checked, CheckError> {
    let SiteInputs { logs, tree, .. } = from;
    let files = SiteChecker::of(site, scope).map_err(SiteError::from)?;
    let (entries, skipped) = appendix.make(from, &files, renderer, &|_, _| {})?;
    let map = SiteMap {
        title: "",
        tree,
        logs: &logs.runs,
        labels: &[],
        readable: OnceLock::new(),
    };
    let mut checked = Checked {
        runs: 0,
        groups: 0,
        figures: 0,
        files: 0,
        scope,
        differences: Vec::new(),
        skipped,
    };
    for (run, entry) in entries.iter().enumerate() {
        let Some(entry) = entry else { continue };
        checked.runs += 1;
        let folder = map.folder(PageId::Run(run, None));
        checked.compare(site, &folder, &logs.runs[run].shown, &json!(entry.figures));
    }
    for (place, group) in tree.groups.iter().enumerate() {
        checked.groups += 1;
        let runs = group.runs.iter().filter_map(|run| entries[*run].as_ref());
        let folder = map.folder(PageId::Group(place));
        checked.compare(site, &folder, &group.name, &json!(statistics(runs)));
    }
    let whole = json!(statistics(entries.iter().flatten()));
    checked.compare(site, "", "the start page", &whole);
    checked.add_files(files.finish());
    Ok(checked)
}

impl Checked {
    fn add_files(&mut self, found: FileDifferences) {
        self.files = found.files;
        if !found.is_finished {
            let text = "the site is not complete: writing it was interrupted, or its list of files was removed";
            self.differences.push(text.to_owned());
        }
        let differing = found.differing.into_iter();
        self.differences
            .extend(differing.map(|name| format!("{name} is not what the logs give")));
        let left_over = found.left_over.into_iter();
        self.differences
            .extend(left_over.map(|name| format!("{name} is no longer part of the site")));
    }

    fn compare(&mut self, site: &Path, folder: &str, what: &str, expected: &Value) {
        let Some(page) = read::<Value>(&site.join(format!("{folder}index.json"))) else {
            self.differences
                .push(format!("{what} has no page in the site"));
            return;
        };
        let (mut wanted, mut found) = (BTreeMap::new(), BTreeMap::new());
        numbers("", expected, &mut wanted);
        numbers("", &page["figures"], &mut found);
        for name in wanted
            .keys()
            .chain(found.keys().filter(|name| !wanted.contains_key(*name)))
        {
            self.figures += 1;
            let difference = match (wanted.get(name), found.get(name)) {
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

/// All numbers in a JSON value, by their paths such as `total_power.mean`.
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
    serde_json::from_slice(&bytes_of(path)?).ok()
}

/// The bytes of a file of the site; none if it is too large or not a regular file.
fn bytes_of(path: &Path) -> Option<Vec<u8>> {
    files::read(path, LARGEST).ok()
}
