//! Charts of the time series of a run.

use super::chart::{Band, Line, lines};
use super::page::Chart;
use crate::log::{Gauge, TimeSeries};
use crate::model::Edge;

/// Title, unit, divisor, and the gauges of a chart with their labels.
type GaugeChart = (
    &'static str,
    &'static str,
    f64,
    &'static [(Gauge, &'static str)],
);

const GAUGE_CHARTS: [GaugeChart; 6] = [
    (
        "Power",
        "W",
        1.0,
        &[
            (Gauge::CpuPower, "CPU, this run"),
            (Gauge::GpuPower, "GPU, this run"),
            (Gauge::MachineCpuPower, "CPU, machine"),
            (Gauge::MachineGpuPower, "GPU, machine"),
        ],
    ),
    (
        "GPU utilisation",
        "%",
        0.01,
        &[(Gauge::GpuUtilization, "GPU")],
    ),
    (
        "CPU utilisation",
        "processors",
        1.0,
        &[(Gauge::CpuUtilization, "CPU")],
    ),
    ("Memory", "GB", 1e9, &[(Gauge::Memory, "memory")]),
    (
        "Temperature",
        "°C",
        1.0,
        &[
            (Gauge::CpuTemperature, "CPU"),
            (Gauge::GpuTemperature, "GPU"),
        ],
    ),
    (
        "Carbon intensity",
        "g CO₂eq/kWh",
        1.0,
        &[(Gauge::CarbonIntensity, "grid")],
    ),
];

/// One chart for each kind of gauge that has values.
pub(super) fn gauge_charts(series: &TimeSeries) -> Vec<Chart> {
    let bands = bands(series);
    let mut charts = Vec::new();
    for (place, (title, unit, divisor, gauges)) in GAUGE_CHARTS.into_iter().enumerate() {
        let drawn: Vec<Line> = gauges
            .iter()
            .enumerate()
            .map(|(colour, (gauge, name))| {
                let mut points = series.points(*gauge);
                for point in &mut points {
                    point.value /= divisor;
                }
                Line {
                    name,
                    colour: colour + 1,
                    points,
                }
            })
            .filter(|line| !line.points.is_empty())
            .collect();
        if drawn.is_empty() {
            continue;
        }
        charts.push(Chart {
            title: title.to_owned(),
            svg: lines(
                &format!("series-{place}"),
                title,
                unit,
                series.seconds(),
                &drawn,
                &bands,
            ),
            caption: String::new(),
        });
    }
    charts
}

/// The phases between marks; one without an end mark lasts to the end of the run.
fn bands(series: &TimeSeries) -> Vec<Band> {
    let mut bands: Vec<Band> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (seconds, mark) in series.marks() {
        match mark.edge {
            Edge::Start => {
                open.push(bands.len());
                bands.push(Band {
                    name: mark.name.clone(),
                    from: *seconds,
                    to: series.seconds(),
                });
            }
            Edge::End => {
                if let Some(place) = open.iter().rposition(|band| bands[*band].name == mark.name) {
                    bands[open.remove(place)].to = *seconds;
                }
            }
            Edge::Point => bands.push(Band {
                name: mark.name.clone(),
                from: *seconds,
                to: *seconds,
            }),
        }
    }
    bands
}
