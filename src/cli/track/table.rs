use std::fmt::Write as _;

use super::live_line::clock;
use crate::grid::zone::register;
use crate::ledger::Footprint;
use crate::ledger::footprint::PueOrigin;
use crate::model::Component;
use crate::model::info::Region;
use crate::text::escape;
use crate::track::{Ending, Summary};
use crate::units::JOULES_PER_KWH;

/// The summary of a run for the terminal, with the command to run next.
///
/// The footprint is the one of the log just written, so that a statement says the same.
pub fn table(summary: &Summary, footprint: Option<&Footprint>, name: &str) -> String {
    let mut text = String::new();
    let seconds = summary.measurement.duration.as_secs_f64();
    let how_long = if seconds < 60.0 {
        format!("{seconds:.3} s")
    } else {
        clock(summary.measurement.duration)
    };
    let ended = match summary.ending {
        Ending::Killed(signal) => format!(", killed by signal {signal}"),
        Ending::Exited(code) if code != 0 => format!(", exit code {code}"),
        _ => String::new(),
    };
    let _ = writeln!(text, "\nimpact: {name}, {how_long}{ended}");
    rows(&mut text, summary);
    totals(&mut text, summary, footprint);
    for note in &summary.notes {
        let _ = writeln!(text, "  note: {note}");
    }
    if let Some(run) = &summary.run {
        let run = escape::shell_path(run);
        let _ = writeln!(text, "  log: {run}");
        let _ = match country(summary.region.as_ref()) {
            _ if summary.measurement.energy().is_none() => writeln!(text, "  next: impact doctor"),
            Some(country) => writeln!(text, "  next: impact statement {run} {country}"),
            None => writeln!(
                text,
                "  next: impact statement {run} USA   (or your country's code; --zone adds the CO2eq)"
            ),
        };
    }
    text
}

fn rows(text: &mut String, summary: &Summary) {
    let width = summary
        .measurement
        .sensors
        .iter()
        .map(|s| name(&s.component).len())
        .max()
        .unwrap_or(0)
        .max(7);
    let _ = writeln!(
        text,
        "  {:width$}  {:>12}  {:>12}  how",
        "device", "the run", "the machine"
    );
    for sensor in &summary.measurement.sensors {
        let Some(balance) = summary.measurement.balance.get(&sensor.component) else {
            continue;
        };
        let contained = match summary.measurement.counted_as(&sensor.component) {
            Some(_) => "",
            None => " (not added: part of another, or unknown)",
        };
        let _ = writeln!(
            text,
            "  {:width$}  {:>12}  {:>12}  {}{contained}",
            name(&sensor.component),
            joules(balance.attributed_j),
            joules(balance.total_j),
            sensor.method,
        );
    }
    if summary.measurement.sensors.is_empty() {
        let _ = writeln!(text, "  nothing could be measured or estimated");
    }
}

fn totals(text: &mut String, summary: &Summary, footprint: Option<&Footprint>) {
    let _ = match summary.measurement.energy() {
        Some(energy) => writeln!(
            text,
            "  energy of the run: {} = {:.9} kWh",
            joules(energy.joules()),
            energy.kwh()
        ),
        None => writeln!(text, "  energy of the run: unknown; see impact doctor"),
    };
    if let Some(how) = summary
        .region
        .as_ref()
        .and_then(|region| region.how.as_ref())
    {
        let _ = writeln!(text, "  place: {how}");
    }
    match (
        &summary.region,
        footprint.and_then(|of| of.carbon.as_ref().zip(Some(of))),
    ) {
        (_, Some((carbon, footprint))) => {
            let zone = carbon
                .zone
                .as_ref()
                .map_or_else(String::new, |zone| format!(" in {zone}"));
            let stated_by = match &footprint.pue_origin {
                PueOrigin::Assumed => ", a global average".to_owned(),
                PueOrigin::Provider(citation) => format!(", by {citation}"),
                _ => String::new(),
            };
            let _ = writeln!(
                text,
                "  CO2eq: {:.6} g{zone} at {:.0} g/kWh ({}), PUE {}{stated_by}",
                carbon.mass.grams(),
                carbon.intensity.get(),
                carbon.origin,
                footprint.pue,
            );
        }
        (Some(_), None) => {
            let _ = writeln!(text, "  CO2eq: unknown");
        }
        (None, _) => {
            let _ = writeln!(
                text,
                "  CO2eq: unknown zone; give --zone, --region or --address"
            );
        }
    }
    let _ = writeln!(
        text,
        "  the tracker itself: {:.3} s of CPU time, no part of the run",
        summary.overhead.as_secs_f64()
    );
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

fn joules(joules: f64) -> String {
    match joules {
        small if small < 10.0 => format!("{small:.4} J"),
        middle if middle < 10_000.0 => format!("{middle:.2} J"),
        large if large < 1e7 => format!("{:.3} kJ", large / 1e3),
        huge => format!("{:.3} kWh", huge / JOULES_PER_KWH),
    }
}
