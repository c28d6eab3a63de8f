//! Names of devices as drivers and people write them, from `data/build/device_names.py`.

use impact::grid::data::device::{Kind, Match};

/// Names of a kind, and the power of the device; none if the tables do not have it.
fn names(kind: &str) -> Vec<(String, Option<f64>)> {
    let table = include_str!("../../fixtures/device_names.csv");
    csv::Reader::from_reader(table.as_bytes())
        .deserialize::<(String, String, Option<f64>)>()
        .map(Result::unwrap)
        .filter(|(of, ..)| of == kind)
        .map(|(_, name, watts)| (name, watts))
        .collect()
}

/// Names that are not found, and those that are found as another device.
fn missed_and_wrong(kind: Kind, names: &[(String, Option<f64>)]) -> [Vec<String>; 2] {
    let [mut missed, mut wrong] = [Vec::new(), Vec::new()];
    for (name, watts) in names {
        let found = match kind.find(name) {
            Match::One(device) => Some(device.watts.get()),
            _ => None,
        };
        assert_eq!(
            found,
            kind.find_one(name).map(|device| device.watts.get()),
            "{name} by both ways to ask"
        );
        match found {
            None => missed.push(name.clone()),
            Some(found) if Some(found) != *watts => wrong.push(format!("{name}: {found} W")),
            Some(_) => {}
        }
    }
    [missed, wrong]
}

#[test]
fn names_of_accelerators_are_found_and_none_is_taken_for_another() {
    let names = names("gpu");
    assert_eq!(names.len(), 161);
    let [missed, wrong] = missed_and_wrong(Kind::Gpu, &names);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(names.len() - missed.len() >= 157, "{missed:#?}");
}

#[test]
fn names_of_processors_are_found_and_none_is_taken_for_another() {
    let names = names("cpu");
    assert_eq!(names.len(), 165);
    let [missed, wrong] = missed_and_wrong(Kind::Cpu, &names);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(names.len() - missed.len() >= 159, "{missed:#?}");
}
