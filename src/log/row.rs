use std::collections::BTreeMap;

use super::checksum;
use super::fields::{Field, Fields, NotAnObject};
use super::gauge::{Gauge, Gauges};
use super::implausible_sample::{ImplausibleSample, LONGEST_WORDS};
use crate::model::sample::Meter;
use crate::model::{Component, Method, Provenance};
use crate::units::GramsPerKwh;

/// What accounting takes from one line of `data.json`, of either tracker.
///
/// Tables are left as text: most of them are never looked into.
#[derive(Debug, Default, PartialEq)]
pub struct Row<'a> {
    /// The version of the format; none in foreign logs.
    pub schema: Option<u32>,
    /// Seconds since 1970.
    pub timestamp: f64,
    /// Monotonic seconds since the start; only in logs of impact.
    pub elapsed: Option<f64>,
    /// W of the CPUs that are the run's.
    pub cpu_watts: Option<f64>,
    /// W of the GPUs that are the run's.
    pub gpu_watts: Option<f64>,
    /// The part of the GPUs kept busy by the run, from 0 to 1.
    pub gpu_utilization: Option<f64>,
    /// The carbon intensity recorded with the sample.
    pub carbon_intensity: RecordedIntensity,
    /// Who stated the carbon intensity, as text.
    pub intensity_source: Option<&'a [u8]>,
    /// CPU seconds by process, as text.
    pub cpu_time_seconds: Option<&'a [u8]>,
    /// Running totals per component; only in logs of impact.
    pub energy: Option<&'a [u8]>,
    /// A phase boundary, as text.
    pub mark: Option<&'a [u8]>,
    /// Several of them, as text.
    pub marks: Option<&'a [u8]>,
    /// What is only drawn, as text.
    pub gauges: Gauges<'a>,
}

/// Whether a row has a carbon intensity.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum RecordedIntensity {
    /// The log has no such column.
    #[default]
    NotAsked,
    /// The tracker asked and got no answer ("n/a").
    Unanswered,
    /// What was recorded.
    Known(GramsPerKwh),
}

impl RecordedIntensity {
    /// The intensity, if the row says one.
    #[must_use]
    pub fn known(self) -> Option<GramsPerKwh> {
        match self {
            Self::Known(intensity) => Some(intensity),
            Self::NotAsked | Self::Unanswered => None,
        }
    }
}

/// Why a line is no sample.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRow {
    #[error("it is not one whole JSON object")]
    NotAnObject,
    #[error("`{0}` is not a number")]
    NotANumber(&'static str),
    #[error("it was changed after it was written")]
    Checksum,
    #[error("it has no timestamp")]
    NoTimestamp,
}

impl From<NotAnObject> for BadRow {
    fn from(_: NotAnObject) -> Self {
        Self::NotAnObject
    }
}

impl<'a> Row<'a> {
    /// Reads one line without its line feed.
    pub fn parse(line: &'a [u8]) -> Result<Self, BadRow> {
        if !checksum::is_intact(line) {
            return Err(BadRow::Checksum);
        }
        let mut row = Self::default();
        let mut timestamp = None;
        let mut fields = Fields::of(line);
        while let Some(Field { name, value }) = fields.next_field()? {
            match name {
                b"schema" => row.schema = number("schema", value)?.map(|n| n as u32),
                b"timestamp" => timestamp = number("timestamp", value)?,
                b"elapsed" => row.elapsed = number("elapsed", value)?,
                b"rapl_estimated_attributable_power_draw" => {
                    row.cpu_watts = number("rapl_estimated_attributable_power_draw", value)?;
                }
                b"nvidia_estimated_attributable_power_draw" => {
                    row.gpu_watts = number("nvidia_estimated_attributable_power_draw", value)?;
                }
                b"average_gpu_estimated_utilization_absolute" => {
                    row.gpu_utilization =
                        number("average_gpu_estimated_utilization_absolute", value)?;
                }
                b"realtime_carbon_intensity" => row.carbon_intensity = intensity(value),
                b"realtime_source" => row.intensity_source = Some(value),
                b"cpu_time_seconds" => row.cpu_time_seconds = Some(value),
                b"energy" => row.energy = Some(value),
                b"mark" => row.mark = Some(value),
                b"marks" => row.marks = Some(value),
                _ => row.gauges.see(name, value),
            }
        }
        row.timestamp = timestamp.ok_or(BadRow::NoTimestamp)?;
        Ok(row)
    }

    /// What can be plotted over time, or none where the row does not say it.
    #[must_use]
    pub fn gauge(&self, gauge: Gauge) -> Option<f64> {
        let number = |text: Option<&[u8]>| text.and_then(parse_number);
        let gauges = &self.gauges;
        match gauge {
            Gauge::CpuPower => self.cpu_watts,
            Gauge::GpuPower => self.gpu_watts,
            Gauge::MachineCpuPower => number(gauges.machine_cpu_watts),
            Gauge::MachineGpuPower => number(gauges.machine_gpu_watts),
            Gauge::CpuUtilization => number(gauges.cpu_utilization),
            Gauge::GpuUtilization => self.gpu_utilization,
            Gauge::Memory => number(gauges.memory_bytes),
            Gauge::CpuTemperature => number(gauges.cpu_temperature),
            Gauge::GpuTemperature => gauges.gpu_temperatures.and_then(hottest),
            Gauge::CarbonIntensity => self.carbon_intensity.known().map(GramsPerKwh::get),
        }
    }

    /// The running totals by component; empty where the row has none.
    pub fn meters(&self) -> Result<BTreeMap<Component, Meter>, ImplausibleSample> {
        let Some(text) = self.energy else {
            return Ok(BTreeMap::new());
        };
        let meters: BTreeMap<Component, Meter> = serde_json::from_slice(text)?;
        let longest = meters.iter().map(|(component, meter)| {
            let name = match component {
                Component::Gpu(name) | Component::Other(name) => name.len(),
                _ => 0,
            };
            let reason = match &meter.method {
                Method::Estimated { model: words } | Method::Absent { why: words } => words.len(),
                Method::Measured | Method::Integrated { .. } => 0,
            };
            name.max(reason)
        });
        if longest.max() > Some(LONGEST_WORDS) {
            return Err(ImplausibleSample::LongWords);
        }
        Ok(meters)
    }
}

/// Who stated an intensity, from the text of a sample; none where that is no list of sources.
#[must_use]
pub fn intensity_sources(text: &[u8]) -> Option<Vec<Provenance>> {
    serde_json::from_slice(text).ok()
}

fn hottest(table: &[u8]) -> Option<f64> {
    let mut fields = Fields::of(table);
    let mut most: Option<f64> = None;
    while let Ok(Some(field)) = fields.next_field() {
        if let Some(degrees) = parse_number(field.value) {
            most = Some(most.map_or(degrees, |most| most.max(degrees)));
        }
    }
    most
}

/// A finite JSON number; `null` is the same as nothing there.
fn number(name: &'static str, value: &[u8]) -> Result<Option<f64>, BadRow> {
    if value == b"null" {
        return Ok(None);
    }
    parse_number(value)
        .map(Some)
        .ok_or(BadRow::NotANumber(name))
}

/// JSON numbers start with a digit or a minus; `inf` and `nan`, which Rust would parse, do not.
pub(crate) fn parse_number(value: &[u8]) -> Option<f64> {
    if !matches!(value.first(), Some(b'-' | b'0'..=b'9')) {
        return None;
    }
    let number: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// A value out of range counts as no answer, so that a wrong intensity does not make the run unreadable.
fn intensity(value: &[u8]) -> RecordedIntensity {
    match parse_number(value).map(GramsPerKwh::new) {
        Some(Ok(intensity)) => RecordedIntensity::Known(intensity),
        Some(Err(_)) | None => RecordedIntensity::Unanswered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_na_and_null_are_read_as_what_they_mean() {
        let line = concat!(
            r#"{"timestamp":1,"rapl_estimated_attributable_power_draw":0,"#,
            r#""nvidia_estimated_attributable_power_draw":null,"#,
            r#""realtime_carbon_intensity":"n/a","x":{}}"#
        );
        let row = Row::parse(line.as_bytes()).unwrap();
        assert_eq!(row.cpu_watts, Some(0.0));
        assert_eq!(row.gpu_watts, None);
        assert_eq!(row.carbon_intensity, RecordedIntensity::Unanswered);
    }

    #[test]
    fn an_intensity_that_no_grid_has_is_no_answer() {
        let of = |value: &str| {
            let line = format!("{{\"timestamp\":1,\"realtime_carbon_intensity\":{value}}}");
            Row::parse(line.as_bytes()).unwrap().carbon_intensity
        };
        assert_eq!(of("250.5").known(), GramsPerKwh::new(250.5).ok());
        assert_eq!(of("-1"), RecordedIntensity::Unanswered);
        assert_eq!(of("3001"), RecordedIntensity::Unanswered);
    }

    #[test]
    fn totals_that_cannot_be_read_are_not_taken_for_none() {
        assert!(
            Row::parse(b"{\"timestamp\":1}")
                .unwrap()
                .meters()
                .unwrap()
                .is_empty()
        );
        let row = br#"{"timestamp":1,"energy":{"package-0":{"total_j":"much"}}}"#;
        assert!(Row::parse(row).unwrap().meters().is_err());
    }

    #[test]
    fn a_component_with_an_endless_name_or_reason_is_refused() {
        let of = |name: &str, why: &str| {
            let line = format!(
                r#"{{"timestamp":1,"energy":{{"gpu:{name}":{{"method":"absent","why":"{why}"}}}}}}"#
            );
            Row::parse(line.as_bytes()).unwrap().meters().map(drop)
        };
        let (long, longer) = ("x".repeat(LONGEST_WORDS), "x".repeat(LONGEST_WORDS + 1));
        assert!(of(&long, &long).is_ok());
        assert!(of(&longer, "lost").is_err());
        assert!(of("0", &longer).is_err());
    }

    #[test]
    fn a_row_that_says_nothing_of_time_or_spells_numbers_wrong_is_no_row() {
        assert_eq!(Row::parse(b"{}"), Err(BadRow::NoTimestamp));
        assert_eq!(
            Row::parse(br#"{"timestamp":"now"}"#),
            Err(BadRow::NotANumber("timestamp"))
        );
        assert_eq!(
            Row::parse(br#"{"timestamp":1e999}"#),
            Err(BadRow::NotANumber("timestamp"))
        );
        assert!(Row::parse(br#"{"timestamp":1"#).is_err());
    }
}
