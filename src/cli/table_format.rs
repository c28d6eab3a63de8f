use clap::{Args, ValueEnum};

use super::configured;
use super::settings::Config;

/// A format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    Text,
    Markdown,
    Csv,
    Json,
}

/// The option that names a format of a table.
#[derive(Debug, Args)]
pub(crate) struct TableFormatArg {
    /// Output format [default: text]
    #[arg(long, value_enum)]
    pub(crate) format: Option<TableFormat>,
}

impl TableFormatArg {
    /// The format asked for, else that of the configuration, else text.
    pub(crate) fn or_configured(&self, config: &Config) -> TableFormat {
        let format = self.format.or_else(|| configured::format(config));
        format.unwrap_or(TableFormat::Text)
    }
}
