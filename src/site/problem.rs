use crate::ledger::file_figures::{BlockError, BlockProblem, JsonPath};
use crate::text::nearest;
use crate::text::number::counted;

/// What is wrong in a site spec, and where.
#[derive(Debug, thiserror::Error)]
#[error("the spec is wrong{}", .at.after(" at "))]
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
    #[error("there are more than {most} {what}")]
    TooMany { what: &'static str, most: usize },
    #[error("the filter is longer than {0} characters")]
    LongFilter(usize),
    #[error("the filters are longer than {0} characters together")]
    LongFilters(usize),
    #[error(
        "the filters take longer than {0} s to prepare; use fewer repetitions and classes such as \\w"
    )]
    SlowFilters(u64),
    #[error("the filter is not a regular expression, or too large")]
    Filter(#[source] Box<fancy_regex::Error>),
    #[error("the filter `{filter}` matches no run of the group it is in, which has {}", counted(*.runs, "run"))]
    MatchesNothing { filter: String, runs: usize },
    #[error("the filter `{filter}` takes too long on {path}")]
    SlowFilter { filter: String, path: String },
    #[error(transparent)]
    Block(BlockProblem),
    #[error("there is no processor `{name}`{}", nearest::said(.nearest))]
    NoSuchProcessor { name: String, nearest: Vec<String> },
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
}

impl From<BlockError> for SpecError {
    fn from(error: BlockError) -> Self {
        Problem::Block(*error.problem).at(error.at)
    }
}
