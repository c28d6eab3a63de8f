//! Conditions on the mean of a group.

use std::fmt;

use super::{Comparison, Metric, NoSuchMetric, OwnFigures};
use crate::text::nearest;
use crate::text::number::human;
use crate::units::Relation;

/// A condition on the mean of a group, such as `energy <= +5%`, `co2 > 1.1x` or `time < 2 h`.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    text: String,
    /// The figure it is about.
    pub figure: Metric,
    relation: Relation,
    bound: Bound,
}

/// What the mean of a group is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Bound {
    /// Its difference from the first group, as a share.
    Change(f64),
    /// Its ratio to the mean of the first group, and whether people read it in percent.
    Ratio(f64, Shown),
    /// The mean itself, in the figure's unit.
    Amount(f64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Shown {
    Times,
    Percent,
}

/// Why a text is not a condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadCondition {
    /// It has no `<`, `<=`, `>` or `>=`.
    #[error("`{}` has no comparison, as energy<=+5% and co2>1.1x have", .0.escape_debug())]
    NoRelation(String),
    /// It names a figure that does not exist.
    #[error(transparent)]
    NoSuchMetric(#[from] NoSuchMetric),
    /// The number has no unit, so it could be a ratio or an amount.
    #[error("`{}` has no unit, so it may mean {asked} {} or {asked} times the first group", .text.escape_debug(), .units[0])]
    NoUnit {
        /// The condition.
        text: String,
        /// The number.
        asked: String,
        /// The units of the figure.
        units: Vec<&'static str>,
    },
    /// A percentage may be a difference or a ratio.
    #[error("`{}` may mean {percent} % more than the first group, or {percent} % of it", .text.escape_debug())]
    Ambiguous {
        /// The condition.
        text: String,
        /// The number.
        percent: String,
    },
    /// What follows the sign is not a number with a fitting unit.
    #[error("`{}` is not a bound for {metric}: expected a number with {}{}", .asked.escape_debug(), .units.join(", "), nearest::said(.nearest))]
    BadBound {
        /// The text after the sign.
        asked: String,
        /// The figure.
        metric: String,
        /// The units that fit.
        units: Vec<&'static str>,
        /// Units that are spelt alike.
        nearest: Vec<String>,
    },
}

impl BadCondition {
    /// What the user may have meant.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        match self {
            Self::NoUnit { asked, units, .. } => Some(format!(
                "{asked}x for {asked} times the first group, or {asked}{}",
                units[0]
            )),
            Self::Ambiguous { percent, .. } => {
                let ratio = percent.parse().unwrap_or(0.0) / 100.0;
                Some(format!(
                    "+{percent}% for {percent} % more than the first group, or {}x for {percent} % of it",
                    human(ratio)
                ))
            }
            _ => None,
        }
    }
}

/// Whether a condition holds for a group, with a sentence that says what was found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// It holds.
    Holds(String),
    /// It does not hold.
    Fails(String),
    /// The figure is not known.
    Unknown(String),
}

impl Condition {
    /// Reads a condition on a figure of every run or on one from a file.
    pub fn parse(text: &str, own: &OwnFigures) -> Result<Self, BadCondition> {
        let (name, relation, bound) = Relation::split(text)
            .filter(|(_, relation, _)| !matches!(relation, Relation::Equal | Relation::NotEqual))
            .ok_or_else(|| BadCondition::NoRelation(text.to_owned()))?;
        let figure = own.metric(name)?;
        Ok(Self {
            text: text.trim().to_owned(),
            bound: bound_of(text.trim(), bound, &figure)?,
            figure,
            relation,
        })
    }

    /// Whether the condition holds for each group but the first.
    #[must_use]
    pub fn judge(&self, comparison: &Comparison) -> Vec<Finding> {
        let Some(contrasts) = comparison.figures.iter().find(|c| c.figure == self.figure) else {
            return vec![Finding::Unknown(format!(
                "{} was not compared",
                self.figure
            ))];
        };
        let base = contrasts.groups.first().and_then(|group| group.moments);
        contrasts
            .groups
            .iter()
            .enumerate()
            .skip(1)
            .map(|(index, group)| {
                let (base, mean) = match contrasts.of_group(index) {
                    // Of paired runs those without a partner are not compared.
                    Some(contrast) if contrast.pairs.is_some() => (
                        Some(contrast.base),
                        Some(contrast.base + contrast.difference),
                    ),
                    _ if comparison.paired_by.is_some() => (None, None),
                    _ => (
                        base.map(|moments| moments.mean),
                        group.moments.map(|moments| moments.mean),
                    ),
                };
                self.judge_group(&group.name, base, mean)
            })
            .collect()
    }

    fn judge_group(&self, name: &str, base: Option<f64>, mean: Option<f64>) -> Finding {
        let Some(mean) = mean else {
            return Finding::Unknown(format!("{name}: {} is not known", self.figure));
        };
        let base = base.filter(|base| *base > 0.0);
        let (limit, shown) = match (self.bound, base) {
            (Bound::Amount(bound), _) => (bound, self.figure.amount(mean)),
            (Bound::Change(bound), Some(base)) => (
                base * (1.0 + bound),
                format!("{:+.2} %", (mean / base - 1.0) * 100.0),
            ),
            (Bound::Ratio(bound, Shown::Times), Some(base)) => {
                (base * bound, format!("{:.4}x", mean / base))
            }
            (Bound::Ratio(bound, Shown::Percent), Some(base)) => (
                base * bound,
                format!("{:.2} % of the first group's", mean / base * 100.0),
            ),
            (_, None) => {
                return Finding::Unknown(format!(
                    "{name}: the first group's {} is not known or 0",
                    self.figure
                ));
            }
        };
        let text = format!("{name}: {} is {shown}", self.figure);
        if self.relation.holds_for(mean, limit) {
            Finding::Holds(text)
        } else {
            Finding::Fails(text)
        }
    }
}

/// Units of amounts, as multiples of the unit that figures have.
type Units = &'static [(&'static str, f64)];

const ENERGY: Units = &[
    ("kWh", 1.0),
    ("J", 1.0 / 3.6e6),
    ("Wh", 1e-3),
    ("mJ", 1e-3 / 3.6e6),
    ("kJ", 1.0 / 3.6e3),
    ("MJ", 1.0 / 3.6),
    ("MWh", 1e3),
];
const MASS: Units = &[("kg", 1.0), ("g", 1e-3), ("mg", 1e-6), ("t", 1e3)];
const TIME: Units = &[
    ("h", 1.0),
    ("s", 1.0 / 3600.0),
    ("ms", 1e-3 / 3600.0),
    ("min", 1.0 / 60.0),
    ("d", 24.0),
];
/// Of energy for a unit of work, which is counted in J.
const JOULES: Units = &[
    ("J", 1.0),
    ("uJ", 1e-6),
    ("µJ", 1e-6),
    ("mJ", 1e-3),
    ("kJ", 1e3),
    ("MJ", 1e6),
    ("Wh", 3.6e3),
    ("kWh", 3.6e6),
];
const INTENSITY: Units = &[("g/kWh", 1.0), ("g CO2eq/kWh", 1.0)];

/// The units that an amount of this figure may have; none for a plain number.
fn units_of(figure: &Metric) -> Units {
    match figure.unit() {
        "kWh" => ENERGY,
        "J" => JOULES,
        "kg CO2eq" => MASS,
        "h" => TIME,
        "g CO2eq/kWh" => INTENSITY,
        _ => &[],
    }
}

fn bound_of(condition: &str, text: &str, figure: &Metric) -> Result<Bound, BadCondition> {
    let units = units_of(figure);
    let names = || units.iter().map(|(unit, _)| *unit);
    let text = text.strip_suffix("CO2eq").map_or(text, str::trim_end);
    let end = text
        .char_indices()
        .find(|(place, c)| {
            c.is_alphabetic() && !is_exponent(text, *place) || matches!(c, '%' | '×')
        })
        .map_or(text.len(), |(place, _)| place);
    let (digits, unit) = (text[..end].trim(), text[end..].trim());
    let bad = || BadCondition::BadBound {
        asked: text.to_owned(),
        metric: figure.to_string(),
        units: names().chain(["x", "%"]).collect(),
        nearest: nearest::of(unit, names()),
    };
    let number: f64 = digits.parse().map_err(|_| bad())?;
    if !number.is_finite() {
        return Err(bad());
    }
    let is_signed = digits.starts_with(['+', '-']);
    match unit {
        "%" if is_signed => Ok(Bound::Change(number / 100.0)),
        // A share of 1 is itself a percentage.
        "%" if units.is_empty() && figure.unit() == "1" && matches!(figure, Metric::Figure(_)) => {
            Ok(Bound::Amount(number / 100.0))
        }
        "%" if number >= 100.0 => Ok(Bound::Ratio(number / 100.0, Shown::Percent)),
        "%" => Err(BadCondition::Ambiguous {
            text: condition.to_owned(),
            percent: digits.to_owned(),
        }),
        "x" | "×" => Ok(Bound::Ratio(number, Shown::Times)),
        "" if units.is_empty() => Ok(Bound::Amount(number)),
        "" => Err(BadCondition::NoUnit {
            text: condition.to_owned(),
            asked: digits.to_owned(),
            units: names().collect(),
        }),
        unit => match units.iter().find(|(known, _)| *known == unit) {
            Some((_, factor)) => Ok(Bound::Amount(number * factor)),
            None => Err(bad()),
        },
    }
}

/// Whether the letter at this place is the `e` of a number such as `1e-3`.
fn is_exponent(text: &str, place: usize) -> bool {
    let (before, after) = text.split_at(place);
    let after = after
        .strip_prefix(['e', 'E'])
        .map(|after| after.trim_start_matches(['+', '-']));
    before.ends_with(|c: char| c.is_ascii_digit() || c == '.')
        && after.is_some_and(|after| after.starts_with(|c: char| c.is_ascii_digit()))
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::compare::{Options, Resampling};
    use crate::ledger::{Assumptions, Figure};

    fn parse(text: &str) -> Result<Condition, BadCondition> {
        let mut own = OwnFigures::default();
        own.add_definition("score=eval.csv:last(score)").unwrap();
        Condition::parse(text, &own)
    }

    fn judged(condition: &str, base: f64, mean: f64) -> bool {
        matches!(
            parse(condition)
                .unwrap()
                .judge_group("b", Some(base), Some(mean)),
            Finding::Holds(_)
        )
    }

    #[test]
    fn a_bound_is_a_change_a_ratio_or_an_amount() {
        assert!(judged("energy<=+5%", 100.0, 105.0));
        assert!(!judged("energy<=+5%", 100.0, 105.1));
        assert!(judged("energy<=105%", 100.0, 105.0));
        assert!(!judged("energy<=105 %", 100.0, 105.1));
        assert!(judged("co2 > 1.1x", 1.0, 1.2));
        assert!(!judged("co2 > 1.1x", 1.0, 1.05));
        assert!(judged("energy <= -10%", 100.0, 89.0));
        assert!(judged("score > 0.9", 0.5, 0.95));
        assert!(judged("score > +5%", 0.5, 0.53));
    }

    #[test]
    fn an_amount_may_have_any_unit_of_its_quantity() {
        for (condition, mean) in [
            ("energy <= 3.6 MJ", 1.0),
            ("energy >= 3600000 J", 1.0),
            ("energy <= 1000Wh", 1.0),
            ("energy < 1.1e0 kWh", 1.0),
            ("co2 <= 2000 g", 2.0),
            ("estimated_carbon_impact_kg <= 3 kg CO2eq", 3.0),
            ("time < 2 h", 1.9),
            ("time <= 90 min", 1.5),
            ("time <= 5400 s", 1.5),
            ("cpu-time <= 1 d", 24.0),
            ("average_realtime_carbon_intensity < 300 g/kWh", 250.0),
            ("j_per_tokens <= 2 J", 2.0),
            ("j_per_tokens <= 2000 mJ", 2.0),
            ("j_per_tokens < 0.001 Wh", 3.5),
        ] {
            assert!(judged(condition, 9.0, mean), "{condition}");
            assert!(!judged(
                condition,
                9.0,
                if condition.contains(">=") { 0.5 } else { 1e3 }
            ));
        }
    }

    #[test]
    fn a_number_that_can_be_read_in_two_ways_is_refused_with_both() {
        let error = parse("energy > 1.05").unwrap_err();
        assert_eq!(
            error.to_string(),
            "`energy > 1.05` has no unit, so it may mean 1.05 kWh or 1.05 times the first group"
        );
        let advice = error.advice().unwrap();
        assert_eq!(advice, "1.05x for 1.05 times the first group, or 1.05kWh");
        let error = parse("energy <= 5 %").unwrap_err();
        assert_eq!(
            error.to_string(),
            "`energy <= 5 %` may mean 5 % more than the first group, or 5 % of it"
        );
        let advice = error.advice().unwrap();
        assert_eq!(
            advice,
            "+5% for 5 % more than the first group, or 0.05x for 5 % of it"
        );
    }

    #[test]
    fn a_share_needs_no_unit_and_may_be_a_percentage() {
        assert!(judged("measured_share < 0.91", 1.0, 0.905));
        assert!(judged("measured_share < 1", 1.0, 0.95));
        assert!(!judged("measured_share >= 1", 1.0, 0.95));
        assert!(judged("measured_share >= 90%", 1.0, 0.95));
        let error = parse("measured_share < all").unwrap_err();
        assert!(
            error.to_string().ends_with("expected a number with x, %"),
            "{error}"
        );
    }

    #[test]
    fn a_comparison_of_no_groups_has_no_findings() {
        let options = Options {
            assumptions: Assumptions::default(),
            figures: vec![Metric::Figure(Figure::Energy)],
            own: OwnFigures::default(),
            paired_by: None,
            confidence: 0.95,
            resampling: Resampling::default(),
        };
        let comparison = Comparison::of(&[], &options);
        assert_eq!(parse("energy<=+5%").unwrap().judge(&comparison), []);
    }

    #[test]
    fn what_is_no_condition_says_what_is_wrong() {
        let error = |text: &str| parse(text).unwrap_err().to_string();
        assert!(error("energy").contains("no comparison"));
        assert!(error("enrgy<+5%").ends_with("the nearest is energy"));
        assert!(error("energy<five").contains("expected a number with kWh, J, Wh, "));
        assert!(error("energy<2 kwH").ends_with("the nearest is kWh"));
        for bad in [
            "energy<NaN",
            "energy<inf J",
            "time<1 kWh",
            "energy<",
            "energy<1x1",
            "energy<e5",
        ] {
            assert!(
                error(bad).contains("is not a bound for"),
                "{bad}: {}",
                error(bad)
            );
        }
    }

    #[test]
    fn a_figure_nobody_knows_is_neither_met_nor_failed() {
        let found = parse("co2<=+5%").unwrap().judge_group("b", None, Some(1.0));
        assert!(matches!(found, Finding::Unknown(_)));
    }
}
