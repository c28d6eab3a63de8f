//! Settings of perun, read from its `.perun.ini`.
//!
//! Names and units changed between its versions; they are those of the releases and of the README before them.

use rust_decimal::Decimal;

use super::file::is_outside;
use super::key::Key;

/// The settings of a file of perun.
#[derive(Debug, Default)]
pub(crate) struct Imported {
    pub(crate) settings: Vec<Taken>,
    /// Lines without a counterpart or a valid value, each with the reason.
    pub(crate) left_out: Vec<(usize, String)>,
}

/// A setting that both tools have.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) key: &'static Key,
    pub(crate) value: String,
    /// Why the value is not the one in the file.
    pub(crate) remark: Option<String>,
    pub(crate) line: usize,
}

/// A line of the file that sets something.
struct Assignment<'t> {
    line: usize,
    section: String,
    name: &'t str,
    value: &'t str,
}

/// What a value means: the name of the key, the value and a remark; or why it is left out.
type Meaning = Result<(&'static str, String, Option<String>), String>;

/// Perun's currency where its file names none.
const CURRENCY: &str = "€";
/// No kWh costs as much in euros or dollars, and no grid emits as many kg.
const MOST: Decimal = Decimal::TWO;

impl Imported {
    /// Leaves out folders that the file of a project cannot name.
    pub(crate) fn leave_out_outside_folders(&mut self) {
        let is_refused = |taken: &mut Taken| taken.key.is_folder && is_outside(&taken.value);
        for taken in self.settings.extract_if(.., is_refused) {
            let why = format!("{} is outside of the working directory", taken.value);
            self.left_out.push((taken.line, why));
        }
    }
}

/// Reads a file of perun; lines that are not understood are left out.
#[must_use]
pub(crate) fn read(text: &str) -> Imported {
    let mut imported = Imported::default();
    let options = options(text, &mut imported.left_out);
    // Since 0.5, which brought these, prices are in units of the currency.
    let is_new = |option: &Assignment| matches!(option.name, "power_overhead" | "sampling_period");
    let is_new = options.iter().any(is_new);
    for option in &options {
        match option
            .meaning(is_new)
            .and_then(|meaning| taken(option.line, meaning))
        {
            Ok(taken) => imported.settings.push(taken),
            Err(why) => imported.left_out.push((option.line, why)),
        }
    }
    imported.left_out.sort_by_key(|(line, _)| *line);
    let of = |name: &str| {
        imported
            .settings
            .iter()
            .find(|taken| taken.key.name == name)
    };
    if let (Some(price), None) = (of("price"), of("currency")) {
        let remark = "perun's own; the file names none".to_owned();
        let meaning = ("currency", CURRENCY.to_owned(), Some(remark));
        let currency = taken(price.line, meaning);
        imported.settings.extend(currency);
    }
    imported
}

/// The lines that set something; the others are left out.
fn options<'t>(text: &'t str, left_out: &mut Vec<(usize, String)>) -> Vec<Assignment<'t>> {
    let mut options = Vec::new();
    let mut section = String::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let line = without_comment(line);
        if line.is_empty() {
            continue;
        }
        let header = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        if let Some(name) = header {
            name.trim().clone_into(&mut section);
            continue;
        }
        let (name, value) = line.split_once(['=', ':']).unwrap_or((line, ""));
        let name = name.trim();
        // The example of perun's first README ends some values with a comma.
        let value = unquoted(value.trim().trim_end_matches(',').trim_end());
        if name.contains(char::is_whitespace) {
            left_out.push((number, format!("`{line}` is not a setting")));
        } else if value.is_empty() {
            left_out.push((number, format!("{name} has no value")));
        } else {
            options.push(Assignment {
                line: number,
                section: section.clone(),
                name,
                value,
            });
        }
    }
    options
}

fn taken(
    line: usize,
    (name, value, remark): (&str, String, Option<String>),
) -> Result<Taken, String> {
    let key = Key::find(name).map_err(|unknown| unknown.to_string())?;
    let value = key
        .read(&value)
        .map_err(|why| format!("not a valid value of {}: {why}", key.name))?;
    Ok(Taken {
        key,
        value,
        remark,
        line,
    })
}

impl Assignment<'_> {
    fn meaning(&self, is_new: bool) -> Meaning {
        let as_it_is = |key| Ok((key, self.value.to_owned(), None));
        // Names are unique among all sections, which changed.
        match self.name.to_ascii_lowercase().as_str() {
            "pue" => as_it_is("pue"),
            "emissions_factor" | "emissions-factor" => self.emissions_factor(),
            "price_factor" | "price-factor" => self.price(is_new),
            "price_unit" => as_it_is("currency"),
            "sampling_period" | "sampling_rate" => as_it_is("interval"),
            "frequency" => self.interval(),
            "data_out" => as_it_is("output"),
            "format" if self.value == "txt" => Ok(("format", "text".to_owned(), None)),
            "format" => as_it_is("format"),
            "log_lvl" => as_it_is("log-level"),
            _ => Err(format!(
                "{}.{} has no counterpart in impact",
                self.section, self.name
            )),
        }
    }

    /// Grams; kilograms in the README that has the name with a hyphen.
    fn emissions_factor(&self) -> Meaning {
        let factor = self.number()?;
        let is_in_grams = factor >= MOST || factor.is_zero();
        match (is_in_grams, self.is_hyphenated()) {
            (true, _) => Ok(("emissions-factor", self.value.to_owned(), None)),
            (false, true) => {
                let grams = (factor * Decimal::ONE_THOUSAND).normalize().to_string();
                let remark = format!("{} kg/kWh in the file", self.value);
                Ok(("emissions-factor", grams, Some(remark)))
            }
            (false, false) => Err(format!(
                "emissions_factor {} is in g/kWh to perun, but its README before 0.4 has such values in kg/kWh; set \
                 emissions-factor",
                self.value
            )),
        }
    }

    /// Units of the currency; hundredths before perun 0.5.
    fn price(&self, is_new: bool) -> Meaning {
        let price = self.number()?;
        if self.is_hyphenated() && price >= MOST {
            let hundredths = (price / Decimal::ONE_HUNDRED).normalize().to_string();
            let remark = format!("{} cent/kWh in the file", self.value);
            Ok(("price", hundredths, Some(remark)))
        } else if !self.is_hyphenated() && (is_new || price < MOST) {
            Ok(("price", self.value.to_owned(), None))
        } else {
            Err(format!(
                "price_factor {} may be in hundredths of the currency, as before perun 0.5; set price",
                self.value
            ))
        }
    }

    /// From a frequency in Hz.
    fn interval(&self) -> Meaning {
        let hertz = self.number()?;
        let seconds = Decimal::ONE
            .checked_div(hertz)
            .ok_or("a frequency of 0 Hz is no interval")?;
        let remark = format!("{} Hz in the file", self.value);
        Ok((
            "interval",
            format!("{}s", seconds.normalize()),
            Some(remark),
        ))
    }

    fn is_hyphenated(&self) -> bool {
        self.name.contains('-')
    }

    fn number(&self) -> Result<Decimal, String> {
        let number = self.value.parse::<Decimal>();
        number.map_err(|_| format!("{}: `{}` is not a number", self.name, self.value))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> Vec<String> {
        let settings = read(text).settings;
        let shown = |taken: &Taken| format!("{}={}", taken.key.name, taken.value);
        settings.iter().map(shown).collect()
    }

    /// The values of perun's first README, with its commas and comments.
    const FIRST: &str = concat!(
        "[report]\nformat = txt\npue = 1.58\n",
        "emissions-factor = 0.355, # kgCO2eq/kWh\n",
        "price-factor = 41.59, # cent/kWh\n",
        "\n[monitor]\nfrequency = 1\ndata_out = ./results\n\n[perun]\nlog_lvl = WARN\n"
    );

    #[test]
    fn the_example_of_the_first_readme_is_taken_over_with_its_units() {
        assert_eq!(
            taken(FIRST),
            [
                "format=text",
                "pue=1.58",
                "emissions-factor=355",
                "price=0.4159",
                "interval=1s",
                "output=./results",
                "log-level=warn",
                "currency=€"
            ]
        );
        let imported = read(FIRST);
        assert!(imported.left_out.is_empty());
        let remarks = imported.settings.iter().filter_map(|t| t.remark.as_deref());
        assert_eq!(
            remarks.collect::<Vec<_>>(),
            [
                "0.355 kg/kWh in the file",
                "41.59 cent/kWh in the file",
                "1 Hz in the file",
                "perun's own; the file names none"
            ]
        );
    }

    #[test]
    fn the_settings_of_perun_1_0_are_taken_over_and_the_rest_is_told() {
        let text = concat!(
            "[post-processing]\npower_overhead = 0\npue = 1.0\nemissions_factor = 332\n",
            "price_factor = 0.407\nprice_unit = €\n\n[monitor]\nsampling_period = 1\ninclude_backends =\n\n",
            "[output]\napp_name\nrun_id\nformat = text\ndata_out = ./perun_results\n\n",
            "[benchmarking]\nrounds = 1\n# a comment\ngroup_by = host\n\n[debug]\nlog_lvl = WARNING\n"
        );
        assert_eq!(
            taken(text),
            [
                "pue=1.0",
                "emissions-factor=332",
                "price=0.407",
                "currency=€",
                "interval=1",
                "format=text",
                "output=./perun_results",
                "log-level=warning"
            ]
        );
        let left_out: Vec<String> = read(text)
            .left_out
            .into_iter()
            .map(|(_, why)| why)
            .collect();
        assert_eq!(
            left_out,
            [
                "post-processing.power_overhead has no counterpart in impact",
                "include_backends has no value",
                "app_name has no value",
                "run_id has no value",
                "benchmarking.rounds has no counterpart in impact",
                "benchmarking.group_by has no counterpart in impact"
            ]
        );
    }

    #[test]
    fn a_value_whose_unit_depends_on_the_version_is_left_out() {
        let of_0_2 =
            "[post-processing]\nemissions_factor = 0.262\nprice_factor = 34.6\npue = 1.58\n";
        assert_eq!(taken(of_0_2), ["pue=1.58"]);
        let why: Vec<String> = read(of_0_2)
            .left_out
            .into_iter()
            .map(|(_, why)| why)
            .collect();
        assert!(
            why[0].contains("kg/kWh") && why[1].contains("hundredths"),
            "{why:?}"
        );
        let yen = "[post-processing]\npower_overhead = 0\nprice_factor = 31\nprice_unit = ¥\n";
        assert_eq!(taken(yen), ["price=31", "currency=¥"]);
    }

    #[test]
    fn values_that_are_not_valid_are_left_out() {
        let text = "pue = x\nfrequency = 0\nformat = hdf5\nlog_lvl = CRITICAL\nno setting at all\nprice_factor = x\n";
        let imported = read(text);
        assert!(imported.settings.is_empty());
        let lines: Vec<usize> = imported.left_out.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 2, 3, 4, 5, 6]);
    }
}
