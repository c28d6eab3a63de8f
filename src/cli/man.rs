use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;

use super::output::{print, write_file};
use super::{Advise as _, Cli, Failure, Outcome, exit};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  impact man > impact.1
  impact man --output man1

Without --output, only the page of the program is printed. With it, every command has a page, too.")]
pub(crate) struct ManArgs {
    /// Directory of the pages, created if missing [default: standard output]
    #[arg(long, short, alias = "out", value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace existing pages
    #[arg(long)]
    force: bool,
}

impl ManArgs {
    pub(crate) fn run(self) -> Outcome {
        let mut program = Cli::command();
        program.build();
        let Some(folder) = &self.output else {
            print(&page(&program)?)?;
            return Ok(exit::DONE);
        };
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))
            .advise("the name of a new folder, or of one that is there")?;
        for (name, command) in pages("impact", &program) {
            let file = folder.join(format!("{name}.1"));
            write_file(&file, page(&command)?.as_bytes(), self.force)?;
        }
        Ok(exit::DONE)
    }
}

fn page(command: &Command) -> Result<String, Failure> {
    let mut out = Vec::new();
    Man::new(command.clone()).render(&mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// The program and every command under it, each with the name of its page.
fn pages(name: &str, command: &Command) -> Vec<(String, Command)> {
    let mut all = vec![(name.to_owned(), command.clone())];
    for child in command.get_subcommands() {
        if child.get_name() != "help" && !child.is_hide_set() {
            all.extend(pages(&format!("{name}-{}", child.get_name()), child));
        }
    }
    all
}
