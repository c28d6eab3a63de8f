//! Attacks on the program and damaged input, one file for each part that is attacked. Each test is named as the fact
//! that must hold.

mod grid;
mod log;
mod meter;
mod redaction;
mod settings;
mod site;
mod track;
mod track_python;
