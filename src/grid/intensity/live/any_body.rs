//! Whatever a service sends, reading it ends in points or a reason, never in a panic.

use super::{caiso, denmark, eia, electricity_maps, entsoe, geolocate, uk, watttime};
use crate::grid::zone::ZoneId;

/// Reads a body as the answer of each service.
pub fn read_by_every_service(body: &[u8]) {
    let zone: ZoneId = "GB".parse().expect("a zone");
    let day = chrono::NaiveDate::from_ymd_opt(2026, 3, 1).expect("a date");
    let _ = uk::read(&zone, uk::Area::National, body);
    let _ = uk::read(&zone, uk::Area::Region(13), body);
    let _ = denmark::read(&zone, "DK1", body);
    let _ = electricity_maps::read_latest(&zone, "FR", body);
    let _ = electricity_maps::read_range(&zone, "FR", body);
    let _ = watttime::read(&zone, "CAISO_NORTH", body);
    let _ = caiso::read(day, body);
    let _ = entsoe::read(&zone, "10YFR-RTE------C", body);
    let _ = eia::read(&zone, "ERCO", body);
    let _ = geolocate::read(body);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::read_by_every_service;

    const GOOD: &[&[u8]] = &[
        include_bytes!("../../../../tests/fixtures/answers/uk.json"),
        include_bytes!("../../../../tests/fixtures/answers/uk_region.json"),
        include_bytes!("../../../../tests/fixtures/answers/denmark.json"),
        include_bytes!("../../../../tests/fixtures/answers/electricitymaps.json"),
        include_bytes!("../../../../tests/fixtures/answers/electricitymaps_latest.json"),
        include_bytes!("../../../../tests/fixtures/answers/watttime.json"),
        include_bytes!("../../../../tests/fixtures/answers/caiso_co2.csv"),
        include_bytes!("../../../../tests/fixtures/answers/entsoe.xml"),
        include_bytes!("../../../../tests/fixtures/answers/eia.json"),
    ];

    proptest! {
        #[test]
        fn any_bytes_can_be_read(body in proptest::collection::vec(any::<u8>(), 0..512)) {
            read_by_every_service(&body);
        }

        #[test]
        fn a_good_answer_with_some_bytes_changed_can_be_read(
            which in 0..GOOD.len(),
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut body = GOOD[which].to_vec();
            for (place, byte) in changes {
                let place = place.index(body.len());
                body[place] = byte;
            }
            read_by_every_service(&body);
            read_by_every_service(&body[..cut.index(body.len())]);
        }

        #[test]
        fn a_good_answer_with_any_number_in_it_can_be_read(
            which in 0..GOOD.len(),
            number in any::<f64>(),
            nth in any::<prop::sample::Index>(),
        ) {
            let text = String::from_utf8_lossy(GOOD[which]).into_owned();
            let digits: Vec<usize> = text.match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at).collect();
            let at = digits[nth.index(digits.len())];
            read_by_every_service(format!("{}{number}{}", &text[..at], &text[at + 1..]).as_bytes());
        }
    }
}
