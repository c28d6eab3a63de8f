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
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            name.trim().clone_into(&mut section);
            continue;
        }
        let Some((name, value)) = line.split_once(['=', ':']) else {
            imported
                .left_out
                .push((number, format!("`{line}` is not a setting")));
            continue;
        };
        let (name, value) = (name.trim(), value.trim());
        let counterpart = KEYS
            .iter()
            .find(|key| key.perun == Some((section.as_str(), name)));
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

#[cfg(test)]
mod tests {
    use super::*;

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
