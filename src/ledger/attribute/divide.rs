//! The two ways to divide: by power over time, and by own time alone.

use std::path::Path;

use super::alignment::Alignment;
use super::call_totals::with_calls_by_name;
use super::devices::{Device, Devices};
use super::over_time::{MOST_BANDS, OverTime};
use super::paths::Paths;
use super::portion::Rise;
use super::power_curve::{CurveCursor, PowerCurve};
use super::profile::{MOST_OPEN, MOST_PATHS, Name, ProfileError, Span, Timed, Unit, Untimed};
use super::sweep::{Bins, Divided, OfName, Own, Sweep, TooManyOpen};
use super::{AttributeError, Attribution, DeviceEnergy, Row, frames_of};
use crate::ledger::compare::t::half_interval;
use crate::text::number::counted;
use crate::text::quantity::Quantity;
use crate::units::{Energy, SECONDS_PER_HOUR};

/// Of the intervals of means.
const CONFIDENCE: f64 = 0.95;

/// What stops the spans.
enum Stopped {
    Io(std::io::Error),
    TooManyOpen,
}

impl From<std::io::Error> for Stopped {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<TooManyOpen> for Stopped {
    fn from(_: TooManyOpen) -> Self {
        Self::TooManyOpen
    }
}

impl Attribution {
    pub(super) fn divide_by_power(
        &mut self,
        curve: &PowerCurve,
        devices: &Devices,
        timed: &mut Timed,
        alignment: Option<Alignment>,
        profile: &Path,
    ) -> Result<(), AttributeError> {
        if let Some(alignment) = alignment.filter(|alignment| !alignment.overlaps()) {
            return Err(AttributeError::Apart(alignment));
        }
        let shift = alignment.map_or(0, |alignment| alignment.shift);
        let swept = sweep(curve, devices, timed, shift, None);
        let swept = swept.map_err(|stopped| stopped.of(profile))?;
        self.alignment = alignment;
        self.spans = Some(timed.spans.count());
        self.notes.extend(devices.notes.iter().cloned());
        for (place, (device, (divided, _))) in devices.all.iter().zip(swept).enumerate() {
            let of_device = DeviceEnergy {
                device: device.clone(),
                energy: device.parts.iter().map(|part| curve.total(*part)).sum(),
                uncovered: Energy::from_steps(divided.uncovered),
            };
            self.rows_of(&divided, place, !device.components.is_empty());
            self.devices.push(of_device);
        }
        self.note_times(timed, curve);
        Ok(())
    }

    /// Divides again, in stretches of time, for the names that have most energy.
    pub(super) fn divide_over_time(
        &mut self,
        curve: &PowerCurve,
        devices: &Devices,
        timed: &mut Timed,
        memory: Vec<(f64, f64)>,
        profile: &Path,
    ) -> Result<(), AttributeError> {
        let mut order: Vec<Name> = Vec::new();
        for row in self.rows.iter().filter(|row| row.own > Energy::ZERO) {
            if order.len() < MOST_BANDS && !order.contains(&row.name) {
                order.push(row.name);
            }
        }
        let bins = OverTime::bins(&order, curve.end());
        let shift = self.alignment.map_or(0, |alignment| alignment.shift);
        let swept = sweep(curve, devices, timed, shift, Some(&bins));
        let swept = swept.map_err(|stopped| stopped.of(profile))?;
        let filled: Vec<Bins> = swept.into_iter().filter_map(|(_, bins)| bins).collect();
        let curves = &mut curves(curve, devices);
        self.over_time = Some(OverTime::of(&order, &filled, curves, curve.end(), memory));
        Ok(())
    }

    fn rows_of(&mut self, divided: &Divided, device: usize, is_measured: bool) {
        let with_calls = with_calls_by_name(&divided.paths, &divided.own, self.names.len());
        for (number, OfName { own, each }) in divided.names.iter().enumerate() {
            if own.calls == 0 {
                continue;
            }
            let all = with_calls[number];
            let each = each.moments().filter(|_| is_measured);
            self.rows.push(Row {
                name: Name(number as u32),
                device,
                calls: Some(own.calls),
                own_seconds: Some(seconds(own.nanoseconds)),
                seconds: Some(seconds(all.nanoseconds.max(own.nanoseconds))),
                own: Energy::from_steps(own.energy),
                energy: Energy::from_steps(all.energy.max(own.energy)),
                mean_j: each.map(|each| each.mean),
                half_interval_j: each.and_then(|each| half_interval(&each, CONFIDENCE)),
            });
        }
        frames_of(&divided.paths, &divided.own, device, &mut self.frames);
    }

    fn note_times(&mut self, timed: &Timed, curve: &PowerCurve) {
        let steps = curve.times.len().saturating_sub(1).max(1);
        let step =
            Quantity::Time.amount(curve.end() as f64 / 1e9 / steps as f64 / SECONDS_PER_HOUR);
        self.notes.push(format!(
            "the power is known about every {step}; within that time it is taken as constant"
        ));
        if timed.spans.count() == 0 {
            self.notes
                .push("the profile has no spans, only the memory over time".to_owned());
        }
        if timed.threads.left_out().contains(&true) {
            let why =
                "left out: threads that repeat what the streams of a GPU do under other names";
            self.notes.push(why.to_owned());
        }
        if timed.left_out > 0 {
            let spans = counted(timed.left_out, "span");
            self.notes.push(format!(
                "left out: {spans} without a time, or with an end before the start"
            ));
        }
        if timed.unended > 0 {
            let spans = counted(timed.unended, "span");
            self.notes.push(format!(
                "{spans} without an end: taken to last as long as the profile"
            ));
        }
        self.notes
            .extend(self.alignment.and_then(|alignment| alignment.outside()));
    }

    pub(super) fn divide_by_time(&mut self, curve: &PowerCurve, profile: &Untimed) {
        let mut devices = Devices::together(curve);
        let mut cursor = CurveCursor::new(&curve.times, curve.sum(&devices.all[0].parts));
        let (before, window, end) = match (profile.window, curve.started) {
            (Some((began, lasted)), Some(started)) if is_within(began - started, lasted, curve) => {
                let began = began - started;
                (
                    cursor.at(began),
                    Some(lasted),
                    cursor.at(began.saturating_add(lasted)),
                )
            }
            _ => (0, None, cursor.at(curve.end())),
        };
        let energy = end - before;
        let total = cursor.at(curve.end());
        let own = divide_weights(
            energy,
            profile,
            window.unwrap_or(curve.end()).unsigned_abs(),
        );
        // A stack without a frame is nobody's.
        let covered: u128 = own.own.iter().skip(1).map(|own| own.energy).sum();
        let what = match profile.unit {
            Unit::Nanoseconds => "own time",
            Unit::Samples => "number of samples",
        };
        self.notes.push(format!(
            "estimated: the profile does not say when its calls were, so energy is divided by {what} alone, as if the \
             power were constant"
        ));
        self.rows_of_weights(&own, profile);
        let calls = profile.edges.iter();
        self.calls = calls
            .map(|(caller, called, weight)| {
                let energy = own.of(*weight).energy;
                (*caller, *called, Energy::from_steps(energy))
            })
            .collect();
        frames_of(&profile.paths, &own.own, 0, &mut self.frames);
        self.devices.push(DeviceEnergy {
            device: devices.all.remove(0),
            energy: Energy::from_steps(total),
            uncovered: Energy::from_steps(total - covered),
        });
    }

    fn rows_of_weights(&mut self, divided: &Weighted, profile: &Untimed) {
        let paths = &profile.paths;
        let all = with_calls_by_name(paths, &divided.own, self.names.len());
        let mut names = vec![Own::default(); self.names.len()];
        let mut is_called = vec![false; self.names.len()];
        for number in 1..paths.len() as u32 {
            let own = divided
                .own
                .get(number as usize)
                .copied()
                .unwrap_or_default();
            let name = paths.get(number).name.0 as usize;
            is_called[name] |= number != Paths::BEYOND || own.energy > 0;
            names[name].energy += own.energy;
            names[name].nanoseconds = names[name].nanoseconds.saturating_add(own.nanoseconds);
            let calls = profile
                .calls
                .as_ref()
                .and_then(|calls| calls.get(number as usize));
            names[name].calls += calls.copied().unwrap_or(0);
        }
        let has_seconds = profile.unit == Unit::Nanoseconds;
        for (number, own) in names.into_iter().enumerate() {
            if !is_called[number] {
                continue;
            }
            let with_calls = match &profile.with_calls {
                Some(column) => divided.of(column.get(number).copied().unwrap_or(0)),
                None => all[number],
            };
            let energy = Energy::from_steps(with_calls.energy.max(own.energy));
            let calls = profile.calls.is_some().then_some(own.calls);
            self.rows.push(Row {
                name: Name(number as u32),
                device: 0,
                calls,
                own_seconds: has_seconds.then(|| seconds(own.nanoseconds)),
                seconds: has_seconds.then(|| seconds(with_calls.nanoseconds.max(own.nanoseconds))),
                own: Energy::from_steps(own.energy),
                energy,
                mean_j: calls
                    .filter(|calls| *calls > 0)
                    .map(|calls| energy.joules() / calls as f64),
                half_interval_j: None,
            });
        }
    }
}

fn curves<'a>(curve: &'a PowerCurve, devices: &Devices) -> Vec<CurveCursor<'a>> {
    let of_device = |device: &Device| CurveCursor::new(&curve.times, curve.sum(&device.parts));
    devices.all.iter().map(of_device).collect()
}

/// Shows all spans to the devices, in order of time.
fn sweep(
    curve: &PowerCurve,
    devices: &Devices,
    timed: &mut Timed,
    shift: i64,
    bins: Option<&Bins>,
) -> Result<Vec<(Divided, Option<Bins>)>, Stopped> {
    let threads: Vec<usize> = timed
        .threads
        .places()
        .map(|place| devices.at(place))
        .collect();
    let mut sweep = Sweep::new(
        curves(curve, devices),
        threads.into_iter(),
        MOST_PATHS,
        bins,
    );
    let is_left_out = timed.threads.left_out();
    timed.spans.for_each(|span| {
        if is_left_out[usize::from(span.thread)] {
            return Ok(());
        }
        sweep.add(Span {
            start: span.start.saturating_add(shift),
            end: span.end.saturating_add(shift),
            ..span
        })?;
        Ok::<(), Stopped>(())
    })?;
    Ok(sweep.finish(curve.end()))
}

impl Stopped {
    fn of(self, profile: &Path) -> ProfileError {
        let path = profile.to_owned();
        match self {
            Self::Io(source) => ProfileError::Io { path, source },
            Self::TooManyOpen => ProfileError::TooMany {
                path,
                what: "spans that last at the same time",
                most: MOST_OPEN,
            },
        }
    }
}

fn is_within(began: i64, lasted: i64, curve: &PowerCurve) -> bool {
    began >= 0 && lasted > 0 && began.saturating_add(lasted) <= curve.end()
}

/// Energy that was divided by weights.
struct Weighted {
    own: Vec<Own>,
    rise: Rise,
}

impl Weighted {
    fn of(&self, weight: u64) -> Own {
        Own {
            energy: self.rise.portion(weight),
            nanoseconds: weight,
            calls: 0,
        }
    }
}

/// Divides energy by own times; where they are shorter than the time of the energy, the rest is nobody's.
fn divide_weights(energy: u128, profile: &Untimed, lasted: u64) -> Weighted {
    let sum = profile
        .own
        .iter()
        .fold(0u64, |sum, own| sum.saturating_add(*own));
    let whole = match profile.unit {
        Unit::Nanoseconds => sum.max(lasted),
        Unit::Samples => sum,
    };
    let mut divided = Weighted {
        own: Vec::with_capacity(profile.own.len()),
        rise: Rise::of(energy, whole),
    };
    // The difference of two portions, so that the parts add up to the whole.
    let (mut so_far, mut given) = (0u64, 0u128);
    for own in &profile.own {
        so_far = so_far.saturating_add(*own);
        let next = divided.rise.portion(so_far);
        divided.own.push(Own {
            energy: next - given,
            nanoseconds: *own,
            calls: 0,
        });
        given = next;
    }
    divided
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}
