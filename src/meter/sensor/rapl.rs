//! RAPL through powercap: one energy counter per domain, under `class/powercap`.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::kernel_file::line;
use super::mirrored_dies::{self, Relation};
use super::{KernelFile, PowerSource, ReadError, Reading, Roots, Sensor, Wraps};
use crate::model::{Component, CpuSocket, Method};

/// A powercap zone with an energy counter, readable or not.
#[derive(Debug)]
pub(crate) struct Domain {
    pub(crate) component: Component,
    pub(crate) path: PathBuf,
    /// The open counter and its first reading.
    pub(crate) counter: io::Result<(Counter, Reading)>,
    /// Another zone meters the same hardware; this one is shown but not counted.
    pub(crate) twin_of: Option<PathBuf>,
    /// The die of the same socket whose counter this domain shows.
    pub(crate) mirrors: Option<Component>,
}

/// An open energy counter.
#[derive(Debug)]
pub(crate) struct Counter {
    file: KernelFile,
    wraps: Wraps,
}

/// Every domain of the machine, in the order of its zones.
pub(crate) fn domains(roots: &Roots) -> Vec<Domain> {
    let zones = zones(&roots.sys("class/powercap"));
    let mut found: Vec<Domain> = Vec::new();
    // `intel-rapl-mmio` exposes the same counters a second time; it is used only as a replacement.
    let mut in_order: Vec<_> = zones.iter().collect();
    in_order.sort_by_key(|(zone, _)| zone.contains("-mmio"));
    for (zone, path) in in_order {
        let component = component(zone, &zones);
        let twin = found
            .iter()
            .find(|other| other.component == component && other.twin_of.is_none());
        let counter = Counter::open(path);
        let replaces = twin.is_some_and(|twin| twin.counter.is_err()) && counter.is_ok();
        let mut domain = Domain {
            component,
            path: path.clone(),
            counter,
            twin_of: None,
            mirrors: None,
        };
        if replaces {
            for other in &mut found {
                if other.component == domain.component {
                    other.twin_of = Some(path.clone());
                }
            }
        } else {
            domain.twin_of = twin.map(|twin| twin.path.clone());
        }
        found.push(domain);
    }
    find_mirrors(roots, &mut found);
    found
}

/// Marks dies that show the counter of another die of their socket.
fn find_mirrors(roots: &Roots, domains: &mut [Domain]) {
    let components: Vec<Component> = domains.iter().map(|d| d.component.clone()).collect();
    let first: Vec<Option<u64>> = domains.iter().map(Domain::first).collect();
    let mirrors = mirrored_dies::find(roots, &components, |a, b| match (first[a], first[b]) {
        (Some(a), Some(b)) => mirrored_dies::since_boot(a, b),
        _ => Relation::Separate,
    });
    for (index, mirror) in mirrors.into_iter().enumerate() {
        if let Some((original, _)) = mirror {
            domains[index].twin_of = Some(domains[original].path.clone());
            domains[index].mirrors = Some(components[original].clone());
        }
    }
}

impl Domain {
    /// The counter's value when it was found; none of a twin.
    fn first(&self) -> Option<u64> {
        match &self.counter {
            _ if self.twin_of.is_some() => None,
            Ok((_, Reading::Counter { microjoules, .. })) => Some(*microjoules),
            _ => None,
        }
    }

    /// The sensor of a readable domain that is not a twin.
    pub(crate) fn into_sensor(self) -> Option<Sensor> {
        if self.twin_of.is_some() {
            return None;
        }
        let (counter, first) = self.counter.ok()?;
        Some(Sensor {
            component: self.component,
            method: Method::Measured,
            place: self.path.join("energy_uj").display().to_string(),
            first,
            source: Box::new(counter),
        })
    }
}

impl Counter {
    /// Opens the counter of a zone and reads it once.
    fn open(zone: &Path) -> io::Result<(Self, Reading)> {
        let file = KernelFile::open(&zone.join("energy_uj"))?;
        let range = line(&zone.join("max_energy_range_uj"))
            .and_then(|text| text.parse().ok())
            .filter(|range| *range > 0);
        let wraps = range.map_or(Wraps::Unstated, Wraps::After);
        let mut counter = Self { file, wraps };
        let first = counter.read().map_err(io::Error::other)?;
        Ok((counter, first))
    }
}

impl PowerSource for Counter {
    fn read(&mut self) -> Result<Reading, ReadError> {
        let wraps = self.wraps;
        match (self.file.number(), wraps) {
            (Ok(microjoules), Wraps::After(range)) if microjoules > range => {
                let why = format!("it shows {microjoules} uJ, more than its range of {range} uJ");
                Err(ReadError::Again(why))
            }
            (Ok(microjoules), _) => Ok(Reading::Counter { microjoules, wraps }),
            (Err(error), _) => Err(match error.kind() {
                ErrorKind::InvalidData | ErrorKind::Interrupted => {
                    ReadError::Again(error.to_string())
                }
                _ => ReadError::Lost(error.to_string()),
            }),
        }
    }
}

/// The zones by name; they are links in the class folder or nested in one another.
fn zones(class: &Path) -> BTreeMap<String, PathBuf> {
    let mut zones = BTreeMap::new();
    let mut folders = vec![class.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_zone = name.contains(':') && entry.path().join("energy_uj").exists();
            if is_zone && !zones.contains_key(&name) {
                folders.push(entry.path());
                zones.insert(name, entry.path());
            }
        }
    }
    zones
}

/// What a zone meters, by its own name and its parent's.
fn component(zone: &str, zones: &BTreeMap<String, PathBuf>) -> Component {
    // A zone without a name is reported under its number.
    let name = line(&zones[zone].join("name")).unwrap_or_else(|| zone.to_owned());
    if let Some(package) = name.strip_prefix("package-") {
        return match package.parse() {
            Ok(unit) => Component::Package(unit),
            Err(_) => Component::Other(name),
        };
    }
    let parent = zone
        .rsplit_once(':')
        .and_then(|(parent, _)| zones.get(parent))
        .and_then(|parent| line(&parent.join("name")))
        .and_then(|name| name.strip_prefix("package-")?.parse::<CpuSocket>().ok());
    match (name.as_str(), parent) {
        ("psys", _) => Component::Psys,
        ("core", Some(unit)) => Component::Core(unit),
        ("uncore", Some(unit)) => Component::Uncore(unit),
        ("dram", Some(unit)) => Component::Dram(unit),
        (_, Some(unit)) => Component::Other(format!("{name}-{unit}")),
        (_, None) => Component::Other(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn tree(zones: &[(&str, &str, &str)]) -> (tempfile::TempDir, Roots) {
        let folder = tempfile::tempdir().unwrap();
        for (zone, name, energy) in zones {
            let path = folder.path().join("class/powercap").join(zone);
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("name"), format!("{name}\n")).unwrap();
            fs::write(path.join("energy_uj"), format!("{energy}\n")).unwrap();
        }
        let roots = Roots {
            sysfs: folder.path().to_owned(),
            ..Roots::default()
        };
        (folder, roots)
    }

    fn counted(roots: &Roots) -> Vec<String> {
        domains(roots)
            .into_iter()
            .filter_map(Domain::into_sensor)
            .map(|sensor| sensor.component.to_string())
            .collect()
    }

    #[test]
    fn sockets_dies_and_their_parts_are_named_as_found() {
        let (_folder, roots) = tree(&[
            ("intel-rapl:0", "package-0-die-0", "1"),
            ("intel-rapl:0:0", "core", "1"),
            ("intel-rapl:0:1", "dram", "1"),
            ("intel-rapl:1", "package-0-die-1", "2"),
            ("intel-rapl:1:0", "uncore", "1"),
            ("intel-rapl:2", "psys", "1"),
            ("intel-rapl:3", "npu", "1"),
        ]);
        assert_eq!(
            counted(&roots),
            [
                "package-0-die-0",
                "core-0-die-0",
                "dram-0-die-0",
                "package-0-die-1",
                "uncore-0-die-1",
                "psys",
                "other:npu"
            ]
        );
    }

    #[test]
    fn two_dies_that_show_one_counter_are_counted_once() {
        let (folder, mut roots) = tree(&[
            ("intel-rapl:0", "package-0-die-0", "51700000000"),
            ("intel-rapl:1", "package-0-die-1", "51700900000"),
            ("intel-rapl:2", "package-1-die-0", "51700900000"),
        ]);
        fs::write(folder.path().join("cpuinfo"), "vendor_id : AuthenticAMD\n").unwrap();
        roots.procfs = folder.path().to_owned();
        assert_eq!(counted(&roots), ["package-0-die-0", "package-1-die-0"]);
        fs::write(folder.path().join("cpuinfo"), "vendor_id : GenuineIntel\n").unwrap();
        assert_eq!(counted(&roots).len(), 3);
    }

    #[test]
    fn the_mmio_twin_of_a_package_is_not_counted_twice() {
        let (_folder, roots) = tree(&[
            ("intel-rapl:0", "package-0", "1"),
            ("intel-rapl-mmio:0", "package-0", "1"),
        ]);
        assert_eq!(counted(&roots), ["package-0"]);
        let domains = domains(&roots);
        let twin = domains.iter().find(|domain| domain.twin_of.is_some());
        assert!(twin.unwrap().path.ends_with("intel-rapl-mmio:0"));
        assert_eq!(domains.len(), 2);
    }

    #[test]
    fn the_mmio_twin_stands_in_for_a_package_that_cannot_be_read() {
        let (_folder, roots) = tree(&[
            ("intel-rapl:0", "package-0", "not a number"),
            ("intel-rapl-mmio:0", "package-0", "7"),
        ]);
        assert_eq!(counted(&roots), ["package-0"]);
    }

    #[test]
    fn a_counter_beyond_its_range_is_no_meter() {
        let (folder, roots) = tree(&[("intel-rapl:0", "package-0", "200")]);
        let range = "class/powercap/intel-rapl:0/max_energy_range_uj";
        fs::write(folder.path().join(range), "100\n").unwrap();
        assert!(counted(&roots).is_empty());
        assert!(domains(&roots)[0].counter.is_err());
    }

    #[test]
    fn a_zone_without_a_name_is_reported_all_the_same() {
        let (_folder, roots) = tree(&[("intel-rapl:0", "", "1")]);
        assert_eq!(counted(&roots), ["other:intel-rapl:0"]);
    }

    #[test]
    fn zones_are_found_where_they_are_only_nested() {
        let (_folder, roots) = tree(&[
            ("intel-rapl:0", "package-0", "1"),
            ("intel-rapl:0/intel-rapl:0:0", "dram", "1"),
        ]);
        assert_eq!(counted(&roots), ["package-0", "dram-0"]);
    }
}
