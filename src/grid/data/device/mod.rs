//! Processors and accelerators of the tables, found by the names that drivers and people use.
//!
//! The look-up is here, beside the tables, because both halves of the program need it: sensors, to
//! estimate what they cannot measure, and the ledger, to estimate a job before it is run.

mod name;

use std::collections::BTreeSet;

use name::Name;

use super::Table;
use crate::text::nearest;
use crate::units::Watts;

/// A processor or accelerator and its thermal design power.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Device {
    /// As the table has it.
    pub name: String,
    /// Thermal design power.
    pub watts: Watts,
}

/// Which table a device is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Processors.
    Cpu,
    /// Accelerators, also those that cannot draw a picture.
    Gpu,
}

/// What a name means.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Match {
    /// One device, or several of the same model and power.
    One(Device),
    /// Devices that differ; the name must say more.
    Several(Vec<String>),
    /// No device of the table.
    Unknown,
}

/// A name that does not mean exactly one device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotOneDevice {
    /// No device of the table.
    #[error("no {kind} is called `{}`{}", .asked.escape_debug(), nearest::said(.nearest))]
    Unknown {
        /// CPU or GPU.
        kind: &'static str,
        /// The name.
        asked: String,
        /// Names of the table that look like it.
        nearest: Vec<String>,
    },
    /// Devices that differ.
    #[error("`{}` does not name one {kind}: it may mean {}", .asked.escape_debug(), .candidates.join(", "))]
    Several {
        /// CPU or GPU.
        kind: &'static str,
        /// The name.
        asked: String,
        /// The first of the devices it may mean.
        candidates: Vec<String>,
    },
}

/// Devices named where a name may mean several.
const MOST_CANDIDATES: usize = 10;

/// A row of one of the tables.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Row {
    label: &'static str,
    watts: Watts,
    maker: Option<&'static str>,
    /// Of an accelerator.
    memory_gb: Option<&'static str>,
}

impl Row {
    /// `name,tdp_w,cores` of processors, `name,vendor,tdp_w,memory_gb,year` of accelerators.
    fn parse(kind: Kind, line: &'static str) -> Option<Self> {
        let (label, cells) = match line.strip_prefix('"') {
            Some(quoted) => quoted.split_once("\",")?,
            None => line.split_once(',')?,
        };
        let mut cells = cells.split(',');
        let maker = match kind {
            Kind::Cpu => None,
            Kind::Gpu => name::maker(cells.next()?),
        };
        Some(Self {
            label,
            watts: cells.next()?.parse().ok()?,
            maker,
            memory_gb: cells.next().filter(|_| kind == Kind::Gpu),
        })
    }

    fn device(&self) -> Device {
        Device {
            name: self.label.to_owned(),
            watts: self.watts,
        }
    }

    fn name(&self, kind: Kind) -> Name {
        let mut name = Name::parse(kind, self.label);
        name.maker = self.maker.or(name.maker);
        name
    }
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Gpu => "GPU",
        }
    }

    fn table(self) -> &'static Table {
        match self {
            Self::Cpu => &super::CPU_TDP,
            Self::Gpu => &super::GPU_TDP,
        }
    }

    /// The rows of the lines with a text in them, in upper or lower case.
    fn rows(self, text: String) -> impl Iterator<Item = Row> {
        let lines = self.table().text().lines().skip(1);
        lines
            .filter(move |line| {
                text.is_empty()
                    || line
                        .as_bytes()
                        .windows(text.len())
                        .any(|part| part.eq_ignore_ascii_case(text.as_bytes()))
            })
            .filter_map(move |line| Row::parse(self, line))
    }

    /// Every device, in the order of the table.
    pub fn all(self) -> impl Iterator<Item = Device> {
        self.rows(String::new()).map(|row| row.device())
    }

    /// Where the figures are from.
    #[must_use]
    pub fn source(self) -> String {
        let about = &self.table().provenance;
        format!("{} {}", about.source, about.version)
    }

    /// What a name means.
    ///
    /// The model must be exactly the same: an RTX 5060 Ti is no RTX 5060. Makers, families,
    /// form factors and memory sizes may be left out as long as the power does not depend on them.
    pub fn find(self, name: &str) -> Match {
        let label = name.trim();
        let mut spelled_alike = self.rows(label.to_owned()).filter(|row| row.label == label);
        if let Some(row) = spelled_alike.next() {
            return Match::One(row.device());
        }
        let asked = Name::parse(self, &nearest::short(name));
        match self.of_model(&asked) {
            Match::Unknown if asked.is_empty() => Match::Unknown,
            Match::Unknown => {
                let rows = self.rows_like(&asked);
                let wider = rows.filter(|(_, name)| asked.is_part_of(name));
                let wider: Vec<Row> = wider.map(|(row, _)| row).take(MOST_CANDIDATES).collect();
                match wider.as_slice() {
                    [] => Match::Unknown,
                    some => Match::Several(labels(some)),
                }
            }
            found => found,
        }
    }

    /// The device that a name means, if it is only one; faster than [`find`](Self::find).
    #[must_use]
    pub fn find_one(self, name: &str) -> Option<Device> {
        match self.of_model(&Name::parse(self, &nearest::short(name))) {
            Match::One(device) => Some(device),
            _ => None,
        }
    }

    fn of_model(self, asked: &Name) -> Match {
        let rows = self.rows_of(asked);
        match rows.as_slice() {
            [] => Match::Unknown,
            [first, others @ ..] if others.iter().all(|row| row.watts == first.watts) => {
                Match::One(Device {
                    name: shared_name(self, &rows),
                    watts: first.watts,
                })
            }
            several => Match::Several(labels(several)),
        }
    }

    /// The device that a name means, or why it does not mean exactly one.
    pub fn get(self, name: &str) -> Result<Device, NotOneDevice> {
        let (kind, asked) = (self.word(), nearest::short(name));
        match self.find(name) {
            Match::One(device) => Ok(device),
            Match::Several(candidates) => Err(NotOneDevice::Several {
                kind,
                asked,
                candidates,
            }),
            Match::Unknown => Err(NotOneDevice::Unknown {
                kind,
                nearest: self.nearest(&asked),
                asked,
            }),
        }
    }

    /// The devices of one model that a name means: several where their power depends on what it does not say.
    ///
    /// # Errors
    ///
    /// If the name means no device, or devices of several models.
    pub fn of_one_model(self, name: &str) -> Result<Vec<Device>, NotOneDevice> {
        let error = match self.get(name) {
            Ok(device) => return Ok(vec![device]),
            Err(error) => error,
        };
        let mut devices: Vec<Device> = Vec::new();
        for row in self.rows_of(&Name::parse(self, &nearest::short(name))) {
            if !devices.iter().any(|device| device.name == row.label) {
                devices.push(row.device());
            }
        }
        if devices.is_empty() || devices.len() > MOST_CANDIDATES {
            return Err(error);
        }
        Ok(devices)
    }

    /// Whether a device is among those that the wanted name means.
    #[must_use]
    pub fn includes(self, wanted: &str, device: &str) -> bool {
        let rows = |name: &str| self.rows_of(&Name::parse(self, &nearest::short(name)));
        let (wanted, found) = (rows(wanted), rows(device));
        !found.is_empty() && found.iter().all(|row| wanted.contains(row))
    }

    /// The rows of the model asked for; only those that are spelled alike if there are any.
    fn rows_of(self, asked: &Name) -> Vec<Row> {
        if asked.model.is_empty() {
            return Vec::new();
        }
        let rows: Vec<(Row, Name)> = self
            .rows_like(asked)
            .filter(|(row, name)| {
                let mut known = name.clone();
                // The size of the memory may be said although the name of the row does not say it.
                known
                    .details
                    .extend(row.memory_gb.map(|gb| format!("{gb}gb")));
                asked.has_model_of(name) && asked.agrees_with(&known)
            })
            .collect();
        let alike = |(_, name): &&(Row, Name)| name.details == asked.details;
        let exact: Vec<Row> = rows.iter().filter(alike).map(|(row, _)| *row).collect();
        if exact.is_empty() {
            rows.into_iter().map(|(row, _)| row).collect()
        } else {
            exact
        }
    }

    /// The rows that share a part of their name with this one: thousands of others are not parsed.
    fn rows_like(self, asked: &Name) -> impl Iterator<Item = (Row, Name)> {
        let part = asked.part().to_owned();
        self.rows(part).map(move |row| (row, row.name(self)))
    }

    fn nearest(self, asked: &str) -> Vec<String> {
        let known = self.rows(String::new()).map(|row| {
            let spelling = name::words(self, row.label).join(" ");
            (row.label.to_owned(), [spelling])
        });
        nearest::among(&name::words(self, asked).join(" "), known)
    }
}

fn labels(rows: &[Row]) -> Vec<String> {
    let labels: BTreeSet<&str> = rows.iter().map(|row| row.label).collect();
    let labels = labels.into_iter().take(MOST_CANDIDATES);
    labels.map(str::to_owned).collect()
}

/// The words that the names of all rows begin with, if they name the model: only the memory differs.
fn shared_name(kind: Kind, rows: &[Row]) -> String {
    let label = rows[0].label;
    let first: Vec<&str> = label.split(' ').collect();
    let shared = rows.iter().fold(first.len(), |shared, row| {
        let same = first.iter().zip(row.label.split(' '));
        shared.min(same.take_while(|(a, b)| *a == b).count())
    });
    let shared = first[..shared].join(" ");
    if Name::parse(kind, &shared).has_model_of(&Name::parse(kind, label)) {
        shared
    } else {
        label.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a name means, as `NAME WATTS`, `?` for several and `-` for none.
    fn told(kind: Kind, name: &str) -> String {
        match kind.find(name) {
            Match::One(device) => format!("{} {} W", device.name, device.watts.get()),
            Match::Several(_) => "?".to_owned(),
            Match::Unknown => "-".to_owned(),
        }
    }

    #[test]
    fn accelerators_are_found_by_the_names_of_drivers_and_people() {
        for (name, wanted) in [
            ("NVIDIA H100 80GB HBM3", "H100 SXM5 80 GB 700 W"),
            ("NVIDIA H100 PCIe", "H100 PCIe 80 GB 350 W"),
            ("NVIDIA H100 NVL", "H100 NVL 94 GB 400 W"),
            ("NVIDIA H200", "H200 700 W"),
            ("NVIDIA GH200 480GB", "GH200 480GB 900 W"),
            ("NVIDIA A40", "A40 PCIe 300 W"),
            ("Tesla V100-SXM3-32GB", "Tesla V100 SXM3 32 GB 350 W"),
            (
                "NVIDIA RTX PRO 6000 Blackwell Server Edition",
                "RTX PRO 6000 Blackwell Server Edition 600 W",
            ),
            ("Gaudi2", "Gaudi 2 600 W"),
            ("Google TPU v5e", "TPU v5e 140 W"),
            ("AWS Trainium2", "AWS Trainium2 500 W"),
            (
                "NVIDIA GeForce RTX 4090 Laptop GPU",
                "GeForce RTX 4090 Mobile 120 W",
            ),
            ("NVIDIA A100-SXM4-40GB", "A100 SXM4 40 GB 400 W"),
            ("NVIDIA A100 80GB PCIe", "A100 PCIe 80 GB 300 W"),
            ("a100 sxm4 80 gb", "A100 SXM4 80 GB 400 W"),
            ("A100 SXM4", "A100 SXM4 400 W"),
            ("A100", "?"),
            ("A100 80GB", "?"),
            ("NVIDIA A10", "A10 PCIe 150 W"),
            ("NVIDIA A10G", "A10G 150 W"),
            ("NVIDIA L40S", "L40S 350 W"),
            ("Tesla V100-SXM2-16GB", "Tesla V100 SXM2 16 GB 300 W"),
            ("v100", "?"),
            ("Tesla T4", "Tesla T4 70 W"),
            ("NVIDIA TITAN V", "TITAN V 250 W"),
            ("NVIDIA GeForce RTX 3090", "GeForce RTX 3090 350 W"),
            ("rtx3090", "GeForce RTX 3090 350 W"),
            ("3090 24GB", "GeForce RTX 3090 350 W"),
            ("3090 16GB", "-"),
            ("1080ti", "GeForce GTX 1080 Ti 250 W"),
            ("RTX 5060 Ti", "GeForce RTX 5060 Ti 180 W"),
            ("RTX 5060", "GeForce RTX 5060 145 W"),
            ("RTX 4060 Ti", "?"),
            ("RTX 5065", "-"),
            (
                "NVIDIA GeForce RTX 3080 Laptop GPU",
                "GeForce RTX 3080 Mobile 115 W",
            ),
            (
                "NVIDIA GeForce RTX 2080 with Max-Q Design",
                "GeForce RTX 2080 Max-Q 80 W",
            ),
            (
                "NVIDIA RTX 6000 Ada Generation",
                "RTX 6000 Ada Generation 300 W",
            ),
            ("Quadro RTX 6000", "Quadro RTX 6000 260 W"),
            ("AMD Instinct MI250X", "Radeon Instinct MI250X 500 W"),
            ("AMD Radeon RX 7900 XTX", "Radeon RX 7900 XTX 355 W"),
            ("NVIDIA Radeon RX 7900 XTX", "-"),
            ("AMD Radeon Graphics", "?"),
            ("Acme Graphics 610", "-"),
            ("", "-"),
        ] {
            assert_eq!(told(Kind::Gpu, name), wanted, "{name}");
        }
    }

    #[test]
    fn processors_are_found_by_the_names_of_drivers_and_people() {
        for (name, wanted) in [
            ("AMD EPYC 7763 64-Core Processor", "AMD EPYC 7763 280 W"),
            ("EPYC 7763", "AMD EPYC 7763 280 W"),
            ("AMD EPYC 9R14", "AMD EPYC 9R14 360 W"),
            (
                "Intel(R) Xeon(R) Platinum 8488C",
                "Intel Xeon Platinum 8488C 350 W",
            ),
            (
                "12th Gen Intel(R) Core(TM) i9-12900K",
                "Intel Core i9-12900K 125 W",
            ),
            (
                "Ampere(R) Altra(R) Processor Q80-33",
                "Ampere Altra Q80-33 250 W",
            ),
            ("A64FX", "A64FX 154 W"),
            ("7763", "AMD EPYC 7763 280 W"),
            ("Intel EPYC 7763", "-"),
            (
                "12th Gen Intel(R) Core(TM) i7-1260P",
                "Intel Core i7-1260P 28 W",
            ),
            ("i7-1260P", "Intel Core i7-1260P 28 W"),
            (
                "Intel(R) Xeon(R) CPU E5-2630 v4 @ 2.20GHz",
                "Intel Xeon E5-2630 v4 85 W",
            ),
            ("Xeon E5-2630v4", "Intel Xeon E5-2630 v4 85 W"),
            ("Intel(R) Xeon(R) CPU E5-2630 v9 @ 2.20GHz", "-"),
            (
                "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz",
                "Intel Xeon Gold 6148 150 W",
            ),
            ("Xeon 6148", "?"),
            ("Intel Xeon", "?"),
            ("Intel(R) Xeon(R) CPU @ 2.20GHz", "?"),
            (
                "AMD Ryzen 9 5950X 16-Core Processor",
                "AMD Ryzen 9 5950X 105 W",
            ),
            (
                "AMD Ryzen Threadripper PRO 3975WX 32-Cores",
                "AMD Ryzen Threadripper PRO 3975WX 280 W",
            ),
            (
                "AMD Ryzen 5 5600G with Radeon Graphics",
                "AMD Ryzen 5 5600G 65 W",
            ),
            ("with Radeon Graphics", "-"),
            (
                "AMD FX(tm)-8350 Eight-Core Processor",
                "AMD FX-8350 Eight-Core 125 W",
            ),
            (
                "Intel(R) Core(TM)2 Duo CPU     E8400  @ 3.00GHz",
                "Intel Core 2 Duo E8400 65 W",
            ),
            ("Apple M1 Pro", "Apple M1 Pro 30 W"),
            ("QEMU Virtual CPU version 2.5+", "-"),
            ("Quantum Abacus", "-"),
        ] {
            assert_eq!(told(Kind::Cpu, name), wanted, "{name}");
        }
    }

    #[test]
    fn every_row_is_found_by_its_own_name() {
        for kind in [Kind::Cpu, Kind::Gpu] {
            // Every row against every row would take a minute.
            for device in kind.all().step_by(10) {
                match kind.find(&device.name) {
                    Match::One(found) => {
                        assert_eq!(
                            found.watts, device.watts,
                            "{} as {}",
                            device.name, found.name
                        );
                    }
                    Match::Several(names) => {
                        assert!(names.contains(&device.name), "{}", device.name);
                    }
                    Match::Unknown => panic!("{} is unknown", device.name),
                }
            }
        }
    }

    #[test]
    fn a_wanted_name_includes_the_devices_it_stands_for() {
        assert!(Kind::Gpu.includes("TITAN V", "NVIDIA TITAN V"));
        assert!(Kind::Gpu.includes("A100", "NVIDIA A100-SXM4-80GB"));
        assert!(!Kind::Gpu.includes("A100 PCIe", "NVIDIA A100-SXM4-80GB"));
        assert!(!Kind::Gpu.includes("RTX 5060", "NVIDIA GeForce RTX 5060 Ti"));
        assert!(!Kind::Gpu.includes("Abacus", "Abacus"));
    }

    #[test]
    fn a_model_has_all_its_devices() {
        let watts = |kind: Kind, name: &str| -> Option<Vec<f64>> {
            let devices = kind.of_one_model(name).ok()?;
            Some(devices.iter().map(|device| device.watts.get()).collect())
        };
        assert_eq!(
            watts(Kind::Gpu, "A100"),
            Some(vec![250.0, 300.0, 400.0, 400.0])
        );
        assert_eq!(watts(Kind::Gpu, "A100 SXM4"), Some(vec![400.0]));
        assert_eq!(watts(Kind::Cpu, "Intel Xeon"), None);
        assert_eq!(watts(Kind::Gpu, "Abacus"), None);
    }

    #[test]
    fn an_unknown_name_suggests_the_nearest() {
        let error = Kind::Gpu.get("A100 SXN4 80GB").unwrap_err();
        assert!(error.to_string().contains("A100 SXM4 80 GB"), "{error}");
    }
}
