//! Gates for continuous integration: what must hold for a comparison to pass.

use super::{Comparison, Condition, Contrasts, Finding, Verdict};

/// What must hold for a comparison to pass.
#[derive(Debug, Clone, PartialEq)]
pub enum Gate {
    /// The condition must hold for every group.
    Budget(Condition),
    /// The condition must hold for no group.
    FailIf(Condition),
    /// No group may differ significantly from the first.
    FailIfSignificant(Direction),
}

/// Which significant differences fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// More than the first group.
    More,
    /// Less than the first group.
    Less,
    /// Both.
    Any,
}

/// How a comparison stands to a gate.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The option of the command line.
    pub option: &'static str,
    /// What the user wrote after it.
    pub condition: String,
    /// What was found for each group.
    pub findings: Vec<Finding>,
    /// Whether it passed.
    pub outcome: Outcome,
    /// Whether the condition is to hold.
    wanted: bool,
}

/// Whether a gate passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It passed.
    Passed,
    /// It failed for a group.
    Failed,
    /// It failed for no group, but for one it could not be judged.
    Unknown,
}

impl Gate {
    /// The condition on a figure; none of a gate on every figure.
    #[must_use]
    pub fn condition(&self) -> Option<&Condition> {
        match self {
            Self::Budget(condition) | Self::FailIf(condition) => Some(condition),
            Self::FailIfSignificant(_) => None,
        }
    }

    /// Whether the comparison passes, and why not.
    #[must_use]
    pub fn judge(&self, comparison: &Comparison) -> Judged {
        let (option, condition, findings, wanted) = match self {
            Self::Budget(condition) => (
                "budget",
                condition.to_string(),
                condition.judge(comparison),
                true,
            ),
            Self::FailIf(condition) => (
                "fail-if",
                condition.to_string(),
                condition.judge(comparison),
                false,
            ),
            Self::FailIfSignificant(direction) => {
                let findings = comparison
                    .figures
                    .iter()
                    .flat_map(|contrasts| direction.findings(comparison, contrasts));
                (
                    "fail-if-significant",
                    direction.name().to_owned(),
                    findings.collect(),
                    false,
                )
            }
        };
        Judged {
            option,
            condition,
            outcome: outcome(&findings, wanted),
            findings,
            wanted,
        }
    }
}

fn outcome(findings: &[Finding], wanted: bool) -> Outcome {
    let fails = |finding: &Finding| match finding {
        Finding::Holds(_) => !wanted,
        Finding::Fails(_) => wanted,
        Finding::Unknown(_) => false,
    };
    if findings.iter().any(fails) {
        Outcome::Failed
    } else if findings
        .iter()
        .any(|finding| matches!(finding, Finding::Unknown(_)))
    {
        Outcome::Unknown
    } else {
        Outcome::Passed
    }
}

impl Judged {
    /// The findings that kept it from passing.
    pub fn complaints(&self) -> impl Iterator<Item = &str> {
        self.findings.iter().filter_map(|finding| match finding {
            Finding::Holds(found) if !self.wanted => Some(found.as_str()),
            Finding::Fails(found) if self.wanted => Some(found.as_str()),
            Finding::Unknown(why) => Some(why.as_str()),
            Finding::Holds(_) | Finding::Fails(_) => None,
        })
    }
}

impl Direction {
    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::More => "more",
            Self::Less => "less",
            Self::Any => "any",
        }
    }

    /// Whether each group differs significantly in a figure, in this direction.
    fn findings(self, comparison: &Comparison, contrasts: &Contrasts) -> Vec<Finding> {
        let figure = &contrasts.figure;
        let groups = 1..contrasts.groups.len();
        groups
            .map(|group| {
                let name = &comparison.labels[group];
                let Some(contrast) = contrasts.of_group(group) else {
                    return Finding::Unknown(format!("{name}: {figure} cannot be compared"));
                };
                let said = |what: &str| format!("{name}: {figure} is {what}");
                match contrast.verdict {
                    Verdict::TooFew => {
                        Finding::Unknown(format!("{name}: too few runs to tell about {figure}"))
                    }
                    Verdict::More if self != Self::Less => {
                        Finding::Holds(said("significantly more"))
                    }
                    Verdict::Less if self != Self::More => {
                        Finding::Holds(said("significantly less"))
                    }
                    Verdict::More => Finding::Fails(said("significantly more")),
                    Verdict::Less => Finding::Fails(said("significantly less")),
                    Verdict::Undecided | Verdict::Same => {
                        Finding::Fails(said("not significantly different"))
                    }
                }
            })
            .collect()
    }
}
