//! Answers of grid services: points or an error.
#![no_main]

use impact::grid::intensity::live::any_body;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    any_body::read_by_every_service(body);
});
