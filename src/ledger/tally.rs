use std::collections::{BTreeMap, BTreeSet};
use std::ops::Add;

use super::basis_split::BasisSplit;
use super::footprint::{AssumedPlace, IntensityOrigin, PueOrigin, Quality};
use super::outcome::Outcomes;
use super::work::Work;
use super::{Footprint, Hardware, RunSummary};
use crate::grid::zone::ZoneId;
use crate::model::EnergyClass;
use crate::units::{Energy, GramsCo2e, GramsPerKwh, Hours, IntensityRange, Pue};

/// Figures of any number of runs. Merging is exact, associative and does not depend on the order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// How many runs.
    pub runs: u64,
    /// With each run's own PUE.
    pub energy: Energy,
    /// Without PUE.
    pub groups: BTreeMap<EnergyClass, Quality>,
    /// Wall-clock time.
    pub duration: Hours,
    /// CPU time; none where no run recorded it.
    pub cpu_time: Option<Hours>,
    /// GPU time; none where no run recorded it.
    pub gpu_time: Option<Hours>,
    /// By zone; runs whose zone is not known are under none.
    pub zones: BTreeMap<Option<ZoneId>, ZoneTally>,
    /// How many runs have the intensity of a place that their logs do not name.
    pub assumed_places: BTreeMap<AssumedPlace, u64>,
    /// The mass by what the intensities count.
    pub bases: BasisSplit,
    /// Every PUE used, and who says so.
    pub pues: BTreeSet<(PueOrigin, Pue)>,
    /// How many runs have no figure for a group, by the reason.
    pub absent: BTreeMap<(EnergyClass, String), u64>,
    /// Runs without a recorded end; their figures go up to the last sample.
    pub runs_without_end: u64,
    /// Runs whose logs have lines that are no samples.
    pub runs_with_bad_lines: u64,
    /// Runs whose `info.json` was changed after it was written.
    pub runs_with_changed_info: u64,
    /// Runs whose samples contradict each other or cannot be.
    pub runs_with_contradictions: u64,
    /// Runs with energy that cannot be.
    pub runs_with_implausible_energy: u64,
    /// That energy, which is not counted; without PUE.
    pub implausible: Energy,
    /// The assumptions of the estimated parts.
    pub models: BTreeSet<String>,
    /// Work counted by marks.
    pub work: Work,
    /// The processors and accelerators that were used.
    pub hardware: Hardware,
    /// How the runs ended.
    pub outcomes: Outcomes,
}

/// The runs of one zone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ZoneTally {
    /// How many runs.
    pub runs: u64,
    /// With PUE.
    pub energy: Energy,
    /// None where the intensity of none of the runs is known.
    pub mass: Option<GramsCo2e>,
    /// The intensities behind the mass.
    pub intensities: Option<IntensityRange>,
    /// Energy, with PUE, whose carbon intensity is not known; not part of `mass`.
    pub energy_without_intensity: Energy,
    /// Runs whose carbon intensity is not known.
    pub runs_without_intensity: u64,
    /// Who says what the intensities are.
    pub sources: BTreeSet<IntensityOrigin>,
}

impl Tally {
    /// The figures of one run.
    #[must_use]
    pub fn of(run: &RunSummary, footprint: &Footprint) -> Self {
        let mut zone = ZoneTally {
            runs: 1,
            energy: footprint.energy,
            ..ZoneTally::default()
        };
        let mut bases = BasisSplit::default();
        let mut assumed_places = BTreeMap::new();
        let zone_id = if let Some(carbon) = &footprint.carbon {
            assumed_places.extend(carbon.assumed_place.clone().map(|place| (place, 1)));
            zone.mass = Some(carbon.mass);
            zone.intensities = Some(carbon.range);
            zone.sources.insert(carbon.origin.clone());
            bases = BasisSplit::of(carbon.origin.bases(), carbon.mass);
            carbon.zone.clone()
        } else {
            zone.energy_without_intensity = footprint.energy;
            zone.runs_without_intensity = 1;
            run.region.as_ref().map(|region| region.zone.clone())
        };
        Self {
            runs: 1,
            energy: footprint.energy,
            groups: footprint.groups.clone(),
            duration: run.duration,
            cpu_time: run.cpu_time,
            gpu_time: run.gpu_time,
            zones: BTreeMap::from([(zone_id, zone)]),
            assumed_places,
            bases,
            pues: BTreeSet::from([(footprint.pue_origin.clone(), footprint.pue)]),
            absent: run
                .absent
                .iter()
                .map(|(group, why)| ((*group, why.clone()), 1))
                .collect(),
            runs_without_end: u64::from(run.has_no_end),
            runs_with_bad_lines: u64::from(run.bad_lines > 0),
            runs_with_changed_info: u64::from(run.info_was_changed),
            runs_with_contradictions: u64::from(run.contradictions > 0),
            runs_with_implausible_energy: u64::from(run.implausible > Energy::ZERO),
            implausible: run.implausible,
            models: footprint.models.iter().cloned().collect(),
            work: Work::of(&run.counts, footprint.energy),
            hardware: run.hardware.clone(),
            outcomes: Outcomes::of(run.outcome, footprint.energy),
        }
    }

    /// The figures of both together.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.runs += other.runs;
        self.energy += other.energy;
        for (group, quality) in other.groups {
            let mine = self.groups.entry(group).or_default();
            mine.measured += quality.measured;
            mine.estimated += quality.estimated;
        }
        self.duration += other.duration;
        self.cpu_time = sum(self.cpu_time, other.cpu_time);
        self.gpu_time = sum(self.gpu_time, other.gpu_time);
        for (id, zone) in other.zones {
            let mine = self.zones.entry(id).or_default();
            mine.runs += zone.runs;
            mine.energy += zone.energy;
            mine.mass = sum(mine.mass, zone.mass);
            mine.intensities = join(mine.intensities, zone.intensities);
            mine.energy_without_intensity += zone.energy_without_intensity;
            mine.runs_without_intensity += zone.runs_without_intensity;
            mine.sources.extend(zone.sources);
        }
        for (place, runs) in other.assumed_places {
            *self.assumed_places.entry(place).or_default() += runs;
        }
        self.bases.add(other.bases);
        self.pues.extend(other.pues);
        for (what, runs) in other.absent {
            *self.absent.entry(what).or_default() += runs;
        }
        self.runs_without_end += other.runs_without_end;
        self.runs_with_bad_lines += other.runs_with_bad_lines;
        self.runs_with_changed_info += other.runs_with_changed_info;
        self.runs_with_contradictions += other.runs_with_contradictions;
        self.runs_with_implausible_energy += other.runs_with_implausible_energy;
        self.implausible += other.implausible;
        self.models.extend(other.models);
        self.work.add(other.work);
        self.hardware.add(other.hardware);
        self.outcomes.add(other.outcomes);
        self
    }

    /// CO2eq of all runs, or none where the intensity of none is known.
    #[must_use]
    pub fn mass(&self) -> Option<GramsCo2e> {
        let known = self.zones.values().filter_map(|zone| zone.mass);
        known.reduce(|a, b| a + b)
    }

    /// Runs whose carbon intensity is not known.
    #[must_use]
    pub fn runs_without_intensity(&self) -> u64 {
        self.zones
            .values()
            .map(|zone| zone.runs_without_intensity)
            .sum()
    }

    /// Energy of those runs, with PUE.
    pub fn energy_without_intensity(&self) -> Energy {
        self.zones
            .values()
            .map(|zone| zone.energy_without_intensity)
            .sum()
    }

    /// Grams per kWh over all energy whose intensity is known.
    #[must_use]
    pub fn intensity(&self) -> Option<f64> {
        let energy = self.energy.saturating_sub(self.energy_without_intensity());
        let mass = self.mass()?;
        let mean = || mass.grams() / energy.kwh();
        let only = self.only_intensity();
        (energy > Energy::ZERO).then(|| only.map_or_else(mean, GramsPerKwh::get))
    }

    /// The intensity of all runs, where it was one and the same.
    #[must_use]
    pub fn only_intensity(&self) -> Option<GramsPerKwh> {
        let ranges = self.zones.values().map(|zone| zone.intensities);
        ranges.fold(None, join).and_then(IntensityRange::only)
    }

    /// Energy of a group without PUE, or none where no run recorded it.
    #[must_use]
    pub fn group(&self, group: EnergyClass) -> Option<Energy> {
        self.groups.get(&group).map(|quality| quality.total())
    }

    /// Energy of all groups without PUE.
    pub fn energy_without_pue(&self) -> Energy {
        self.groups.values().map(|quality| quality.total()).sum()
    }

    /// The share of the energy that sensors measured, from 0 to 1; none where there is no energy.
    #[must_use]
    pub fn measured_share(&self) -> Option<f64> {
        let measured: Energy = self.groups.values().map(|quality| quality.measured).sum();
        let total = self.energy_without_pue();
        (total > Energy::ZERO).then(|| measured.kwh() / total.kwh())
    }
}

fn join(a: Option<IntensityRange>, b: Option<IntensityRange>) -> Option<IntensityRange> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.join(b)),
        (a, b) => a.or(b),
    }
}

fn sum<T: Add<Output = T>>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}
