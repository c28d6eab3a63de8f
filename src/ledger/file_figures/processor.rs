use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde::de::{
    Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor, value::MapAccessDeserializer,
};

use super::column::{ColumnError, Columns, Format};
use super::command;
use super::expression::Expression;
use super::json_path::JsonPath;
use super::ordered::Ordered;
use super::problem::{BlockError, BlockProblem};
use crate::files;
use crate::ledger::Figure;

const LONGEST_COMMAND: Duration = Duration::from_secs(60);
/// Of one block; each is a column or row of pages.
const MOST_FIGURES: usize = 500;

/// Adds figures of a run from a file beside its log, such as the accuracy of a test.
#[derive(Debug, Clone)]
pub(crate) struct Processor {
    source: Source,
    format: Format,
    skip_rows: usize,
    /// The formulas in an order in which each uses only those before it.
    figures: Vec<(String, Expression)>,
    pub(crate) at: JsonPath,
}

#[derive(Debug, Clone)]
enum Source {
    /// A path inside the run's folder.
    File(PathBuf),
    /// A program that writes such a file to its standard output.
    Command(Vec<String>, Duration),
}

/// A processor in a spec: a block, or the name of one.
#[derive(Debug, Clone)]
pub(crate) enum RawProcessor {
    Named(String),
    Block(Box<RawBlock>),
}

#[derive(Debug, Clone, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawBlock {
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    command: Option<Vec<String>>,
    #[serde(default)]
    timeout_seconds: Option<u64>,
    #[serde(default)]
    format: Option<Format>,
    #[serde(default)]
    skip_rows: usize,
    figures: Ordered<String>,
    #[serde(default, rename = "_comment")]
    _comment: IgnoredAny,
}

/// Why a processor gave no figures.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcessorError {
    #[error("{file} is left out")]
    File { file: String, source: ColumnError },
    #[error("{0} is not a regular file")]
    NotAFile(String),
    #[error("the command {program} is not run without --allow-commands")]
    CommandsOff { program: String },
    #[error("the command {program} failed")]
    Command {
        program: String,
        source: Box<dyn Error + Send + Sync>,
    },
}

impl<'de> Deserialize<'de> for RawProcessor {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct NameOrBlock;
        impl<'de> Visitor<'de> for NameOrBlock {
            type Value = RawProcessor;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a block with `file` and `figures`, or the name of one")
            }
            fn visit_str<E>(self, name: &str) -> Result<RawProcessor, E> {
                Ok(RawProcessor::Named(name.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawProcessor, A::Error> {
                let block = RawBlock::deserialize(MapAccessDeserializer::new(map))?;
                Ok(RawProcessor::Block(Box::new(block)))
            }
        }
        from.deserialize_any(NameOrBlock)
    }
}

impl Processor {
    pub(crate) fn of(block: &RawBlock, at: JsonPath) -> Result<Self, BlockError> {
        let (source, format) = match (&block.file, &block.command) {
            (Some(file), None) => {
                let path = PathBuf::from(file);
                let inside = path
                    .components()
                    .all(|part| matches!(part, Component::Normal(_)));
                if !inside || file.is_empty() {
                    return Err(BlockProblem::OutsideRun(file.clone()).at(at.key("file")));
                }
                (
                    Source::File(path),
                    block.format.unwrap_or_else(|| Format::of(file)),
                )
            }
            (None, Some(command)) if !command.is_empty() => {
                let limit = block
                    .timeout_seconds
                    .map_or(LONGEST_COMMAND, Duration::from_secs);
                (
                    Source::Command(command.clone(), limit),
                    block.format.unwrap_or(Format::Json),
                )
            }
            _ => return Err(BlockProblem::FileOrCommand.at(at)),
        };
        Ok(Self {
            source,
            format,
            skip_rows: block.skip_rows,
            figures: in_order(&block.figures, &at.key("figures"))?,
            at,
        })
    }

    /// One figure from a file in the run's folder.
    pub(crate) fn of_file(file: &str, name: &str, formula: &str) -> Result<Self, BlockError> {
        let mut figures = Ordered::default();
        figures.push(name.to_owned(), formula.to_owned());
        let block = RawBlock {
            file: Some(file.to_owned()),
            command: None,
            timeout_seconds: None,
            format: None,
            skip_rows: 0,
            figures,
            _comment: IgnoredAny,
        };
        Self::of(&block, JsonPath::default())
    }

    /// The names of its figures.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.figures.iter().map(|(name, _)| name.as_str())
    }

    /// Adds its figures to those of the run in this folder.
    pub(crate) fn add_to(
        &self,
        figures: &mut BTreeMap<String, f64>,
        run: &Path,
        commands_allowed: bool,
    ) -> Result<(), ProcessorError> {
        let columns = self.columns(run, commands_allowed)?;
        for (name, expression) in &self.figures {
            if let Some(value) = expression.value(&columns, figures) {
                figures.insert(name.clone(), value);
            }
        }
        Ok(())
    }

    fn columns(&self, run: &Path, commands_allowed: bool) -> Result<Columns, ProcessorError> {
        let mut wanted = Vec::new();
        for (_, expression) in &self.figures {
            expression.columns(&mut wanted);
        }
        let wanted: BTreeSet<&str> = wanted.into_iter().collect();
        match &self.source {
            Source::File(file) => {
                let path = run.join(file);
                let name = file.display().to_string();
                match files::open(&path) {
                    Ok(open) => self.format.read(open, self.skip_rows, &wanted),
                    Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                        return Err(ProcessorError::NotAFile(name));
                    }
                    Err(error) => Err(error.into()),
                }
                .map_err(|source| ProcessorError::File { file: name, source })
            }
            Source::Command(command, limit) => {
                let program = command[0].clone();
                if !commands_allowed {
                    return Err(ProcessorError::CommandsOff { program });
                }
                let failed = |source: Box<dyn Error + Send + Sync>| ProcessorError::Command {
                    program: program.clone(),
                    source,
                };
                let output = command::output(command, run, *limit).map_err(|e| failed(e.into()))?;
                self.format
                    .read(output.as_slice(), self.skip_rows, &wanted)
                    .map_err(|e| failed(e.into()))
            }
        }
    }
}

/// Parses the formulas and sorts them so that each comes after those it needs.
fn in_order(
    block: &Ordered<String>,
    at: &JsonPath,
) -> Result<Vec<(String, Expression)>, BlockError> {
    if block.0.len() > MOST_FIGURES {
        return Err(BlockProblem::TooMany(MOST_FIGURES).at(at.clone()));
    }
    let places: BTreeMap<&str, usize> = block
        .0
        .iter()
        .enumerate()
        .map(|(place, (name, _))| (name.as_str(), place))
        .collect();
    let mut formulas = Vec::with_capacity(block.0.len());
    // How many formulas each one waits for, and which wait for it.
    let mut waits_for = vec![0_usize; block.0.len()];
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); block.0.len()];
    for (place, (name, text)) in block.0.iter().enumerate() {
        let at = at.key(name);
        if name.parse::<Figure>().is_ok() {
            return Err(BlockProblem::FigureTaken(name.clone()).at(at));
        }
        let expression = Expression::parse(text)
            .map_err(|error| BlockProblem::Expression(error).at(at.clone()))?;
        let mut needs = Vec::new();
        expression.figures(&mut needs);
        for need in needs {
            if let Some(needed) = places.get(need) {
                waits_for[place] += 1;
                waiting[*needed].push(place);
            } else if need.parse::<Figure>().is_err() {
                let names = Figure::ALL.iter().map(|figure| figure.name());
                let names = names.chain(places.keys().copied());
                return Err(BlockProblem::no_such_figure(need, names).at(at));
            }
        }
        formulas.push(Some((name.clone(), expression)));
    }
    let mut ready: VecDeque<usize> = (0..formulas.len())
        .filter(|place| waits_for[*place] == 0)
        .collect();
    let mut ordered = Vec::with_capacity(formulas.len());
    while let Some(place) = ready.pop_front() {
        ordered.extend(formulas[place].take());
        for next in &waiting[place] {
            waits_for[*next] -= 1;
            if waits_for[*next] == 0 {
                ready.push_back(*next);
            }
        }
    }
    if ordered.len() < formulas.len() {
        let circle = formulas.into_iter().flatten().map(|(name, _)| name);
        return Err(BlockProblem::Circle(circle.collect()).at(at.clone()));
    }
    Ok(ordered)
}
