//! Charts of the time series of a run.

use super::chart::{Band, Line, lines};
use super::page::Chart;
use crate::log::{Gauge, TimeSeries};
use crate::text::quantity::Quantity;

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

/// One chart for each kind of gauge that has values, with bands for the occurrences of phases.
pub(super) fn gauge_charts(series: &TimeSeries, bands: &[Band]) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (place, (title, unit, divisor, gauges)) in GAUGE_CHARTS.into_iter().enumerate() {
        let mut drawn: Vec<Line> = gauges
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
        let unit = match unit {
            "W" => in_a_fitting_unit(&mut drawn),
            unit => unit,
        };
        charts.push(Chart {
            title: title.to_owned(),
            svg: lines(
                &format!("series-{place}"),
                title,
                unit,
                series.seconds(),
                &drawn,
                bands,
            ),
            caption: String::new(),
        });
    }
    charts
}

/// Changes watts into the unit that fits the largest.
fn in_a_fitting_unit(lines: &mut [Line]) -> &'static str {
    let points = |lines: &[Line]| -> f64 {
        let values = lines.iter().flat_map(|line| &line.points);
        values.map(|point| point.value.abs()).fold(0.0, f64::max)
    };
    let scale = Quantity::Power.scale(points(lines));
    for point in lines.iter_mut().flat_map(|line| &mut line.points) {
        point.value *= scale.factor;
    }
    scale.unit
}
