use std::str::FromStr;

use crate::ledger::compare::gate::{metric, metrics};
use crate::ledger::{Figure, Footprint, RunSummary};
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

impl Filter {
    /// Whether the run is one of those wanted; one that does not tell the field is not.
    pub fn keeps(&self, run: &RunSummary, footprint: &Footprint) -> bool {
        let text = match &self.field {
            Field::Tag(tag) => run.tags.get(tag).cloned(),
            Field::Name => run.name.clone(),
            Field::Host => run.host.clone(),
            Field::Figure(figure) => figure.of_run(run, footprint).map(|value| value.to_string()),
        };
        match &self.test {
            Test::Matches(pattern, wanted) => {
                text.is_some_and(|text| pattern.matches(&text)) == *wanted
            }
            Test::Number(relation, bound) => text
                .and_then(|text| text.trim().parse().ok())
                .is_some_and(|value| relation.holds_for(value, *bound)),
        }
    }
}

impl FromStr for Filter {
    type Err = String;
    fn from_str(condition: &str) -> Result<Self, String> {
        let (field, relation, value) = Relation::split(condition)
            .ok_or("expected such as tag.lr=0.1, host=node-* or energy>2")?;
        let test = match relation {
            Relation::Equal => Test::Matches(pattern(value)?, true),
            Relation::NotEqual => Test::Matches(pattern(value)?, false),
            _ => {
                let bound = value
                    .parse()
                    .map_err(|_| format!("`{}` is not a number", value.escape_debug()))?;
                Test::Number(relation, bound)
            }
        };
        let field = match field {
            "name" => Field::Name,
            "host" => Field::Host,
            field => match field.strip_prefix("tag.") {
                Some(tag) => Field::Tag(tag.to_owned()),
                None => Field::Figure(metric(field).map_err(|_| not_a_field(field))?),
            },
        };
        Ok(Self { field, test })
    }
}

fn not_a_field(field: &str) -> String {
    let known = ["name", "host"]
        .into_iter()
        .chain(metrics().map(|(name, _)| name));
    format!(
        "`{}` is not a field: expected tag.NAME, name, host, energy, co2 or time{}",
        nearest::short(field).escape_debug(),
        nearest::said(&nearest::of(field, known))
    )
}

fn pattern(value: &str) -> Result<glob::Pattern, String> {
    glob::Pattern::new(value).map_err(|error| error.to_string())
}
