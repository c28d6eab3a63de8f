use super::{Bench, BenchFigure};
use crate::text::table::Table;

const NUMBERS: [&str; 6] = [
    "sample",
    "place",
    "runs",
    "failed_runs",
    "sample_energy_j",
    "sample_time_s",
];

/// One row for each sample, with the figures of one run; an empty cell is a value that is not known.
#[must_use]
pub fn csv(bench: &Bench) -> String {
    let figures = bench.figures();
    let mut titles: Vec<String> = NUMBERS.map(str::to_owned).to_vec();
    for figure in &figures {
        if let BenchFigure::Work(name) = figure {
            titles.push(name.clone());
            continue;
        }
        let unit = figure
            .unit()
            .replace(' ', "_")
            .replace('^', "")
            .to_lowercase();
        titles.push(format!("{}_{unit}", figure.name()));
    }
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let mut table = Table::new(&["command"], &titles);
    for command in &bench.commands {
        for (index, sample) in command.samples.iter().enumerate() {
            let energy = sample.energy.map(|energy| energy.joules().to_string());
            let mut cells = vec![
                command.name.clone(),
                (index + 1).to_string(),
                sample.place.to_string(),
                sample.runs.to_string(),
                sample.failed_runs.to_string(),
                energy.unwrap_or_default(),
                sample.duration.as_secs_f64().to_string(),
            ];
            cells.extend(figures.iter().map(|figure| {
                let value = figure.of(sample, bench.work.as_ref());
                value.map_or_else(String::new, |value| value.to_string())
            }));
            table.push(cells);
        }
    }
    table.csv()
}
