use std::collections::BTreeMap;

use super::fields::{Field, Fields, NotAnObject};
use super::gauge::Gauges;
use crate::model::sample::Meter;
use crate::model::{Component, Method};
use crate::units::GramsPerKwh;

/// A log merged from thousands of nodes has tens of thousands; a log with more is refused.
const MOST_COMPONENTS: usize = 1 << 16;
/// A UUID and a host name, or the reason of an error.
const LONGEST_WORDS: usize = 4096;

/// Whether one more component may be kept of a log that has named so many.
pub fn check_component_count(known: usize) -> Result<(), String> {
    if known < MOST_COMPONENTS {
        Ok(())
    } else {
        Err(format!(
            "it is the first to name more than {MOST_COMPONENTS} components"
        ))
    }
}

/// What accounting takes from one line of `data.json`, of either tracker.
///
/// Tables are left as text: most of them are never looked into.
#[derive(Debug, Default, PartialEq)]
pub struct Row<'a> {
    /// The version of the format; none in foreign logs.
    pub schema: Option<u32>,
    /// Seconds since 1970.
    pub timestamp: f64,
    /// Monotonic seconds since the start; only in our own logs.
    pub elapsed: Option<f64>,
    /// W of the CPUs that are the run's.
    pub cpu_watts: Option<f64>,
    /// W of the GPUs that are the run's.
    pub gpu_watts: Option<f64>,
    /// The part of the GPUs kept busy by the run, from 0 to 1.
    pub gpu_utilization: Option<f64>,
    /// The carbon intensity recorded with the sample.
    pub carbon_intensity: RecordedIntensity,
    /// CPU seconds by process, as text.
    pub cpu_time_seconds: Option<&'a [u8]>,
    /// Running totals per component; only in our own logs.
    pub energy: Option<&'a [u8]>,
    /// A phase boundary, as text.
    pub mark: Option<&'a [u8]>,
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
                b"cpu_time_seconds" => row.cpu_time_seconds = Some(value),
                b"energy" => row.energy = Some(value),
                b"mark" => row.mark = Some(value),
                _ => row.gauges.see(name, value),
            }
        }
        row.timestamp = timestamp.ok_or(BadRow::NoTimestamp)?;
        Ok(row)
    }

    /// The running totals by component; empty where the row has none.
    pub fn meters(&self) -> Result<BTreeMap<Component, Meter>, String> {
        let Some(text) = self.energy else {
            return Ok(BTreeMap::new());
        };
        let meters: BTreeMap<Component, Meter> =
            serde_json::from_slice(text).map_err(|error| error.to_string())?;
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
            return Err(format!(
                "a component has more than {LONGEST_WORDS} bytes of words"
            ));
        }
        Ok(meters)
    }
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
