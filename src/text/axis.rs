use super::number;

/// Maps values to coordinates of a picture, with ticks at round numbers.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    step: f64,
}

impl Axis {
    /// An axis whose ends are round numbers; `from` and `to` are the coordinates of its ends.
    pub(crate) fn over(low: f64, high: f64, from: f64, to: f64, ticks: usize) -> Self {
        let (low, high) = if low < high {
            (low, high)
        } else {
            let margin = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
            (low - margin, high + margin)
        };
        let step = round_step((high - low) / ticks.max(1) as f64);
        Self {
            low: (low / step).floor() * step,
            high: (high / step).ceil() * step,
            from,
            to,
            step,
        }
    }

    /// An axis that ends at these values, as for time.
    pub(crate) fn exactly(low: f64, high: f64, from: f64, to: f64, ticks: usize) -> Self {
        let over = Self::over(low, high, from, to, ticks);
        if low < high {
            Self { low, high, ..over }
        } else {
            over
        }
    }

    pub(crate) fn place(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// The place of each tick, and its label.
    pub(crate) fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        let first = (self.low / self.step - 1e-9).ceil() as i64;
        let last = (self.high / self.step + 1e-9).floor() as i64;
        let step = self.step;
        // A limit for values so large that steps are lost to rounding.
        let ticks = first..=last.min(first.saturating_add(30));
        ticks.map(move |tick| {
            let value = tick as f64 * step;
            (self.place(value), label(value, step))
        })
    }
}

/// 1, 2 or 5 times a power of ten.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let step = match rough / power {
        r if r <= 1.0 => 1.0,
        r if r <= 2.0 => 2.0,
        r if r <= 5.0 => 5.0,
        _ => 10.0,
    } * power;
    if step.is_normal() { step } else { 1.0 }
}

fn label(tick: f64, step: f64) -> String {
    if !(1e-5..1e7).contains(&step) {
        return number::typeset(tick);
    }
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let text = format!("{:.decimals$}", tick.abs());
    format!("{}{text}", number::minus_sign(tick, &text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers() {
        let axis = Axis::over(0.0, 0.37, 0.0, 100.0, 5);
        let labels: Vec<String> = axis.ticks().map(|(_, label)| label).collect();
        assert_eq!(labels, ["0.0", "0.1", "0.2", "0.3", "0.4"]);
    }

    #[test]
    fn odd_values_still_give_an_axis() {
        for (low, high) in [
            (0.0, 0.0),
            (5.0, 5.0),
            (-1e300, 1e300),
            (1.0, 1.0 + 1e-15),
            (-3.0, -3.0),
        ] {
            let axis = Axis::over(low, high, 0.0, 100.0, 5);
            assert!(
                axis.place(low).is_finite() && axis.ticks().count() <= 31,
                "{low} {high}"
            );
        }
    }
}
