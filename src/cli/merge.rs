use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::Args;

use super::accounting::{Accounting, exit_code};
use super::output::{print, tell};
use super::{Failure, Outcome};
use crate::ledger::merge::{Source, merge};
use crate::log::find::is_run;
use crate::log::write::LogWriter;
use crate::text::escape;
use crate::text::number::counted;
use crate::text::quantity;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  impact merge logs/ --output merged

Ranks of one node that ran at the same time measured the same machine. They are recognised by host,
boot id and overlapping time, and the energy of the machine is counted once. Work counted with
`impact mark --count` adds up; phases stay in the logs of the runs.")]
pub(crate) struct MergeArgs {
    /// Directories with runs in them
    #[arg(required = true, value_name = "LOGDIR")]
    folders: Vec<PathBuf>,
    /// Folder of the merged run, outside of the merged directories
    #[arg(long, short, alias = "out", value_name = "DIR")]
    output: PathBuf,
    /// Fail if any log cannot be read, instead of leaving it out
    #[arg(long)]
    strict: bool,
}

impl MergeArgs {
    pub(crate) fn run(self) -> Outcome {
        self.check_output()?;
        let collection = Accounting::strictly(self.strict).collect(&self.folders)?;
        let sources = collection
            .runs
            .iter()
            .map(|(path, summary)| Source::read(path, summary.clone()))
            .collect::<Result<Vec<_>, _>>()?;
        let merged = merge(sources).context("there is nothing to merge")?;
        if let Some(time) = merged.time_between {
            tell(format!(
                "warning: the runs were not all at one time; the merged run lasts {} longer than \
                 they did\ntry: impact statement, which adds up runs one after the other",
                quantity::time(time)
            ));
        }
        if merged.runs_with_phases > 0 {
            tell(format!(
                "note: the phases of {} are not in the merged run, as each had them at other times; impact report \
                 shows those of each run",
                counted(merged.runs_with_phases, "run")
            ));
        }
        self.write(&merged.info, &merged.samples)?;
        print(&escape::terminal(&format!(
            "merged {} into {}\n",
            merged.origin,
            self.output.display()
        )))?;
        Ok(exit_code(&collection.skipped))
    }

    /// Fails if the merged run would be counted together with its parts.
    fn check_output(&self) -> Result<(), Failure> {
        if is_run(&self.output) {
            return Err(
                Failure::new(anyhow!("{} holds a run already", self.output.display()))
                    .advise("--output with another folder"),
            );
        }
        let output =
            std::path::absolute(&self.output).context("cannot find the working directory")?;
        for folder in &self.folders {
            let inside = folder
                .canonicalize()
                .is_ok_and(|folder| nearest_real(&output).starts_with(folder));
            if inside {
                return Err(Failure::new(anyhow!(
                    "{} is inside {}; the merged run would be counted together with its parts",
                    self.output.display(),
                    folder.display()
                ))
                .advise("--output with a folder outside of it"));
            }
        }
        Ok(())
    }

    fn write(
        &self,
        info: &crate::model::Info,
        samples: &[crate::model::Sample],
    ) -> Result<(), Failure> {
        let cannot = || format!("cannot write the log in {}", self.output.display());
        let (first, others) = samples.split_first().context("there is nothing to merge")?;
        let mut writer =
            LogWriter::create(&self.output, &info.id, info, first).with_context(cannot)?;
        for sample in others {
            writer.sample(sample).with_context(cannot)?;
        }
        Ok(())
    }
}

/// The path with links resolved as far as it exists.
fn nearest_real(path: &Path) -> PathBuf {
    path.ancestors()
        .find_map(|known| {
            let rest = path.strip_prefix(known).ok()?;
            Some(known.canonicalize().ok()?.join(rest))
        })
        .unwrap_or_else(|| path.to_owned())
}
