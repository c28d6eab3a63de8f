use super::{Comparison, Test};
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

/// One row for each figure and group; an empty cell is a value that is not known.
#[must_use]
pub fn csv(comparison: &Comparison) -> String {
    let p = Test::ALL.map(|test| format!("p_{}", test.id()));
    let numbers: Vec<&str> = NUMBERS
        .into_iter()
        .chain(p.iter().map(String::as_str))
        .collect();
    let mut table = Table::new(&WORDS, &numbers);
    for contrasts in &comparison.figures {
        for (index, group) in contrasts.groups.iter().enumerate() {
            let contrast = contrasts.against_first.iter().find(|c| c.group == index);
            let interval = contrast.and_then(crate::ledger::compare::Contrast::interval);
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
            cells.extend(Test::ALL.map(|test| {
                let result = contrast.and_then(|contrast| contrast.result(test));
                cell(result.map(|result| result.p))
            }));
            table.push(cells);
        }
    }
    table.csv()
}

fn cell(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}
