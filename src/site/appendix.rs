use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rayon::prelude::*;
use serde_json::{Value, json};

use super::archive::pack;
use super::entry::{Entry, EntryError, Reader, RunDetails};
use super::file_sink::FileSink;
use super::group_page::SiteRuns;
use super::logs::{LogRoot, Logs};
use super::page::{Archive, Image, StatementBlock};
use super::problem::SpecError;
use super::processor::Processor;
use super::progress::Progress;
use super::relative::relative;
use super::render::{RenderError, Renderer};
use super::run_page::run_page;
use super::site_map::{PageId, SiteMap, labels};
use super::site_writer::{SiteWriter, WriteError, Written};
use super::spec::Spec;
use super::start_page::{StartPageContent, start_page};
use super::table::Table;
use super::tree::Tree;
use super::zone_map::ZoneMaps;
use crate::grid::zone::Iso3;
use crate::ledger::statement::Statement;
use crate::ledger::{Assumptions, Collection, Figure, Skipped, statement};
use crate::text::number::{self, counted};

const ARCHIVE: &str = "log.zip";
/// Beyond these, reasons are only counted.
const MOST_REASONS: usize = 20;

/// Everything a site is made from.
#[derive(Debug)]
pub struct Appendix {
    pub roots: Vec<LogRoot>,
    /// Without one, folders are groups.
    pub spec: Option<Spec>,
    /// The spec as it was written, kept with the site.
    pub spec_text: Vec<u8>,
    pub title: Option<String>,
    pub assumptions: Assumptions,
    /// Whose social cost the statement names; else that of the country the runs took place in.
    pub country: Option<Iso3>,
    /// Whether processors may run programs.
    pub commands_allowed: bool,
    /// Whether groups without runs are left out instead of refused.
    pub empty_allowed: bool,
    /// Whether a folder that is not ours may be written into.
    pub force: bool,
}

/// What came of a site.
#[derive(Debug)]
pub struct Outcome {
    pub runs: usize,
    pub groups: usize,
    pub written: Written,
    pub skipped: Vec<Skipped>,
    /// What the author is to know: of the spec, and of figures that are missing.
    pub notices: Vec<String>,
}

/// Why there is no site.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SiteError {
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error(transparent)]
    Render(#[from] RenderError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error("no logs were found in {}", .0.join(", "))]
    NoLogs(Vec<String>),
    #[error("none of the {0} logs can be read")]
    NoReadableLogs(usize),
    #[error("a page cannot be written as JSON")]
    Json(#[from] serde_json::Error),
}

impl Appendix {
    /// Reads every run once, in parallel, and writes the site.
    ///
    /// A run's page is written as soon as its log is read and little is kept of it after that, so
    /// memory grows neither with the length of the logs nor much with their number. `progress` is
    /// told how many runs are done, of how many.
    pub fn write(
        &self,
        out: &Path,
        renderer: &Renderer,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Outcome, SiteError> {
        let logs = self.logs()?;
        let tree = self.tree(&logs)?;
        let stage = SiteWriter::begin(out, self.force)?;
        let from = SiteInputs {
            logs: &logs,
            tree: &tree,
            logs_json: self.logs_json(out),
            own_templates: renderer.is_own(),
        };
        let (entries, skipped) = self.make(&from, &stage, renderer, progress)?;
        let mut notices = self.notices();
        let summaries = entries.iter().flatten().map(|entry| &entry.summary);
        notices.extend(self.assumptions.past_the_data_set(summaries));
        notices.extend(notices_of_missing_figures(&entries));
        notices.extend(self.notices_of_unused_figures(&tree, &entries));
        Ok(Outcome {
            runs: entries.iter().flatten().count(),
            groups: tree.groups.len(),
            written: stage.finish()?,
            skipped,
            notices,
        })
    }

    /// Makes every file of the site, and gives what was read on the way.
    pub(super) fn make(
        &self,
        from: &SiteInputs,
        files: &dyn FileSink,
        renderer: &Renderer,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<(Vec<Option<Entry>>, Vec<Skipped>), SiteError> {
        let SiteInputs { logs, tree, .. } = from;
        let labels = labels(&logs.runs);
        let title = self.title(tree);
        let map = SiteMap {
            title: &title,
            tree,
            logs: &logs.runs,
            labels: &labels,
            readable: OnceLock::new(),
        };
        let writer = Writer {
            shelf: files,
            renderer,
            map: &map,
            zones: ZoneMaps::default(),
        };
        let (entries, skipped) = self.read(logs, tree, progress, |run, reading| {
            writer.run(run, reading)
        })?;
        if entries.iter().all(Option::is_none) {
            return Err(SiteError::NoReadableLogs(logs.runs.len()));
        }
        // Set once: pages of runs came before, pages of groups come after.
        let _ = map
            .readable
            .set(entries.iter().map(Option::is_some).collect());
        let names = names(&entries, &labels);
        let all = SiteRuns {
            map: &map,
            runs: &entries,
            names: &names,
        };
        (0..tree.groups.len())
            .into_par_iter()
            .try_for_each(|group| writer.group(&all, group))?;
        let front = StartPageContent {
            statement: Some(self.statement(logs, &entries, &skipped)),
            notices: &self.notices(),
            skipped: &skipped,
            roots: &self.roots,
        };
        writer.start(
            &all,
            front,
            &json!({
                "grouping": if self.spec.is_some() { "spec" } else { "folder" },
                "logs": from.logs_json,
                "assumptions": crate::site::check::assumptions_json(&self.assumptions),
                "country": self.country,
                "own_templates": from.own_templates,
            }),
        )?;
        if self.spec.is_some() {
            files.write("spec.json", &self.spec_text)?;
        }
        writer.assets(&names, &entries)?;
        Ok((entries, skipped))
    }

    pub(super) fn logs(&self) -> Result<Logs, SiteError> {
        let logs = Logs::find(&self.roots);
        if logs.runs.is_empty() {
            return Err(SiteError::NoLogs(
                self.roots.iter().map(|root| root.shown.clone()).collect(),
            ));
        }
        Ok(logs)
    }

    pub(super) fn tree(&self, logs: &Logs) -> Result<Tree, SiteError> {
        match &self.spec {
            Some(spec) => Ok(Tree::of_spec(spec, &logs.runs, self.empty_allowed)?),
            None => Ok(Tree::by_folder(&logs.runs)),
        }
    }

    /// Reads every log; what `seen` makes of a reading must not keep it.
    pub(super) fn read(
        &self,
        logs: &Logs,
        tree: &Tree,
        progress: &(dyn Fn(usize, usize) + Sync),
        seen: impl Fn(usize, &RunDetails) -> Result<(), SiteError> + Sync,
    ) -> Result<(Vec<Option<Entry>>, Vec<Skipped>), SiteError> {
        let reader = Reader {
            assumptions: &self.assumptions,
            processors: self
                .spec
                .as_ref()
                .map(|spec| spec.processors.as_slice())
                .unwrap_or_default(),
            commands_allowed: self.commands_allowed,
        };
        let progress = Progress::of(logs.runs.len(), progress);
        let read = |run: usize| -> Result<Result<Entry, Skipped>, SiteError> {
            let result = match reader.read(&logs.runs[run], &tree.processors_of(run)) {
                Ok(reading) => {
                    seen(run, &reading)?;
                    Ok(Ok(reading.entry))
                }
                Err(EntryError::Skipped(skipped)) => Ok(Err(skipped)),
                Err(EntryError::Spec(error)) => Err(error.into()),
            };
            progress.step();
            result
        };
        let results: Vec<_> = (0..logs.runs.len())
            .into_par_iter()
            .with_max_len(1)
            .map(read)
            .collect();
        let mut entries = Vec::with_capacity(results.len());
        let mut skipped = logs.skipped.clone();
        for result in results {
            match result? {
                Ok(entry) => entries.push(Some(entry)),
                Err(why) => {
                    entries.push(None);
                    skipped.push(why);
                }
            }
        }
        skipped.sort_by(|a, b| a.path.cmp(&b.path));
        Ok((entries, skipped))
    }

    fn title(&self, tree: &Tree) -> String {
        let of_spec = || self.spec.as_ref().and_then(|spec| spec.title.clone());
        let of_group = || match tree.top.as_slice() {
            [only] if self.spec.is_some() => Some(tree.groups[*only].name.clone()),
            _ => None,
        };
        let title = self.title.clone().or_else(of_spec).or_else(of_group);
        title.unwrap_or_else(|| "Energy and emissions of our experiments".to_owned())
    }

    /// What `impact statement` says of the same runs.
    fn statement(
        &self,
        logs: &Logs,
        entries: &[Option<Entry>],
        skipped: &[Skipped],
    ) -> StatementBlock {
        let runs = logs.runs.iter().zip(entries).filter_map(|(log, entry)| {
            let summary = entry.as_ref()?.summary.clone();
            Some((log.path.clone(), summary))
        });
        let collection = Collection {
            runs: runs.collect(),
            skipped: skipped.to_vec(),
        };
        let options = statement::Options {
            assumptions: self.assumptions.clone(),
            country: self.country,
            ..statement::Options::default()
        };
        let statement = Statement::of(&collection, &options);
        StatementBlock {
            html: statement::html(&statement),
            text: statement::text(&statement),
        }
    }

    fn notices(&self) -> Vec<String> {
        self.spec
            .as_ref()
            .map(|spec| spec.notices.clone())
            .unwrap_or_default()
    }

    /// Figures of processors, and columns asked for, that no run has: most likely misspelled.
    fn notices_of_unused_figures(&self, tree: &Tree, entries: &[Option<Entry>]) -> Vec<String> {
        let has = |run: &usize, name: &str| {
            let entry = entries[*run].as_ref();
            entry.is_some_and(|entry| entry.figures.contains_key(name))
        };
        let mut groups_without: BTreeMap<&str, usize> = BTreeMap::new();
        for group in &tree.groups {
            let variables = group.variables.iter().map(String::as_str);
            // What every run could have is missing for the reason that its page tells.
            for name in variables.filter(|name| name.parse::<Figure>().is_err()) {
                if !group.runs.iter().any(|run| has(run, name)) {
                    *groups_without.entry(name).or_default() += 1;
                }
            }
        }
        let processors = self.spec.iter().flat_map(|spec| &spec.processors);
        let unused = processors
            .flat_map(Processor::names)
            .filter(|name| !(0..entries.len()).any(|run| has(&run, name)))
            .filter(|name| !groups_without.contains_key(name));
        let unused: BTreeSet<&str> = unused.collect();
        let in_groups = groups_without.iter().map(|(name, groups)| {
            let groups = counted(*groups, "group");
            format!("no run of {groups} has the figure {name} that its table is to show")
        });
        let nowhere = unused
            .into_iter()
            .map(|name| format!("no run has the figure {name} of a processor"));
        in_groups.chain(nowhere).collect()
    }

    fn logs_json(&self, out: &Path) -> Vec<Value> {
        let entry =
            |root: &LogRoot| json!({"path": relative(out, &root.path), "shown": root.shown});
        self.roots.iter().map(entry).collect()
    }
}

/// Why figures of processors are missing, each reason once.
fn notices_of_missing_figures(entries: &[Option<Entry>]) -> Vec<String> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in entries.iter().flatten().flat_map(|entry| &entry.missing) {
        *reasons.entry(reason).or_default() += 1;
    }
    let runs = entries.iter().flatten().count();
    let others = reasons.len().saturating_sub(MOST_REASONS);
    let mut told: Vec<String> = reasons
        .into_iter()
        .take(MOST_REASONS)
        .map(|(reason, count)| {
            let runs = counted(runs, "run");
            format!("figures are missing for {count} of {runs}: {reason}")
        })
        .collect();
    if others > 0 {
        let others = counted(others, "other reason");
        told.push(format!("figures are missing for {others}"));
    }
    told
}

/// Names for tables: what the run is called, and what tells it apart where several are called the same.
fn names(entries: &[Option<Entry>], labels: &[String]) -> Vec<String> {
    let given = |entry: &Option<Entry>| entry.as_ref().and_then(|entry| entry.name.clone());
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in entries.iter().filter_map(given) {
        *counts.entry(name).or_default() += 1;
    }
    entries
        .iter()
        .zip(labels)
        .map(|(entry, label)| match given(entry) {
            Some(name) if counts[&name] == 1 => name,
            Some(name) => format!("{name} · {label}"),
            None => label.clone(),
        })
        .collect()
}

/// What a site is made from, once it is found.
#[derive(Debug)]
pub(super) struct SiteInputs<'a> {
    pub(super) logs: &'a Logs,
    pub(super) tree: &'a Tree,
    /// Where the logs are, as the site tells it.
    pub(super) logs_json: Vec<Value>,
    pub(super) own_templates: bool,
}

struct Writer<'a> {
    shelf: &'a dyn FileSink,
    renderer: &'a Renderer,
    map: &'a SiteMap<'a>,
    zones: ZoneMaps,
}

impl Writer<'_> {
    fn run(&self, run: usize, reading: &RunDetails) -> Result<(), SiteError> {
        let folder = self.map.folder(PageId::Run(run, None));
        let log = &self.map.logs[run].path;
        let size = self
            .shelf
            .write_with(&format!("{folder}{ARCHIVE}"), &|path| pack(log, path))?;
        let archive = Archive {
            file: ARCHIVE.to_owned(),
            size: number::bytes(size),
        };
        let zone = reading.footprint.carbon.as_ref();
        let zone = zone.and_then(|carbon| carbon.zone.as_ref());
        let picture = match zone.and_then(|zone| self.zones.of(zone)) {
            Some(drawn) => {
                self.shelf.write(&drawn.file, drawn.svg.as_bytes())?;
                Some(Image {
                    href: format!("{}{}", self.map.root(PageId::Run(run, None)), drawn.file),
                    alt: drawn.alt,
                })
            }
            None => None,
        };
        let (page, json) = run_page(self.map, run, reading, picture, Some(archive));
        self.page(&folder, &self.renderer.run(&page)?, &json)?;
        self.tables(
            &folder,
            [&page.figures, &page.provenance]
                .into_iter()
                .chain(&page.packages),
        )
    }

    fn group(&self, ledger: &SiteRuns, group: usize) -> Result<(), SiteError> {
        let folder = self.map.folder(PageId::Group(group));
        let (page, json) = ledger.group_page(group);
        self.page(&folder, &self.renderer.group(&page)?, &json)?;
        self.tables(
            &folder,
            [&page.figures, &page.runs].into_iter().chain(&page.summary),
        )
    }

    fn start(
        &self,
        ledger: &SiteRuns,
        front: StartPageContent,
        made_from: &Value,
    ) -> Result<(), SiteError> {
        let (page, mut json) = start_page(ledger, front);
        if let (Some(json), Some(made_from)) = (json.as_object_mut(), made_from.as_object()) {
            json.extend(made_from.clone());
        }
        self.page("", &self.renderer.start(&page)?, &json)?;
        self.tables("", [&page.groups].into_iter())
    }

    fn page(&self, folder: &str, html: &str, json: &Value) -> Result<(), SiteError> {
        self.shelf
            .write(&format!("{folder}index.html"), html.as_bytes())?;
        let mut bytes = serde_json::to_vec_pretty(json)?;
        bytes.push(b'\n');
        self.shelf.write(&format!("{folder}index.json"), &bytes)?;
        Ok(())
    }

    fn tables<'t>(
        &self,
        folder: &str,
        tables: impl Iterator<Item = &'t Table>,
    ) -> Result<(), SiteError> {
        for table in tables {
            self.shelf
                .write(&format!("{folder}{}.csv", table.id), table.csv().as_bytes())?;
        }
        Ok(())
    }

    /// Style, script, and the list of runs that the search looks through.
    fn assets(&self, names: &[String], entries: &[Option<Entry>]) -> Result<(), SiteError> {
        for (name, text) in self.renderer.assets() {
            self.shelf
                .write(&format!("assets/{name}"), text.as_bytes())?;
        }
        let runs: Vec<Value> = (0..entries.len())
            .filter(|run| entries[*run].is_some())
            .map(|run| {
                let href = format!("{}index.html", self.map.folder(PageId::Run(run, None)));
                json!([names[run], href, self.map.logs[run].relative])
            })
            .collect();
        let script = format!("window.impactRuns = {};\n", serde_json::to_string(&runs)?);
        self.shelf.write("assets/runs.js", script.as_bytes())?;
        Ok(())
    }
}

/// Where a page lies on disk.
#[must_use]
pub fn start_page_path(site: &Path) -> PathBuf {
    site.join("index.html")
}
