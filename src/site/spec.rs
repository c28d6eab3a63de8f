use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::problem::{Problem, SpecError};
use super::raw_spec::{RawGroup, RawSpec};
use crate::ledger::file_figures::{BlockProblem, JsonPath, Ordered, Processor, RawProcessor};
use crate::text::nearest;

/// Deeper groups could have paths that are too long for a file system.
const DEEPEST: usize = 24;
/// Every group has a page that shows its runs.
const MOST_GROUPS: usize = 2000;
const MOST_PROCESSORS: usize = 500;
/// A short filter can take megabytes when it is compiled, so their length is limited each and together.
const LONGEST_FILTER: usize = 1000;
const LONGEST_FILTERS: usize = 32 << 10;
/// The bytes of one compiled part of a filter; `\w` takes about a fifteenth of it.
const LARGEST_FILTER: usize = 512 << 10;
/// A thousand plain filters take a tenth of it.
const LONGEST_COMPILING: Duration = Duration::from_secs(3);
/// Paths are short: a search that tries more is caught in repetitions.
const MOST_STEPS: usize = 100_000;

/// What a site shows: its groups, which runs belong to them, and what their tables show.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Spec {
    /// The title of the site.
    pub title: Option<String>,
    /// Folders of logs, relative to the spec's own folder.
    pub logs: Vec<PathBuf>,
    /// Whether host, user, folders, command lines and packages are left out of the site.
    pub redact: bool,
    pub(super) groups: Vec<GroupSpec>,
    pub(super) processors: Vec<Processor>,
    /// Mistakes that do not keep the site from being made.
    pub(super) notices: Vec<String>,
}

/// One group of a spec.
#[derive(Debug)]
pub(super) struct GroupSpec {
    pub(super) name: String,
    pub(super) at: JsonPath,
    pub(super) filter: Option<Filter>,
    pub(super) description: Option<String>,
    pub(super) variables: Option<Vec<String>>,
    pub(super) ordering: Option<Ordering>,
    pub(super) plots: Option<Vec<Plot>>,
    /// The index of the processor that gives further figures of its runs.
    pub(super) processor: Option<usize>,
    pub(super) children: Vec<GroupSpec>,
}

/// A regular expression that is searched for in the path of a run.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    pub(super) text: String,
    regex: fancy_regex::Regex,
}

/// By which figure the rows of a table are sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ordering {
    pub(super) variable: String,
    pub(super) direction: Direction,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Direction {
    #[default]
    Descending,
    Ascending,
}

/// One figure against another.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub(super) struct Plot {
    pub(super) x: String,
    pub(super) y: String,
    /// Which way is better: by default less energy, time and carbon, and more of anything else.
    #[serde(default)]
    pub(super) better_x: Option<Better>,
    #[serde(default)]
    pub(super) better_y: Option<Better>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Better {
    Low,
    High,
}

impl Plot {
    pub(super) fn of(x: &str, y: &str) -> Self {
        Self {
            x: x.to_owned(),
            y: y.to_owned(),
            better_x: None,
            better_y: None,
        }
    }
}

impl Filter {
    fn new(text: &str, at: &JsonPath) -> Result<Self, SpecError> {
        if text.len() > LONGEST_FILTER {
            return Err(Problem::LongFilter(LONGEST_FILTER).at(at.clone()));
        }
        let regex = fancy_regex::RegexBuilder::new(text)
            .delegate_size_limit(LARGEST_FILTER)
            .delegate_dfa_size_limit(LARGEST_FILTER)
            .backtrack_limit(MOST_STEPS)
            .build()
            .map_err(|error| Problem::Filter(Box::new(error)).at(at.clone()))?;
        Ok(Self {
            text: text.to_owned(),
            regex,
        })
    }

    /// Whether it is found in a path; none if the search took too long.
    pub(super) fn finds(&self, path: &str) -> Option<bool> {
        self.regex.is_match(path).ok()
    }
}

impl Spec {
    /// Reads a spec of impact or of experiment-impact-tracker.
    pub fn parse(text: &[u8]) -> Result<Self, SpecError> {
        let mut json = serde_json::Deserializer::from_slice(text);
        let raw: RawSpec = serde_path_to_error::deserialize(&mut json)
            .map_err(|error| Problem::Json(error.inner().to_string()).at(error.path().into()))?;
        json.end()
            .map_err(|error| Problem::Json(error.to_string()).at(JsonPath::default()))?;
        if raw.groups.0.is_empty() {
            return Err(Problem::NoGroups.at(JsonPath::default()));
        }
        let mut spec = Self {
            title: raw.title,
            logs: raw.logs,
            redact: raw.redact,
            ..Self::default()
        };
        if raw.processors.0.len() > MOST_PROCESSORS {
            let what = "processors";
            let most = MOST_PROCESSORS;
            return Err(Problem::TooMany { what, most }.at(JsonPath::default().key(what)));
        }
        let blocks = raw.processors.0.iter();
        let mut reader = SpecReader {
            blocks: blocks.map(|(name, block)| (name.as_str(), block)).collect(),
            named: BTreeMap::new(),
            told: BTreeSet::new(),
            filters: BTreeMap::new(),
            filter_length: 0,
            compiling: Duration::ZERO,
            groups: 0,
            spec: &mut spec,
        };
        // Blocks that no group uses are checked too.
        for (name, _) in &raw.processors.0 {
            reader.named(name)?;
        }
        let groups = reader.groups(raw.groups, &JsonPath::default(), 1)?;
        spec.groups = groups;
        Ok(spec)
    }
}

struct SpecReader<'a> {
    blocks: BTreeMap<&'a str, &'a RawProcessor>,
    /// The processors that were read, by every name that means them.
    named: BTreeMap<&'a str, usize>,
    /// Python functions that a notice names.
    told: BTreeSet<String>,
    /// Each filter is compiled once.
    filters: BTreeMap<String, Filter>,
    filter_length: usize,
    compiling: Duration,
    groups: usize,
    spec: &'a mut Spec,
}

impl SpecReader<'_> {
    fn groups(
        &mut self,
        raw: Ordered<RawGroup>,
        at: &JsonPath,
        depth: usize,
    ) -> Result<Vec<GroupSpec>, SpecError> {
        if depth > DEEPEST {
            return Err(Problem::TooDeep(DEEPEST).at(at.clone()));
        }
        self.groups += raw.0.len();
        if self.groups > MOST_GROUPS {
            let (what, most) = ("groups", MOST_GROUPS);
            return Err(Problem::TooMany { what, most }.at(at.clone()));
        }
        raw.0
            .into_iter()
            .map(|(name, group)| self.group(name, group, at, depth))
            .collect()
    }

    fn group(
        &mut self,
        name: String,
        raw: RawGroup,
        at: &JsonPath,
        depth: usize,
    ) -> Result<GroupSpec, SpecError> {
        let at = at.key(&name);
        for key in &raw.unknown {
            self.spec
                .notices
                .push(format!("{} is not known and left out", at.key(key)));
        }
        let filter = raw
            .filter
            .map(|text| self.filter(text, &at.key("filter")))
            .transpose()?;
        let processor = match raw.processor {
            Some(processor) => self.processor(&processor, &at.key("extra_files_processor"))?,
            None => None,
        };
        let direction = raw.direction.unwrap_or_default();
        Ok(GroupSpec {
            filter,
            processor,
            description: raw.description,
            variables: raw.variables,
            ordering: raw.ordering.map(|variable| Ordering {
                variable,
                direction,
            }),
            plots: raw.plots,
            children: self.groups(raw.children, &at.key("child_experiments"), depth + 1)?,
            name,
            at,
        })
    }

    fn filter(&mut self, text: String, at: &JsonPath) -> Result<Filter, SpecError> {
        if let Some(known) = self.filters.get(&text) {
            return Ok(known.clone());
        }
        self.filter_length += text.len();
        if self.filter_length > LONGEST_FILTERS {
            return Err(Problem::LongFilters(LONGEST_FILTERS).at(at.clone()));
        }
        let start = Instant::now();
        let filter = Filter::new(&text, at)?;
        self.compiling += start.elapsed();
        if self.compiling > LONGEST_COMPILING {
            return Err(Problem::SlowFilters(LONGEST_COMPILING.as_secs()).at(at.clone()));
        }
        self.filters.insert(text, filter.clone());
        Ok(filter)
    }

    fn processor(&mut self, raw: &RawProcessor, at: &JsonPath) -> Result<Option<usize>, SpecError> {
        match raw {
            RawProcessor::Block(block) => {
                let processor = Processor::of(block, at.clone())?;
                Ok(Some(self.keep(processor)))
            }
            RawProcessor::Named(name) if self.blocks.contains_key(name.as_str()) => {
                self.named(name).map(Some)
            }
            RawProcessor::Named(name) => {
                let notice = format!(
                    "{at} names the processor `{name}`, which is a Python function here: its figures are left out; \
                     say what it does under `processors` at the top of the spec"
                );
                if self.told.insert(name.clone()) {
                    self.spec.notices.push(notice);
                }
                Ok(None)
            }
        }
    }

    /// The processor of this name; a name may refer to another name.
    fn named(&mut self, name: &str) -> Result<usize, SpecError> {
        let at = JsonPath::default().key("processors");
        let mut seen = BTreeSet::new();
        let mut name = name;
        let found = loop {
            let Some((known, block)) = self.blocks.get_key_value(name) else {
                let known = self.blocks.keys().copied();
                let others = known.filter(|known| !seen.contains(known));
                let problem = Problem::NoSuchProcessor {
                    name: name.to_owned(),
                    nearest: nearest::of(name, others),
                };
                return Err(problem.at(at));
            };
            if let Some(found) = self.named.get(known) {
                break *found;
            }
            let here = at.key(name);
            if !seen.insert(*known) {
                let circle = seen.into_iter().map(str::to_owned).collect();
                return Err(Problem::Block(BlockProblem::Circle(circle)).at(here));
            }
            match block {
                RawProcessor::Named(other) => name = other,
                RawProcessor::Block(block) => {
                    let processor = Processor::of(block, here)?;
                    break self.keep(processor);
                }
            }
        };
        self.named
            .extend(seen.into_iter().map(|name| (name, found)));
        Ok(found)
    }

    fn keep(&mut self, processor: Processor) -> usize {
        self.spec.processors.push(processor);
        self.spec.processors.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let error = Spec::parse(text.as_bytes()).unwrap_err();
        format!("{error}: {}", error.problem)
    }

    fn nested(depth: usize) -> String {
        let open = r#"{"g":{"child_experiments":"#.repeat(depth);
        format!("{open}{{}}{}", "}}".repeat(depth))
    }

    #[test]
    fn groups_keep_the_order_they_are_written_in() {
        let spec =
            Spec::parse(br#"{"b":{"child_experiments":{"z":{},"a":{"filter":null}}},"a":{}}"#)
                .unwrap();
        assert_eq!(spec.groups[0].name, "b");
        assert_eq!(spec.groups[0].children[0].name, "z");
        assert_eq!(spec.groups[1].name, "a");
    }

    #[test]
    fn every_mistake_is_told_with_its_place() {
        let bad = r#"{"A b":{"child_experiments":{"c":{"filter":"("}}}}"#;
        assert!(
            error(bad).contains(r#"at $["A b"].child_experiments.c.filter: the filter is not"#)
        );
        assert!(
            error(r#"{"a":{},"a":{}}"#)
                .starts_with("the spec is wrong: the name \"a\" is given twice")
        );
        let twice = r#"{"a":{"child_experiments":{"b":{},"b":{}}}}"#;
        assert!(error(twice).contains("at $.a.child_experiments: the name \"b\" is given twice"));
        assert!(
            error(r#"{"a":{"filter":"x","filter":"y"}}"#).contains("at $.a: the key \"filter\"")
        );
        assert!(
            error(r#"{"a":{"executive_summary_plots":[{"x":"u","y":"v"},{"x":1}]}}"#)
                .contains("at $.a.executive_summary_plots[1].x")
        );
        assert!(error("{}").contains("no group"));
        assert!(error(r#"{"a":{}} x"#).contains("trailing"));
    }

    #[test]
    fn a_spec_that_is_too_deep_is_refused_with_its_place() {
        let message = error(&nested(60));
        assert!(message.contains("nested more than 24 deep"), "{message}");
        assert!(
            message.starts_with("the spec is wrong at $.g.child_experiments.g."),
            "{message}"
        );
        assert!(error(&nested(500)).contains("recursion limit"));
        assert!(Spec::parse(nested(20).as_bytes()).is_ok());
    }

    #[test]
    fn circles_of_names_and_formulas_are_found() {
        let names = r#"{"processors":{"a":"b","b":"a"},"g":{}}"#;
        assert!(error(names).contains("in a circle: a, b"));
        let formulas =
            r#"{"processors":{"p":{"file":"f.csv","figures":{"x":"y+1","y":"x"}}},"g":{}}"#;
        assert!(
            error(formulas)
                .contains("at $.processors.p.figures: these need each other in a circle: x, y")
        );
    }

    #[test]
    fn a_processor_nobody_wrote_gets_the_nearest_that_is_written() {
        let block = r#"{"file":"f.csv","figures":{}}"#;
        let named = |other: &str| {
            error(&format!(
                r#"{{"processors":{{"eval":{block},"evals":"{other}"}},"g":{{"extra_files_processor":"evals"}}}}"#
            ))
        };
        assert!(named("evla").ends_with("there is no processor `evla`; the nearest is eval"));
        assert!(named("quux").ends_with("there is no processor `quux`"));
    }

    #[test]
    fn a_processor_says_what_is_wrong_with_it() {
        let with = |block: &str| error(&format!(r#"{{"g":{{"extra_files_processor":{block}}}}}"#));
        assert!(with(r#"{"figures":{}}"#).contains("either a `file` or a `command`"));
        assert!(
            with(r#"{"file":"../x","figures":{}}"#).contains("does not lie in the run's folder")
        );
        assert!(with(r#"{"file":"/x","figures":{}}"#).contains("does not lie in the run's folder"));
        assert!(with(r#"{"file":"x","figures":{"total_power":"1"}}"#).contains("every run has"));
        assert!(
            with(r#"{"file":"x","figures":{"a":"total_powr"}}"#)
                .contains("; the nearest is total_power")
        );
        assert!(
            with(r#"{"file":"x","figures":{"a":"1+"}}"#)
                .contains("at $.g.extra_files_processor.figures.a: expected")
        );
        assert!(with(r#"{"fiel":"x","figures":{}}"#).contains("unknown field `fiel`"));
    }

    #[test]
    fn a_python_function_without_a_block_is_only_a_notice() {
        let spec =
            Spec::parse(br#"{"g":{"extra_files_processor":"pkg.mod.fn","odd":1,"_comment":2}}"#)
                .unwrap();
        assert_eq!(spec.notices.len(), 2);
        assert!(
            spec.notices
                .iter()
                .any(|notice| notice.contains("`pkg.mod.fn`"))
        );
        assert!(
            spec.notices
                .iter()
                .any(|notice| notice.contains("$.g.odd is not known"))
        );
    }

    #[test]
    fn a_block_is_found_under_the_name_an_old_spec_gives() {
        let text = br#"{"processors":{"pkg.fn":{"file":"e.csv","figures":{"R":"mean(r)","P":"R / total_power"}}},
            "g":{"extra_files_processor":"pkg.fn"},"h":{"extra_files_processor":"pkg.fn"}}"#;
        let spec = Spec::parse(text).unwrap();
        assert_eq!(spec.processors.len(), 1);
        assert_eq!(spec.groups[1].processor, Some(0));
    }
}
