//! `info.pkl` of experiment-impact-tracker: information or an error, and nothing is executed.
#![no_main]

use impact::log::legacy::LegacyInfo;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = LegacyInfo::from_pickle(bytes);
});
