//! Labels of figures in tables and charts.

use super::spec::Better;
use super::statistic::Statistic;
use super::table::Column;
use crate::ledger::Figure;
use crate::ledger::work::ENERGY_OF_WORK;
use crate::text::number;
use crate::text::quantity::{self, Quantity};

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

/// A name that says all; figures of processors keep their names.
pub(super) fn for_people(name: &str) -> String {
    let Ok(figure) = name.parse::<Figure>() else {
        return match unit_of_work(name) {
            Some(unit) => format!("Energy for a unit of work ({unit})"),
            None => name.to_owned(),
        };
    };
    let (first, rest) = figure.label().split_at(1);
    format!("{}{rest}", first.to_uppercase()).replace("CO2", "CO₂")
}

/// The unit in files for programs, or nothing for shares and for figures of processors.
pub(super) fn fixed_unit(name: &str) -> String {
    match name.parse::<Figure>() {
        Err(_) if unit_of_work(name).is_some() => "J".to_owned(),
        Ok(Figure::MeasuredShare) | Err(_) => String::new(),
        Ok(figure) => figure.unit().replace("CO2", "CO₂"),
    }
}

/// What a figure is an amount of.
fn quantity_of(name: &str) -> Option<Quantity> {
    match name.parse::<Figure>() {
        Err(_) if unit_of_work(name).is_some() => Some(Quantity::Joules),
        figure => figure.ok().and_then(Figure::quantity),
    }
}

/// The unit that fits a value, for all numbers of an axis.
pub(super) fn scale(name: &str, value: f64) -> Shown {
    match quantity_of(name) {
        None if name == Figure::MeasuredShare.name() => Shown {
            unit: "%".to_owned(),
            factor: 100.0,
            is_quantity: false,
        },
        Some(quantity) => {
            let scale = quantity.scale(value);
            Shown {
                unit: scale.unit.to_owned(),
                factor: scale.factor,
                is_quantity: true,
            }
        }
        None => Shown {
            unit: fixed_unit(name),
            factor: 1.0,
            is_quantity: false,
        },
    }
}

/// A value of a figure in the unit that fits it.
pub(super) fn amount(name: &str, value: f64) -> String {
    scale(name, value).amount(value)
}

/// A unit that values are shown in.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shown {
    pub(super) unit: String,
    /// What a value is multiplied by.
    pub(super) factor: f64,
    is_quantity: bool,
}

impl Shown {
    /// A value in this unit.
    pub(super) fn digits(&self, value: f64) -> String {
        if self.is_quantity {
            quantity::digits(value * self.factor).replace('-', "−")
        } else {
            number::typeset(value)
        }
    }

    /// The unit where no title says what it is a mass of.
    pub(super) fn full_unit(&self, name: &str) -> String {
        if name == Figure::Emissions.name() {
            format!("{} CO₂eq", self.unit)
        } else {
            self.unit.clone()
        }
    }

    /// A value with its unit.
    pub(super) fn amount(&self, value: f64) -> String {
        format!("{} {}", self.digits(value), self.unit)
    }

    /// The name of a figure with this unit, for an axis.
    pub(super) fn title(&self, name: &str) -> String {
        match self.full_unit(name).as_str() {
            "" => label(name).to_owned(),
            unit => format!("{} ({unit})", label(name)),
        }
    }
}

/// Which way is better: less energy, time and carbon, more of anything else.
pub(super) fn better(name: &str, given: Option<Better>) -> Better {
    given.unwrap_or(match name.parse() {
        Err(_) if unit_of_work(name).is_some() => Better::Low,
        Ok(Figure::MeasuredShare) | Err(_) => Better::High,
        Ok(_) => Better::Low,
    })
}

/// The unit beside a number: that of an amount, as other columns have theirs in the title.
pub(super) fn cell_unit(name: &str, shown: Shown) -> String {
    if shown.is_quantity || column_unit(name).is_empty() {
        shown.unit
    } else {
        String::new()
    }
}

/// Whether a sum is a mass that leaves out runs without an intensity.
pub(super) fn is_lower_bound(name: &str, statistic: &Statistic, runs: usize) -> bool {
    name == Figure::Emissions.name() && statistic.n < runs
}

/// The unit below the title of a column; amounts have units of their own, each the one that fits.
fn column_unit(name: &str) -> String {
    match quantity_of(name) {
        Some(Quantity::Mass) => "CO₂eq".to_owned(),
        Some(_) => String::new(),
        None => fixed_unit(name),
    }
}

/// The column of a figure.
pub(super) fn column(name: &str) -> Column {
    let meaning = name
        .parse::<Figure>()
        .map(|figure| format!("{name}: {}", figure.meaning()));
    Column {
        meaning: meaning.unwrap_or_else(|_| name.to_owned()),
        ..Column::number(name, label(name), &column_unit(name))
    }
}

fn unit_of_work(name: &str) -> Option<&str> {
    name.strip_prefix(ENERGY_OF_WORK)
}

/// Whether the sum of a figure over runs means something; of a figure of a processor only its author knows.
pub(super) fn adds_up(name: &str) -> bool {
    name.parse()
        .map_or(unit_of_work(name).is_none(), Figure::adds_up)
}

/// What a figure means that not every run has.
pub(super) fn meaning_of_own(name: &str) -> &'static str {
    if unit_of_work(name).is_some() {
        "energy for a unit of the work that was counted, PUE included"
    } else {
        "from a file beside the log"
    }
}
