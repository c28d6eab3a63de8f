use super::expression::ExpressionError;
use super::json_path::JsonPath;

/// What is wrong with a site spec, and where.
#[derive(Debug, thiserror::Error)]
#[error("the spec is wrong at {at}")]
pub struct SpecError {
    pub at: JsonPath,
    #[source]
    pub problem: Box<Problem>,
}

/// What can be wrong with a site spec.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    #[error("{0}")]
    Json(String),
    #[error("groups are nested more than {0} deep")]
    TooDeep(usize),
    #[error("the filter is not a regular expression")]
    Filter(#[source] Box<fancy_regex::Error>),
    #[error("the filter `{filter}` matches none of the {runs} runs of the group it is in")]
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
    #[error("`{name}` is neither a figure of the run nor of this block{}", did_you_mean(.near.as_deref()))]
    NoSuchFigure { name: String, near: Option<String> },
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
            near: nearest(name, known),
        }
    }
}

/// The known name that a wrong one was probably meant to be.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    known
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known.to_owned())
}

fn did_you_mean(near: Option<&str>) -> String {
    near.map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default()
}
