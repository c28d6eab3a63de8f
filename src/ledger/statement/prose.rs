//! The sentences of the statement, independent of the output format.

use std::collections::{BTreeMap, BTreeSet};

use super::bibliography::Publication;
use super::{Chosen, Cost, Price, Statement};
use crate::grid::zone::ZoneId;
use crate::ledger::footprint::{IntensityOrigin, PueOrigin};
use crate::ledger::tally::ZoneTally;
use crate::ledger::{Skipped, SkippedKind, Tally};
use crate::model::EnergyClass;
use crate::text::number::{counted, human, money, percent};
use crate::units::{Energy, GramsCo2e, Hours, Money};

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

fn text(words: impl Into<String>) -> Span {
    Span::Text(words.into())
}

/// The whole statement, a paragraph a topic.
pub(super) fn paragraphs(statement: &Statement) -> Vec<Paragraph> {
    let mut all = vec![
        totals(statement),
        intensity(statement),
        quality(statement),
        social_cost(&statement.cost),
    ];
    if let Some(price) = &statement.price {
        all.push(bill(statement.tally.energy, price));
    }
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
        "{runs} with {} of wall-clock time in total, which used {} kWh of electricity \
         ({})",
        time(tally.duration),
        human(tally.energy.kwh()),
        pue_words(tally),
    ))];
    match tally.mass() {
        Some(mass) => words.extend([
            text(format!(" and caused {} kg ", human(mass.kg()))),
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
            " The mass leaves out {unknown} of the runs ({} kWh), because {}.",
            human(tally.energy_without_intensity().kwh()),
            why_unknown(tally)
        )));
    }
    words
}

/// Why the carbon intensity of some runs is not known.
fn why_unknown(tally: &Tally) -> String {
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
        PueOrigin::Assumed => "a global average assumed here".to_owned(),
    }
}

fn has_overhead(tally: &Tally) -> bool {
    tally.pues.iter().any(|(_, pue)| pue.get() > 1.0)
}

/// A list as people write it.
fn and(words: &[String]) -> String {
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
        let per_kwh = human(mass.grams() / energy.kwh());
        if position > 0 {
            words.push(text("; "));
        }
        words.push(text(format!("{per_kwh} g ")));
        words.push(Span::Co2eq);
        let place = id
            .as_ref()
            .map_or_else(String::new, |id| format!(" in zone {id}"));
        let runs = if known.len() > 1 {
            let kwh = human(zone.energy.kwh());
            format!(", {}, {kwh} kWh", counted(zone.runs, "run"))
        } else {
            String::new()
        };
        words.push(text(format!(
            " per kWh{place} ({}{runs})",
            source_words(&zone.sources)
        )));
    }
    words.push(text("."));
    words
}

/// Sources with their years, and then what was used instead of what was asked for; each once.
fn source_words(origins: &BTreeSet<IntensityOrigin>) -> String {
    let mut years: BTreeMap<String, BTreeSet<i32>> = BTreeMap::new();
    let mut fallbacks = BTreeSet::new();
    for origin in origins {
        match origin {
            IntensityOrigin::Average(provenance) => {
                let name = provenance.source.name.to_string();
                years.entry(name).or_default().extend(provenance.year);
                fallbacks.extend(provenance.fallbacks.iter().map(ToString::to_string));
            }
            IntensityOrigin::Given | IntensityOrigin::Recorded(_) => {
                years.entry(origin.to_string()).or_default();
            }
        }
    }
    let mut words: Vec<String> = years
        .into_iter()
        .map(|(name, years)| {
            let years: Vec<String> = years.iter().map(ToString::to_string).collect();
            if years.is_empty() {
                name
            } else {
                format!("{name}, {}", and(&years))
            }
        })
        .collect();
    words.extend(fallbacks);
    words.join("; ")
}

fn quality(statement: &Statement) -> Paragraph {
    let tally = &statement.tally;
    let Some(measured) = tally.measured_share() else {
        return vec![text("The logs show no energy use at all.")];
    };
    // No sensor measured the overhead.
    let (all, of_all) = if has_overhead(tally) {
        let kwh = human(tally.energy_without_pue().kwh());
        (
            format!("Before the data-centre overhead the energy was {kwh} kWh, all of which"),
            format!("Before the data-centre overhead the energy was {kwh} kWh, of which"),
        )
    } else {
        (
            "All of this energy".to_owned(),
            "Of this energy,".to_owned(),
        )
    };
    let mut sentence = if measured == 1.0 {
        format!("{all} was measured by sensors.")
    } else {
        let models: Vec<&str> = tally.models.iter().map(String::as_str).collect();
        format!(
            "{of_all} {} was measured by sensors and {} was estimated ({}).",
            percent(measured),
            percent(1.0 - measured),
            models.join("; ")
        )
    };
    if !tally.absent.is_empty() {
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
        sentence.push_str(" Missing, and not counted as zero: ");
        sentence.push_str(&missing.join("; "));
        sentence.push('.');
    }
    vec![text(sentence)]
}

fn group_words(group: EnergyClass) -> &'static str {
    match group {
        EnergyClass::Cpu => "the CPUs",
        EnergyClass::Gpu => "the GPUs",
        EnergyClass::Dram => "the memory",
    }
}

fn social_cost(cost: &Cost) -> Paragraph {
    let (cost, low, median, high, chosen) = match cost {
        Cost::Known {
            cost,
            low,
            median,
            high,
            chosen,
        } => (cost, low, median, high, *chosen),
        Cost::Unknown(why) => {
            return vec![text(format!("No social cost of carbon is stated: {why}."))];
        }
    };
    let country = cost.country.name();
    let chosen = match chosen {
        Chosen::Named => String::new(),
        Chosen::Place { runs: 1, of: 1 } => ", where the run took place".to_owned(),
        Chosen::Place { runs, of } if runs == of => ", where the runs took place".to_owned(),
        Chosen::Place { runs: 1, of } => {
            format!(", where 1 of {of} runs is known to have taken place")
        }
        Chosen::Place { runs, of } => {
            format!(", where {runs} of {of} runs are known to have taken place")
        }
    };
    let mut words = vec![
        text(format!(
            "With the country-level social cost of carbon for {} ({country}){chosen}, this amounts to {} ",
            cost.country,
            dollars(*low, *median, *high),
        )),
        Span::Cite(Publication::Ricke2018),
        text("."),
    ];
    if median.amount() < 0.0 {
        words.push(text(
            " The cost is negative because temperatures in this country today lie below the economic \
             optimum of the underlying model, so that it books some warming as a gain there; \
             the damage done elsewhere is not part of a country-level figure.",
        ));
    }
    words
}

fn dollars(low: Money, median: Money, high: Money) -> String {
    let [low, median, high] = [low, median, high].map(Money::amount);
    if [low, median, high].into_iter().all(is_less_than_a_cent) {
        let sign = if median < 0.0 { "a gain of " } else { "" };
        return format!("{sign}less than 0.01 USD");
    }
    format!(
        "{} USD (66 % confidence interval {} to {} USD)",
        money(median),
        money(low),
        money(high),
    )
}

/// Not zero, but less than a cent.
fn is_less_than_a_cent(amount: f64) -> bool {
    amount != 0.0 && amount.abs() < 0.01
}

/// Hours, or seconds where there are few.
fn time(duration: Hours) -> String {
    if duration.hours() < 0.01 {
        format!("{} s", human(duration.seconds()))
    } else {
        format!("{} h", human(duration.hours()))
    }
}

fn bill(energy: Energy, price: &Price) -> Paragraph {
    let amount = (energy * price.per_kwh).amount();
    let amount = if is_less_than_a_cent(amount) {
        "less than 0.01".to_owned()
    } else {
        money(amount)
    };
    let currency = &price.currency;
    vec![text(format!(
        "At {} {currency} per kWh the electricity cost {amount} {currency}.",
        price.per_kwh,
    ))]
}

/// What the logs of the runs do not hold to their end.
fn gaps(tally: &Tally) -> Paragraph {
    let mut sentences = Vec::new();
    let cut = tally.runs_without_end;
    if cut > 0 {
        let (has, counts, its) = match cut {
            1 => ("has", "counts", "its"),
            _ => ("have", "count", "their"),
        };
        sentences.push(format!(
            "{} {has} no recorded end and {counts} up to {its} last sample, so that {its} energy is \
             a lower bound.",
            out_of(cut, tally.runs)
        ));
    }
    let damaged = tally.runs_with_bad_lines;
    if damaged > 0 {
        let has = if damaged == 1 { "has" } else { "have" };
        sentences.push(format!(
            "{} {has} lines in the log that could not be read.",
            out_of(damaged, tally.runs)
        ));
    }
    if sentences.is_empty() {
        return Vec::new();
    }
    vec![text(sentences.join(" "))]
}

/// The subject of a sentence about some of the runs.
fn out_of(some: u64, runs: u64) -> String {
    match (some, runs) {
        (1, 1) => "The run".to_owned(),
        (some, runs) if some == runs => format!("All {runs} runs"),
        (some, runs) => format!("{some} of {runs} runs"),
    }
}

/// What was left out beside the runs that are counted.
fn skipped(skipped: &[Skipped], counted: u64) -> Paragraph {
    let how_many = |kind| skipped.iter().filter(|one| one.kind == kind).count() as u64;
    let mut sentences = Vec::new();
    match how_many(SkippedKind::Run) {
        0 => {}
        runs => sentences.push(format!(
            "{runs} of {} runs could not be read and {} not included.",
            counted + runs,
            if runs == 1 { "is" } else { "are" },
        )),
    }
    match how_many(SkippedKind::Folder) {
        0 => {}
        1 => sentences
            .push("1 folder could not be looked into; runs in it are not included.".to_owned()),
        folders => sentences.push(format!(
            "{folders} folders could not be looked into; runs in them are not included."
        )),
    }
    if sentences.is_empty() {
        return Vec::new();
    }
    vec![text(sentences.join(" "))]
}

fn provenance(statement: &Statement) -> Paragraph {
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

    #[test]
    fn a_short_time_is_said_in_seconds() {
        let said = |seconds| time(Hours::from_seconds(seconds).unwrap());
        assert_eq!([said(1.206), said(36.0)], ["1.206 s", "0.01 h"]);
    }

    #[test]
    fn folders_that_could_not_be_looked_into_are_not_counted_as_runs() {
        let left_out = |kind| Skipped {
            path: "somewhere".into(),
            kind,
            reason: "Permission denied".to_owned(),
        };
        let all = [SkippedKind::Run, SkippedKind::Folder].map(left_out);
        assert_eq!(
            skipped(&all, 1),
            [text(
                "1 of 2 runs could not be read and is not included. \
                 1 folder could not be looked into; runs in it are not included."
            )]
        );
    }
}
