use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::prose::detailed;
use super::text::prose;
use super::work::{self, WorkEntry};
use super::{Chosen, Cost, Statement, brief};
use crate::grid::data::deflator;
use crate::grid::social_cost::DOLLAR_YEAR;
use crate::grid::zone::Iso3;
use crate::ledger::figure::Figures;
use crate::ledger::footprint::{AssumedPlace, PueOrigin};
use crate::ledger::{Figure, Skipped, Tally};
use crate::model::{Basis, EnergyClass};
use crate::text::escape;
use crate::units::{Exact, GramsCo2e, Pue};

const SCHEMA: &str = "impact-statement/1";

/// The statement for machines: every figure with its unit, method and inputs, sums to the last digit.
#[derive(Serialize)]
struct Receipt<'a> {
    schema: &'static str,
    impact_version: &'static str,
    runs: u64,
    skipped: &'a [Skipped],
    #[serde(flatten)]
    figures: Figures,
    pue: Option<Pue>,
    pues: BTreeSet<Pue>,
    pue_origins: Vec<PueEntry>,
    social_cost_usd: Option<SocialCostEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_social_cost_because: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    electricity_bill: Option<BillEntry<'a>>,
    quality: Vec<QualityEntry>,
    missing: Vec<MissingEntry<'a>>,
    runs_without_end: u64,
    runs_with_unreadable_lines: u64,
    runs_with_changed_info: u64,
    runs_with_contradictions: u64,
    runs_with_implausible_energy: u64,
    implausible_kwh: Exact,
    estimation_models: Vec<&'a str>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    project_settings: &'a BTreeSet<(String, String)>,
    /// Work counted by marks, and the energy for it with PUE.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    work: Vec<WorkEntry>,
    zones: Vec<ZoneEntry<'a>>,
    /// The places of runs whose logs do not name one.
    assumed_places: Vec<PlaceEntry<'a>>,
    /// The mass by what the intensities count. More than one entry cannot be compared.
    bases: Vec<BasisEntry>,
    sources: BTreeSet<String>,
    methods: BTreeMap<&'static str, FigureEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_run: Option<Vec<RunEntry<'a>>>,
    /// The statement as a paper has it.
    summary: String,
    /// The statement with all details.
    statement: String,
}

#[derive(Serialize)]
struct PueEntry {
    pue: Pue,
    origin: PueOrigin,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

#[derive(Serialize)]
struct SocialCostEntry {
    country: Iso3,
    country_from_zone: bool,
    low: Exact,
    median: Exact,
    high: Exact,
    /// The year of the dollars.
    dollar_year: i32,
    /// The median in dollars of the newest year with a price index.
    #[serde(skip_serializing_if = "Option::is_none")]
    newest: Option<NewestDollars>,
    usd_per_tonne: BTreeMap<&'static str, String>,
    method: &'static str,
    source: &'static str,
}

#[derive(Serialize)]
struct NewestDollars {
    dollar_year: i32,
    median: f64,
    factor: f64,
    deflator: &'static str,
}

#[derive(Serialize)]
struct BillEntry<'a> {
    amount: Exact,
    currency: &'a str,
    price_per_kwh: String,
}

#[derive(Serialize)]
struct QualityEntry {
    component: EnergyClass,
    measured_kwh: Exact,
    estimated_kwh: Exact,
}

#[derive(Serialize)]
struct MissingEntry<'a> {
    component: EnergyClass,
    why: &'a str,
    runs: u64,
}

#[derive(Serialize)]
struct ZoneEntry<'a> {
    zone: Option<&'a str>,
    runs: u64,
    total_power: Exact,
    /// None where the intensity of none of its runs is known.
    estimated_carbon_impact_kg: Option<Exact>,
    runs_without_intensity: u64,
    sources: BTreeSet<String>,
}

#[derive(Serialize)]
struct PlaceEntry<'a> {
    #[serde(flatten)]
    place: &'a AssumedPlace,
    runs: u64,
}

#[derive(Serialize)]
struct BasisEntry {
    /// Several where the intensities of a run had several; an empty one is not known.
    of: Vec<OptionalBasis>,
    runs: u64,
    estimated_carbon_impact_kg: Exact,
}

#[derive(Serialize)]
struct OptionalBasis {
    #[serde(flatten, with = "crate::model::basis::optional")]
    basis: Option<Basis>,
}

#[derive(Serialize)]
struct FigureEntry {
    unit: &'static str,
    meaning: &'static str,
    inputs: &'static [&'static str],
}

#[derive(Serialize)]
struct RunEntry<'a> {
    path: String,
    figures: &'a Figures,
}

/// The statement as JSON.
#[must_use]
pub fn json(statement: &Statement) -> String {
    let tally = &statement.tally;
    let zones: Vec<ZoneEntry> = tally
        .zones
        .iter()
        .map(|(id, zone)| ZoneEntry {
            zone: id.as_ref().map(crate::grid::zone::ZoneId::as_str),
            runs: zone.runs,
            total_power: zone.energy.exact(),
            estimated_carbon_impact_kg: zone.mass.map(GramsCo2e::exact),
            runs_without_intensity: zone.runs_without_intensity,
            sources: zone.sources.iter().map(ToString::to_string).collect(),
        })
        .collect();
    let pues: BTreeSet<Pue> = tally.pues.iter().map(|(_, pue)| *pue).collect();
    let receipt = Receipt {
        schema: SCHEMA,
        impact_version: env!("CARGO_PKG_VERSION"),
        runs: tally.runs,
        skipped: &statement.skipped,
        project_settings: &statement.project_settings,
        figures: Figure::all(tally),
        pue: pues.first().copied().filter(|_| pues.len() == 1),
        pues,
        pue_origins: tally
            .pues
            .iter()
            .map(|(origin, pue)| PueEntry {
                pue: *pue,
                origin: origin.clone(),
                source: origin.source(),
            })
            .collect(),
        social_cost_usd: social_cost(&statement.cost),
        no_social_cost_because: match &statement.cost {
            Cost::Unknown(why) => Some(why.to_string()),
            Cost::Known { .. } => None,
        },
        electricity_bill: statement.price.as_ref().map(|price| BillEntry {
            amount: (tally.energy * price.per_kwh).exact(),
            currency: &price.currency,
            price_per_kwh: price.per_kwh.to_string(),
        }),
        quality: tally
            .groups
            .iter()
            .map(|(group, quality)| QualityEntry {
                component: *group,
                measured_kwh: quality.measured.exact(),
                estimated_kwh: quality.estimated.exact(),
            })
            .collect(),
        missing: tally
            .absent
            .iter()
            .map(|((group, why), runs)| MissingEntry {
                component: *group,
                why,
                runs: *runs,
            })
            .collect(),
        runs_without_end: tally.runs_without_end,
        runs_with_unreadable_lines: tally.runs_with_bad_lines,
        runs_with_changed_info: tally.runs_with_changed_info,
        runs_with_contradictions: tally.runs_with_contradictions,
        runs_with_implausible_energy: tally.runs_with_implausible_energy,
        implausible_kwh: tally.implausible.exact(),
        estimation_models: tally.models.iter().map(String::as_str).collect(),
        sources: zones.iter().flat_map(|zone| zone.sources.clone()).collect(),
        work: work::entries(tally),
        zones,
        assumed_places: tally
            .assumed_places
            .iter()
            .map(|(place, runs)| PlaceEntry { place, runs: *runs })
            .collect(),
        bases: bases(tally),
        methods: Figure::ALL
            .into_iter()
            .map(|figure| (figure.name(), method(figure)))
            .collect(),
        url: statement.url.as_deref(),
        per_run: statement.runs.as_ref().map(|runs| {
            runs.iter()
                .map(|run| RunEntry {
                    path: run.path.display().to_string(),
                    figures: &run.figures,
                })
                .collect()
        }),
        summary: prose(brief::paragraphs(statement)),
        statement: prose(detailed(statement)),
    };
    escape::pretty_json(&receipt).expect("all keys are strings and all numbers are finite")
}

fn bases(tally: &Tally) -> Vec<BasisEntry> {
    let parts = tally.bases.parts().map(|(bases, part)| BasisEntry {
        of: bases.iter().map(|&basis| OptionalBasis { basis }).collect(),
        runs: part.runs,
        estimated_carbon_impact_kg: part.mass.exact(),
    });
    parts.collect()
}

fn social_cost(cost: &Cost) -> Option<SocialCostEntry> {
    let Cost::Known {
        cost,
        low,
        median,
        high,
        chosen,
    } = cost
    else {
        return None;
    };
    Some(SocialCostEntry {
        country: cost.country,
        country_from_zone: *chosen != Chosen::Named,
        low: low.exact(),
        median: median.exact(),
        high: high.exact(),
        dollar_year: DOLLAR_YEAR,
        newest: deflator::newest_year().and_then(|year| {
            let factor = deflator::factor(DOLLAR_YEAR, year)?;
            Some(NewestDollars {
                dollar_year: year,
                median: median.amount() * factor,
                factor,
                deflator: deflator::NAME,
            })
        }),
        usd_per_tonne: BTreeMap::from([
            ("low", cost.low.to_string()),
            ("median", cost.median.to_string()),
            ("high", cost.high.to_string()),
        ]),
        method: "estimated_carbon_impact_kg / 1000 x USD per tonne; 16.7 %, 50 % and 83.3 % quantiles",
        source: "Ricke et al. 2018, country-level social cost of carbon, data base version 2",
    })
}

/// What a figure is made of, by the names of other figures and of what the logs record.
fn method(figure: Figure) -> FigureEntry {
    let inputs: &'static [&'static str] = match figure {
        Figure::Energy => &["kw_hr_cpu", "kw_hr_gpu", "kw_hr_dram", "pue"],
        Figure::CpuEnergy => &["energy of packages, or CPU power samples x time"],
        Figure::GpuEnergy => &["energy of GPUs, or GPU power samples x time"],
        Figure::MemoryEnergy => &["energy of DRAM"],
        Figure::Emissions => &["total_power of each run", "its carbon intensity"],
        Figure::Duration => &["start and end of each run"],
        Figure::CpuHours => &["cpu_time_seconds"],
        Figure::GpuHours => &[
            "average_gpu_estimated_utilization_absolute",
            "number of GPUs",
            "time",
        ],
        Figure::CarbonIntensity => &[
            "of all runs: estimated_carbon_impact_kg, total_power",
            "of one run: mean of the intensities recorded with its samples, or the one of its region",
        ],
        Figure::MeasuredShare => &["quality"],
    };
    FigureEntry {
        unit: figure.unit(),
        meaning: figure.meaning(),
        inputs,
    }
}
