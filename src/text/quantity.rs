//! Quantities as people read them: at most four significant digits, in the unit that leaves one to three
//! digits before the point.
//!
//! Files for programs (JSON, CSV) have fixed units and all digits; everything else comes through here.
//!
//! Energy has two families of units. What is measured, of a device while it is tracked or of a phase, is
//! in joules ([`joules`]). What is accounted, to be added up or multiplied with a PUE, an intensity or a
//! price, is in watt-hours ([`electricity`]). Less than 0.1 mWh is in joules there too, because no smaller
//! watt-hour is in use.

use std::time::Duration;

use super::number::{grouped, without_trailing_zeros};
use crate::units::{Energy, GramsCo2e, GramsPerKwh, Hours, Watts};

/// What a number is an amount of. It says the unit that the number is given in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Accounted energy, given in kWh.
    Electricity,
    /// Energy that was drawn, given in J.
    Joules,
    /// Mass, given in kg.
    Mass,
    /// Time, given in h.
    Time,
    /// Power, given in W.
    Power,
    /// Energy times time, given in J s.
    EnergyDelay,
    /// Energy times the square of time, given in J s².
    EnergyDelaySquared,
}

/// A unit that several numbers are shown in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    /// The symbol of the unit.
    pub(crate) unit: &'static str,
    /// How many of it are one of the unit that numbers are given in.
    pub(crate) factor: f64,
}

/// A unit: its symbol, its size, and the smallest number that is shown in it.
type Unit = (&'static str, f64, f64);

const J: f64 = 1.0 / 3.6e6;
const S: f64 = 1.0 / 3600.0;

const ELECTRICITY: &[Unit] = &[
    ("pJ", J / 1e12, 1.0),
    ("nJ", J / 1e9, 1.0),
    ("µJ", J / 1e6, 1.0),
    ("mJ", J / 1e3, 1.0),
    ("mWh", 1e-6, 0.1),
    ("Wh", 1e-3, 1.0),
    ("kWh", 1.0, 1.0),
    ("MWh", 1e3, 1.0),
    ("GWh", 1e6, 1.0),
    ("TWh", 1e9, 1.0),
];
const JOULES: &[Unit] = &[
    ("pJ", 1e-12, 1.0),
    ("nJ", 1e-9, 1.0),
    ("µJ", 1e-6, 1.0),
    ("mJ", 1e-3, 1.0),
    ("J", 1.0, 1.0),
    ("kJ", 1e3, 1.0),
    ("MJ", 1e6, 1.0),
    ("GJ", 1e9, 1.0),
    ("TJ", 1e12, 1.0),
];
const MASS: &[Unit] = &[
    ("pg", 1e-15, 1.0),
    ("ng", 1e-12, 1.0),
    ("µg", 1e-9, 1.0),
    ("mg", 1e-6, 1.0),
    ("g", 1e-3, 1.0),
    ("kg", 1.0, 1.0),
    ("t", 1e3, 1.0),
    ("kt", 1e6, 1.0),
    ("Mt", 1e9, 1.0),
];
/// Computing time is known in hours, so days begin late.
const TIME: &[Unit] = &[
    ("ns", S / 1e9, 1.0),
    ("µs", S / 1e6, 1.0),
    ("ms", S / 1e3, 1.0),
    ("s", S, 1.0),
    ("min", 1.0 / 60.0, 1.0),
    ("h", 1.0, 1.0),
    ("d", 24.0, 1000.0 / 24.0),
];
const POWER: &[Unit] = &[
    ("nW", 1e-9, 1.0),
    ("µW", 1e-6, 1.0),
    ("mW", 1e-3, 1.0),
    ("W", 1.0, 1.0),
    ("kW", 1e3, 1.0),
    ("MW", 1e6, 1.0),
    ("GW", 1e9, 1.0),
];
/// Without prefixes, which a reader could take to be of either factor.
const ENERGY_DELAY: &[Unit] = &[("J s", 1.0, 1.0)];
const ENERGY_DELAY_SQUARED: &[Unit] = &[("J s²", 1.0, 1.0)];

impl Quantity {
    fn units(self) -> &'static [Unit] {
        match self {
            Self::Electricity => ELECTRICITY,
            Self::Joules => JOULES,
            Self::Mass => MASS,
            Self::Time => TIME,
            Self::Power => POWER,
            Self::EnergyDelay => ENERGY_DELAY,
            Self::EnergyDelaySquared => ENERGY_DELAY_SQUARED,
        }
    }

    /// The unit of zero.
    fn of_zero(self) -> &'static str {
        match self {
            Self::Electricity => "kWh",
            Self::Joules => "J",
            Self::Mass => "g",
            Self::Time => "s",
            Self::Power => "W",
            Self::EnergyDelay => "J s",
            Self::EnergyDelaySquared => "J s²",
        }
    }

    /// The unit that fits a number and, for an axis or a column, all others of its size.
    #[must_use]
    pub(crate) fn scale(self, value: f64) -> Scale {
        let value = value.abs();
        let units = self.units();
        let zero = units
            .iter()
            .position(|(symbol, ..)| *symbol == self.of_zero());
        if value == 0.0 || !value.is_finite() {
            return scale(units[zero.unwrap_or_default()]);
        }
        let mut fitting = units[0];
        for next in &units[1..] {
            // Rounded first: 999.96 Wh are 1 kWh.
            if rounded(value / next.1) < rounded(next.2) {
                break;
            }
            fitting = *next;
        }
        scale(fitting)
    }

    /// A number in the unit that fits it: `20.08 kWh`.
    #[must_use]
    pub(crate) fn amount(self, value: f64) -> String {
        self.scale(value).amount(value)
    }
}

impl Scale {
    /// The digits of a number in this unit.
    #[must_use]
    pub(crate) fn digits(self, value: f64) -> String {
        digits(value * self.factor)
    }

    /// The number in this unit, with its symbol.
    #[must_use]
    pub(crate) fn amount(self, value: f64) -> String {
        format!("{} {}", self.digits(value), self.unit)
    }
}

/// Accounted energy: `20.08 kWh`.
#[must_use]
pub(crate) fn electricity(energy: Energy) -> String {
    Quantity::Electricity.amount(energy.kwh())
}

/// Energy that a device or a phase drew: `19.02 J`.
#[must_use]
pub(crate) fn joules(energy: Energy) -> String {
    Quantity::Joules.amount(energy.joules())
}

/// A mass: `6.55 kg`. What it is a mass of stands after it.
#[must_use]
pub(crate) fn mass(mass: GramsCo2e) -> String {
    Quantity::Mass.amount(mass.kg())
}

/// A power: `61.25 W`.
#[must_use]
pub(crate) fn power(power: Watts) -> String {
    Quantity::Power.amount(power.get())
}

/// A time that is added up: `173.2 h`.
#[must_use]
pub(crate) fn time(time: Hours) -> String {
    Quantity::Time.amount(time.hours())
}

/// A length of time: `2.336 s`.
#[must_use]
pub(crate) fn duration(duration: Duration) -> String {
    Quantity::Time.amount(duration.as_secs_f64() * S)
}

/// A carbon intensity: `326 g/kWh`. What it is a mass of is known from the context.
#[must_use]
pub(crate) fn intensity(intensity: GramsPerKwh) -> String {
    format!("{} g/kWh", digits(intensity.get()))
}

/// At most four significant digits, without trailing zeros; an exponent only where no unit is left.
#[must_use]
pub(crate) fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        // Not the sign of a zero.
        return format!("{}", value + 0.0);
    }
    let value = rounded(value);
    let magnitude = value.abs().log10().floor();
    if !(-4.0..9.0).contains(&magnitude) {
        let text = format!("{value:.3e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", without_trailing_zeros(digits));
    }
    let decimals = (3.0 - magnitude).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        _ if decimals > 0 => without_trailing_zeros(&text).to_owned(),
        Some(whole) if whole.len() > 4 => format!("-{}", grouped(whole)),
        None if text.len() > 4 => grouped(&text),
        _ => text,
    }
}

fn scale((unit, size, _): Unit) -> Scale {
    Scale {
        unit,
        factor: 1.0 / size,
    }
}

/// The nearest number with four significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn electricity_is_in_watt_hours_and_the_little_of_it_in_joules() {
        for (kwh, text) in [
            (20.084, "20.08 kWh"),
            (2.777e-13, "999.7 nJ"),
            (2.778e-13, "1 µJ"),
            (0.000_005_284, "5.284 mWh"),
            (0.000_000_1, "0.1 mWh"),
            (0.000_000_099_9, "359.6 mJ"),
            (0.75, "750 Wh"),
            (0.999_94, "999.9 Wh"),
            (0.999_96, "1 kWh"),
            (9.999_6, "10 kWh"),
            (9_999.6, "10 MWh"),
            (12_345.6, "12.35 MWh"),
            (1e-30, "3.6e-12 pJ"),
            (0.0, "0 kWh"),
            (-0.002_5, "-2.5 Wh"),
            (f64::NAN, "NaN kWh"),
        ] {
            assert_eq!(Quantity::Electricity.amount(kwh), text, "{kwh} kWh");
        }
    }

    #[test]
    fn every_unit_of_every_quantity_is_reached_and_left_at_its_ends() {
        for quantity in [
            Quantity::Electricity,
            Quantity::Joules,
            Quantity::Mass,
            Quantity::Time,
            Quantity::Power,
        ] {
            let units = quantity.units();
            for (place, (symbol, size, least)) in units.iter().enumerate() {
                assert_eq!(quantity.scale(size * least).unit, *symbol);
                assert_eq!(quantity.scale(-size * least).unit, *symbol);
                if place > 0 {
                    let before = units[place - 1].0;
                    assert_eq!(quantity.scale(size * least * 0.999).unit, before);
                }
            }
        }
    }

    #[test]
    fn numbers_lie_between_a_tenth_and_ten_thousand() {
        let mut value = 1.234_567e-9;
        while value < 1e9 {
            for quantity in [
                Quantity::Electricity,
                Quantity::Joules,
                Quantity::Mass,
                Quantity::Power,
            ] {
                let text = quantity.amount(value);
                let (number, _) = text.split_once(' ').unwrap();
                let digits = number.chars().filter(char::is_ascii_digit).count();
                let number: f64 = number.parse().unwrap();
                assert!((0.1..10_000.0).contains(&number), "{value}: {text}");
                assert!(digits <= 5, "{value}: {text}");
            }
            value *= 1.37;
        }
    }

    #[test]
    fn time_is_in_hours_until_it_is_many() {
        let text = |seconds: f64| time(Hours::from_seconds(seconds).unwrap());
        assert_eq!(text(2.336_1), "2.336 s");
        assert_eq!(text(0.25), "250 ms");
        assert_eq!(text(59.996), "60 s");
        assert_eq!(text(59.999), "1 min");
        assert_eq!(text(210.0), "3.5 min");
        assert_eq!(text(173.2 * 3600.0), "173.2 h");
        assert_eq!(text(999.9 * 3600.0), "999.9 h");
        assert_eq!(text(1000.0 * 3600.0), "41.67 d");
        assert_eq!(text(1e7 * 3600.0), "416,700 d");
        assert_eq!(duration(Duration::from_micros(12)), "12 µs");
    }

    #[test]
    fn other_quantities_have_their_units() {
        assert_eq!(joules(Energy::from_joules(19_020.0).unwrap()), "19.02 kJ");
        assert_eq!(mass(GramsCo2e::from_grams(0.001_693).unwrap()), "1.693 mg");
        assert_eq!(mass(GramsCo2e::from_grams(6_550.0).unwrap()), "6.55 kg");
        assert_eq!(mass(GramsCo2e::ZERO), "0 g");
        assert_eq!(power(Watts::new(61.25).unwrap()), "61.25 W");
        assert_eq!(
            intensity(GramsPerKwh::new(41.000_000_000_000_62).unwrap()),
            "41 g/kWh"
        );
    }
}
