//! The statement as a paper has it: what was run, used and emitted, and what a reader must know to judge it.

use std::collections::{BTreeMap, BTreeSet};

use super::cost::{bill, cost_in_brief};
use super::gaps::{gaps, skipped};
use super::prose::{
    Paragraph, Span, and, has_overhead, project_settings, provenance, source_words, text,
    why_unknown,
};
use super::{Cost, Statement, place, work};
use crate::grid::zone::{ZoneId, register};
use crate::ledger::Tally;
use crate::ledger::footprint::{IntensityOrigin, PueOrigin};
use crate::ledger::tally::ZoneTally;
use crate::model::EnergyClass;
use crate::text::number::{counted, percent};
use crate::text::quantity;
use crate::units::GramsCo2e;

/// More zones are only counted.
const MOST_ZONES: usize = 3;

pub(super) fn paragraphs(statement: &Statement) -> Vec<Paragraph> {
    let tally = &statement.tally;
    let mut first = used(tally);
    first.extend(emitted(tally));
    first.push(text(quality(tally)));
    first.extend(basis(tally));
    let caveats = [
        work::words(tally).map(text).into_iter().collect(),
        gaps(tally),
        skipped(&statement.skipped, tally.runs),
        project_settings(statement),
    ];
    let mut last = Vec::new();
    let is_asked = statement.country.is_some() && tally.mass().is_some();
    if matches!(statement.cost, Cost::Known { .. }) || is_asked {
        last.extend(cost_in_brief(&statement.cost));
        last.push(text(" "));
    }
    if let Some(price) = &statement.price {
        last.extend(bill(tally.energy, price));
        last.push(text(" "));
    }
    last.extend(provenance(statement));
    std::iter::once(first)
        .chain(caveats)
        .chain([last])
        .collect()
}

fn used(tally: &Tally) -> Paragraph {
    let it = if tally.runs == 1 { "It" } else { "They" };
    let overhead = if has_overhead(tally) {
        "data-centre overhead included"
    } else {
        "without data-centre overhead"
    };
    vec![text(format!(
        "We tracked {} ({}). {it} used {}, {overhead} ({}),",
        counted(tally.runs, "run"),
        quantity::time(tally.duration),
        quantity::electricity(tally.energy),
        pue(tally),
    ))]
}

fn pue(tally: &Tally) -> String {
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (origin, pue) in &tally.pues {
        let words = match origin {
            PueOrigin::Given => "stated".to_owned(),
            PueOrigin::Recorded => "recorded".to_owned(),
            PueOrigin::Provider(_) => "an average of the cloud provider".to_owned(),
            PueOrigin::Machine(machine) => format!("as there is none around {machine}"),
            PueOrigin::Assumed(_) => "assumed".to_owned(),
        };
        let values = values.entry(words).or_default();
        let pue = pue.to_string();
        if !values.contains(&pue) {
            values.push(pue);
        }
    }
    let parts = values
        .iter()
        .map(|(words, values)| format!("PUE {}, {words}", and(values)));
    parts.collect::<Vec<_>>().join("; ")
}

fn emitted(tally: &Tally) -> Paragraph {
    let Some(mass) = tally.mass() else {
        return vec![
            text(" and emitted an unknown mass of "),
            Span::Co2eq,
            text(format!(", because {}. ", why_unknown(tally))),
        ];
    };
    let unknown = tally.runs_without_intensity();
    let at_least = if unknown > 0 { "at least " } else { "" };
    let mut words = vec![
        text(format!(" and emitted {at_least}{} ", quantity::mass(mass))),
        Span::Co2eq,
        text(format!("{}.", at_intensity(tally, mass))),
    ];
    if unknown > 0 {
        let lacks = if unknown == 1 { "has" } else { "have" };
        words.push(text(format!(
            " {unknown} of {} ({}) {lacks} no carbon intensity, because {}.",
            counted(tally.runs, "run"),
            quantity::electricity(tally.energy_without_intensity()),
            why_unknown(tally)
        )));
    }
    words.push(text(" "));
    words
}

/// The intensity, and where and how it is known.
fn at_intensity(tally: &Tally, mass: GramsCo2e) -> String {
    let Some(intensity) = tally.intensity().filter(|_| mass > GramsCo2e::ZERO) else {
        return String::new();
    };
    let places = places(tally);
    let places = match places.len() {
        0 => None,
        many if many > MOST_ZONES => Some(format!("{many} zones")),
        _ => Some(and(&places)),
    };
    let how: BTreeSet<String> = known(tally)
        .flat_map(|(_, zone)| &zone.sources)
        .map(how)
        .collect();
    let how = Some(how.into_iter().collect::<Vec<_>>()).filter(|how| how.len() == 1);
    let about: Vec<String> = places
        .into_iter()
        .chain(how.into_iter().flatten())
        .collect();
    let mean = if tally.only_intensity().is_none() {
        " on average"
    } else {
        ""
    };
    let about = if about.is_empty() {
        String::new()
    } else {
        format!(" ({})", about.join(", "))
    };
    format!(" at {} g/kWh{mean}{about}", quantity::digits(intensity))
}

/// The zones with a known intensity behind some energy.
fn known(tally: &Tally) -> impl Iterator<Item = (&Option<ZoneId>, &ZoneTally)> {
    let zones = tally.zones.iter();
    zones.filter(|(_, zone)| zone.mass.is_some() && zone.energy > zone.energy_without_intensity)
}

/// Their names as people know them, with the country.
pub(super) fn places(tally: &Tally) -> Vec<String> {
    let named = |id: &ZoneId| match register::find(id) {
        Ok(zone) => match zone.country.map(|country| country.name()) {
            Some(country) if country != zone.name => format!("{}, {country}", zone.name),
            _ => zone.name.clone(),
        },
        Err(_) => id.to_string(),
    };
    known(tally)
        .filter_map(|(id, _)| id.as_ref().map(named))
        .collect()
}

fn how(origin: &IntensityOrigin) -> String {
    match origin {
        IntensityOrigin::Given => "as stated".to_owned(),
        IntensityOrigin::Recorded(_) => "recorded in real time".to_owned(),
        IntensityOrigin::Average(of) => match of.year {
            Some(year) => format!("average of {year}"),
            None => "an average".to_owned(),
        },
    }
}

/// How much is measured, and what has no meter.
fn quality(tally: &Tally) -> String {
    let parts: Vec<String> = std::iter::once(measured(tally))
        .chain(absent(tally))
        .collect();
    format!("{}.", parts.join("; "))
}

fn measured(tally: &Tally) -> String {
    let Some(measured) = tally.measured_share() else {
        return "The logs show no energy use at all".to_owned();
    };
    // No sensor measured the overhead.
    let (all, of) = if has_overhead(tally) {
        (
            "All energy before the overhead",
            "Of the energy before the overhead,",
        )
    } else {
        ("All energy", "Of the energy,")
    };
    if measured == 1.0 {
        format!("{all} was measured")
    } else if measured == 0.0 {
        format!("{all} was estimated from models, not measured")
    } else {
        format!(
            "{of} {} was measured and {} estimated from models",
            percent(measured),
            percent(1.0 - measured)
        )
    }
}

fn absent(tally: &Tally) -> Option<String> {
    let mut absent: BTreeMap<EnergyClass, u64> = BTreeMap::new();
    for ((group, _), runs) in &tally.absent {
        *absent.entry(*group).or_default() += runs;
    }
    let parts: Vec<String> = absent
        .into_iter()
        .map(|(group, runs)| {
            let was = match group {
                EnergyClass::Cpu => "the CPUs were",
                EnergyClass::Gpu => "the GPUs were",
                EnergyClass::Dram => "memory was",
            };
            if runs >= tally.runs {
                format!("{was} not metered")
            } else {
                format!("{was} not metered in {runs} of {} runs", tally.runs)
            }
        })
        .collect();
    (!parts.is_empty()).then(|| and(&parts))
}

/// One sentence: location-based, which emissions of which mix and year, by whom; what was used instead.
fn basis(tally: &Tally) -> Paragraph {
    let zones = tally.zones.values().filter(|zone| zone.mass.is_some());
    let origins: BTreeSet<IntensityOrigin> = zones
        .flat_map(|zone| zone.sources.iter().cloned())
        .collect();
    if origins.is_empty() {
        return Vec::new();
    }
    let mut words = vec![
        text(" The "),
        Span::Co2eq,
        text(format!(" is location-based ({}).", source_words(&origins))),
    ];
    words.extend(place::sentences(tally).map(|sentence| text(format!(" {sentence}"))));
    words.extend(
        tally
            .bases
            .warning()
            .map(|warning| text(format!(" {warning}"))),
    );
    words
}
