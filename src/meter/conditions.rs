use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use super::sensor::kernel_file::line;
use super::sensor::{Processor, Roots};

/// More load than this share of the processors is that of other programs.
const MOST_LOAD: f64 = 0.1;
/// A machine has no more processors.
const MOST_FOLDERS: usize = 1 << 16;

/// The state of the machine that makes measurements differ from each other.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Conditions {
    /// The load average of the last minute, and the number of processors.
    load: Option<(f64, u32)>,
    /// The frequency governors of all processors.
    governors: BTreeSet<String>,
    /// Whether processors may exceed their nominal frequency.
    has_turbo: Option<bool>,
    /// How often processors were slowed down because they were too hot, since the boot.
    throttled: Option<u64>,
    /// Whether the machine runs on its battery.
    is_on_battery: bool,
}

/// What makes figures doubtful.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Disturbance {
    /// Other programs use the processors.
    Load {
        /// The load average of the last minute.
        average: f64,
        /// The number of processors.
        processors: u32,
    },
    /// The kernel changes the frequency by load.
    Governor(BTreeSet<String>),
    /// The frequency depends on the temperature.
    Turbo,
    /// Processors were slowed down because they were too hot, so often meanwhile.
    Throttled(u64),
    /// The firmware may limit the power on battery.
    Battery,
}

impl Conditions {
    /// Reads sysfs and procfs; what cannot be read is not known and makes no disturbance.
    #[must_use]
    pub fn of(roots: &Roots) -> Self {
        let load = line(&roots.proc("loadavg"))
            .and_then(|text| text.split(' ').next()?.parse().ok())
            .map(|average| (average, Processor::of(roots).threads));
        let processors = processor_folders(roots);
        let governors = processors
            .iter()
            .filter_map(|folder| line(&folder.join("cpufreq/scaling_governor")));
        let counts = processors.iter().filter_map(|folder| {
            let counts = ["core_throttle_count", "package_throttle_count"];
            let counts = counts.map(|name| number(&folder.join("thermal_throttle").join(name)));
            counts.into_iter().flatten().reduce(u64::saturating_add)
        });
        Self {
            load,
            governors: governors.collect(),
            has_turbo: turbo(roots),
            throttled: counts.reduce(u64::saturating_add),
            is_on_battery: is_on_battery(roots),
        }
    }

    /// What makes figures doubtful that are measured from now on.
    #[must_use]
    pub fn disturbances(&self) -> Vec<Disturbance> {
        let load = self.load.and_then(|(average, processors)| {
            let is_high = average > MOST_LOAD * f64::from(processors);
            is_high.then_some(Disturbance::Load {
                average,
                processors,
            })
        });
        let varying: BTreeSet<String> = self
            .governors
            .iter()
            .filter(|governor| *governor != "performance")
            .cloned()
            .collect();
        let governor = (!varying.is_empty()).then_some(Disturbance::Governor(varying));
        let turbo = (self.has_turbo == Some(true)).then_some(Disturbance::Turbo);
        let battery = self.is_on_battery.then_some(Disturbance::Battery);
        [load, governor, turbo, battery]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Whether processors were too hot since an earlier time.
    #[must_use]
    pub fn throttled_since(&self, earlier: &Self) -> Option<Disturbance> {
        let times = self.throttled?.saturating_sub(earlier.throttled?);
        (times > 0).then_some(Disturbance::Throttled(times))
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load {
                average,
                processors,
            } => write!(
                f,
                "other programs use the machine: load average {average} on {processors} processors"
            ),
            Self::Governor(governors) => {
                let names: Vec<&str> = governors.iter().map(String::as_str).collect();
                write!(
                    f,
                    "the frequency governor is {}; with `performance` the runs differ less",
                    names.join(" and ")
                )
            }
            Self::Turbo => f.write_str(
                "turbo frequencies are on, so time and power depend on the temperature and on the other cores",
            ),
            Self::Throttled(times) => write!(
                f,
                "processors were too hot and were slowed down; their counters of this rose by {times} meanwhile"
            ),
            Self::Battery => f.write_str("the machine runs on its battery, which can limit its power"),
        }
    }
}

fn processor_folders(roots: &Roots) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(roots.sys("devices/system/cpu"));
    let entries = entries.into_iter().flatten().flatten().take(MOST_FOLDERS);
    entries
        .filter(|entry| {
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("cpu"));
            number.is_some_and(|number| number.parse::<u32>().is_ok())
        })
        .map(|entry| entry.path())
        .collect()
}

/// Two drivers say it in files of their own, with opposite meanings.
fn turbo(roots: &Roots) -> Option<bool> {
    let is_off = number(&roots.sys("devices/system/cpu/intel_pstate/no_turbo")).map(|off| off == 0);
    is_off.or_else(|| number(&roots.sys("devices/system/cpu/cpufreq/boost")).map(|on| on != 0))
}

fn is_on_battery(roots: &Roots) -> bool {
    let supplies = std::fs::read_dir(roots.sys("class/power_supply"));
    let supplies = supplies.into_iter().flatten().flatten().take(MOST_FOLDERS);
    supplies.map(|supply| supply.path()).any(|supply| {
        let is = |file: &str, value: &str| line(&supply.join(file)).as_deref() == Some(value);
        is("type", "Battery") && is("status", "Discharging") && !is("scope", "Device")
    })
}

fn number(path: &Path) -> Option<u64> {
    line(path)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Machine(tempfile::TempDir, Roots);

    impl Machine {
        fn with(files: &[(&str, &str)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let roots = Roots {
                sysfs: folder.path().to_owned(),
                procfs: folder.path().to_owned(),
                ..Roots::default()
            };
            let machine = Self(folder, roots);
            for (path, text) in files {
                machine.write(path, text);
            }
            machine
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.0.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        fn disturbances(&self) -> Vec<String> {
            let disturbances = Conditions::of(&self.1).disturbances();
            disturbances.iter().map(ToString::to_string).collect()
        }
    }

    const ONLINE: (&str, &str) = ("devices/system/cpu/online", "0-3\n");

    #[test]
    fn load_that_is_not_ours_is_a_disturbance_and_a_little_is_not() {
        let busy = Machine::with(&[ONLINE, ("loadavg", "1.25 0.5 0.1 1/100 7\n")]);
        assert_eq!(
            busy.disturbances(),
            ["other programs use the machine: load average 1.25 on 4 processors"]
        );
        let quiet = Machine::with(&[ONLINE, ("loadavg", "0.39 2.0 2.0 1/100 7\n")]);
        assert_eq!(quiet.disturbances(), [""; 0]);
        assert_eq!(Machine::with(&[]).disturbances(), [""; 0]);
    }

    #[test]
    fn every_governor_but_performance_is_a_disturbance() {
        let governor =
            |number: u32| format!("devices/system/cpu/cpu{number}/cpufreq/scaling_governor");
        let machine = Machine::with(&[
            (&governor(0), "performance\n"),
            (&governor(1), "powersave\n"),
        ]);
        let disturbances = machine.disturbances();
        assert_eq!(disturbances.len(), 1, "{disturbances:?}");
        assert!(
            disturbances[0].contains("governor is powersave;"),
            "{disturbances:?}"
        );
        machine.write(&governor(1), "performance\n");
        assert_eq!(machine.disturbances(), [""; 0]);
    }

    #[test]
    fn turbo_is_read_from_either_driver() {
        let disturbances = |path, text| Machine::with(&[(path, text)]).disturbances().len();
        assert_eq!(
            disturbances("devices/system/cpu/intel_pstate/no_turbo", "0\n"),
            1
        );
        assert_eq!(
            disturbances("devices/system/cpu/intel_pstate/no_turbo", "1\n"),
            0
        );
        assert_eq!(disturbances("devices/system/cpu/cpufreq/boost", "1\n"), 1);
        assert_eq!(disturbances("devices/system/cpu/cpufreq/boost", "0\n"), 0);
        assert_eq!(
            disturbances("devices/system/cpu/cpufreq/boost", "nonsense\n"),
            0
        );
    }

    #[test]
    fn a_battery_is_a_disturbance_while_the_machine_runs_on_it() {
        let supply = |file: &str| format!("class/power_supply/BAT0/{file}");
        let machine = Machine::with(&[
            (&supply("type"), "Battery\n"),
            (&supply("status"), "Discharging\n"),
        ]);
        assert_eq!(machine.disturbances().len(), 1);
        machine.write(&supply("status"), "Full\n");
        assert_eq!(machine.disturbances().len(), 0);
    }

    #[test]
    fn only_throttling_in_the_meantime_is_a_disturbance() {
        let count = "devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
        let machine = Machine::with(&[(count, "7\n")]);
        let before = Conditions::of(&machine.1);
        assert_eq!(before.disturbances(), []);
        assert_eq!(Conditions::of(&machine.1).throttled_since(&before), None);
        machine.write(count, "9\n");
        let after = Conditions::of(&machine.1);
        assert_eq!(
            after.throttled_since(&before),
            Some(Disturbance::Throttled(2))
        );
    }
}
