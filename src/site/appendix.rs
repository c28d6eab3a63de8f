use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rayon::prelude::*;
use serde_json::{Value, json};

use super::check::assumptions_json;
use super::entry::{Entry, EntryError, Reader, RunDetails};
use super::file_sink::FileSink;
use super::logs::{LogRoot, Logs};
use super::notices::{missing_figures, unused_figures};
use super::page::StatementBlock;
use super::page_writer::PageWriter;
use super::problem::SpecError;
use super::progress::Progress;
use super::raw_spec::published;
use super::relative::relative;
use super::render::{RenderError, Renderer};
use super::site_map::{SiteMap, labels};
use super::site_runs::SiteRuns;
use super::site_writer::{SiteWriter, WriteError, Written};
use super::spec::Spec;
use super::start_page::StartPageContent;
use super::tree::Tree;
use super::zone_map::ZoneMaps;
use crate::grid::zone::Iso3;
use crate::ledger::statement::Statement;
use crate::ledger::{Assumptions, Collection, Exceptions, Skipped, statement};
use crate::model::Redaction;

/// What a site is made from.
#[derive(Debug)]
pub struct Appendix {
    /// The folders with the logs.
    pub roots: Vec<LogRoot>,
    /// Which runs belong to which group; without it, folders are groups.
    pub spec: Option<Spec>,
    /// The bytes of the spec, which are copied into the site.
    pub spec_text: Vec<u8>,
    /// The title; without it, the spec's.
    pub title: Option<String>,
    /// PUE and carbon intensity where the user gives them.
    pub assumptions: Assumptions,
    /// Whose social cost the statement names; without it, that of the country of the runs.
    pub country: Option<Iso3>,
    /// Whether processors may run programs.
    pub commands_allowed: bool,
    /// Whether groups without runs are left out; otherwise they are an error.
    pub empty_allowed: bool,
    /// Whether to write into a folder that is neither empty nor an earlier site.
    pub force: bool,
    /// What is left out of the pages and archives.
    pub redaction: Redaction,
}

/// What was written.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// How many runs have a page.
    pub runs: usize,
    /// How many groups have a page.
    pub groups: usize,
    /// The files.
    pub written: Written,
    /// The logs that are not part of the site.
    pub skipped: Vec<Skipped>,
    /// What the author should know about the spec and about missing figures.
    pub notices: Vec<String>,
}

/// Why there is no site.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SiteError {
    /// The spec is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A template is wrong.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// There are no logs in these folders.
    #[error("no logs were found in {}", .0.join(", "))]
    NoLogs(Vec<String>),
    /// There are so many logs, and none can be read.
    #[error("none of the {0} logs can be read")]
    NoReadableLogs(usize),
    /// A page could not be written as JSON.
    #[error("a page cannot be written as JSON")]
    Json(#[from] serde_json::Error),
}

/// What is known of a site before its logs are read.
#[derive(Debug)]
pub(super) struct SiteInputs<'a> {
    pub(super) logs: &'a Logs,
    pub(super) tree: &'a Tree,
    /// Where the logs are, as the site's JSON says it.
    pub(super) logs_json: Vec<Value>,
    pub(super) own_templates: bool,
}

impl Appendix {
    /// Reads the logs in parallel and writes the site.
    ///
    /// The page of a run is written as soon as its log is read, and only a summary is kept after
    /// that, so that memory does not grow with the length of the logs. `progress` is called with the
    /// number of runs that are done and the number of all runs.
    pub fn write(
        &self,
        out: &Path,
        renderer: &Renderer,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Outcome, SiteError> {
        let logs = self.logs()?;
        let tree = self.tree(&logs)?;
        let writer = SiteWriter::begin(out, self.force)?;
        let inputs = SiteInputs {
            logs: &logs,
            tree: &tree,
            logs_json: self.logs_json(out),
            own_templates: renderer.is_own(),
        };
        let (entries, skipped) = self.make(&inputs, &writer, renderer, progress)?;
        let mut notices = self.notices();
        let mut exceptions = Exceptions::default();
        for entry in entries.iter().flatten() {
            exceptions.count(&entry.summary, &self.assumptions);
        }
        notices.extend(exceptions.words(&self.assumptions));
        notices.extend(missing_figures(&entries));
        notices.extend(unused_figures(self.spec.as_ref(), &tree, &entries));
        Ok(Outcome {
            runs: entries.iter().flatten().count(),
            groups: tree.groups.len(),
            written: writer.finish()?,
            skipped,
            notices,
        })
    }

    /// Makes every file of the site, and returns what was read for that.
    pub(super) fn make(
        &self,
        inputs: &SiteInputs,
        files: &dyn FileSink,
        renderer: &Renderer,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<(Vec<Option<Entry>>, Vec<Skipped>), SiteError> {
        let SiteInputs { logs, tree, .. } = inputs;
        let labels = labels(&logs.runs);
        let title = self.title(tree);
        let map = SiteMap {
            title: &title,
            tree,
            logs: &logs.runs,
            labels: &labels,
            readable: OnceLock::new(),
        };
        let pages = PageWriter {
            files,
            renderer,
            map: &map,
            zones: ZoneMaps::default(),
            redaction: self.redaction,
        };
        let (entries, skipped) =
            self.read(logs, tree, progress, |run, details| pages.run(run, details))?;
        if entries.iter().all(Option::is_none) {
            return Err(SiteError::NoReadableLogs(logs.runs.len()));
        }
        // Pages of runs are written before this is known, pages of groups after.
        let _ = map
            .readable
            .set(entries.iter().map(Option::is_some).collect());
        let site = SiteRuns::new(&map, &entries);
        (0..tree.groups.len())
            .into_par_iter()
            .try_for_each(|group| pages.group(&site, group))?;
        let content = StartPageContent {
            statement: Some(self.statement(logs, &entries, &skipped)),
            notices: &self.notices(),
            skipped: &skipped,
            roots: &self.roots,
        };
        pages.start(&site, content, &self.made_from_json(inputs))?;
        if self.spec.is_some() {
            files.write("spec.json", &published(&self.spec_text, self.redaction)?)?;
        }
        pages.assets(&site)?;
        Ok((entries, skipped))
    }

    /// What `impact appendix --check` needs to make the site again.
    fn made_from_json(&self, inputs: &SiteInputs) -> Value {
        json!({
            "grouping": if self.spec.is_some() { "spec" } else { "folder" },
            "logs": inputs.logs_json,
            "assumptions": assumptions_json(&self.assumptions),
            "country": self.country,
            "own_templates": inputs.own_templates,
            "redacted": self.redaction == Redaction::Identity,
        })
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

    /// Reads every log in parallel, and calls `visit` with each before its details are dropped.
    fn read(
        &self,
        logs: &Logs,
        tree: &Tree,
        progress: &(dyn Fn(usize, usize) + Sync),
        visit: impl Fn(usize, &RunDetails) -> Result<(), SiteError> + Sync,
    ) -> Result<(Vec<Option<Entry>>, Vec<Skipped>), SiteError> {
        let reader = Reader {
            assumptions: &self.assumptions,
            processors: self
                .spec
                .as_ref()
                .map(|spec| spec.processors.as_slice())
                .unwrap_or_default(),
            commands_allowed: self.commands_allowed,
            redaction: self.redaction,
        };
        let progress = Progress::of(logs.runs.len(), progress);
        let read = |run: usize| -> Result<Result<Entry, Skipped>, SiteError> {
            let result = match reader.read(&logs.runs[run], &tree.processors_of(run)) {
                Ok(details) => {
                    visit(run, &details)?;
                    Ok(Ok(details.entry))
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

    /// What `impact statement` says about the same runs.
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

    fn logs_json(&self, out: &Path) -> Vec<Value> {
        let entry = |root: &LogRoot| {
            // Where the logs are is known only to whoever checks the site.
            let path = match self.redaction {
                Redaction::Identity => String::new(),
                _ => relative(out, &root.path),
            };
            json!({"path": path, "shown": root.shown})
        };
        self.roots.iter().map(entry).collect()
    }
}

/// The path of the start page of a site.
#[must_use]
pub fn start_page_path(site: &Path) -> PathBuf {
    site.join("index.html")
}
