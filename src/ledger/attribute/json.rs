use serde::Serialize;

use super::alignment::AlignedBy;
use super::{Attribution, ProfileFormat};
use crate::model::Method;
use crate::text::escape;
use crate::units::{Energy, Exact};

/// What programs read.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    run: Option<&'a str>,
    profile: ProfileFormat,
    /// How energy was divided.
    divided_by: &'static str,
    label: &'static str,
    aligned_by: Option<AlignedBy>,
    spans: Option<u64>,
    energy_j: Exact,
    uncovered_j: Exact,
    coverage: Option<f64>,
    devices: Vec<DeviceJson<'a>>,
    names: Vec<NameJson<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct DeviceJson<'a> {
    name: &'a str,
    components: &'a [String],
    methods: Vec<String>,
    energy_j: Option<Exact>,
    uncovered_j: Option<Exact>,
}

#[derive(Serialize)]
struct NameJson<'a> {
    name: &'a str,
    device: &'a str,
    calls: Option<u64>,
    own_s: Option<f64>,
    with_calls_s: Option<f64>,
    own_j: Option<Exact>,
    with_calls_j: Option<Exact>,
    share: Option<f64>,
    mean_j: Option<f64>,
    interval_95_j: Option<[f64; 2]>,
}

/// JSON with all digits: the energies of all names, and what is not covered, add up to that of the run.
#[must_use]
pub fn json(attribution: &Attribution) -> String {
    let total = attribution.total();
    let is_by_power = attribution.is_by_power();
    let devices = attribution.devices.iter().map(|of_device| {
        let device = &of_device.device;
        let known = |energy: Energy| (!device.components.is_empty()).then(|| energy.exact_joules());
        DeviceJson {
            name: &device.name,
            components: &device.components,
            methods: device.methods.iter().map(ToString::to_string).collect(),
            energy_j: known(of_device.energy),
            uncovered_j: known(of_device.uncovered),
        }
    });
    let names = attribution.rows.iter().map(|row| {
        let device = &attribution.devices[row.device].device;
        let is_known = !device.components.is_empty();
        let mean = row.mean_j.zip(row.half_interval_j);
        NameJson {
            name: attribution.name(row),
            device: &device.name,
            calls: row.calls,
            own_s: row.own_seconds,
            with_calls_s: row.seconds,
            own_j: is_known.then(|| row.own.exact_joules()),
            with_calls_j: is_known.then(|| row.energy.exact_joules()),
            share: (is_known && total > Energy::ZERO).then(|| row.own.kwh() / total.kwh()),
            mean_j: row.mean_j,
            interval_95_j: mean.map(|(mean, half)| [mean - half, mean + half]),
        }
    });
    let mut methods = attribution
        .devices
        .iter()
        .flat_map(|device| &device.device.methods);
    let is_measured = methods.all(Method::is_measured);
    let document = Document {
        schema: "impact-attribution-1",
        run: attribution.run.as_deref(),
        profile: attribution.format,
        divided_by: if is_by_power {
            "power_over_time"
        } else {
            "own_time"
        },
        label: if is_by_power && is_measured {
            "interpolated"
        } else {
            "estimated"
        },
        aligned_by: attribution.alignment.map(|alignment| alignment.by),
        spans: attribution.spans,
        energy_j: total.exact_joules(),
        uncovered_j: attribution.uncovered().exact_joules(),
        coverage: attribution.coverage(),
        devices: devices.collect(),
        names: names.collect(),
        notes: &attribution.notes,
    };
    escape::pretty_json(&document).unwrap_or_else(|_| unreachable!("names and numbers are JSON"))
}
