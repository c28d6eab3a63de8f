use std::ffi::OsString;

use crate::grid::data;
use crate::text::table::Table;

/// Whether the command line is `--version --verbose`.
pub(crate) fn is_asked_for(arguments: &[OsString]) -> bool {
    let version = |word: &OsString| word == "--version" || word == "-V";
    arguments.len() == 2
        && arguments.iter().any(version)
        && arguments.iter().any(|word| word == "--verbose")
}

/// The version of the program, its features and its tables.
pub(crate) fn verbose() -> String {
    let features = [
        ("nvml", cfg!(feature = "nvml")),
        ("live", cfg!(feature = "live")),
        ("site", cfg!(feature = "site")),
    ];
    let features: Vec<&str> = features
        .into_iter()
        .filter_map(|(name, is_in)| is_in.then_some(name))
        .collect();
    let mut table = Table::new(&["table", "version", "years", "licence", "source"], &[]);
    for known in data::ALL {
        let about = &known.provenance;
        let cells = [
            about.table,
            about.version,
            about.year,
            about.licence,
            about.source,
        ];
        table.push(cells.map(str::to_owned));
    }
    format!(
        "impact {}\nlog schema {}\nfeatures: {}\n\n{}",
        env!("CARGO_PKG_VERSION"),
        crate::model::SCHEMA,
        features.join(", "),
        table.text()
    )
}
