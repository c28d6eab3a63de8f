use std::collections::BTreeMap;
use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::prose::origin_words;
use crate::grid::zone::ZoneId;
use crate::ledger::figure::{Amount, Figures};
use crate::ledger::footprint::PueOrigin;
use crate::ledger::phases::Repetitions;
use crate::ledger::{AccountedRun, Assumptions, Collection, Figure, Skipped, Tally};
use crate::model::{Citation, Component, EnergyClass, Method};
use crate::text::escape;
use crate::text::number::{counted, human, percent};
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
    devices: Vec<DeviceReport>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    phases: BTreeMap<String, PhaseReport>,
    quality: QualityReport,
}

/// What a phase took: energy of all counted devices, without PUE.
#[derive(Debug, Serialize)]
struct PhaseReport {
    repetitions: u64,
    total_j: f64,
    mean_j: f64,
    /// None for a single repetition.
    standard_error_j: Option<f64>,
    mean_s: f64,
}

impl From<&Repetitions> for PhaseReport {
    fn from(phase: &Repetitions) -> Self {
        Self {
            repetitions: phase.count,
            total_j: phase.total_j(),
            mean_j: phase.mean_j,
            standard_error_j: phase.standard_error_j(),
            mean_s: phase.mean_s,
        }
    }
}

#[derive(Debug, Serialize)]
struct CarbonReport {
    zone: Option<ZoneId>,
    intensity_g_per_kwh: GramsPerKwh,
    source: String,
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
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct NodeReport {
    /// None for logs that do not name their machine.
    host: Option<String>,
    runs: u64,
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
            runs.push(RunReport::of(&accounted));
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
                    figures: Figure::all(&tally),
                })
                .collect(),
            total: Figure::all(&total),
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
                write_figures(&mut out, &node.figures);
                out.push('\n');
            }
        }
        if self.runs.len() > 1 {
            let _ = writeln!(out, "total of {}", counted(self.runs.len(), "run"));
            write_figures(&mut out, &self.total);
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
            pue_source: footprint.pue_origin.citation().map(Citation::to_string),
            figures: accounted.figures(),
            carbon: footprint.carbon.as_ref().map(|carbon| CarbonReport {
                zone: carbon.zone.clone(),
                intensity_g_per_kwh: carbon.intensity,
                source: carbon.origin.to_string(),
            }),
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
            phases: run
                .phases
                .iter()
                .map(|(name, phase)| (name.clone(), phase.into()))
                .collect(),
            quality: QualityReport {
                measured_share: accounted.tally.measured_share(),
                missing: run.absent.clone(),
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
        write_figures(out, &self.figures);
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
        }
        for device in &self.devices {
            let inside = if device.counted_as.is_some() {
                ""
            } else {
                ", not added up"
            };
            let machine = device.machine_kwh.map_or_else(String::new, |kwh| {
                format!(" of the machine's {} kWh", human(kwh.value()))
            });
            let _ = writeln!(
                out,
                "  {}: {} kWh{machine}{inside} ({})",
                device.component,
                human(device.attributed_kwh.value()),
                device.method
            );
        }
        for (name, phase) in &self.phases {
            let error = phase
                .standard_error_j
                .map_or_else(String::new, |error| format!(" ± {}", human(error)));
            let _ = writeln!(
                out,
                "  phase {}: {} x {}{error} J, {} s each",
                escape::line(name),
                phase.repetitions,
                human(phase.mean_j),
                human(phase.mean_s),
            );
        }
        for (group, why) in &self.quality.missing {
            let _ = writeln!(out, "  missing: {} ({})", group.name(), escape::line(why));
        }
        if let Some(share) = self.quality.measured_share {
            let _ = writeln!(out, "  measured: {} of the energy", percent(share));
        }
        for note in &self.quality.notes {
            let _ = writeln!(out, "  note: {}", escape::line(note));
        }
    }
}

fn write_figures(out: &mut String, figures: &Figures) {
    for figure in Figure::ALL {
        if figure == Figure::MeasuredShare {
            continue;
        }
        if let Some(amount) = figures[figure.name()] {
            let _ = writeln!(
                out,
                "  {}: {} {} ({})",
                figure.name(),
                human(amount.value()),
                figure.unit(),
                figure.meaning()
            );
        }
    }
}
