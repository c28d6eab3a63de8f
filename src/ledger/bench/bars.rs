use std::fmt::Write as _;

use super::{Bench, BenchFigure};
use crate::text::escape;
use crate::text::svg::shortened;
use crate::text::table::{UNKNOWN, aligned};

/// The longest bar, in characters.
const WIDTH: f64 = 40.0;
/// Longer names are cut.
const LONGEST_NAME: usize = 40;

/// A bar for the mean energy of each command.
pub(super) fn bars(bench: &Bench) -> String {
    let means: Vec<Option<f64>> = bench
        .commands
        .iter()
        .map(|command| {
            let statistics = bench.statistics(command, &BenchFigure::Energy);
            statistics.map(|statistics| statistics.moments.mean)
        })
        .collect();
    let most = means.iter().copied().flatten().fold(0.0, f64::max);
    let scale = BenchFigure::Energy.scale(most);
    let names: Vec<String> = bench
        .commands
        .iter()
        .map(|command| shortened(&escape::line(&command.name), LONGEST_NAME))
        .collect();
    let longest = names
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(0);
    let amounts: Vec<String> = means
        .iter()
        .map(|mean| mean.map_or_else(|| UNKNOWN.to_owned(), |mean| scale.amount(mean)))
        .collect();
    let amounts = aligned(&amounts.iter().map(String::as_str).collect::<Vec<_>>());
    let mut out = String::new();
    for ((name, mean), amount) in names.iter().zip(&means).zip(&amounts) {
        let share = mean.map_or(0.0, |mean| if most > 0.0 { mean / most } else { 0.0 });
        let _ = writeln!(out, "  {name:longest$}  {amount}  {}", bar(share));
    }
    out
}

/// A bar in steps of an eighth of a character.
fn bar(share: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * WIDTH * 8.0).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_shares() {
        assert_eq!(bar(1.0), "█".repeat(40));
        assert_eq!(bar(0.5), "█".repeat(20));
        assert_eq!(bar(0.5 / 40.0), "▌");
        assert_eq!(bar(0.0), "");
        assert_eq!(bar(-1.0), "");
    }
}
