use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, anyhow};
use clap::Args;

use super::accounting::{Accounting, progress_bar};
use super::output::{print, tell};
use super::settings::{Config, Sources};
use super::{Advise, Failure, Outcome, exit, folder, left_out};
use crate::files;
use crate::grid::zone::Iso3;
use crate::ledger::Skipped;
use crate::model::Redaction;
use crate::site::{
    Appendix, CheckError, CheckScope, EXAMPLE_SPEC, LogRoot, Problem, Renderer, SiteError, Spec,
    SpecError, WriteError, check, start_page_path,
};
use crate::text::escape;
use crate::text::number::counted;

/// More differences than this are only counted.
const MOST_DIFFERENCES: usize = 50;

#[derive(Debug, Args)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
#[command(mut_arg("country", |country| country.help(
    "Country whose social cost of carbon is stated, and whose average is used for runs of which nothing is known \
     [default: where the runs took place]"
)))]
#[command(after_help = "\
Examples:
  impact appendix logs/ --open
  impact appendix --site-spec leaderboard_spec.json --output site-out
  impact appendix logs/ --redact --output for-reviewers
  impact appendix --check site-out

Without a spec, folders are groups. The spec says which runs belong to which group, what the tables
hold and what is plotted; --print-spec writes one that shows every key. The pages need no server and
no network. With --redact, or \"redact\": true in the spec, the pages, tables and archives do not
say who ran it on which machine; names of runs, tags and folders below LOGDIR stay. Exit code 3
means that some logs were left out; they are listed on standard error.")]
pub(super) struct AppendixArgs {
    /// Directories with logs [default: the spec's `logs`, else ./data, else ./impact-logs, else .]
    #[arg(value_name = "LOGDIR")]
    folders: Vec<PathBuf>,
    /// Specification of what the site shows [default: folders are groups]
    #[arg(long, value_name = "SPEC.json")]
    site_spec: Option<PathBuf>,
    /// Where to write the site
    #[arg(
        long,
        short,
        visible_alias = "output-dir",
        alias = "out",
        value_name = "DIR",
        default_value = "site-out"
    )]
    output: PathBuf,
    /// Title of the site [default: the spec's, else its only group's]
    #[arg(long)]
    title: Option<String>,
    /// Open the start page when it is written
    #[arg(long)]
    open: bool,
    /// The country of --country.
    #[arg(skip)]
    country: Option<Iso3>,
    /// Folder with templates and assets that replace the built-in ones of the same name
    #[arg(long, value_name = "DIR")]
    templates: Option<PathBuf>,
    /// Let processors of the spec run programs
    #[arg(long)]
    allow_commands: bool,
    /// Leave out groups whose filter matches no run, instead of failing
    #[arg(long)]
    allow_empty: bool,
    /// Write into a directory that is not empty and not an earlier site
    #[arg(long)]
    force: bool,
    /// Compare every file of a site with what its logs give, in LOGDIR if they have moved
    #[arg(long, value_name = "SITE", conflicts_with_all = ["site_spec", "open", "title", "print_spec"])]
    check: Option<PathBuf>,
    /// For double-blind review: leave out host, user, folders, command lines, packages, commits and addresses; secrets
    /// always are
    #[arg(long)]
    redact: bool,
    /// Print a spec that shows every key
    #[arg(long)]
    print_spec: bool,
    #[command(flatten)]
    accounting: Accounting,
}

/// Larger files are no specs.
const LARGEST_SPEC: u64 = 16 << 20;

impl AppendixArgs {
    pub(super) fn run(mut self, settings: &Sources) -> Outcome {
        self.country = self.accounting.place.take_country();
        self.accounting.fill(&Config::load(settings)?);
        if self.print_spec {
            print(EXAMPLE_SPEC)?;
            return Ok(exit::DONE);
        }
        match &self.check {
            Some(site) => self.compare(site),
            None => self.write(),
        }
    }

    fn write(&self) -> Outcome {
        let (spec, spec_text) = self.spec()?;
        let is_redacted = self.redact || spec.as_ref().is_some_and(|spec| spec.redact);
        let appendix = Appendix {
            roots: self.roots(spec.as_ref(), is_redacted)?,
            spec,
            spec_text,
            title: self.title.clone(),
            assumptions: self.accounting.assumptions()?,
            country: self.country,
            commands_allowed: self.allow_commands,
            empty_allowed: self.allow_empty,
            force: self.force,
            redaction: if is_redacted {
                Redaction::Identity
            } else {
                Redaction::Secrets
            },
        };
        let renderer = Renderer::new(self.templates.as_deref())?;
        let bar = progress_bar();
        let outcome = appendix.write(&self.output, &renderer, &|done, all| {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        });
        bar.finish_and_clear();
        let outcome = outcome.map_err(advised)?;
        for notice in &outcome.notices {
            tell(format!("note: {}", escape::terminal(notice)));
        }
        left_out::tell_all(&outcome.skipped);
        let start = start_page_path(&self.output);
        print(&format!(
            "{}: {} in {}, {}, {} of them new or changed, {} removed\n",
            escape::terminal(&start.display().to_string()),
            counted(outcome.runs, "run"),
            counted(outcome.groups, "group"),
            counted(outcome.written.files, "file"),
            outcome.written.changed,
            outcome.written.removed
        ))?;
        if self.open {
            open(&start)?;
        }
        self.exit_code(&outcome.skipped)
    }

    fn compare(&self, site: &Path) -> Outcome {
        let templates = self.templates.as_deref();
        let checked = check(site, &self.folders, templates, self.allow_commands).map_err(
            |error| match error {
                CheckError::NotASite(_) => {
                    Failure::new(error).advise("a directory that `impact appendix` wrote")
                }
                error => {
                    Failure::new(error).advise("name the folders of the logs if they have moved")
                }
            },
        )?;
        left_out::tell_all(&checked.skipped);
        match checked.scope {
            CheckScope::All => {}
            CheckScope::WithoutPages => tell(
                "note: the site has templates of its own, so its HTML and assets were not compared; --templates names them",
            ),
            CheckScope::FiguresOnly => tell(
                "note: another version wrote the site, so only the figures in its index.json files were compared",
            ),
        }
        let found = format!(
            "{}, {}, {}, {}",
            counted(checked.runs, "run"),
            counted(checked.groups, "group"),
            counted(checked.figures, "figure"),
            counted(checked.files, "file")
        );
        if checked.differences.is_empty() {
            print(&format!("the site agrees with its logs: {found}\n"))?;
            return self.exit_code(&checked.skipped);
        }
        for difference in checked.differences.iter().take(MOST_DIFFERENCES) {
            tell(format!("differs: {}", escape::terminal(difference)));
        }
        let differences = counted(checked.differences.len(), "difference");
        Err(Failure::new(anyhow!(
            "the site does not agree with its logs: {differences} in {found}"
        ))
        .advise("write the site again"))
    }

    fn spec(&self) -> Result<(Option<Spec>, Vec<u8>), Failure> {
        let Some(path) = &self.site_spec else {
            return Ok((None, Vec::new()));
        };
        let text = files::read(path, LARGEST_SPEC)
            .with_context(|| format!("cannot read {}", path.display()))
            .advise("impact appendix --print-spec > spec.json writes one to start from")?;
        let spec = Spec::parse(&text).map_err(|error| {
            advised(error.into()).within(format!("{} cannot be used", path.display()))
        })?;
        Ok((Some(spec), text))
    }

    fn roots(&self, spec: Option<&Spec>, is_redacted: bool) -> Result<Vec<LogRoot>, Failure> {
        let of_spec: Vec<LogRoot> = match (spec, &self.site_spec) {
            (Some(spec), Some(path)) => spec
                .logs
                .iter()
                .map(|logs| LogRoot::beside(path, logs))
                .collect(),
            _ => Vec::new(),
        };
        let mut roots: Vec<LogRoot> = if !self.folders.is_empty() {
            self.folders.iter().cloned().map(LogRoot::new).collect()
        } else if !of_spec.is_empty() {
            of_spec
        } else {
            let usual = ["data", "impact-logs"];
            let usual = usual.into_iter().find(|folder| Path::new(folder).is_dir());
            vec![LogRoot::new(PathBuf::from(usual.unwrap_or(".")))]
        };
        folder::check(roots.iter().map(|root| root.path.as_path()))?;
        if is_redacted {
            for root in &mut roots {
                root.shorten();
            }
        }
        Ok(roots)
    }

    fn exit_code(&self, skipped: &[Skipped]) -> Outcome {
        left_out::refuse(skipped, self.accounting.strict)?;
        Ok(left_out::exit_code(left_out::missing(skipped) > 0))
    }
}

/// Adds advice to an error.
fn advised(error: SiteError) -> Failure {
    let advice = match &error {
        SiteError::Spec(SpecError { problem, .. }) => match problem.as_ref() {
            Problem::MatchesNothing { .. } => "--allow-empty leaves such groups out",
            Problem::Filter(_) => {
                "put a backslash before letters that are meant as they are: \\( \\[ \\+"
            }
            _ => "impact appendix --print-spec shows every key",
        },
        SiteError::Write(WriteError::Foreign(_)) => {
            "another --output, or --force to write into this one"
        }
        SiteError::Write(WriteError::Link(_)) => "name the folder that it leads to",
        SiteError::Write(WriteError::Busy(_)) => "wait until it is done, or use another --output",
        SiteError::NoLogs(_) => folder::WITH_RUNS,
        _ => return Failure::new(error),
    };
    Failure::new(error).advise(advice)
}

fn open(page: &Path) -> Result<(), Failure> {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    Command::new(program)
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
        .with_context(|| format!("cannot run {program}"))
        .advise(format!("open {} in a browser", page.display()))
}
