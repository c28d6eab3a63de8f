use super::{Attribution, Row};
use crate::text::number::percent;
use crate::text::quantity::{Quantity, joules};
use crate::text::table::{Table, UNKNOWN};
use crate::units::{Energy, SECONDS_PER_HOUR};

/// What each row of a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// A name of spans.
    Name,
    /// A device.
    Device,
}

/// A table for people, of this many names at most, and what is to be said of it.
#[must_use]
pub fn text(attribution: &Attribution, by: By, top: usize) -> String {
    let total = attribution.total();
    let mut out = format!(
        "{} of {}: {} in all, {} of it covered\n",
        attribution.run.as_deref().unwrap_or("the run"),
        attribution.format,
        joules(total),
        attribution.coverage().map_or(UNKNOWN.to_owned(), percent),
    );
    if let Some(alignment) = &attribution.alignment {
        out.push_str(&format!("times: {alignment}\n"));
    }
    for of_device in &attribution.devices {
        let device = &of_device.device;
        let methods: Vec<String> = device.methods.iter().map(ToString::to_string).collect();
        out.push_str(&match device.components.is_empty() {
            true => format!("{}: {UNKNOWN}\n", device.name),
            false => format!(
                "{}: {} ({}; {})\n",
                device.name,
                joules(of_device.energy),
                device.components.join(", "),
                methods.join("; ")
            ),
        });
    }
    out.push('\n');
    out.push_str(&match by {
        By::Name => by_name(attribution, top),
        By::Device => by_device(attribution),
    });
    if !attribution.notes.is_empty() {
        out.push_str("\nNotes\n");
        for note in &attribution.notes {
            out.push_str(&format!("  {note}\n"));
        }
    }
    out
}

fn by_name(attribution: &Attribution, top: usize) -> String {
    let has_devices = attribution.devices.len() > 1;
    let words: &[&str] = if has_devices {
        &["name", "device"]
    } else {
        &["name"]
    };
    let numbers = [
        "calls",
        "own time",
        "own energy",
        "share",
        "with calls",
        "mean of a call",
        "95 % interval",
    ];
    let mut table = Table::new(words, &numbers);
    let total = attribution.total();
    let device = |place: usize| {
        let name = attribution.devices[place].device.name.clone();
        has_devices.then_some(name)
    };
    for row in attribution.rows.iter().take(top) {
        let is_known = !attribution.devices[row.device].device.components.is_empty();
        let energy = |energy: Energy| {
            if is_known {
                joules(energy)
            } else {
                UNKNOWN.to_owned()
            }
        };
        let cells = [
            row.calls.map_or(String::new(), |calls| calls.to_string()),
            row.own_seconds.map_or(String::new(), time),
            energy(row.own),
            if is_known {
                share(row.own, total)
            } else {
                String::new()
            },
            energy(row.energy),
            row.mean_j
                .map_or(String::new(), |mean| Quantity::Joules.amount(mean)),
            interval(row),
        ];
        let name = std::iter::once(short(attribution.name(row)));
        table.push(name.chain(device(row.device)).chain(cells));
    }
    let rest = attribution.rows.get(top..).unwrap_or_default();
    if !rest.is_empty() {
        let own: Energy = rest.iter().map(|row| row.own).sum();
        let name = format!("({} further names)", rest.len());
        let cells = [String::new(), String::new(), joules(own), share(own, total)];
        let no_device = has_devices.then(String::new);
        table.push(std::iter::once(name).chain(no_device).chain(cells));
    }
    for (place, of_device) in attribution.devices.iter().enumerate() {
        if of_device.device.components.is_empty() {
            continue;
        }
        let uncovered = of_device.uncovered;
        let cells = [
            String::new(),
            String::new(),
            joules(uncovered),
            share(uncovered, total),
        ];
        let name = std::iter::once("(not covered by any span)".to_owned());
        table.push(name.chain(device(place)).chain(cells));
    }
    table.text()
}

fn by_device(attribution: &Attribution) -> String {
    let mut table = Table::new(
        &["device"],
        &["energy", "covered", "not covered", "share covered"],
    );
    for of_device in &attribution.devices {
        let covered = of_device.energy.saturating_sub(of_device.uncovered);
        table.push([
            of_device.device.name.clone(),
            joules(of_device.energy),
            joules(covered),
            joules(of_device.uncovered),
            share(covered, of_device.energy),
        ]);
    }
    table.text()
}

/// The half interval beside its mean.
fn interval(row: &Row) -> String {
    let both = row.mean_j.zip(row.half_interval_j);
    both.map_or(String::new(), |(mean, half)| {
        let scale = Quantity::Joules.scale(mean);
        format!("± {} {}", scale.digits(half), scale.unit)
    })
}

fn share(part: Energy, total: Energy) -> String {
    if total == Energy::ZERO {
        return String::new();
    }
    percent(part.kwh() / total.kwh())
}

fn time(seconds: f64) -> String {
    Quantity::Time.amount(seconds / SECONDS_PER_HOUR)
}

/// A name that leaves space for the figures.
fn short(name: &str) -> String {
    const MOST: usize = 48;
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    let begin: String = name.chars().take(MOST - 1).collect();
    format!("{begin}…")
}
