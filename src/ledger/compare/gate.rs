//! Conditions that decide whether a comparison passes.

use std::fmt;
use std::str::FromStr;

use super::Comparison;
use crate::ledger::Figure;
use crate::text::nearest;
use crate::text::number::human;
use crate::units::Relation;

/// A condition on the mean of a group, such as `energy <= 5%`, `co2 > 1.1x` or `time < 2 h`.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    text: String,
    /// The figure it is about.
    pub figure: Figure,
    relation: Relation,
    bound: Bound,
}

/// What the mean of a group is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Bound {
    /// Its difference from the first group, as a share.
    Change(f64),
    /// Its ratio to the mean of the first group.
    Ratio(f64),
    /// The mean itself, in the figure's unit.
    Amount(f64),
}

/// Why a text is not a condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadCondition {
    /// It has no `<`, `<=`, `>` or `>=`.
    #[error("`{}` has no comparison: expected such as energy<=5% or co2>1.1x", .0.escape_debug())]
    NoRelation(String),
    /// It names a figure that does not exist.
    #[error("no figure is called `{}`{}", .asked.escape_debug(), nearest::said(.nearest))]
    NoSuchMetric {
        /// The name in the text.
        asked: String,
        /// Names that are spelt alike.
        nearest: Vec<String>,
    },
    /// What follows the sign is not a number with a fitting unit.
    #[error("`{}` is no bound: expected {}", .asked.escape_debug(), bounds(*.unit))]
    BadBound {
        /// The text after the sign.
        asked: String,
        /// The unit of the figure.
        unit: Option<&'static str>,
    },
}

/// Short names of figures; the names in JSON and CSV are accepted too.
pub const METRICS: [(&str, Figure); 8] = [
    ("energy", Figure::Energy),
    ("co2", Figure::Emissions),
    ("time", Figure::Duration),
    ("cpu", Figure::CpuEnergy),
    ("gpu", Figure::GpuEnergy),
    ("memory", Figure::MemoryEnergy),
    ("cpu-time", Figure::CpuHours),
    ("gpu-time", Figure::GpuHours),
];

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

/// Every name of every figure.
pub(crate) fn metrics() -> impl Iterator<Item = (&'static str, Figure)> {
    METRICS
        .into_iter()
        .chain(Figure::ALL.map(|figure| (figure.name(), figure)))
}

/// The figure with this short name or JSON name.
pub fn metric(name: &str) -> Result<Figure, BadCondition> {
    let name = name.trim();
    if let Some((_, figure)) = metrics().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        return Ok(figure);
    }
    Err(BadCondition::NoSuchMetric {
        asked: nearest::short(name),
        nearest: nearest::of(name, metrics().map(|(known, _)| known)),
    })
}

impl Condition {
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
            .skip(1)
            .map(|group| {
                let base = base.map(|moments| moments.mean);
                let mean = group.moments.map(|moments| moments.mean);
                self.judge_group(&group.name, base, mean)
            })
            .collect()
    }

    fn judge_group(&self, name: &str, base: Option<f64>, mean: Option<f64>) -> Finding {
        let unit = unit_of(self.figure).map_or_else(String::new, |unit| format!(" {unit}"));
        let Some(mean) = mean else {
            return Finding::Unknown(format!("{name}: {} is not known", self.figure));
        };
        let base = base.filter(|base| *base > 0.0);
        let (limit, shown) = match (self.bound, base) {
            (Bound::Amount(bound), _) => (bound, format!("{}{unit}", human(mean))),
            (Bound::Change(bound), Some(base)) => (
                base * (1.0 + bound),
                format!("{:+.2} %", (mean / base - 1.0) * 100.0),
            ),
            (Bound::Ratio(bound), Some(base)) => (base * bound, format!("{:.4}x", mean / base)),
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

impl FromStr for Condition {
    type Err = BadCondition;
    fn from_str(text: &str) -> Result<Self, BadCondition> {
        let (name, relation, bound) = Relation::split(text)
            .filter(|(_, relation, _)| !matches!(relation, Relation::Equal | Relation::NotEqual))
            .ok_or_else(|| BadCondition::NoRelation(text.to_owned()))?;
        let figure = metric(name)?;
        Ok(Self {
            text: text.trim().to_owned(),
            figure,
            relation,
            bound: bound_of(bound, unit_of(figure))?,
        })
    }
}

/// The unit written after an amount; none for a share.
fn unit_of(figure: Figure) -> Option<&'static str> {
    Some(figure.unit()).filter(|unit| *unit != "1")
}

/// What a bound may look like, for a message.
fn bounds(unit: Option<&str>) -> String {
    match unit {
        Some(unit) => format!("a number with %, x or {unit}"),
        None => "a number, alone or with % or x".to_owned(),
    }
}

fn bound_of(text: &str, unit: Option<&'static str>) -> Result<Bound, BadCondition> {
    let number = |digits: &str| {
        digits
            .trim()
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| BadCondition::BadBound {
                asked: text.to_owned(),
                unit,
            })
    };
    if let Some(digits) = text.strip_suffix('%') {
        return Ok(Bound::Change(number(digits)? / 100.0));
    }
    if let Some(digits) = text.strip_suffix(['x', '×']) {
        return Ok(Bound::Ratio(number(digits)?));
    }
    let digits = unit.and_then(|unit| {
        let short = unit.split(' ').next().unwrap_or(unit);
        text.strip_suffix(unit).or_else(|| text.strip_suffix(short))
    });
    let digits = digits.unwrap_or(text);
    Ok(Bound::Amount(number(digits)?))
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Assumptions;
    use crate::ledger::compare::{Options, Resampling};

    fn judged(condition: &str, base: f64, mean: f64) -> bool {
        let condition: Condition = condition.parse().unwrap();
        matches!(
            condition.judge_group("b", Some(base), Some(mean)),
            Finding::Holds(_)
        )
    }

    #[test]
    fn a_bound_is_a_change_a_ratio_or_an_amount() {
        assert!(judged("energy<=5%", 100.0, 105.0));
        assert!(!judged("energy<=5%", 100.0, 105.1));
        assert!(judged("co2 > 1.1x", 1.0, 1.2));
        assert!(!judged("co2 > 1.1x", 1.0, 1.05));
        assert!(judged("time < 2 h", 9.0, 1.9));
        assert!(judged("estimated_carbon_impact_kg <= 3 kg", 9.0, 3.0));
        assert!(judged("energy <= -10%", 100.0, 89.0));
    }

    #[test]
    fn the_last_digit_of_a_share_is_not_its_unit() {
        assert!(judged("measured_share < 0.91", 1.0, 0.905));
        assert!(judged("measured_share < 1", 1.0, 0.95));
        assert!(!judged("measured_share >= 1", 1.0, 0.95));
        let error = "measured_share < all".parse::<Condition>().unwrap_err();
        assert!(error.to_string().ends_with("alone or with % or x"));
    }

    #[test]
    fn a_comparison_of_no_groups_has_no_findings() {
        let options = Options {
            assumptions: Assumptions::default(),
            figures: vec![Figure::Energy],
            confidence: 0.95,
            resampling: Resampling::default(),
        };
        let comparison = Comparison::of(&[], &options);
        let condition: Condition = "energy<=5%".parse().unwrap();
        assert_eq!(condition.judge(&comparison), []);
    }

    #[test]
    fn what_is_no_condition_says_what_is_wrong() {
        let error = |text: &str| text.parse::<Condition>().unwrap_err().to_string();
        assert!(error("energy").contains("no comparison"));
        assert!(error("enrgy<5%").ends_with("the nearest is energy"));
        assert!(error("energy<five").contains("expected a number with %, x or kWh"));
        assert!(error("energy<NaN").contains("no bound"));
    }

    #[test]
    fn a_figure_nobody_knows_is_neither_met_nor_failed() {
        let condition: Condition = "co2<=5%".parse().unwrap();
        let found = condition.judge_group("b", None, Some(1.0));
        assert!(matches!(found, Finding::Unknown(_)));
    }
}
