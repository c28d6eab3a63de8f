//! A map given by the user: areas or an error.
#![no_main]

use impact::grid::zone::geojson;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = geojson::read(text);
});
