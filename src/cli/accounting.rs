use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::output::tell;
use super::place_of_runs::PlaceOfRuns;
use super::{Failure, folder, left_out};
use crate::grid::intensity::{Dataset, Emissions};
use crate::ledger::collect::Progress;
use crate::ledger::{
    Assumptions, Collection, Exceptions, Footprint, Gathered, Only, RunOutcome, RunSummary,
    Skipped, gather,
};
use crate::text::number::counted;
use crate::units::{GramsPerKwh, Pue};

/// Options of every command that turns logs into figures.
#[derive(Debug, Args)]
pub struct Accounting {
    #[arg(
        long,
        value_name = "PUE",
        help = "Power usage effectiveness of the data centre [default: as recorded, else the newest average, 1.54] [env: IMPACT_PUE, OVERRIDE_PUE]"
    )]
    pub pue: Option<Pue>,
    /// Use this carbon intensity for all runs, in g CO2eq per kWh
    #[arg(long, value_name = "G_PER_KWH")]
    pub emissions_factor: Option<GramsPerKwh>,
    #[command(flatten)]
    pub place: PlaceOfRuns,
    /// What a project's file states instead of the command line.
    #[arg(skip)]
    pub project_settings: BTreeMap<String, String>,
    /// Use the yearly averages of this data set: auto, electricity-maps, eit-2019, ember or egrid; live
    /// intensities in the logs are kept [default: what the runs recorded, else auto]
    #[arg(long, value_name = "NAME")]
    pub dataset: Option<Dataset>,
    /// Use only intensities that count these emissions: life-cycle or direct; where a run recorded others, the
    /// yearly average is used [default: what the runs recorded]
    #[arg(long, value_name = "EMISSIONS", conflicts_with = "emissions_factor")]
    pub basis: Option<Emissions>,
    /// Use only the runs whose command succeeded, or only those whose command failed: succeeded or failed
    #[arg(long, value_name = "OUTCOME")]
    pub only: Option<Only>,
    /// Fail if any log cannot be read, instead of leaving it out
    #[arg(long)]
    pub strict: bool,
}

/// Says on standard error when an emissions factor looks like one in kilograms.
pub fn doubt(factor: Option<GramsPerKwh>) {
    const BELOW_ANY_GRID: f64 = 5.0;
    if let Some(grams) = factor.map(GramsPerKwh::get)
        && 0.0 < grams
        && grams < BELOW_ANY_GRID
    {
        tell(format!(
            "note: an emissions factor of {grams} g CO2eq/kWh is far below any grid; were {} g meant, given in kg?",
            grams * 1000.0
        ));
    }
}

impl Accounting {
    /// The options of a command that only reads logs.
    pub fn strictly(strict: bool) -> Self {
        Self {
            pue: None,
            emissions_factor: None,
            place: PlaceOfRuns::default(),
            project_settings: BTreeMap::new(),
            dataset: None,
            basis: None,
            only: None,
            strict,
        }
    }

    pub fn assumptions(&self) -> Result<Assumptions, Failure> {
        self.dataset.unwrap_or_default().counting(self.basis)?;
        Ok(Assumptions {
            pue: self.pue,
            emissions_factor: self.emissions_factor,
            default_zone: self.place.zone()?,
            default_country: self.place.default_country(),
            dataset: self.dataset,
            emissions: self.basis,
            project_settings: self.project_settings.clone(),
        })
    }

    /// Reads the runs, lists on standard error what is left out, and fails where nothing is left.
    pub fn collect(&self, folders: &[PathBuf]) -> Result<Collection, Failure> {
        let gathered = self.gather(folders, |path, run| (path.to_owned(), run))?;
        Ok(Collection {
            runs: gathered.kept,
            skipped: gathered.skipped,
        })
    }

    /// As [`Self::collect`], but keeps of each run only what `keep` makes of it.
    pub fn gather<K: Send>(
        &self,
        folders: &[PathBuf],
        keep: impl Fn(&Path, RunSummary) -> K + Sync,
    ) -> Result<Gathered<K>, Failure> {
        folder::check(folders.iter().map(PathBuf::as_path))?;
        let bar = progress_bar();
        let progress = |progress| match progress {
            Progress::Found(runs) => {
                bar.set_message(format!("{} found", counted(runs, "run")));
            }
            Progress::Read(read, total) => {
                bar.set_length(total as u64);
                bar.set_position(read as u64);
            }
        };
        let assumptions = self.assumptions()?;
        let applied = Mutex::new(Applied::default());
        let unwanted = AtomicUsize::new(0);
        let unknown = AtomicUsize::new(0);
        let gathered = gather(folders, &progress, |path, run| {
            if self.only.is_some_and(|only| !only.keeps(run.outcome)) {
                unwanted.fetch_add(1, Ordering::Relaxed);
                unknown.fetch_add(
                    usize::from(run.outcome == RunOutcome::Unknown),
                    Ordering::Relaxed,
                );
                return None;
            }
            let has_figure =
                self.basis.is_none() || Footprint::of(&run, &assumptions).carbon.is_some();
            let mut applied = applied.lock().unwrap_or_else(PoisonError::into_inner);
            applied.runs_without_place += usize::from(!run.has_place());
            applied.has_figure |= has_figure;
            applied.exceptions.count(&run, &assumptions);
            drop(applied);
            Some(keep(path, run))
        });
        let gathered = Gathered {
            kept: gathered.kept.into_iter().flatten().collect::<Vec<K>>(),
            skipped: gathered.skipped,
        };
        bar.finish_and_clear();
        left_out::tell_all(&gathered.skipped);
        let unwanted = unwanted.into_inner();
        self.tell_what_only_leaves_out(unwanted, unknown.into_inner());
        let all = gathered.kept.len();
        if all == 0 {
            let names: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
            let names = names.join(", ");
            if let Some(only) = self.only.filter(|_| unwanted > 0) {
                let failure =
                    anyhow::anyhow!("no run under {names} is known to have {}", only.name());
                return Err(Failure::new(failure).advise("impact list, without --only"));
            }
            let failure = anyhow::anyhow!("no usable run under {names}");
            return Err(Failure::new(failure).advise(folder::WITH_RUNS));
        }
        left_out::refuse(&gathered.skipped, self.strict)?;
        let applied = applied.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.place
            .tell_where_it_applies(applied.runs_without_place, all);
        for words in applied.exceptions.words(&assumptions) {
            tell(words);
        }
        if !applied.has_figure {
            return Err(self.no_figure_of_the_basis());
        }
        Ok(gathered)
    }

    /// Says how many runs are not among those asked for.
    fn tell_what_only_leaves_out(&self, unwanted: usize, unknown: usize) {
        let Some(only) = self.only.filter(|_| unwanted > 0) else {
            return;
        };
        let of_unknown = match unknown {
            0 => String::new(),
            runs => format!("; the exit code of {runs} of them is not known"),
        };
        tell(format!(
            "--only {} leaves out {}{of_unknown}",
            only.name(),
            counted(unwanted, "run")
        ));
    }

    /// The failure where no run has an intensity of the basis asked for.
    fn no_figure_of_the_basis(&self) -> Failure {
        let failure = anyhow::anyhow!(
            "no {} carbon intensity is known for any of the runs",
            self.basis.map_or("", Emissions::name)
        );
        Failure::new(failure).advise(match self.basis {
            Some(Emissions::Direct) => {
                "without --basis; direct averages are known of American states only"
            }
            _ => "--zone ZONE for runs that did not record where they took place",
        })
    }
}

/// What the options that state assumptions apply to.
#[derive(Default)]
struct Applied {
    runs_without_place: usize,
    exceptions: Exceptions,
    has_figure: bool,
}

/// The exit code, which says whether anything was left out.
pub fn exit_code(skipped: &[Skipped]) -> u8 {
    left_out::exit_code(left_out::missing(skipped) > 0)
}

/// Drawn on standard error, and only if that is a terminal.
pub fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("reading logs {wide_bar} {pos}/{len} {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
