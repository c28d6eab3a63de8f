use super::power_curve::CurveCursor;
use super::profile::Name;
use super::sweep::Bins;
use crate::units::Energy;

/// The names with most energy that have a band of their own.
pub(super) const MOST_BANDS: usize = 7;
/// Into how many stretches the time of a run is divided.
pub(super) const STRETCHES: usize = 240;

/// The energy of a run in stretches of time of the same length, by names.
#[derive(Debug)]
pub(super) struct OverTime {
    /// In ns.
    width: i64,
    end: i64,
    /// From the bottom to the top.
    pub(super) bands: Vec<Band>,
    /// Seconds since the start of the run, and bytes.
    pub(super) memory: Vec<(f64, f64)>,
}

/// What some spans had in each stretch.
#[derive(Debug)]
pub(super) struct Band {
    pub(super) of: BandOf,
    pub(super) energy: Vec<Energy>,
}

/// Whose energy is in a band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BandOf {
    /// Of the spans with this name.
    Name(Name),
    /// Of all other spans.
    Others,
    /// Of no span.
    Nobody,
}

impl OverTime {
    /// The stretches to be filled for these names.
    pub(super) fn bins(names: &[Name], end: i64) -> Bins {
        Bins::new(names, end, STRETCHES)
    }

    /// Adds up what was filled for each device; `order` has the names from the bottom to the top.
    pub(super) fn of(
        order: &[Name],
        filled: &[Bins],
        curves: &mut [CurveCursor],
        end: i64,
        memory: Vec<(f64, f64)>,
    ) -> Self {
        let width = filled.first().map_or(1, |bins| bins.width);
        let sum = |of: &dyn Fn(&Bins) -> Option<u128>| filled.iter().filter_map(of).sum::<u128>();
        let mut bands: Vec<Band> = order
            .iter()
            .map(|name| {
                let energy = |stretch: usize| {
                    let steps = sum(&|bins| Some(bins.energy[*bins.rows.get(name)?][stretch]));
                    Energy::from_steps(steps)
                };
                Band {
                    of: BandOf::Name(*name),
                    energy: (0..STRETCHES).map(energy).collect(),
                }
            })
            .collect();
        let nobody: Vec<Energy> = (0..STRETCHES)
            .map(|stretch| Energy::from_steps(sum(&|bins| Some(bins.uncovered[stretch]))))
            .collect();
        let mut drawn = Energy::ZERO;
        let others: Vec<Energy> = (0..STRETCHES)
            .map(|stretch| {
                let until = (stretch as i64 + 1) * width;
                let now = Energy::from_steps(curves.iter_mut().map(|curve| curve.at(until)).sum());
                let of_names = bands
                    .iter()
                    .map(|band| band.energy[stretch])
                    .sum::<Energy>();
                let others = now.saturating_sub(drawn).saturating_sub(of_names);
                drawn = now;
                others.saturating_sub(nobody[stretch])
            })
            .collect();
        // What cannot be divided is some steps of 3.6 pJ.
        if others.iter().copied().sum::<Energy>() > Energy::from_microjoules(1) {
            bands.push(Band {
                of: BandOf::Others,
                energy: others,
            });
        }
        bands.push(Band {
            of: BandOf::Nobody,
            energy: nobody,
        });
        Self {
            width,
            end,
            bands,
            memory,
        }
    }

    /// How long a stretch is.
    pub(super) fn stretch_seconds(&self) -> f64 {
        self.width as f64 / 1e9
    }

    /// How long the run is.
    pub(super) fn seconds(&self) -> f64 {
        self.end as f64 / 1e9
    }

    /// The power of each stretch.
    pub(super) fn watts(&self) -> Vec<f64> {
        let energy = |stretch: usize| {
            self.bands
                .iter()
                .map(|band| band.energy[stretch])
                .sum::<Energy>()
        };
        (0..STRETCHES)
            .map(|stretch| energy(stretch).joules() / self.stretch_seconds())
            .collect()
    }
}
