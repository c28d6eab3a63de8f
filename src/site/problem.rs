use super::expression::ExpressionError;
use super::json_path::JsonPath;
use crate::text::nearest;
use crate::text::number::counted;

/// What is wrong in a site spec, and where.
#[derive(Debug, thiserror::Error)]
#[error("the spec is wrong at {at}")]
pub struct SpecError {
    pub(crate) at: JsonPath,
    #[source]
    pub(crate) problem: Box<Problem>,
}

/// What can be wrong in a site spec.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error("{0}")]
    Json(String),
    #[error("groups are nested more than {0} deep")]
    TooDeep(usize),
    #[error("the filter is not a regular expression")]
    Filter(#[source] Box<fancy_regex::Error>),
    #[error("the filter `{filter}` matches no run of the group it is in, which has {}", counted(*.runs, "run"))]
    MatchesNothing { filter: String, runs: usize },
    #[error("the filter `{filter}` takes too long on {path}")]
    SlowFilter { filter: String, path: String },
    #[error("a processor needs either a `file` or a `command`")]
    FileOrCommand,
    #[error("`{0}` does not lie in the run's folder")]
    OutsideRun(String),
    #[error("`{0}` is a figure every run has; choose another name")]
    FigureTaken(String),
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    #[error("`{name}` is neither a figure of the run nor of this block{}", nearest::said(.nearest))]
    NoSuchFigure { name: String, nearest: Vec<String> },
    #[error("there is no processor `{name}`{}", nearest::said(.nearest))]
    NoSuchProcessor { name: String, nearest: Vec<String> },
    #[error("these need each other in a circle: {}", .0.join(", "))]
    Circle(Vec<String>),
    #[error("`{figure}` of {run} is also given by the processor at {other}")]
    TwoProcessors {
        figure: String,
        run: String,
        other: JsonPath,
    },
    #[error("there is no group in it")]
    NoGroups,
}

impl Problem {
    pub(super) fn at(self, at: JsonPath) -> SpecError {
        SpecError {
            at,
            problem: Box::new(self),
        }
    }

    pub(super) fn no_such_figure<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        Self::NoSuchFigure {
            name: name.to_owned(),
            nearest: nearest::of(name, known),
        }
    }
}
