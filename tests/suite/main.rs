//! Tests of the program and of the library from outside, in one binary: each binary links the whole library.

mod support;

mod appendix;
mod attribution;
mod compare;
mod config;
mod docs;
mod estimate;
mod examples;
mod fuzz;
mod fuzz_zones;
mod latex;
mod layers;
mod left_out;
mod list;
mod log_format;
#[cfg(feature = "live")]
mod live;
mod merge;
mod merging;
mod receipt;
mod reference;
mod region;
mod report;
mod require;
mod session;
mod signals;
mod site_check;
mod site_spec;
mod statement;
mod statistics;
mod track;
mod track_accuracy;
mod track_gpu;
mod track_log;
mod usage;
mod zones;
