use serde::{Deserialize, Serialize};

use super::board_error::{MeterError, ShareError};
use super::{Sensor, Share};
use crate::model::Component;

/// Seconds between two readings of a board that has no energy counter.
pub(crate) const POWER_PERIOD_S: f64 = 0.1;

/// An accelerator board, such as a GPU.
pub(crate) trait Accelerator: Send {
    /// What the board is; asks the driver.
    fn board(&self) -> Board;
    /// Its energy or power sensor, or why there is none.
    fn sensor(&self) -> Result<Sensor, MeterError>;
    /// Its other sensors.
    fn readings(&self) -> BoardReadings;
    /// The part of the board's work since the last call that these processes did, or why that is
    /// not known.
    fn share(&mut self, processes: &[u32]) -> Result<Share, ShareError>;
}

/// What a board is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Board {
    pub(crate) uuid: String,
    pub(crate) name: String,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) power_limit_w: Option<f64>,
    pub(crate) driver: Option<String>,
}

impl Board {
    /// The board as a component of the machine.
    pub(crate) fn component(&self) -> Component {
        Component::Gpu(self.uuid.clone())
    }
}

/// What a board's other sensors show; a value is left out where the board has no such sensor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct BoardReadings {
    pub(crate) watts: Option<f64>,
    /// Fraction of 1.
    pub(crate) utilisation: Option<f64>,
    pub(crate) temperature_c: Option<f64>,
    pub(crate) performance_state: Option<String>,
    pub(crate) memory_used: Option<u64>,
    pub(crate) clock_mhz: Option<u32>,
}

/// Which boards `CUDA_VISIBLE_DEVICES` or the like lets a program see, given each board's ids in PCI order.
///
/// As in CUDA, entries are indices or beginnings of UUIDs, and the first invalid one ends the list.
pub(crate) fn visible(list: &str, boards: &[Vec<String>]) -> Vec<bool> {
    let mut seen = vec![false; boards.len()];
    for entry in list.split(',').map(str::trim) {
        // Old drivers call a slice of a board MIG-<uuid of the board>/<instance>/<instance>.
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
