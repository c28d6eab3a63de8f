//! Adding up runs is exact: it does not matter how they are split, ordered or grouped.

use std::collections::{BTreeMap, BTreeSet};

use impact::ledger::{
    Assumptions, Footprint, Hardware, Part, RecordedCarbon, RunOutcome, RunSummary, Tally,
};
use impact::model::info::Region;
use impact::model::{Component, CpuSocket, EnergyClass, Method, Provenance, Source};
use impact::units::{Energy, GramsCo2e, GramsPerKwh, Hours, IntensityRange};
use proptest::prelude::*;

fn any_run() -> impl Strategy<Value = RunSummary> {
    let joules = 0.0..1e9f64;
    let numbers = (
        joules.clone(),
        joules.clone(),
        joules,
        0.0..1e6f64,
        0.0..1e5f64,
    );
    let zone = prop::sample::select(vec!["US-CA", "FR", "DE", "GB"]);
    (numbers, zone, any::<bool>(), any::<bool>(), 0.0..1000.0f64).prop_map(
        |((cpu, gpu, dram, grams, seconds), zone, estimated, recorded, intensity)| {
            let method = if estimated {
                Method::Estimated {
                    model: "TDP".into(),
                }
            } else {
                Method::Measured
            };
            let part = |joules: f64| Part {
                attributed: Energy::from_joules(joules).unwrap(),
                machine: None,
                method: method.clone(),
            };
            let intensity = GramsPerKwh::new(intensity).unwrap();
            RunSummary {
                project_settings: BTreeMap::default(),
                power_cap: None,
                outer_runs: Vec::new(),
                merged_seconds: std::collections::BTreeMap::new(),
                boot_id: None,
                followed: None,
                implausible: Energy::ZERO,
                info_was_changed: false,
                contradictions: 0,
                counted_elsewhere: false,
                is_legacy: false,
                id: None,
                inside: None,
                merged_from: BTreeSet::new(),
                name: None,
                tags: BTreeMap::new(),
                parts: BTreeMap::from([
                    (Component::Package(CpuSocket::socket(0)), part(cpu)),
                    (Component::Gpu("GPU-1".into()), part(gpu)),
                    (Component::Dram(CpuSocket::socket(0)), part(dram)),
                ]),
                absent: BTreeMap::from([(EnergyClass::Dram, "no meter".into())]),
                duration: Hours::from_seconds(seconds).unwrap(),
                cpu_time: recorded.then(|| Hours::from_seconds(seconds / 3.0).unwrap()),
                gpu_time: None,
                carbon: recorded.then(|| RecordedCarbon {
                    mass: GramsCo2e::from_grams(grams).unwrap(),
                    mean: intensity,
                    range: IntensityRange::of(intensity),
                    sources: vec![Provenance::of(Source::named("a service"))],
                }),
                region: Some(Region {
                    carbon_intensity: Some(intensity),
                    ..Region::of(zone.parse().unwrap())
                }),
                pue: None,
                pue_source: None,
                started: None,
                host: None,
                hardware: Hardware::default(),
                outcome: RunOutcome::of(recorded.then_some(i32::from(estimated))),
                phases: Vec::new(),
                occurrences: Vec::new(),
                counts: BTreeMap::new(),
                has_no_end: estimated,
                bad_lines: u64::from(recorded),
                notes: Vec::new(),
            }
        },
    )
}

fn tally<'a>(runs: impl IntoIterator<Item = &'a RunSummary>) -> Tally {
    runs.into_iter().fold(Tally::default(), |sum, run| {
        sum.merge(Tally::of(run, &Footprint::of(run, &Assumptions::default())))
    })
}

proptest! {
    #[test]
    fn any_split_and_order_gives_the_same_total(
        runs in prop::collection::vec((any_run(), 0..4usize), 0..60),
        order in any::<prop::sample::Index>(),
    ) {
        let whole = tally(runs.iter().map(|(run, _)| run));
        let parts: Vec<Tally> = (0..4)
            .map(|bin| tally(runs.iter().filter(|(_, at)| *at == bin).map(|(run, _)| run)))
            .collect();
        let mut shuffled = parts.clone();
        shuffled.rotate_left(order.index(4));
        prop_assert_eq!(&shuffled.into_iter().fold(Tally::default(), Tally::merge), &whole);
        let [a, b, c, d]: [Tally; 4] = parts.try_into().unwrap();
        let grouped = a.clone().merge(b.clone().merge(c.clone().merge(d.clone())));
        prop_assert_eq!(&grouped, &a.merge(b).merge(c.merge(d)));
    }

    #[test]
    fn printed_kilowatt_hours_add_up_digit_by_digit(a in 0.0..1e12f64, b in 0.0..1e12f64) {
        use rust_decimal::Decimal;
        let [a, b] = [a, b].map(|joules| Energy::from_joules(joules).unwrap());
        let digits = |energy: Energy| energy.exact().to_string().parse::<Decimal>().unwrap();
        prop_assert_eq!(digits(a) + digits(b), digits(a + b));
    }
}
