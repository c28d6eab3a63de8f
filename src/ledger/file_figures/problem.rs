use super::expression::ExpressionError;
use super::json_path::JsonPath;
use crate::text::nearest;

/// What is wrong in a block of figures, and where.
#[derive(Debug, thiserror::Error)]
#[error("the figures are wrong at {at}")]
pub(crate) struct BlockError {
    pub(crate) at: JsonPath,
    #[source]
    pub(crate) problem: Box<BlockProblem>,
}

/// What can be wrong in a block of figures.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BlockProblem {
    #[error("there are more than {0} figures")]
    TooMany(usize),
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
    #[error("these need each other in a circle: {}", .0.join(", "))]
    Circle(Vec<String>),
}

impl BlockProblem {
    pub(super) fn at(self, at: JsonPath) -> BlockError {
        BlockError {
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
