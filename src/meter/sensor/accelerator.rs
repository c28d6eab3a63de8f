use super::{Sensor, Share};
use crate::model::Component;

/// Seconds between two readings of a board that has no energy counter.
pub const POWER_PERIOD_S: f64 = 0.1;

/// An accelerator board: a meter, and a view of who uses it.
pub trait Accelerator: Send {
    fn board(&self) -> Board;
    /// Its energy meter, or why there is none.
    fn sensor(&self) -> Result<Sensor, String>;
    /// What its gauges show now.
    fn readings(&self) -> BoardReadings;
    /// The part of the board's work since the last call that these processes did.
    fn share(&mut self, processes: &[u32]) -> Share;
    /// Why all the board draws is taken for the run's, where that was so since the last call.
    fn counts_whole_because(&mut self) -> Option<&'static str>;
}

/// What a board is.
#[derive(Debug, Clone, PartialEq)]
pub struct Board {
    pub component: Component,
    pub uuid: String,
    pub name: String,
    pub memory_bytes: Option<u64>,
    pub power_limit_w: Option<f64>,
    pub driver: Option<String>,
}

/// A board's gauges, each left out where it has none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BoardReadings {
    pub watts: Option<f64>,
    /// Fraction of 1.
    pub utilisation: Option<f64>,
    pub temperature_c: Option<f64>,
    pub performance_state: Option<String>,
    pub memory_used: Option<u64>,
    pub clock_mhz: Option<u32>,
}

/// Which boards `CUDA_VISIBLE_DEVICES` leaves a program, given each board's ids in PCI order.
///
/// As in CUDA, entries are indices or beginnings of UUIDs, and the first invalid one ends the list.
#[must_use]
pub fn visible(list: &str, boards: &[Vec<String>]) -> Vec<bool> {
    let mut seen = vec![false; boards.len()];
    for entry in list.split(',').map(str::trim) {
        // Old drivers name a slice of a board MIG-<uuid of the board>/<instance>/<instance>.
        let entry = entry.split('/').next().unwrap_or_default();
        let board = match entry.parse::<usize>() {
            Ok(index) => Some(index).filter(|index| *index < boards.len()),
            Err(_) => boards.iter().position(|ids| {
                ids.iter().any(|id| {
                    !entry.is_empty()
                        && (id.starts_with(entry)
                            || entry.strip_prefix("MIG-").is_some_and(|board| id == board))
                })
            }),
        };
        match board {
            Some(index) => seen[index] = true,
            None => break,
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(list: &str) -> Vec<bool> {
        let boards = [
            vec!["GPU-aa11".to_owned()],
            vec!["GPU-bb22".to_owned(), "MIG-77".to_owned()],
        ];
        visible(list, &boards)
    }

    #[test]
    fn boards_are_chosen_by_index_uuid_or_slice() {
        assert_eq!(seen("1"), [false, true]);
        assert_eq!(seen("1,0"), [true, true]);
        assert_eq!(seen("GPU-aa"), [true, false]);
        assert_eq!(seen("MIG-77"), [false, true]);
        assert_eq!(seen("MIG-GPU-bb22/1/0"), [false, true]);
    }

    #[test]
    fn an_invalid_entry_hides_all_after_it() {
        assert_eq!(seen("0,-1,1"), [true, false]);
        assert_eq!(seen(""), [false, false]);
    }
}
