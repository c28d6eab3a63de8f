//! The HTML appendix of a paper: pages that show runs group by group.
//!
//! Data flows one way: logs and [`Spec`] -> tree of groups -> entries of runs -> pages -> templates -> files.

mod appendix;
mod archive;
mod chart;
mod check;
mod energy_pictures;
mod entry;
mod file_sink;
mod folder_tree;
mod gauge_charts;
mod group_charts;
mod group_page;
mod label;
mod logs;
mod manifest;
mod member_table;
mod notices;
mod page;
mod page_writer;
mod phases;
mod problem;
mod progress;
mod raw_spec;
mod relative;
mod render;
mod run_facts;
mod run_page;
mod sanitise;
mod segment;
mod site_checker;
mod site_map;
mod site_runs;
mod site_writer;
mod spec;
mod spec_tree;
mod staging;
mod start_page;
mod statistic;
mod table;
mod tree;
mod zone_map;

pub use appendix::{Appendix, Outcome, SiteError, start_page_path};
pub use check::{CheckError, Checked, check};
pub use logs::LogRoot;
pub(crate) use problem::Problem;
pub use problem::SpecError;
pub use render::{RenderError, Renderer};
pub use site_checker::CheckScope;
pub use site_writer::{WriteError, Written};
pub use spec::Spec;

/// The version of a site's JSON.
const SCHEMA: &str = "impact-site/1";
/// The program that wrote a site.
const GENERATOR: &str = concat!("impact ", env!("CARGO_PKG_VERSION"));
/// A spec that shows and explains every key.
pub const EXAMPLE_SPEC: &str = include_str!("../../leaderboard_spec.example.json");
