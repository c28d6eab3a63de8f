//! A site that shows runs group by group: spec -> tree -> page -> render -> write.

mod chart;
mod column;
mod command;
mod expression;
mod json_path;
mod number;
mod ordered;
mod problem;
mod processor;
mod segment;
mod spec;
mod statistic;

pub use json_path::JsonPath;
pub use problem::{Problem, SpecError};
pub use spec::Spec;
