use std::fmt::Write as _;

use serde::Serialize;

use super::{Job, Range};
use crate::grid::zone::ZoneId;
use crate::text::escape;
use crate::text::number::{human, percent};
use crate::text::quantity::{self, Quantity};
use crate::units::{Energy, Exact, GramsCo2e, GramsPerKwh, SECONDS_PER_HOUR, Watts};

const SCHEMA: &str = "impact-estimate/1";

/// A job, and where it would run.
#[derive(Debug, Clone)]
pub struct Estimate {
    /// The job.
    pub job: Job,
    /// None if no place is given.
    pub grid: Option<Grid>,
    /// The source of the PUE.
    pub pue_source: String,
    /// The sources of the design power.
    pub sources: Vec<String>,
}

/// The electricity at the place of the job.
#[derive(Debug, Clone)]
pub struct Grid {
    /// None if only an emissions factor is given.
    pub zone: Option<ZoneId>,
    /// How the zone was found; none if it was given.
    pub how: Option<String>,
    /// Its carbon intensity.
    pub intensity: GramsPerKwh,
    /// The source of the intensity.
    pub source: String,
}

impl Grid {
    fn label(&self) -> String {
        let mut out = quantity::intensity(self.intensity);
        if let Some(zone) = &self.zone {
            let _ = write!(out, " in {zone}");
        }
        let _ = write!(out, " ({})", self.source);
        out
    }
}

/// A paragraph that starts with ROUGH ESTIMATE, and a list of what it assumes.
#[must_use]
pub fn text(estimate: &Estimate) -> String {
    let job = &estimate.job;
    let mut parts: Vec<String> = job
        .fleets
        .iter()
        .map(|fleet| {
            let watts: Vec<String> = fleet
                .devices
                .iter()
                .map(|device| quantity::power(device.watts))
                .collect();
            format!(
                "{} x {} ({}) at {} utilisation",
                fleet.count,
                fleet.name(),
                watts.join(", "),
                percent(fleet.utilization)
            )
        })
        .collect();
    parts.extend(
        job.memory_gb
            .map(|gb| format!("{} GB of memory", human(gb))),
    );
    let time = quantity::duration(job.time);
    let mut out = format!(
        "ROUGH ESTIMATE, not a measurement: {} would draw {} in {time}, with a PUE of {} ({}).",
        parts.join(" and "),
        range(Quantity::Electricity, job.energy().map(Energy::kwh)),
        job.pue,
        estimate.pue_source,
    );
    match &estimate.grid {
        Some(grid) => {
            let mass = job.mass(grid.intensity).map(GramsCo2e::kg);
            let mass = range(Quantity::Mass, mass);
            let _ = write!(out, " At {} this is {mass} of CO2eq.", grid.label());
        }
        None => out.push_str(" No place is given, so the emissions are unknown."),
    }
    out.push_str("\n\n");
    let sources = estimate
        .sources
        .iter()
        .map(|source| format!("design power: {source}"));
    let place = estimate.grid.as_ref().and_then(|grid| grid.how.as_ref());
    let place = place.map(|how| format!("place: {how}"));
    for line in job.assumptions().into_iter().chain(sources).chain(place) {
        let _ = writeln!(out, "- {line}");
    }
    out
}

/// All in the unit of the middle one.
pub(crate) fn range(quantity: Quantity, range: Range<f64>) -> String {
    let scale = quantity.scale(range.middle);
    format!(
        "{} (low {}, high {})",
        scale.amount(range.middle),
        scale.digits(range.low),
        scale.digits(range.high)
    )
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    impact_version: &'static str,
    method: &'static str,
    hours: f64,
    pue: f64,
    pue_source: &'a str,
    devices: Vec<DeviceEntry>,
    power_w: Range<f64>,
    total_power: Range<Exact>,
    estimated_carbon_impact_kg: Option<Range<Exact>>,
    zone: Option<&'a str>,
    how: Option<&'a str>,
    carbon_intensity: Option<f64>,
    intensity_source: Option<&'a str>,
    assumptions: Vec<String>,
    sources: &'a [String],
    statement: String,
}

#[derive(Serialize)]
struct DeviceEntry {
    name: String,
    count: u32,
    /// Half-way between the least and the most that it may be.
    tdp_w: f64,
    utilization: f64,
}

/// The estimate as JSON.
#[must_use]
pub fn json(estimate: &Estimate) -> String {
    let (job, grid) = (&estimate.job, estimate.grid.as_ref());
    let document = Document {
        schema: SCHEMA,
        impact_version: env!("CARGO_PKG_VERSION"),
        method: "estimated",
        hours: job.time.as_secs_f64() / SECONDS_PER_HOUR,
        pue: job.pue.get(),
        pue_source: &estimate.pue_source,
        devices: job
            .fleets
            .iter()
            .map(|fleet| DeviceEntry {
                name: fleet.name(),
                count: fleet.count,
                tdp_w: fleet.design_power().middle,
                utilization: fleet.utilization,
            })
            .collect(),
        power_w: job.power().map(Watts::get),
        total_power: job.energy().map(Energy::exact),
        estimated_carbon_impact_kg: grid.map(|grid| job.mass(grid.intensity).map(GramsCo2e::exact)),
        zone: grid.and_then(|grid| grid.zone.as_ref()).map(ZoneId::as_str),
        how: grid.and_then(|grid| grid.how.as_deref()),
        carbon_intensity: grid.map(|grid| grid.intensity.get()),
        intensity_source: grid.map(|grid| grid.source.as_str()),
        assumptions: job.assumptions(),
        sources: &estimate.sources,
        statement: text(estimate),
    };
    escape::pretty_json(&document).expect("all keys are strings and all numbers are finite")
}
