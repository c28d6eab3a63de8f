use std::str::FromStr;

use super::compare::{metric, metrics};
use super::{AccountedRun, Figure};
use crate::text::nearest;
use crate::units::Relation;

/// Which runs to keep, such as `tag.lr=0.1`, `host=node-*` or `energy>2`.
#[derive(Debug, Clone)]
pub struct Filter {
    field: Field,
    test: Test,
}

#[derive(Debug, Clone)]
enum Field {
    Tag(String),
    Name,
    Host,
    Figure(Figure),
}

#[derive(Debug, Clone)]
enum Test {
    /// The text matches a glob, or must not.
    Matches(glob::Pattern, bool),
    Number(Relation, f64),
}

/// Text that is not a filter.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadFilter {
    /// It has no comparison sign.
    #[error("expected a condition such as tag.lr=0.1, host=node-* or energy>2")]
    NoComparison,
    /// What is to be larger or smaller than a number is compared with something else.
    #[error("`{}` is not a number", .0.escape_debug())]
    NotANumber(String),
    /// Runs have no such field.
    #[error(
        "`{}` is not a field: expected tag.NAME, name, host, energy, co2 or time{}",
        .field.escape_debug(),
        nearest::said(.nearest)
    )]
    NoSuchField {
        /// What was asked for.
        field: String,
        /// Fields with a similar name.
        nearest: Vec<String>,
    },
    /// The pattern of a word cannot be read.
    #[error(transparent)]
    Pattern(#[from] glob::PatternError),
}

impl Filter {
    /// Whether the run is one of those wanted; one that does not have the field is not.
    #[must_use]
    pub fn keeps(&self, accounted: &AccountedRun) -> bool {
        match &self.test {
            Test::Matches(pattern, wanted) => {
                let text = match &self.field {
                    Field::Figure(figure) => {
                        accounted.figure(*figure).map(|value| value.to_string())
                    }
                    field => field.words(accounted).map(str::to_owned),
                };
                text.is_some_and(|text| pattern.matches(&text)) == *wanted
            }
            Test::Number(relation, bound) => {
                let value = match &self.field {
                    Field::Figure(figure) => accounted.figure(*figure),
                    field => field
                        .words(accounted)
                        .and_then(|words| words.trim().parse().ok()),
                };
                value.is_some_and(|value| relation.holds_for(value, *bound))
            }
        }
    }
}

impl Field {
    /// What the user wrote into the field; none for a figure.
    fn words<'a>(&self, accounted: &AccountedRun<'a>) -> Option<&'a str> {
        let run = accounted.run;
        match self {
            Self::Tag(tag) => run.tags.get(tag).map(String::as_str),
            Self::Name => run.name.as_deref(),
            Self::Host => run.host.as_deref(),
            Self::Figure(_) => None,
        }
    }
}

impl FromStr for Filter {
    type Err = BadFilter;
    fn from_str(condition: &str) -> Result<Self, BadFilter> {
        let (field, relation, value) = Relation::split(condition).ok_or(BadFilter::NoComparison)?;
        let test = match relation {
            Relation::Equal => Test::Matches(glob::Pattern::new(value)?, true),
            Relation::NotEqual => Test::Matches(glob::Pattern::new(value)?, false),
            _ => {
                let bound = value
                    .parse()
                    .map_err(|_| BadFilter::NotANumber(value.to_owned()))?;
                Test::Number(relation, bound)
            }
        };
        let field = match field {
            "name" => Field::Name,
            "host" => Field::Host,
            field => match field.strip_prefix("tag.") {
                Some(tag) => Field::Tag(tag.to_owned()),
                None => Field::Figure(metric(field).map_err(|_| no_such_field(field))?),
            },
        };
        Ok(Self { field, test })
    }
}

fn no_such_field(field: &str) -> BadFilter {
    let known = ["name", "host"]
        .into_iter()
        .chain(metrics().map(|(name, _)| name));
    BadFilter::NoSuchField {
        field: nearest::short(field),
        nearest: nearest::of(field, known),
    }
}
