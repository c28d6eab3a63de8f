//! Settings of perun, read from its `.perun.ini`.

use super::key::Key;
use super::keys::KEYS;

/// The settings of a file of perun.
#[derive(Debug, Default)]
pub(crate) struct Imported {
    pub(crate) settings: Vec<(&'static Key, String)>,
    /// Lines without a counterpart or a valid value, each with the reason.
    pub(crate) left_out: Vec<(usize, String)>,
}

/// Reads a file of perun; lines that are not understood are left out.
#[must_use]
pub(crate) fn read(text: &str) -> Imported {
    let mut imported = Imported::default();
    let mut section = String::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let line = without_comment(line);
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            section = name.trim().to_ascii_lowercase().replace('_', "-");
            continue;
        }
        let Some((name, value)) = line.split_once(['=', ':']) else {
            imported
                .left_out
                .push((number, format!("`{line}` is not a setting")));
            continue;
        };
        // The examples of perun end some values with a comma, as in a table of Python.
        let (name, value) = (
            name.trim(),
            unquoted(value.trim().trim_end_matches(',').trim_end()),
        );
        if value.is_empty() {
            imported
                .left_out
                .push((number, format!("{name} has no value")));
            continue;
        }
        let counterpart = KEYS
            .iter()
            .find(|key| key.perun == Some((section.as_str(), current(name))));
        match counterpart.map(|key| (key, key.read(value))) {
            Some((key, Ok(value))) => imported.settings.push((key, value)),
            Some((key, Err(why))) => {
                imported.left_out.push((
                    number,
                    format!("{name}: not a valid value of {}: {why}", key.name),
                ));
            }
            None => imported.left_out.push((
                number,
                format!("{section}.{name} has no counterpart in impact"),
            )),
        }
    }
    imported
}

/// The line up to a comment; a comment starts at the line's start or after a space.
fn without_comment(line: &str) -> &str {
    let is_start = |at: usize| at == 0 || line[..at].ends_with(char::is_whitespace);
    let comment = line.match_indices(['#', ';']).find(|(at, _)| is_start(*at));
    line[..comment.map_or(line.len(), |(at, _)| at)].trim()
}

fn unquoted(value: &str) -> &str {
    let inside = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).unwrap_or(value)
}

/// The name that newer versions of perun have for a key.
fn current(name: &str) -> &str {
    match name {
        "sampling_rate" => "sampling_period",
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_commas_quotes_and_older_names_are_read_as_perun_reads_them() {
        let imported = read(concat!(
            "[post_processing]\npue = 1.05, # of the centre\nemissions_factor = 417.80,\n",
            "price_factor = 0.3251, ; per kWh\nprice_unit = \"€\",\n",
            "[monitor]\nsampling_rate = 1,\n[output]\napp_name = ,\n",
            "data_out = \"./perun_results\",\n"
        ));
        let taken = imported.settings.iter();
        let taken: Vec<(&str, &str)> = taken.map(|(key, value)| (key.name, &**value)).collect();
        let wanted = [
            ("pue", "1.05"),
            ("emissions-factor", "417.80"),
            ("price", "0.3251"),
            ("currency", "€"),
            ("interval", "1"),
            ("output", "./perun_results"),
        ];
        assert_eq!(taken, wanted);
        assert_eq!(imported.left_out, [(9, "app_name has no value".to_owned())]);
    }

    #[test]
    fn what_both_tools_know_is_taken_over_and_the_rest_is_told() {
        let imported = read(concat!(
            "; settings\n[post-processing]\npue = 1.05\nemissions_factor=417.80\n",
            "price_factor: 0.3251\nprice_unit = €\n[monitor]\nsampling_period = 5\n",
            "[output]\nformat = hdf5\n[benchmarking]\nrounds = 3\nnonsense\n"
        ));
        let taken: Vec<(&str, &str)> = imported
            .settings
            .iter()
            .map(|(key, value)| (key.name, value.as_str()))
            .collect();
        let wanted = [
            ("pue", "1.05"),
            ("emissions-factor", "417.80"),
            ("price", "0.3251"),
            ("currency", "€"),
            ("interval", "5"),
        ];
        assert_eq!(taken, wanted);
        let lines: Vec<usize> = imported.left_out.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [10, 12, 13]);
    }
}
