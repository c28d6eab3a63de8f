use super::Attribution;
use crate::text::csv::{Cell, csv as table};
use crate::units::Energy;

const HEAD: [&str; 10] = [
    "name",
    "device",
    "calls",
    "own_s",
    "with_calls_s",
    "own_j",
    "with_calls_j",
    "share",
    "mean_j",
    "interval_95_half_j",
];

/// A row for each name, and one without a name for what no span covers of each device.
#[must_use]
pub fn csv(attribution: &Attribution) -> String {
    let total = attribution.total();
    let exact = |energy: Energy, is_known: bool| {
        if is_known {
            Cell::Number(energy.exact_joules().to_string().into())
        } else {
            Cell::Empty
        }
    };
    let share = |energy: Energy, is_known: bool| {
        let share = (is_known && total > Energy::ZERO).then(|| energy.kwh() / total.kwh());
        Cell::number(share)
    };
    let rows = attribution.rows.iter().map(|row| {
        let device = &attribution.devices[row.device].device;
        let is_known = !device.components.is_empty();
        vec![
            Cell::word(attribution.name(row)),
            Cell::word(device.name.as_str()),
            row.calls
                .map_or(Cell::Empty, |calls| Cell::Number(calls.to_string().into())),
            Cell::number(row.own_seconds),
            Cell::number(row.seconds),
            exact(row.own, is_known),
            exact(row.energy, is_known),
            share(row.own, is_known),
            Cell::number(row.mean_j),
            Cell::number(row.half_interval_j),
        ]
    });
    let uncovered = attribution.devices.iter().map(|of_device| {
        let is_known = !of_device.device.components.is_empty();
        let mut cells = vec![Cell::Empty; HEAD.len()];
        cells[1] = Cell::word(of_device.device.name.as_str());
        cells[5] = exact(of_device.uncovered, is_known);
        cells[7] = share(of_device.uncovered, is_known);
        cells
    });
    let head = HEAD.iter().map(|title| Cell::word(*title)).collect();
    table(std::iter::once(head).chain(rows).chain(uncovered))
}
