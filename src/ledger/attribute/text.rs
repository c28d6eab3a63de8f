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
        "{}: {}, {} of it covered by the profile ({})\n",
        attribution.run.as_deref().unwrap_or("the run"),
        joules(total),
        attribution.coverage().map_or(UNKNOWN.to_owned(), percent),
        attribution.format,
    );
    if let Some(alignment) = &attribution.alignment {
        out.push_str(&format!("times: {alignment}\n"));
    }
    for of_device in &attribution.devices {
        let device = &of_device.device;
        let methods: Vec<String> = device.methods.iter().map(ToString::to_string).collect();
        out.push_str(&if device.components.is_empty() {
            format!("{}: {UNKNOWN}\n", device.name)
        } else {
            format!(
                "{}: {} ({}; {})\n",
                device.name,
                joules(of_device.energy),
                device.components.join(", "),
                methods.join("; ")
            )
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

/// A column of numbers that is left out where no row has one.
type Column = (&'static str, fn(&Attribution, &Row) -> String);

const COLUMNS: [Column; 7] = [
    ("calls", |_, row| {
        row.calls.map_or(String::new(), |calls| calls.to_string())
    }),
    ("own time", |_, row| {
        row.own_seconds.map_or(String::new(), time)
    }),
    ("own energy", |of, row| energy(of, row, row.own)),
    ("share", |of, row| {
        let is_measured = of.is_measured(row);
        if is_measured {
            share(row.own, of.total())
        } else {
            String::new()
        }
    }),
    ("with calls", |of, row| energy(of, row, row.energy)),
    ("mean of a call", |_, row| {
        row.mean_j
            .map_or(String::new(), |mean| Quantity::Joules.amount(mean))
    }),
    ("95 % interval", |_, row| interval(row)),
];

fn by_name(attribution: &Attribution, top: usize) -> String {
    let has_devices = attribution.devices.len() > 1;
    let words: &[&str] = if has_devices {
        &["name", "device"]
    } else {
        &["name"]
    };
    let shown = &attribution.rows[..top.min(attribution.rows.len())];
    let columns: Vec<&Column> = COLUMNS
        .iter()
        .filter(|(title, cell)| {
            let is_needed = matches!(*title, "own energy" | "share");
            is_needed || shown.iter().any(|row| !cell(attribution, row).is_empty())
        })
        .collect();
    let titles: Vec<&str> = columns.iter().map(|(title, _)| *title).collect();
    let mut table = Table::new(words, &titles);
    let device = |place: usize| has_devices.then(|| attribution.devices[place].device.name.clone());
    for row in shown {
        let name = std::iter::once(short(attribution.name(row)));
        let cells = columns.iter().map(|(_, cell)| cell(attribution, row));
        table.push(name.chain(device(row.device)).chain(cells));
    }
    let total = attribution.total();
    let mut of_none = |name: String, device: Option<String>, own: Energy| {
        let cells = titles.iter().map(|title| match *title {
            "own energy" => joules(own),
            "share" => share(own, total),
            _ => String::new(),
        });
        table.push(std::iter::once(name).chain(device).chain(cells));
    };
    let rest = &attribution.rows[shown.len()..];
    if !rest.is_empty() {
        let own = rest.iter().map(|row| row.own).sum();
        let name = format!("({} further names)", rest.len());
        of_none(name, has_devices.then(String::new), own);
    }
    for (place, of_device) in attribution.devices.iter().enumerate() {
        if !of_device.device.components.is_empty() {
            of_none(
                "(not covered)".to_owned(),
                device(place),
                of_device.uncovered,
            );
        }
    }
    table.text()
}

fn energy(attribution: &Attribution, row: &Row, energy: Energy) -> String {
    if attribution.is_measured(row) {
        joules(energy)
    } else {
        UNKNOWN.to_owned()
    }
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
