use std::collections::BTreeMap;
use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::phase_report::{PhaseReports, WorkReport, work, write_work};
use super::prose::origin_words;
use crate::grid::zone::ZoneId;
use crate::ledger::figure::{Amount, Figures, without_intensity};
use crate::ledger::footprint::{AssumedPlace, PueOrigin};
use crate::ledger::{AccountedRun, Assumptions, Collection, Figure, Skipped, Tally};
use crate::model::info::PowerCap;
use crate::model::{Basis, Component, EnergyClass, Method};
use crate::text::escape;
use crate::text::number::{counted, percent};
use crate::text::quantity::Quantity;
use crate::text::table::Table;
use crate::units::{Energy, Exact, GramsPerKwh, Pue};

const SCHEMA: &str = "impact-report/1";
/// Runs of logs that do not name their machine.
const UNNAMED_NODE: &str = "(not recorded)";

/// The figures of several runs: each by itself, by node, and together.
#[derive(Debug, Serialize)]
pub struct Report {
    schema: &'static str,
    runs: Vec<RunReport>,
    nodes: Vec<NodeReport>,
    total: Figures,
    /// Runs that are in the total with their energy and not with their mass.
    runs_without_intensity: u64,
    /// That the total adds what cannot be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_warning: Option<String>,
    skipped: Vec<Skipped>,
}

#[derive(Debug, Serialize)]
struct RunReport {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tags: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<DateTime<Utc>>,
    pue: Pue,
    pue_origin: PueOrigin,
    #[serde(skip_serializing_if = "Option::is_none")]
    pue_source: Option<String>,
    figures: Figures,
    #[serde(skip_serializing_if = "Option::is_none")]
    carbon: Option<CarbonReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    power_cap: Option<PowerCap>,
    devices: Vec<DeviceReport>,
    #[serde(skip_serializing_if = "PhaseReports::is_empty")]
    phases: PhaseReports,
    /// Work counted in the run, and the energy for it with PUE.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    work: BTreeMap<String, WorkReport>,
    quality: QualityReport,
}

#[derive(Debug, Serialize)]
struct CarbonReport {
    zone: Option<ZoneId>,
    intensity_g_per_kwh: GramsPerKwh,
    source: String,
    /// The place of the intensity, where the log does not name one.
    #[serde(skip_serializing_if = "Option::is_none")]
    assumed_place: Option<AssumedPlace>,
    /// What the intensities count; none where one is not known.
    bases: Vec<Option<Basis>>,
}

#[derive(Debug, Serialize)]
struct DeviceReport {
    component: Component,
    /// The group it is added to; none for what a larger meter contains.
    counted_as: Option<EnergyClass>,
    attributed_kwh: Exact,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine_kwh: Option<Exact>,
    #[serde(flatten)]
    method: Method,
}

#[derive(Debug, Serialize)]
struct QualityReport {
    measured_share: Option<f64>,
    missing: BTreeMap<EnergyClass, String>,
    /// Energy in the log that cannot have been drawn and is not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out_kwh: Option<Exact>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct NodeReport {
    /// None for logs that do not name their machine.
    host: Option<String>,
    runs: u64,
    runs_without_intensity: u64,
    figures: Figures,
}

impl Report {
    /// The report on some runs under these assumptions.
    #[must_use]
    pub fn of(collection: &Collection, assumptions: &Assumptions) -> Self {
        let mut total = Tally::default();
        let mut nodes: BTreeMap<Option<String>, Tally> = BTreeMap::new();
        let mut runs = Vec::with_capacity(collection.runs.len());
        for accounted in collection.accounted(assumptions) {
            let mut run = RunReport::of(&accounted);
            let recorded = &accounted.run.project_settings;
            let settings = recorded.iter().chain(&assumptions.project_settings);
            let said = |(key, value)| format!("set by a project's settings file: {key} {value}");
            run.quality.notes.extend(settings.map(said));
            runs.push(run);
            let node = nodes.entry(accounted.run.host.clone()).or_default();
            *node = std::mem::take(node).merge(accounted.tally.clone());
            total = total.merge(accounted.tally);
        }
        Self {
            schema: SCHEMA,
            runs,
            nodes: nodes
                .into_iter()
                .map(|(host, tally)| NodeReport {
                    host,
                    runs: tally.runs,
                    runs_without_intensity: tally.runs_without_intensity(),
                    figures: Figure::all(&tally),
                })
                .collect(),
            total: Figure::all(&total),
            runs_without_intensity: total.runs_without_intensity(),
            total_warning: total.bases.warning(),
            skipped: collection.skipped.clone(),
        }
    }

    /// A block of lines for each run, and the totals where there are several.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        for run in &self.runs {
            run.write_text(&mut out);
            out.push('\n');
        }
        if self.nodes.len() > 1 {
            for node in &self.nodes {
                let host = escape::line(node.host.as_deref().unwrap_or(UNNAMED_NODE));
                let _ = writeln!(out, "node {host} ({})", counted(node.runs, "run"));
                let unknown = (node.runs_without_intensity, node.runs);
                write_figures(&mut out, &node.figures, unknown);
                out.push('\n');
            }
        }
        if self.runs.len() > 1 {
            let _ = writeln!(out, "total of {}", counted(self.runs.len(), "run"));
            let unknown = (self.runs_without_intensity, self.runs.len() as u64);
            write_figures(&mut out, &self.total, unknown);
            if let Some(warning) = &self.total_warning {
                let _ = writeln!(out, "  note: {warning}");
            }
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
        out
    }

    /// One row a run, one column a figure; an empty cell is a figure that is not known.
    #[must_use]
    pub fn csv(&self) -> String {
        let names = Figure::ALL.map(Figure::name);
        let mut table = Table::new(
            &["path", "name", "host", "zone", "intensity_source"],
            &names,
        );
        for run in &self.runs {
            let carbon = run.carbon.as_ref();
            let zone = carbon.and_then(|carbon| carbon.zone.as_ref());
            let words = [
                Some(run.path.as_str()),
                run.name.as_deref(),
                run.host.as_deref(),
                zone.map(ZoneId::as_str),
                carbon.map(|carbon| carbon.source.as_str()),
            ];
            let figures = names.map(|name| match run.figures[name] {
                Some(Amount::Sum(exact)) => exact.to_string(),
                Some(Amount::Ratio(ratio)) => ratio.to_string(),
                None => String::new(),
            });
            let words = words.map(|word| word.unwrap_or_default().to_owned());
            table.push(words.into_iter().chain(figures));
        }
        table.csv()
    }
}

impl RunReport {
    fn of(accounted: &AccountedRun) -> Self {
        let (run, footprint) = (accounted.run, &accounted.footprint);
        let counted: BTreeMap<&Component, EnergyClass> = run
            .counted()
            .map(|(group, component, _)| (component, group))
            .collect();
        Self {
            path: accounted.path.display().to_string(),
            name: run.name.clone(),
            tags: run.tags.clone(),
            host: run.host.clone(),
            started: run.started,
            pue: footprint.pue,
            pue_origin: footprint.pue_origin.clone(),
            pue_source: footprint.pue_origin.source(),
            figures: accounted.figures(),
            carbon: footprint.carbon.as_ref().map(|carbon| CarbonReport {
                zone: carbon.zone.clone(),
                intensity_g_per_kwh: carbon.intensity,
                source: carbon.origin.to_string(),
                assumed_place: carbon.assumed_place.clone(),
                bases: carbon.origin.bases().into_iter().collect(),
            }),
            power_cap: run.power_cap.clone(),
            devices: run
                .parts
                .iter()
                .map(|(component, part)| DeviceReport {
                    component: component.clone(),
                    counted_as: counted.get(component).copied(),
                    attributed_kwh: part.attributed.exact(),
                    machine_kwh: part.machine.map(Energy::exact),
                    method: part.method.clone(),
                })
                .collect(),
            phases: PhaseReports::of(&run.phases),
            work: work(&run.counts, accounted.tally.energy.joules()),
            quality: QualityReport {
                measured_share: accounted.tally.measured_share(),
                missing: run.absent.clone(),
                left_out_kwh: (run.implausible > Energy::ZERO).then(|| run.implausible.exact()),
                notes: run.notes.clone(),
            },
        }
    }

    fn write_text(&self, out: &mut String) {
        let _ = writeln!(out, "{}", escape::line(&self.path));
        if let Some(name) = &self.name {
            let _ = writeln!(out, "  name: {}", escape::line(name));
        }
        if let Some(host) = &self.host {
            let _ = writeln!(out, "  host: {}", escape::line(host));
        }
        if let Some(started) = &self.started {
            let _ = writeln!(
                out,
                "  started: {}",
                started.format("%Y-%m-%d %H:%M:%S UTC")
            );
        }
        write_figures(out, &self.figures, (0, 1));
        let _ = writeln!(
            out,
            "  PUE: {} ({})",
            self.pue,
            escape::line(&origin_words(&self.pue_origin))
        );
        if let Some(carbon) = &self.carbon {
            let zone = carbon
                .zone
                .as_ref()
                .map_or_else(String::new, |zone| format!("{zone}, "));
            let source = escape::line(&carbon.source);
            let _ = writeln!(out, "  intensity from: {zone}{source}");
            if let Some(place) = &carbon.assumed_place {
                let place = place.to_string();
                let _ = writeln!(out, "  zone not recorded; {}", escape::line(&place));
            }
        }
        if let Some(cap) = &self.power_cap {
            write_cap(out, cap);
        }
        for device in &self.devices {
            let inside = if device.counted_as.is_some() {
                ""
            } else {
                ", not added up"
            };
            let machine = device.machine_kwh.map_or_else(String::new, |kwh| {
                format!(" of the machine's {}", electricity(kwh))
            });
            let _ = writeln!(
                out,
                "  {}: {}{machine}{inside} ({})",
                device.component,
                electricity(device.attributed_kwh),
                device.method
            );
        }
        write_work(out, "  ", ", PUE included", &self.work);
        self.phases.write_text(out);
        for (group, why) in &self.quality.missing {
            let _ = writeln!(out, "  missing: {} ({})", group.name(), escape::line(why));
        }
        if let Some(share) = self.quality.measured_share {
            let _ = writeln!(out, "  measured: {} of the energy", percent(share));
        }
        if let Some(kwh) = self.quality.left_out_kwh {
            let _ = writeln!(
                out,
                "  left out: {} that cannot have been drawn",
                electricity(kwh)
            );
        }
        for note in &self.quality.notes {
            let _ = writeln!(out, "  note: {}", escape::line(note));
        }
    }
}

fn write_cap(out: &mut String, cap: &PowerCap) {
    let watts = |watts| Quantity::Power.amount(watts);
    let requested = watts(cap.requested_w);
    if let Some(why) = &cap.refused {
        let why = escape::line(why);
        let _ = writeln!(out, "  power cap: none; {requested} was refused: {why}");
    }
    for board in &cap.boards {
        let former = watts(board.former_w);
        let board = escape::line(&board.uuid);
        let _ = writeln!(
            out,
            "  power cap: {requested} instead of {former} (gpu:{board})"
        );
    }
}

/// Figures for people; of so many runs the mass is not known, so that the total is a lower bound.
fn write_figures(out: &mut String, figures: &Figures, (unknown, runs): (u64, u64)) {
    for figure in Figure::ALL {
        if figure == Figure::MeasuredShare {
            continue;
        }
        if let Some(amount) = figures[figure.name()] {
            let shown = figure.shown(amount.value());
            let _ = if figure == Figure::Emissions && unknown > 0 {
                let why = without_intensity(unknown, runs);
                writeln!(out, "  {}: at least {shown} ({why})", figure.label())
            } else {
                writeln!(out, "  {}: {shown}", figure.label())
            };
        }
    }
}

fn electricity(kwh: Exact) -> String {
    Quantity::Electricity.amount(kwh.value())
}
