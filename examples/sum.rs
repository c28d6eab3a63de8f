//! Sums the energy and emissions of every run in a folder.
//!
//! `cargo run --example sum -- impact-logs/`

use std::path::PathBuf;

use impact::{Assumptions, Footprint, Tally, collect};

fn main() {
    let folder = std::env::args_os().nth(1);
    let folder = folder.map_or_else(|| PathBuf::from("impact-logs"), PathBuf::from);
    let collection = collect(&[folder], &|_| {});
    let assumptions = Assumptions::default();
    let total = collection
        .runs
        .iter()
        .map(|(_, run)| Tally::of(run, &Footprint::of(run, &assumptions)))
        .fold(Tally::default(), Tally::merge);
    println!("{} runs, {} left out", total.runs, collection.skipped.len());
    println!("{} kWh, PUE included", total.energy.kwh());
    match total.mass() {
        Some(mass) => println!("{} kg CO2eq", mass.kg()),
        None => println!("CO2eq unknown: no run recorded its zone"),
    }
}
