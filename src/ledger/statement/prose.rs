//! The sentences of the statement, independent of the output format.

use std::collections::{BTreeMap, BTreeSet};

use super::bibliography::Publication;
use super::cost::{bill, cost_of_carbon};
use super::gaps::{gaps, out_of, skipped};
use super::{Statement, brief, place, work};
use crate::grid::zone::ZoneId;
use crate::ledger::footprint::{IntensityOrigin, PueOrigin};
use crate::ledger::tally::ZoneTally;
use crate::ledger::{RunOutcome, Tally};
use crate::model::{Basis, EnergyClass};
use crate::text::number::{counted, percent};
use crate::text::quantity;
use crate::units::GramsCo2e;

/// A piece of a sentence; each format has its own way to write it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Span {
    Text(String),
    /// The words CO2eq.
    Co2eq,
    Cite(Publication),
    Link(String),
}

pub(super) type Paragraph = Vec<Span>;

pub(super) fn text(words: impl Into<String>) -> Span {
    Span::Text(words.into())
}

/// The statement that is wanted: the short one, or the one with all details.
pub(super) fn paragraphs(statement: &Statement) -> Vec<Paragraph> {
    if statement.detail {
        detailed(statement)
    } else {
        brief::paragraphs(statement)
    }
}

/// The whole statement, a paragraph a topic.
pub(super) fn detailed(statement: &Statement) -> Vec<Paragraph> {
    let mut all = vec![
        totals(statement),
        intensity(statement),
        quality(statement),
        cost_of_carbon(&statement.cost),
    ];
    if let Some(price) = &statement.price {
        all.push(bill(statement.tally.energy, price));
    }
    all.extend(work::words(&statement.tally).map(|words| vec![text(words)]));
    all.push(failures(&statement.tally));
    all.push(project_settings(statement));
    all.push(gaps(&statement.tally));
    all.push(skipped(&statement.skipped, statement.tally.runs));
    all.push(provenance(statement));
    all
}

fn totals(statement: &Statement) -> Paragraph {
    let tally = &statement.tally;
    let runs = match tally.runs {
        1 => "The experiment behind this work was 1 tracked run".to_owned(),
        runs => format!("The experiments behind this work were {runs} tracked runs"),
    };
    let mut words = vec![text(format!(
        "{runs} with {} of wall-clock time in total, which used {} of electricity \
         ({})",
        quantity::time(tally.duration),
        quantity::electricity(tally.energy),
        pue_words(tally),
    ))];
    match tally.mass() {
        Some(mass) => words.extend([
            text(format!(" and caused {} ", quantity::mass(mass))),
            Span::Co2eq,
            text("."),
        ]),
        None => words.extend([
            text(". The mass of "),
            Span::Co2eq,
            text(format!(" is not known, because {}.", why_unknown(tally))),
        ]),
    }
    let unknown = tally.runs_without_intensity();
    if unknown > 0 && unknown < tally.runs {
        words.push(text(format!(
            " The mass leaves out {unknown} of the runs ({}), because {}.",
            quantity::electricity(tally.energy_without_intensity()),
            why_unknown(tally)
        )));
    }
    words
}

/// Why the carbon intensity of some runs is not known.
pub(super) fn why_unknown(tally: &Tally) -> String {
    let unknown = tally
        .zones
        .iter()
        .filter(|(_, zone)| zone.runs_without_intensity > 0);
    let reasons: Vec<String> = unknown
        .map(|(id, _)| match id {
            None => "no region is recorded".to_owned(),
            Some(id) => format!("no carbon intensity is known for zone {id}"),
        })
        .collect();
    and(&reasons)
}

fn pue_words(tally: &Tally) -> String {
    let mut by_origin: BTreeMap<&PueOrigin, Vec<String>> = BTreeMap::new();
    for (origin, pue) in &tally.pues {
        by_origin.entry(origin).or_default().push(pue.to_string());
    }
    let parts: Vec<String> = by_origin
        .into_iter()
        .map(|(origin, pues)| format!("PUE {}, {}", and(&pues), origin_words(origin)))
        .collect();
    let parts = parts.join("; ");
    if has_overhead(tally) {
        format!("data-centre overhead included: {parts}")
    } else {
        format!("no data-centre overhead: {parts}")
    }
}

/// Who says what the PUE is.
pub(super) fn origin_words(origin: &PueOrigin) -> String {
    match origin {
        PueOrigin::Given => "as given".to_owned(),
        PueOrigin::Recorded => "as recorded".to_owned(),
        PueOrigin::Provider(source) => {
            format!("the figure of the cloud provider and not of the building: {source}")
        }
        PueOrigin::Machine(machine) => format!("as there is none around {machine}"),
        PueOrigin::Assumed(source) => format!("a global average assumed here: {source}"),
    }
}

pub(super) fn has_overhead(tally: &Tally) -> bool {
    tally.pues.iter().any(|(_, pue)| pue.get() > 1.0)
}

/// A list as people write it.
pub(super) fn and(words: &[String]) -> String {
    match words {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => words.concat(),
    }
}

fn intensity(statement: &Statement) -> Paragraph {
    let known: Vec<(&Option<ZoneId>, &ZoneTally, GramsCo2e)> = statement
        .tally
        .zones
        .iter()
        .filter(|(_, zone)| zone.energy > zone.energy_without_intensity)
        .filter_map(|(id, zone)| Some((id, zone, zone.mass?)))
        .collect();
    if known.is_empty() {
        return Vec::new();
    }
    let mut words = vec![text("The carbon intensity of the electricity was ")];
    for (position, (id, zone, mass)) in known.iter().enumerate() {
        let energy = zone.energy.saturating_sub(zone.energy_without_intensity);
        let per_kwh = quantity::digits(mass.grams() / energy.kwh());
        if position > 0 {
            words.push(text("; "));
        }
        words.push(text(format!("{per_kwh} g ")));
        words.push(Span::Co2eq);
        let place = id
            .as_ref()
            .map_or_else(String::new, |id| format!(" in zone {id}"));
        let runs = if known.len() > 1 {
            let energy = quantity::electricity(zone.energy);
            format!(", {}, {energy}", counted(zone.runs, "run"))
        } else {
            String::new()
        };
        words.push(text(format!(
            " per kWh{place} ({}{runs})",
            source_words(&zone.sources)
        )));
    }
    words.push(text("."));
    for sentence in place::sentences(&statement.tally) {
        words.push(text(format!(" {sentence}")));
    }
    if let Some(warning) = statement.tally.bases.warning() {
        words.push(text(format!(" {warning}")));
    }
    words
}

/// Sources with their years and bases, and then what was used instead of what was asked for; each once.
pub(super) fn source_words(origins: &BTreeSet<IntensityOrigin>) -> String {
    let mut years: BTreeMap<(String, Option<Basis>), BTreeSet<i32>> = BTreeMap::new();
    let mut fallbacks = BTreeSet::new();
    for origin in origins {
        match origin {
            IntensityOrigin::Average(provenance) => {
                let name = provenance.source.name.to_string();
                let years = years.entry((name, provenance.basis)).or_default();
                years.extend(provenance.year);
                fallbacks.extend(provenance.fallbacks.iter().map(ToString::to_string));
                fallbacks.extend(provenance.doubts.iter().map(ToString::to_string));
            }
            IntensityOrigin::Given | IntensityOrigin::Recorded(_) => {
                years.entry((origin.to_string(), None)).or_default();
            }
        }
    }
    let mut words: Vec<String> = years
        .into_iter()
        .map(|((name, basis), years)| {
            let years: Vec<String> = years.iter().map(ToString::to_string).collect();
            let years = Some(and(&years)).filter(|years| !years.is_empty());
            let parts = [Some(name), years, basis.map(|basis| basis.to_string())];
            parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
        })
        .collect();
    words.extend(fallbacks);
    words.join("; ")
}

fn quality(statement: &Statement) -> Paragraph {
    let tally = &statement.tally;
    vec![text(format!("{}{}", measured(tally), missing(tally)))]
}

fn measured(tally: &Tally) -> String {
    let Some(measured) = tally.measured_share() else {
        return "The logs show no energy use at all.".to_owned();
    };
    // No sensor measured the overhead.
    let (all, of_all) = if has_overhead(tally) {
        let energy = quantity::electricity(tally.energy_without_pue());
        (
            format!("Before the data-centre overhead the energy was {energy}, all of which"),
            format!("Before the data-centre overhead the energy was {energy}, of which"),
        )
    } else {
        (
            "All of this energy".to_owned(),
            "Of this energy,".to_owned(),
        )
    };
    if measured == 1.0 {
        format!("{all} was measured by sensors.")
    } else {
        let models: Vec<&str> = tally.models.iter().map(String::as_str).collect();
        format!(
            "{of_all} {} was measured by sensors and {} was estimated ({}).",
            percent(measured),
            percent(1.0 - measured),
            models.join("; ")
        )
    }
}

/// The devices whose energy is not known, also where no other energy is.
fn missing(tally: &Tally) -> String {
    if tally.absent.is_empty() {
        return String::new();
    }
    let missing: Vec<String> = tally
        .absent
        .iter()
        .map(|((group, why), runs)| {
            let group = group_words(*group);
            if tally.runs == 1 {
                format!("{group} ({why})")
            } else {
                format!("{group} in {runs} of {} runs ({why})", tally.runs)
            }
        })
        .collect();
    format!(" Missing, and not counted as zero: {}.", missing.join("; "))
}

fn group_words(group: EnergyClass) -> &'static str {
    match group {
        EnergyClass::Cpu => "the CPUs",
        EnergyClass::Gpu => "the GPUs",
        EnergyClass::Dram => "the memory",
    }
}

/// The energy of runs whose command failed: it belongs to the work too.
fn failures(tally: &Tally) -> Paragraph {
    let (failed, energy) = tally.outcomes.get(RunOutcome::Failed);
    let (unknown, _) = tally.outcomes.get(RunOutcome::Unknown);
    let mut sentences = Vec::new();
    if failed > 0 {
        let used = match tally.outcomes.failed_share() {
            Some(share) => format!(" and used {} of the energy", percent(share)),
            None => String::new(),
        };
        let energy = quantity::electricity(energy);
        sentences.push(format!(
            "{} failed{used} ({energy}).",
            out_of(failed, tally.runs)
        ));
    }
    if unknown > 0 && unknown < tally.runs {
        let unknown = out_of(unknown, tally.runs);
        sentences.push(format!(
            "Whether {} failed is not known.",
            unknown.to_lowercase()
        ));
    }
    if sentences.is_empty() {
        return Vec::new();
    }
    vec![text(sentences.join(" "))]
}

/// What a project's file states, which its author and not the reader of the figures has chosen.
pub(super) fn project_settings(statement: &Statement) -> Paragraph {
    let settings: Vec<String> = statement
        .project_settings
        .iter()
        .map(|(key, value)| format!("{key} {value}"))
        .collect();
    if settings.is_empty() {
        return Vec::new();
    }
    vec![text(format!(
        "Set by a project's settings file: {}.",
        and(&settings)
    ))]
}

pub(super) fn provenance(statement: &Statement) -> Paragraph {
    let mut words = Vec::new();
    if let Some(url) = &statement.url {
        words.extend([
            text("Details of every run can be found at "),
            Span::Link(url.clone()),
            text(". "),
        ]);
    }
    words.extend([
        text(format!(
            "The accounting was done with impact {}, in the manner of experiment-impact-tracker ",
            env!("CARGO_PKG_VERSION")
        )),
        Span::Cite(Publication::Henderson2020),
        text("."),
    ]);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Fallback, Provenance, Source};

    fn average(name: &'static str, year: Option<i32>, fallbacks: &[&str]) -> IntensityOrigin {
        let mut provenance = Provenance::of(Source::named(name));
        provenance.year = year;
        provenance.fallbacks = fallbacks
            .iter()
            .map(|words| Fallback::Described((*words).to_owned()))
            .collect();
        IntensityOrigin::Average(provenance)
    }

    #[test]
    fn a_source_of_several_years_is_named_once_with_its_years_and_its_fallbacks_once() {
        let origins = [
            average("a table", Some(2021), &["figure of DE"]),
            average("a table", Some(2022), &["figure of DE"]),
            IntensityOrigin::Given,
        ];
        assert_eq!(
            source_words(&origins.into()),
            "a table, 2021 and 2022; the emissions factor given; figure of DE"
        );
    }

    #[test]
    fn a_source_with_separators_in_its_name_stays_one_source() {
        let name = "RTE eCO2mix; draft, 2023";
        let origins = [
            average(name, Some(2022), &[]),
            average(name, Some(2024), &[]),
        ];
        assert_eq!(
            source_words(&origins.into()),
            "RTE eCO2mix; draft, 2023, 2022 and 2024"
        );
    }
}
