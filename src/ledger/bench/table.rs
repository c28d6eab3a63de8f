use super::Bench;
use crate::ledger::compare::{Comparison, Contrasts, Metric, interval_of, p, signed, titled};
use crate::text::table::{Table, UNKNOWN};

/// What a table is about, with the unit of its numbers.
pub(super) fn heading(contrasts: &Contrasts) -> String {
    titled(&contrasts.figure.meaning(), contrasts.scale())
}

/// A row for each command: the statistics of a figure, and how it differs from the first command.
pub(super) fn table(bench: &Bench, comparison: &Comparison, contrasts: &Contrasts) -> Table {
    let Metric::Bench(figure) = &contrasts.figure else {
        unreachable!("a benchmark has figures of its own only");
    };
    let scale = contrasts.scale();
    let mut numbers = vec![
        "samples",
        "mean",
        "95 % interval",
        "standard deviation",
        "median",
    ];
    let is_compared = bench.commands.len() > 1;
    if is_compared {
        numbers.extend(["difference", "its 95 % interval", "p"]);
    }
    let mut table = Table::new(&["command"], &numbers);
    for (index, command) in bench.commands.iter().enumerate() {
        let Some(statistics) = bench.statistics(command, figure) else {
            table.push([command.name.clone(), "0".to_owned(), UNKNOWN.to_owned()]);
            continue;
        };
        let interval = statistics
            .interval
            .map(|(low, high)| format!("{} to {}", scale.digits(low), scale.digits(high)));
        let deviation = statistics.moments.standard_deviation();
        let unknown = || UNKNOWN.to_owned();
        let mut cells = vec![
            command.name.clone(),
            statistics.moments.count.to_string(),
            scale.digits(statistics.moments.mean),
            interval.unwrap_or_else(unknown),
            deviation.map_or_else(unknown, |deviation| scale.digits(deviation)),
            scale.digits(statistics.median),
        ];
        if let Some(contrast) = contrasts.of_group(index) {
            cells.push(signed(&contrasts.figure, contrast));
            cells.push(interval_of(&contrasts.figure, contrast).unwrap_or_default());
            cells.push(p(comparison, contrast));
        }
        table.push(cells);
    }
    table
}
