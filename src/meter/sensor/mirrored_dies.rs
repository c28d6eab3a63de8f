//! Dies that show the counter of another die of their socket, as on AMD's Zen 1 and Zen 2.

use super::kernel_file::KernelFile;
use super::{PowerSource, Reading, Roots};
use crate::model::Component;

/// Readings of one counter through two dies lie at most this far apart: they are some milliseconds apart.
const MIRROR_DISTANCE_UJ: u64 = 5_000_000;
/// Counters that have shown less since the boot may be this close by chance.
const LEAST_FOR_DISTANCE_UJ: u64 = 1_000_000_000;
/// Two counters that keep their distance over this many updates are one. Updates come about once in a millisecond.
const UPDATES: usize = 3;
/// This many readings take some 20 ms.
const MOST_READINGS: usize = 2000;
/// Counters are rounded to microjoules.
const ROUNDING_UJ: u64 = 2;

/// What two counters are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Separate,
    One,
    /// They did not move while they were watched.
    Unknown,
}

/// For each component the relation to an earlier die of its socket, where that is not separate.
pub(super) fn find(
    roots: &Roots,
    components: &[Component],
    mut relation: impl FnMut(usize, usize) -> Relation,
) -> Vec<Option<(usize, Relation)>> {
    if is_intel(roots) {
        return vec![None; components.len()];
    }
    let mut found: Vec<Option<(usize, Relation)>> = Vec::new();
    for (later, component) in components.iter().enumerate() {
        let mirrored = (0..later).find_map(|earlier| {
            let is_original = !matches!(found[earlier], Some((_, Relation::One)));
            let is_candidate =
                is_original && are_dies_of_one_socket(&components[earlier], component);
            let relation = is_candidate.then(|| relation(earlier, later))?;
            (relation != Relation::Separate).then_some((earlier, relation))
        });
        found.push(mirrored);
    }
    found
}

/// What the log says about a die that is not counted.
pub(super) fn note(die: &Component, original: &Component) -> String {
    format!("{die} shows the same counter as {original}, which is counted once")
}

/// Compares two readings of counters that count since the boot.
pub(super) fn since_boot(a: u64, b: u64) -> Relation {
    let is_close = a.min(b) >= LEAST_FOR_DISTANCE_UJ && a.abs_diff(b) <= MIRROR_DISTANCE_UJ;
    if a == b || is_close {
        Relation::One
    } else {
        Relation::Separate
    }
}

/// Compares two counters that count since they were opened: one counter moves both by the same steps.
pub(super) fn since_opened(a: &mut dyn PowerSource, b: &mut dyn PowerSource) -> Relation {
    let mut first = None;
    let mut last = None;
    let (mut equal, mut moves) = (0, 0);
    for _ in 0..MOST_READINGS {
        let (Some(before), Some(other), Some(after)) = (value(a), value(b), value(a)) else {
            return Relation::Unknown;
        };
        // An update between the readings would look like a difference.
        if before != after || last == Some(after) {
            continue;
        }
        last = Some(after);
        let distance = after.wrapping_sub(other);
        let Some(known) = first else {
            first = Some(distance);
            continue;
        };
        let drift = distance.wrapping_sub(known);
        moves += 1;
        equal += usize::from(drift.min(drift.wrapping_neg()) <= ROUNDING_UJ);
        if equal == UPDATES {
            return Relation::One;
        }
    }
    if moves < UPDATES {
        Relation::Unknown
    } else {
        Relation::Separate
    }
}

fn value(source: &mut dyn PowerSource) -> Option<u64> {
    match source.read() {
        Ok(Reading::Counter { microjoules, .. }) => Some(microjoules),
        _ => None,
    }
}

fn are_dies_of_one_socket(a: &Component, b: &Component) -> bool {
    let socket = |component: &Component| match component {
        Component::Package(unit) => {
            let name = unit.to_string();
            let (socket, _die) = name.split_once("-die-")?;
            Some(socket.to_owned())
        }
        _ => None,
    };
    a != b && socket(a).is_some() && socket(a) == socket(b)
}

/// Every die of Intel's processors has a counter of its own.
fn is_intel(roots: &Roots) -> bool {
    let mut buffer = [0; 256];
    let file = KernelFile::open(&roots.proc("cpuinfo"));
    file.is_ok_and(|file| {
        let text = file.text(&mut buffer);
        text.is_ok_and(|text| text.contains("GenuineIntel"))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::meter::sensor::{ReadError, Wraps};

    /// A counter that is updated every 50 readings of any counter.
    struct Die {
        readings: Arc<AtomicU64>,
        offset: u64,
        step: u64,
    }

    impl PowerSource for Die {
        fn read(&mut self) -> Result<Reading, ReadError> {
            let readings = self.readings.fetch_add(1, Ordering::Relaxed);
            Ok(Reading::Counter {
                microjoules: self.offset + readings / 50 * self.step,
                wraps: Wraps::Never,
            })
        }
    }

    fn relation(steps: [u64; 2]) -> Relation {
        let readings = Arc::default();
        let die = |offset, step| Die {
            readings: Arc::clone(&readings),
            offset,
            step,
        };
        since_opened(&mut die(0, steps[0]), &mut die(70_000, steps[1]))
    }

    #[test]
    fn counters_that_move_by_the_same_steps_are_one() {
        assert_eq!(relation([51_700, 51_700]), Relation::One);
        assert_eq!(relation([51_700, 51_900]), Relation::Separate);
        assert_eq!(relation([51_700, 0]), Relation::Separate);
        assert_eq!(relation([0, 0]), Relation::Unknown);
    }

    #[test]
    fn counters_since_the_boot_that_show_the_same_are_one() {
        assert_eq!(since_boot(51_700_000_000, 51_700_900_000), Relation::One);
        assert_eq!(
            since_boot(51_700_000_000, 57_700_000_000),
            Relation::Separate
        );
        assert_eq!(since_boot(1_000, 2_000), Relation::Separate);
    }
}
