use std::fmt::Write as _;
use std::path::Path;

use crate::grid::zone::register;
use crate::ledger::Footprint;
use crate::ledger::footprint::PueOrigin;
use crate::meter::Measurement;
use crate::model::Component;
use crate::model::info::{Balance, Region};
use crate::text::escape;
use crate::text::quantity::{self, Quantity};
use crate::text::table::aligned;
use crate::track::{Ending, Summary};
use crate::units::Energy;

/// The summary of a run for the terminal, with the command to run next.
///
/// The footprint is the one of the log just written, so that a statement says the same.
pub fn table(
    summary: &Summary,
    footprint: Option<&Footprint>,
    name: &str,
    program: Option<&Path>,
) -> String {
    let mut text = String::new();
    let how_long = summary
        .measurement
        .as_ref()
        .map_or_else(String::new, |measured| {
            format!(", {}", quantity::duration(measured.duration))
        });
    let ended = match summary.ending {
        Ending::Killed(signal) => format!(", killed by signal {signal}"),
        Ending::Exited(code) if code != 0 => format!(", exit code {code}"),
        _ => String::new(),
    };
    let _ = writeln!(text, "\nimpact: {name}{how_long}{ended}");
    let measurement = summary.measurement.as_ref();
    match measurement.filter(|measurement| !measurement.balance.is_empty()) {
        Some(measurement) => rows(&mut text, measurement),
        None => text.push_str("  nothing could be measured or estimated\n"),
    }
    totals(&mut text, summary, footprint);
    for note in &summary.notes {
        let _ = writeln!(text, "  note: {note}");
    }
    if let Some(run) = &summary.run {
        let run = escape::shell_path(run);
        let _ = writeln!(text, "  log: {run}");
        let impact = callable(program);
        let country = country(summary.region.as_ref());
        let country = country.map_or_else(String::new, |country| format!(" {country}"));
        let _ = match measurement.and_then(Measurement::energy) {
            None => writeln!(text, "  next: {impact} doctor"),
            Some(_) => writeln!(text, "  next: {impact} statement {run}{country}"),
        };
    }
    text
}

fn rows(text: &mut String, measurement: &Measurement) {
    let width = measurement
        .sensors
        .iter()
        .map(|s| name(&s.component).len())
        .max()
        .unwrap_or(0)
        .max(7);
    let column = |title: &str, joules: fn(&Balance) -> f64| {
        let balances = measurement.sensors.iter();
        let balances = balances.map(|sensor| measurement.balance.get(&sensor.component));
        let amounts: Vec<String> = balances
            .map(|balance| match balance {
                Some(balance) => Quantity::Joules.amount(joules(balance)),
                None => "unknown".to_owned(),
            })
            .collect();
        let cells: Vec<&str> = std::iter::once(title)
            .chain(amounts.iter().map(String::as_str))
            .collect();
        aligned(&cells)
    };
    let run = column("the run", |balance| balance.attributed_j);
    let machine = column("the machine", |balance| balance.total_j);
    let _ = writeln!(
        text,
        "  {:width$}  {}  {}  how",
        "device", run[0], machine[0]
    );
    for ((sensor, run), machine) in measurement.sensors.iter().zip(&run[1..]).zip(&machine[1..]) {
        let is_known = measurement.balance.contains_key(&sensor.component);
        let contained = match measurement.counted_as(&sensor.component) {
            None if is_known => " (not added: part of another, or unknown)",
            _ => "",
        };
        let _ = writeln!(
            text,
            "  {:width$}  {run}  {machine}  {}{contained}",
            name(&sensor.component),
            sensor.method,
        );
    }
}

fn totals(text: &mut String, summary: &Summary, footprint: Option<&Footprint>) {
    let _ = match summary.measurement.as_ref().and_then(Measurement::energy) {
        Some(energy) => writeln!(text, "  energy of the run: {}", amount(energy)),
        None => writeln!(text, "  energy of the run: unknown; see impact doctor"),
    };
    if let Some(footprint) = footprint {
        let stated_by = match &footprint.pue_origin {
            PueOrigin::Assumed(source) => format!(", a global average ({source})"),
            PueOrigin::Provider(citation) => format!(", by {citation}"),
            PueOrigin::Machine(machine) => format!(", as this is {machine}"),
            _ => String::new(),
        };
        let energy = amount(footprint.energy);
        let _ = writeln!(text, "  with PUE {}: {energy}{stated_by}", footprint.pue);
    }
    if let Some(how) = summary
        .region
        .as_ref()
        .and_then(|region| region.how.as_ref())
    {
        let _ = writeln!(text, "  place: {how}");
    }
    match (&summary.region, footprint.and_then(|of| of.carbon.as_ref())) {
        (_, Some(carbon)) => {
            let zone = carbon
                .zone
                .as_ref()
                .map_or_else(String::new, |zone| format!(" in {zone}"));
            let _ = writeln!(
                text,
                "  CO2eq: {}{zone} at {} ({})",
                quantity::mass(carbon.mass),
                quantity::intensity(carbon.intensity),
                carbon.origin,
            );
        }
        (Some(_), None) => {
            let _ = writeln!(text, "  CO2eq: unknown");
        }
        (None, _) => {
            let _ = writeln!(
                text,
                "  CO2eq: unknown, as the place is not known; name it with --zone, --address, --region or --country"
            );
        }
    }
    let _ = writeln!(
        text,
        "  the tracker itself: {} of CPU time, no part of the run",
        quantity::duration(summary.overhead)
    );
}

/// The program as it was called, as a word of a shell command; its name where it was found by that.
fn callable(program: Option<&Path>) -> String {
    program.map_or_else(|| "impact".to_owned(), escape::shell_path)
}

/// In joules, and in kilowatt-hours as a statement has it.
fn amount(energy: Energy) -> String {
    let (joules, electricity) = (quantity::joules(energy), quantity::electricity(energy));
    if joules == electricity {
        return joules;
    }
    format!("{joules} = {electricity}")
}

fn country(region: Option<&Region>) -> Option<String> {
    let zone = register::find(&region?.zone).ok()?;
    zone.country.map(|country| country.to_string())
}

/// Long GPU ids are cut, so that the table fits.
fn name(component: &Component) -> String {
    let name = component.to_string();
    match name.char_indices().nth(24) {
        Some((end, _)) => name[..end].to_owned(),
        None => name,
    }
}
