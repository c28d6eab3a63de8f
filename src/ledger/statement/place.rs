use crate::ledger::Tally;

/// A sentence for each place that is assumed because logs do not name one.
pub(super) fn sentences(tally: &Tally) -> impl Iterator<Item = String> {
    tally.assumed_places.iter().map(|(place, runs)| {
        let of = if *runs == tally.runs {
            String::new()
        } else {
            format!(" of {runs} of {} runs", tally.runs)
        };
        format!("The zone{of} was not recorded; {place}.")
    })
}
