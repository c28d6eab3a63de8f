use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use super::Group;
use crate::log::Record;
use crate::model::Info;

/// The hardware and software the groups ran on, and how it differs.
#[derive(Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Environment {
    /// CPU, GPUs, driver, operating system, kernel and Python.
    pub aspects: Vec<Aspect>,
    /// Python packages whose versions differ between groups, with the versions of each group.
    pub packages: BTreeMap<String, Vec<BTreeSet<String>>>,
}

/// One property that should be the same in all runs.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Aspect {
    /// What people call it.
    pub name: &'static str,
    /// The values that the runs of each group recorded; empty if they recorded none.
    pub groups: Vec<BTreeSet<String>>,
}

/// Finds one property in the info of a run.
type Reader = fn(&Info) -> Option<String>;

const ASPECTS: [(&str, Reader); 6] = [
    ("CPU", cpu),
    ("GPUs", gpus),
    ("GPU driver", |info| info.host.gpu_driver.clone()),
    ("operating system", |info| info.host.os.clone()),
    ("kernel", |info| info.host.kernel.clone()),
    ("Python", |info| info.python.as_ref()?.version.clone()),
];

impl Environment {
    /// Reads the info of every run; what cannot be read counts as not recorded.
    pub(super) fn of(groups: &[Group]) -> Self {
        let infos: Vec<Vec<Info>> = groups
            .iter()
            .map(|group| {
                group
                    .runs
                    .iter()
                    .filter_map(|(path, _)| info(path))
                    .collect()
            })
            .collect();
        let aspects = ASPECTS
            .into_iter()
            .map(|(name, read)| Aspect {
                name,
                groups: infos
                    .iter()
                    .map(|infos| infos.iter().filter_map(read).collect())
                    .collect(),
            })
            .collect();
        Self {
            aspects,
            packages: differing_packages(&infos),
        }
    }

    /// The properties that differ between or within groups.
    pub fn differing(&self) -> impl Iterator<Item = &Aspect> {
        self.aspects.iter().filter(|aspect| aspect.differs())
    }

    /// Whether everything that was recorded is the same in all runs.
    #[must_use]
    pub fn same(&self) -> bool {
        self.packages.is_empty() && self.differing().next().is_none()
    }

    /// The properties that some group did not record, so that a difference cannot be excluded.
    pub fn unknown(&self) -> impl Iterator<Item = &'static str> {
        self.aspects
            .iter()
            .filter(|aspect| aspect.groups.iter().any(BTreeSet::is_empty))
            .map(|aspect| aspect.name)
    }
}

impl Aspect {
    fn differs(&self) -> bool {
        let all: BTreeSet<&String> = self.groups.iter().flatten().collect();
        all.len() > 1
    }
}

fn info(run: &Path) -> Option<Info> {
    Record::open(run).ok().map(|record| record.info)
}

fn cpu(info: &Info) -> Option<String> {
    let cpu = info.host.cpu.as_ref()?;
    Some(match cpu.threads {
        Some(threads) => format!("{}, {threads} threads", cpu.brand),
        None => cpu.brand.clone(),
    })
}

fn gpus(info: &Info) -> Option<String> {
    if info.host.gpus.is_empty() {
        return None;
    }
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for gpu in &info.host.gpus {
        *names.entry(&gpu.name).or_default() += 1;
    }
    let names: Vec<String> = names
        .into_iter()
        .map(|(name, count)| format!("{count} x {name}"))
        .collect();
    Some(names.join(", "))
}

fn differing_packages(groups: &[Vec<Info>]) -> BTreeMap<String, Vec<BTreeSet<String>>> {
    let mut versions: BTreeMap<String, Vec<BTreeSet<String>>> = BTreeMap::new();
    for (group, infos) in groups.iter().enumerate() {
        for python in infos.iter().filter_map(|info| info.python.as_ref()) {
            for (name, version) in &python.packages {
                let known = versions
                    .entry(name.clone())
                    .or_insert_with(|| vec![BTreeSet::new(); groups.len()]);
                known[group].insert(version.clone());
            }
        }
    }
    versions.retain(|_, groups| {
        let all: BTreeSet<&String> = groups.iter().flatten().collect();
        all.len() > 1
    });
    versions
}
