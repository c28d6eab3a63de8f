//! Figures of a run from files beside its log, such as the accuracy of a test: as site specs name them.

mod column;
mod command;
mod expression;
mod json_path;
mod ordered;
mod problem;
mod processor;

pub(crate) use json_path::JsonPath;
pub(crate) use ordered::Ordered;
pub(crate) use problem::{BlockError, BlockProblem};
pub(crate) use processor::{Processor, RawProcessor};
