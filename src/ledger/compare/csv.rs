use super::{Comparison, Contrast, Test};
use crate::text::table::Table;

const WORDS: [&str; 4] = ["figure", "unit", "group", "against"];
const NUMBERS: [&str; 9] = [
    "runs",
    "unknown_runs",
    "mean",
    "standard_error",
    "difference",
    "relative_difference",
    "low",
    "high",
    "effect_size",
];
/// After the p-values of the tests.
const FURTHER: [&str; 3] = ["pairs", "least_permutation_p", "detectable_difference"];

/// One row for each figure and group; an empty cell is a value that is not known.
#[must_use]
pub fn csv(comparison: &Comparison) -> String {
    let tests: &[Test] = match comparison.paired_by {
        Some(_) => &Test::PAIRED,
        None => &Test::ALL,
    };
    let p: Vec<String> = tests
        .iter()
        .map(|test| format!("p_{}", test.id()))
        .collect();
    let numbers: Vec<&str> = NUMBERS
        .into_iter()
        .chain(p.iter().map(String::as_str))
        .chain(FURTHER)
        .collect();
    let mut table = Table::new(&WORDS, &numbers);
    for contrasts in &comparison.figures {
        for (index, group) in contrasts.groups.iter().enumerate() {
            let contrast = contrasts.of_group(index);
            let interval = contrast.and_then(Contrast::interval);
            let against = if index > 0 {
                contrasts.groups[0].name.as_str()
            } else {
                ""
            };
            let mut cells = vec![
                contrasts.figure.name().to_owned(),
                contrasts.figure.unit().to_owned(),
                group.name.clone(),
                against.to_owned(),
                group.values.len().to_string(),
                group.unknown.to_string(),
            ];
            cells.extend(
                [
                    group.moments.map(|moments| moments.mean),
                    group.moments.and_then(|moments| moments.standard_error()),
                    contrast.map(|contrast| contrast.difference),
                    contrast.and_then(|contrast| contrast.relative),
                    interval.map(|(low, _)| low),
                    interval.map(|(_, high)| high),
                    contrast.and_then(|contrast| contrast.effect_size),
                ]
                .map(cell),
            );
            cells.extend(tests.iter().map(|test| {
                let result = contrast.and_then(|contrast| contrast.result(*test));
                cell(result.map(|result| result.p))
            }));
            cells.extend(
                [
                    contrast
                        .and_then(|contrast| contrast.pairs)
                        .map(|pairs| pairs as f64),
                    contrast.map(|contrast| contrast.least_p),
                    contrast.and_then(|contrast| contrast.detectable),
                ]
                .map(cell),
            );
            table.push(cells);
        }
    }
    table.csv()
}

fn cell(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}
