use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use super::output::print;
use super::{Cli, Outcome, exit};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  impact completions bash > impact.bash
  impact completions zsh > _impact")]
pub(crate) struct CompletionsArgs {
    /// Name of the shell
    #[arg(value_enum)]
    shell: Shell,
}

impl CompletionsArgs {
    pub(crate) fn run(self) -> Outcome {
        let mut out = Vec::new();
        generate(self.shell, &mut Cli::command(), "impact", &mut out);
        print(&String::from_utf8_lossy(&out))?;
        Ok(exit::DONE)
    }
}
