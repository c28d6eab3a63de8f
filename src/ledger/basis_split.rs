use std::collections::{BTreeMap, BTreeSet};

use super::{Assumptions, Footprint, RunSummary};
use crate::model::{Basis, Mix};
use crate::text::number::counted;
use crate::text::quantity;
use crate::units::GramsCo2e;

/// The mass of CO2eq by what the intensities behind it count. Merging is exact.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BasisSplit(BTreeMap<Bases, Part>);

/// What the intensities of one run count: one basis, or several where its services changed. None is a basis that is
/// not known.
pub type Bases = BTreeSet<Option<Basis>>;

/// The runs of one basis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// How many runs.
    pub runs: u64,
    /// Their CO2eq, with PUE.
    pub mass: GramsCo2e,
}

impl BasisSplit {
    /// The mass of one run.
    #[must_use]
    pub fn of(bases: Bases, mass: GramsCo2e) -> Self {
        Self(BTreeMap::from([(bases, Part { runs: 1, mass })]))
    }

    /// The masses of some runs under these assumptions.
    #[must_use]
    pub fn over<'a>(runs: impl Iterator<Item = &'a RunSummary>, assumptions: &Assumptions) -> Self {
        let mut split = Self::default();
        for run in runs {
            if let Some(carbon) = Footprint::of(run, assumptions).carbon {
                split.add(Self::of(carbon.origin.bases(), carbon.mass));
            }
        }
        split
    }

    /// Adds the masses of other runs.
    pub fn add(&mut self, other: Self) {
        for (bases, part) in other.0 {
            self.0
                .entry(bases)
                .and_modify(|mine| {
                    mine.runs += part.runs;
                    mine.mass += part.mass;
                })
                .or_insert(part);
        }
    }

    /// The masses by basis.
    pub fn parts(&self) -> impl Iterator<Item = (&Bases, Part)> {
        self.0.iter().map(|(bases, part)| (bases, *part))
    }

    /// That the sum of the masses adds what cannot be compared, if it does.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let parts = self.different()?;
        Some(format!(
            "The mass adds {parts}; figures of different bases are not comparable."
        ))
    }

    /// The parts in words, if there are different bases.
    #[must_use]
    pub fn different(&self) -> Option<String> {
        let bases: Bases = self.0.keys().flatten().copied().collect();
        if bases.len() < 2 {
            return None;
        }
        let parts: Vec<String> = self
            .parts()
            .map(|(bases, Part { runs, mass })| {
                let names: Vec<String> = bases.iter().map(|basis| figures(*basis)).collect();
                let (runs, mass) = (counted(runs, "run"), quantity::mass(mass));
                format!("{} ({runs}, {mass})", names.join(" together with "))
            })
            .collect();
        Some(match parts.as_slice() {
            [others @ .., last] if !others.is_empty() => {
                format!("{} and {last}", others.join(", "))
            }
            _ => parts.concat(),
        })
    }
}

/// Figures of a basis, as the object of a sentence.
fn figures(basis: Option<Basis>) -> String {
    match basis {
        None => "figures whose basis is not known".to_owned(),
        Some(Basis::Marginal { emissions }) => {
            let emissions = emissions.map_or_else(String::new, |e| format!("{} ", e.name()));
            format!("{emissions}marginal figures")
        }
        Some(Basis::Average { emissions, mix }) => {
            let mix = match mix {
                Some(Mix::Consumption) => " of the consumption mix",
                Some(Mix::Production) => " of the production mix",
                None => " of a mix that is not named",
            };
            format!("{} figures{mix}", emissions.name())
        }
    }
}
