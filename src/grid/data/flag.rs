//! Figures of the yearly table that a reader should doubt.

use serde::Deserialize;

use super::FLAGS;
use crate::model::{Doubt, DoubtKind};

#[derive(Deserialize)]
struct Row {
    zone: String,
    kind: DoubtKind,
    detail: String,
}

/// The reasons to doubt the figures of a zone of the yearly table; none for most zones.
#[must_use]
pub fn of(zone: &str) -> Vec<Doubt> {
    // Most zones have none, so the table is parsed only if the zone is in it.
    let mut names = FLAGS
        .text()
        .lines()
        .filter_map(|line| line.split(',').next());
    if !names.any(|name| name == zone) {
        return Vec::new();
    }
    let mut rows = FLAGS.rows::<Row>();
    rows.retain(|row| row.zone == zone);
    let doubts = rows.into_iter();
    doubts.map(|row| Doubt::new(row.kind, row.detail)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_far_from_ember_or_constant_is_flagged() {
        let kinds = |zone| {
            of(zone)
                .into_iter()
                .map(|flag| flag.kind)
                .collect::<Vec<_>>()
        };
        assert_eq!(kinds("TM"), [DoubtKind::Constant, DoubtKind::Ember]);
        assert_eq!(kinds("KE"), [DoubtKind::Ember, DoubtKind::Jump]);
        assert_eq!(kinds("DE"), []);
    }
}
