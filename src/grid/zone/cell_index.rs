use super::Point;
use super::index_limit::{IndexLimit, TooFine};
use super::located::NEAR;
use crate::grid::data::shapes::Bounds;

/// Cells of one degree, each with the parts whose box lies at most [`NEAR`] from it.
#[derive(Debug, Clone)]
pub(super) struct CellIndex {
    starts: Vec<u32>,
    parts: Vec<u32>,
}

const COLUMNS: usize = 360;
const ROWS: usize = 180;

impl CellIndex {
    pub(super) fn over(
        boxes: &(impl Iterator<Item = Bounds> + Clone),
        limit: &mut IndexLimit,
    ) -> Result<Self, TooFine> {
        let cells = boxes.clone().map(|bounds| {
            let (west, east) = (column(bounds.west - NEAR), column(bounds.east + NEAR));
            let (south, north) = (row(bounds.south - NEAR), row(bounds.north + NEAR));
            (south..=north)
                .flat_map(move |row| (west..=east).map(move |column| row * COLUMNS + column))
        });
        let mut starts = vec![0_u32; COLUMNS * ROWS + 1];
        for cells in cells.clone() {
            limit.reserve(cells.clone().count())?;
            for cell in cells {
                starts[cell + 1] += 1;
            }
        }
        for n in 1..starts.len() {
            starts[n] += starts[n - 1];
        }
        let mut next = starts.clone();
        let mut inside = vec![0_u32; starts[COLUMNS * ROWS] as usize];
        for (part, cells) in cells.enumerate() {
            for cell in cells {
                inside[next[cell] as usize] = part as u32;
                next[cell] += 1;
            }
        }
        Ok(Self {
            starts,
            parts: inside,
        })
    }

    pub(super) fn parts_at(&self, point: Point) -> &[u32] {
        let cell = row(point.lat()) * COLUMNS + column(point.lon());
        &self.parts[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }
}

fn column(lon: f64) -> usize {
    ((lon + 180.0).max(0.0) as usize).min(COLUMNS - 1)
}

fn row(lat: f64) -> usize {
    ((lat + 90.0).max(0.0) as usize).min(ROWS - 1)
}
