//! Tests of the program and of the library from outside, in one binary: each binary links the whole library.

mod support;

mod appendix;
mod attribute;
mod attribution;
mod bench;
mod bench_statistics;
mod compare;
mod comparison;
mod config;
mod control;
mod design;
mod docs;
mod doctor;
mod estimate;
mod examples;
mod first_minute;
mod fuzz;
mod fuzz_zones;
#[path = "../hostile/mod.rs"]
mod hostile;
mod latex;
mod layers;
mod left_out;
mod list;
mod log_format;
mod machine_json;
#[cfg(feature = "live")]
mod live;
mod marks;
mod merge;
mod merging;
mod phases;
mod read_once;
mod receipt;
#[cfg(all(feature = "live", feature = "site"))]
mod mistakes;
mod placement;
mod powercap;
mod reference;
mod region;
mod report;
mod require;
mod session;
mod signals;
mod site_check;
mod site_spec;
mod sloppy_names;
mod statement;
mod statistics;
mod track;
mod track_accuracy;
mod track_gpu;
mod track_log;
mod usage;
mod verdict;
mod zones;
