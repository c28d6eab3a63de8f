use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::Deserialize;

use crate::ledger::bench::BenchFigure;
use crate::ledger::collect::with_causes;
use crate::ledger::file_figures::{JsonPath, Ordered, Processor, RawProcessor};
use crate::ledger::work::ENERGY_OF_WORK;
use crate::ledger::{AccountedRun, Figure};
use crate::text::nearest;
use crate::text::quantity::{Quantity, Scale};

/// What is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Metric {
    /// A figure of every run.
    Figure(Figure),
    /// The energy for a unit of the work that marks counted, such as `j_per_tokens`.
    Work(String),
    /// A figure from a file beside the logs, by its name.
    Own(String),
    /// A figure of a run of a benchmark.
    Bench(BenchFigure),
}

/// Short names of figures; the names in JSON and CSV are accepted too.
pub const METRICS: [(&str, Figure); 8] = [
    ("energy", Figure::Energy),
    ("co2", Figure::Emissions),
    ("time", Figure::Duration),
    ("cpu", Figure::CpuEnergy),
    ("gpu", Figure::GpuEnergy),
    ("memory", Figure::MemoryEnergy),
    ("cpu-time", Figure::CpuHours),
    ("gpu-time", Figure::GpuHours),
];

/// Every name of every figure.
pub(crate) fn metrics() -> impl Iterator<Item = (&'static str, Figure)> {
    METRICS
        .into_iter()
        .chain(Figure::ALL.map(|figure| (figure.name(), figure)))
}

/// A name that is no figure's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no figure is called `{}`{}", .asked.escape_debug(), nearest::said(.nearest))]
pub struct NoSuchMetric {
    asked: String,
    nearest: Vec<String>,
}

/// The figure with this short name or JSON name.
pub fn metric(name: &str) -> Result<Figure, NoSuchMetric> {
    let name = name.trim();
    if let Some((_, figure)) = metrics().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        return Ok(figure);
    }
    Err(NoSuchMetric {
        asked: nearest::short(name),
        nearest: nearest::of(name, metrics().map(|(known, _)| known)),
    })
}

impl Metric {
    /// The key in JSON and CSV.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Figure(figure) => figure.name(),
            Self::Work(name) | Self::Own(name) => name,
            Self::Bench(figure) => figure.name(),
        }
    }

    /// The unit in JSON and CSV; 1 for a share and for a figure from a file.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Figure(figure) => figure.unit(),
            Self::Work(_) => "J",
            Self::Own(_) => "1",
            Self::Bench(figure) => figure.unit(),
        }
    }

    /// The unit for people that fits a value, and for a column or an axis all others of its size.
    pub(crate) fn scale(&self, value: f64) -> Scale {
        let fixed = |unit, factor| Scale { unit, factor };
        match self {
            Self::Figure(Figure::CarbonIntensity) => fixed("g/kWh", 1.0),
            Self::Figure(Figure::MeasuredShare) => fixed("%", 100.0),
            Self::Figure(figure) => match figure.quantity() {
                Some(quantity) => quantity.scale(value),
                None => fixed("", 1.0),
            },
            Self::Work(_) => Quantity::Joules.scale(value),
            Self::Own(_) => fixed("", 1.0),
            Self::Bench(figure) => figure.scale(value),
        }
    }

    /// A value for people, in the unit that fits it.
    pub(crate) fn amount(&self, value: f64) -> String {
        self.scale(value).amount(value).trim_end().to_owned()
    }

    /// The unit of work that it counts; none for another figure.
    #[must_use]
    pub fn work(&self) -> Option<&str> {
        match self {
            Self::Work(name) => name.strip_prefix(ENERGY_OF_WORK),
            Self::Figure(_) | Self::Own(_) | Self::Bench(_) => None,
        }
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn meaning(&self) -> String {
        match self {
            Self::Figure(figure) => figure.meaning().to_owned(),
            Self::Work(_) => {
                let unit = self.work().unwrap_or_default();
                format!("energy for a unit of work ({unit}), PUE included")
            }
            Self::Own(name) => name.clone(),
            Self::Bench(figure) => figure.meaning(),
        }
    }
}

/// What it is called within a sentence.
impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Figure(Figure::Energy) => "energy",
            Self::Figure(Figure::CpuEnergy) => "CPU energy",
            Self::Figure(Figure::GpuEnergy) => "GPU energy",
            Self::Figure(Figure::MemoryEnergy) => "memory energy",
            Self::Figure(Figure::Emissions) => "CO2eq",
            Self::Figure(Figure::Duration) => "time",
            Self::Figure(Figure::CpuHours) => "CPU time",
            Self::Figure(Figure::GpuHours) => "GPU time",
            Self::Figure(Figure::CarbonIntensity) => "carbon intensity",
            Self::Figure(Figure::MeasuredShare) => "measured share of the energy",
            Self::Work(_) => {
                let unit = self.work().unwrap_or_default();
                return write!(f, "energy for the same number of {unit}");
            }
            Self::Own(name) => name,
            Self::Bench(figure) => return figure.fmt(f),
        })
    }
}

/// Figures that the user takes from files beside the logs, as site specs define them.
#[derive(Debug, Clone, Default)]
pub struct OwnFigures {
    processors: Vec<Processor>,
    /// Whether programs may be run that give such figures.
    pub commands_allowed: bool,
}

/// Why figures from files cannot be defined so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadOwnFigure {
    /// The text has no name, file and formula.
    #[error("`{}` does not define a figure: expected NAME=FILE:FORMULA", .0.escape_debug())]
    NotADefinition(String),
    /// The file is no site spec.
    #[error("this is no JSON object with `processors`")]
    Json(#[from] serde_json::Error),
    /// What is wrong with a definition.
    #[error("{0}")]
    Block(String),
    /// Two definitions have one name.
    #[error("the figure `{}` is defined twice", .0.escape_debug())]
    Twice(String),
}

/// The part of a site spec that defines figures.
#[derive(Deserialize)]
struct Definitions {
    processors: Ordered<RawProcessor>,
}

impl OwnFigures {
    /// Adds the figures under `processors` of a site spec.
    pub fn add_spec(&mut self, json: &[u8]) -> Result<(), BadOwnFigure> {
        let definitions: Definitions = serde_json::from_slice(json)?;
        let at = JsonPath::default().key("processors");
        for (name, definition) in &definitions.processors.0 {
            // A name that refers to another block adds nothing.
            if let RawProcessor::Block(block) = definition {
                let processor = Processor::of(block, at.key(name));
                self.add(processor.map_err(|error| BadOwnFigure::Block(with_causes(&error)))?)?;
            }
        }
        Ok(())
    }

    /// Adds a figure written as `NAME=FILE:FORMULA`, and answers its name.
    pub fn add_definition(&mut self, text: &str) -> Result<String, BadOwnFigure> {
        let parts = text.split_once('=').and_then(|(name, rest)| {
            let (file, formula) = rest.split_once(':')?;
            Some([name.trim(), file.trim(), formula.trim()])
        });
        let [name, file, formula] = parts
            .filter(|parts| parts.iter().all(|part| !part.is_empty()))
            .ok_or_else(|| BadOwnFigure::NotADefinition(text.to_owned()))?;
        let processor = Processor::of_file(file, name, formula)
            .map_err(|error| BadOwnFigure::Block(error.problem.to_string()))?;
        self.add(processor)?;
        Ok(name.to_owned())
    }

    fn add(&mut self, processor: Processor) -> Result<(), BadOwnFigure> {
        if let Some(name) = processor.names().find(|name| self.has(name)) {
            return Err(BadOwnFigure::Twice(name.to_owned()));
        }
        self.processors.push(processor);
        Ok(())
    }

    fn has(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// The name of every figure, in the order in which they were added.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.processors.iter().flat_map(Processor::names)
    }

    /// The figure with this name: one from a file, or one that every run has.
    pub fn metric(&self, name: &str) -> Result<Metric, NoSuchMetric> {
        let name = name.trim();
        if self.has(name) {
            return Ok(Metric::Own(name.to_owned()));
        }
        if name.len() > ENERGY_OF_WORK.len() && name.starts_with(ENERGY_OF_WORK) {
            return Ok(Metric::Work(name.to_owned()));
        }
        metric(name).map(Metric::Figure).map_err(|error| {
            let known = metrics().map(|(known, _)| known).chain(self.names());
            NoSuchMetric {
                nearest: nearest::of(name, known),
                ..error
            }
        })
    }

    /// The figures of a run by name, and why some are missing.
    pub(super) fn of(
        &self,
        run: &AccountedRun,
        folder: &Path,
    ) -> (BTreeMap<String, f64>, Vec<String>) {
        if self.processors.is_empty() {
            return (BTreeMap::new(), Vec::new());
        }
        let mut figures: BTreeMap<String, f64> = run
            .figures()
            .into_iter()
            .filter_map(|(name, amount)| Some((name.to_owned(), amount?.value())))
            .chain(run.work().map(|(name, work)| (name, work.joules_per_unit)))
            .collect();
        let mut missing = Vec::new();
        for processor in &self.processors {
            if let Err(error) = processor.add_to(&mut figures, folder, self.commands_allowed) {
                missing.push(with_causes(&error));
            }
        }
        (figures, missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_defined_in_one_line() {
        let mut own = OwnFigures::default();
        assert_eq!(
            own.add_definition("score = eval.csv:last(score)").unwrap(),
            "score"
        );
        assert_eq!(own.metric("score"), Ok(Metric::Own("score".to_owned())));
        assert_eq!(own.metric("co2"), Ok(Metric::Figure(Figure::Emissions)));
        assert_eq!(own.metric("j_per_tokens").unwrap().work(), Some("tokens"));
        assert!(own.metric("j_per_").is_err());
        let error = own.metric("scoer").unwrap_err().to_string();
        assert!(error.ends_with("the nearest is score"), "{error}");
    }

    #[test]
    fn what_defines_no_figure_says_why() {
        let error = |text: &str| {
            let mut own = OwnFigures::default();
            own.add_definition(text).unwrap_err().to_string()
        };
        assert!(error("score").contains("NAME=FILE:FORMULA"));
        assert!(error("score=../eval.csv:last(a)").contains("does not lie in the run's folder"));
        assert!(error("total_power=eval.csv:last(a)").contains("every run has"));
        assert!(error("score=eval.csv:lst(a)").contains("no function"));
        let mut own = OwnFigures::default();
        own.add_definition("a=e.csv:last(a)").unwrap();
        let again = own.add_definition("a=e.csv:mean(a)").unwrap_err();
        assert_eq!(again.to_string(), "the figure `a` is defined twice");
    }

    #[test]
    fn the_processors_of_a_site_spec_define_figures() {
        let mut own = OwnFigures::default();
        let spec = br#"{"title":"t","logs":["x"],"processors":{"_comment":"c","other":"evaluate",
            "evaluate":{"file":"e.csv","figures":{"score":"last(score)","per kWh":"score / total_power"}}},
            "group":{"filter":"x"}}"#;
        own.add_spec(spec).unwrap();
        assert_eq!(own.names().collect::<Vec<_>>(), ["score", "per kWh"]);
        assert!(OwnFigures::default().add_spec(b"[1]").is_err());
        assert!(OwnFigures::default().add_spec(b"{}").is_err());
    }
}
