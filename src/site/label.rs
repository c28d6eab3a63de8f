//! Labels of figures in tables and charts.

use super::spec::Better;
use super::table::Column;
use crate::ledger::Figure;

/// A short label; figures of processors keep their names.
pub(super) fn label(name: &str) -> &str {
    match name.parse() {
        Ok(Figure::Energy) => "Energy",
        Ok(Figure::CpuEnergy) => "CPU energy",
        Ok(Figure::GpuEnergy) => "GPU energy",
        Ok(Figure::MemoryEnergy) => "Memory energy",
        Ok(Figure::Emissions) => "Emissions",
        Ok(Figure::Duration) => "Duration",
        Ok(Figure::CpuHours) => "CPU time",
        Ok(Figure::GpuHours) => "GPU time",
        Ok(Figure::CarbonIntensity) => "Carbon intensity",
        Ok(Figure::MeasuredShare) => "Measured share",
        _ => name,
    }
}

/// The unit, or nothing for shares and for figures of processors.
pub(super) fn unit(name: &str) -> String {
    match name.parse::<Figure>() {
        Ok(Figure::MeasuredShare) | Err(_) => String::new(),
        Ok(figure) => figure.unit().replace("CO2", "CO₂"),
    }
}

/// Name and unit for an axis.
pub(super) fn with_unit(name: &str) -> String {
    match unit(name) {
        unit if unit.is_empty() => label(name).to_owned(),
        unit => format!("{} ({unit})", label(name)),
    }
}

/// Which way is better: less energy, time and carbon, more of anything else.
pub(super) fn better(name: &str, given: Option<Better>) -> Better {
    given.unwrap_or(match name.parse() {
        Ok(Figure::MeasuredShare) | Err(_) => Better::High,
        Ok(_) => Better::Low,
    })
}

/// The column of a figure.
pub(super) fn column(name: &str) -> Column {
    let meaning = name
        .parse::<Figure>()
        .map(|figure| format!("{name}: {}", figure.meaning()));
    Column {
        meaning: meaning.unwrap_or_else(|_| name.to_owned()),
        ..Column::number(name, label(name), &unit(name))
    }
}
