//! A spec of the appendix: a tree or an error.
#![no_main]

use impact::site::Spec;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = Spec::parse(bytes);
});
