use std::collections::{BTreeMap, BTreeSet};

use super::chart::Band;
use super::logs::RunLog;
use super::phases::{self, MOST_OCCURRENCES, bands};
use super::problem::{Problem, SpecError};
use crate::ledger::collect::with_causes;
use crate::ledger::file_figures::Processor;
use crate::ledger::summarise::summarise_with;
use crate::ledger::{AccountedRun, Assumptions, Footprint, RunSummary, Skipped, SkippedKind};
use crate::log::TimeSeries;
use crate::model::{Info, Names, Redaction};

/// What is kept of a run after its page is written.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: Option<String>,
    pub(super) summary: RunSummary,
    /// The figures by name: those of every run, and those of processors.
    pub(super) figures: BTreeMap<String, f64>,
    /// Why processors gave no figures.
    pub(super) missing: Vec<String>,
}

/// What a log says about a run, for its page.
#[derive(Debug)]
pub(super) struct RunDetails {
    pub(super) entry: Entry,
    pub(super) footprint: Footprint,
    pub(super) info: Info,
    /// What must not occur in the copy of the log either.
    pub(super) names: Names,
    pub(super) series: TimeSeries,
    /// The occurrences of phases.
    pub(super) bands: Vec<Band>,
}

/// Reads the logs of runs.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) assumptions: &'a Assumptions,
    pub(super) processors: &'a [Processor],
    pub(super) commands_allowed: bool,
    pub(super) redaction: Redaction,
}

/// Why a run has no entry: its log cannot be read, or the spec is wrong.
#[derive(Debug)]
pub(super) enum EntryError {
    Skipped(Skipped),
    Spec(SpecError),
}

impl Reader<'_> {
    /// Reads a log once, for its figures and its time series.
    pub(super) fn read(
        &self,
        log: &RunLog,
        processors: &[usize],
    ) -> Result<RunDetails, EntryError> {
        let mut series = TimeSeries::default();
        let skipped = |error: &dyn std::error::Error| {
            EntryError::Skipped(Skipped {
                path: log.path.clone(),
                kind: SkippedKind::Run,
                reason: with_causes(error),
            })
        };
        let (mut summary, info) =
            summarise_with(&log.path, log.info.take(), MOST_OCCURRENCES, |row| {
                series.add(row);
            })
            .map_err(|error| skipped(&error))?;
        let accounted = AccountedRun::new(&log.path, &summary, self.assumptions);
        let mut figures: BTreeMap<String, f64> = accounted
            .figures()
            .into_iter()
            .filter_map(|(name, amount)| Some((name.to_owned(), amount?.value())))
            .chain(
                accounted
                    .work()
                    .map(|(name, work)| (name, work.joules_per_unit)),
            )
            .collect();
        let footprint = accounted.footprint;
        let publish = |text: &mut String| *text = self.redaction.sentence(text, &info);
        summary.notes.iter_mut().for_each(publish);
        summary.name.iter_mut().for_each(publish);
        phases::publish(&mut summary, &publish);
        let names = Names::in_info(&info);
        let parts = std::mem::take(&mut summary.parts).into_iter();
        summary.parts = parts
            .map(|(component, part)| (self.redaction.component(&component, &names), part))
            .collect();
        let bands = bands(std::mem::take(&mut summary.occurrences));
        let info = self
            .redaction
            .info(&info)
            .map_err(|error| skipped(&error))?;
        let mut missing = Vec::new();
        for (place, processor) in processors.iter().enumerate() {
            let processor = &self.processors[*processor];
            self.refuse_doubles(log, processor, &processors[..place])?;
            if let Err(error) = processor.add_to(&mut figures, &log.path, self.commands_allowed) {
                missing.push(with_causes(&error));
            }
        }
        let entry = Entry {
            name: summary.name.clone().filter(|name| !name.trim().is_empty()),
            summary,
            figures,
            missing,
        };
        Ok(RunDetails {
            entry,
            footprint,
            info,
            names,
            series,
            bands,
        })
    }

    fn refuse_doubles(
        &self,
        log: &RunLog,
        processor: &Processor,
        before: &[usize],
    ) -> Result<(), EntryError> {
        let names: BTreeSet<&str> = processor.names().collect();
        for other in before {
            let other = &self.processors[*other];
            if let Some(figure) = other.names().find(|name| names.contains(name)) {
                let problem = Problem::TwoProcessors {
                    figure: figure.to_owned(),
                    run: log.shown.clone(),
                    other: other.at.clone(),
                };
                return Err(EntryError::Spec(problem.at(processor.at.clone())));
            }
        }
        Ok(())
    }
}
