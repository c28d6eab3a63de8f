//! RAPL through the kernel's `power` performance-monitoring unit, used where powercap is not readable.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::FromRawFd;
use std::path::Path;

use super::kernel_file::line;
use super::mirrored_dies::{self, Relation};
use super::{PowerSource, ReadError, Reading, Roots, Sensor, cpu_list};
use crate::model::{Component, CpuSocket, Method};

/// An event's name and the component that it meters.
type Metered = (&'static str, fn(CpuSocket) -> Component);

/// The unit's energy events.
const EVENTS: [Metered; 5] = [
    ("energy-pkg", Component::Package),
    ("energy-cores", Component::Core),
    ("energy-gpu", Component::Uncore),
    ("energy-ram", Component::Dram),
    ("energy-psys", |_| Component::Psys),
];

/// An event as sysfs describes it.
#[derive(Debug, Clone, PartialEq)]
struct Event {
    unit_type: u32,
    config: u64,
    joules_per_count: f64,
    cpu: u32,
}

/// A running energy event.
#[derive(Debug)]
struct Counting {
    file: File,
    joules_per_count: f64,
}

/// Opens every event that can be opened, with notes about dies; if none can, the error is that of the first one.
pub(crate) fn sensors(roots: &Roots) -> Result<(Vec<Sensor>, Vec<String>), io::Error> {
    let folder = roots.sys("bus/event_source/devices/power");
    let mut sensors: Vec<Sensor> = Vec::new();
    let mut refusal = None;
    for (cpu, unit) in units(roots, &line(&folder.join("cpumask")).unwrap_or_default()) {
        for (name, component) in EVENTS {
            let Some(event) = describe(&folder, name, cpu) else {
                continue;
            };
            let component = component(unit);
            if sensors.iter().any(|sensor| sensor.component == component) {
                continue;
            }
            match open(&event) {
                Ok((counting, first)) => sensors.push(Sensor {
                    component,
                    method: Method::Measured,
                    place: format!("perf event power/{name}/ on cpu {cpu}"),
                    first,
                    source: Box::new(counting),
                }),
                Err(error) => {
                    refusal.get_or_insert(error);
                }
            }
        }
    }
    match refusal {
        Some(error) if sensors.is_empty() => Err(error),
        _ => Ok(without_mirrors(roots, sensors)),
    }
}

/// The sensors without dies that show the counter of another die, and what is to be noted about them.
fn without_mirrors(roots: &Roots, mut sensors: Vec<Sensor>) -> (Vec<Sensor>, Vec<String>) {
    let components: Vec<Component> = sensors.iter().map(|s| s.component.clone()).collect();
    let mirrors = mirrored_dies::find(roots, &components, |earlier, later| {
        let (before, rest) = sensors.split_at_mut(later);
        mirrored_dies::since_opened(before[earlier].source.as_mut(), rest[0].source.as_mut())
    });
    let mut notes = Vec::new();
    let mut kept = Vec::new();
    for (sensor, mirror) in sensors.into_iter().zip(mirrors) {
        let die = &sensor.component;
        match mirror {
            Some((original, Relation::One)) => {
                notes.push(mirrored_dies::note(die, &components[original]));
                continue;
            }
            Some((original, _)) => {
                let original = &components[original];
                notes.push(format!(
                    "{die} is added to {original}, but neither moved at the start, so they may be one counter"
                ));
            }
            None => {}
        }
        kept.push(sensor);
    }
    (kept, notes)
}

fn describe(folder: &Path, name: &str, cpu: u32) -> Option<Event> {
    let config = line(&folder.join("events").join(name))?;
    Some(Event {
        unit_type: line(&folder.join("type"))?.parse().ok()?,
        config: u64::from_str_radix(config.strip_prefix("event=0x")?, 16).ok()?,
        joules_per_count: line(&folder.join("events").join(format!("{name}.scale")))?
            .parse()
            .ok()?,
        cpu,
    })
}

/// The CPUs of a mask, which names one CPU of each die, with the socket and die metered there.
fn units(roots: &Roots, mask: &str) -> Vec<(u32, CpuSocket)> {
    let number = |cpu: u32, file: &str| -> Option<u16> {
        let topology = roots.sys(&format!("devices/system/cpu/cpu{cpu}/topology"));
        line(&topology.join(file))?.parse().ok()
    };
    let cpus: Vec<u32> = cpu_list::numbers(mask).collect();
    let socket = |cpu: u32| number(cpu, "physical_package_id").unwrap_or(0);
    cpus.iter()
        .map(|cpu| {
            let on_socket = cpus.iter().filter(|other| socket(**other) == socket(*cpu));
            let has_several_dies = on_socket.count() > 1;
            let die = number(*cpu, "die_id").filter(|_| has_several_dies);
            let socket = socket(*cpu);
            (*cpu, CpuSocket { socket, die })
        })
        .collect()
}

/// Opens an event and reads it once.
fn open(event: &Event) -> io::Result<(Counting, Reading)> {
    const FD_CLOEXEC: libc::c_ulong = 8;
    /// The first published form of the kernel's `perf_event_attr`.
    #[repr(C)]
    #[derive(Default)]
    struct Attributes {
        unit_type: u32,
        size: u32,
        config: u64,
        rest: [u64; 6],
    }
    let attributes = Attributes {
        unit_type: event.unit_type,
        size: size_of::<Attributes>() as u32,
        config: event.config,
        ..Attributes::default()
    };
    // SAFETY: the kernel reads `size` bytes of a structure that lives until the call returns.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            -1,
            event.cpu,
            -1,
            FD_CLOEXEC,
        )
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just returned this descriptor, and nothing else owns it.
    let file = unsafe { File::from_raw_fd(fd as i32) };
    let mut counting = Counting {
        file,
        joules_per_count: event.joules_per_count,
    };
    let first = counting.read().map_err(io::Error::other)?;
    Ok((counting, first))
}

impl PowerSource for Counting {
    fn read(&mut self) -> Result<Reading, ReadError> {
        let mut count = [0; 8];
        self.file
            .read_exact(&mut count)
            .map_err(|error| ReadError::Lost(error.to_string()))?;
        let joules = u64::from_ne_bytes(count) as f64 * self.joules_per_count;
        Ok(Reading::of_joules(joules))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn events_are_read_from_sysfs_as_the_kernel_writes_them() {
        let folder = tempfile::tempdir().unwrap();
        let events = folder.path().join("events");
        fs::create_dir_all(&events).unwrap();
        fs::write(folder.path().join("type"), "23\n").unwrap();
        fs::write(events.join("energy-pkg"), "event=0x02\n").unwrap();
        fs::write(
            events.join("energy-pkg.scale"),
            "2.3283064365386962890625e-10\n",
        )
        .unwrap();
        let event = describe(folder.path(), "energy-pkg", 4).unwrap();
        assert_eq!((event.unit_type, event.config, event.cpu), (23, 2, 4));
        assert_eq!(event.joules_per_count, 2f64.powi(-32));
        assert_eq!(describe(folder.path(), "energy-ram", 4), None);
    }

    /// A counter that is updated every 50 readings of any counter of its group.
    struct Die(std::sync::Arc<std::sync::atomic::AtomicU64>, u64);

    impl PowerSource for Die {
        fn read(&mut self) -> Result<Reading, ReadError> {
            let readings = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Ok(Reading::of_joules((readings / 50 * self.1) as f64))
        }
    }

    #[test]
    fn a_die_that_shows_the_counter_of_another_is_left_out_and_noted() {
        let readings = std::sync::Arc::default();
        let die = |socket, die, step| Sensor {
            component: Component::Package(CpuSocket {
                socket,
                die: Some(die),
            }),
            method: Method::Measured,
            place: "a test".to_owned(),
            first: Reading::of_joules(0.0),
            source: Box::new(Die(std::sync::Arc::clone(&readings), step)),
        };
        let found = vec![
            die(0, 0, 5),
            die(0, 1, 5),
            die(1, 0, 5),
            die(1, 1, 6),
            die(2, 0, 0),
            die(2, 1, 0),
        ];
        let roots = Roots {
            procfs: "/nonexistent".into(),
            ..Roots::default()
        };
        let (kept, notes) = without_mirrors(&roots, found);
        let kept: Vec<String> = kept.iter().map(|s| s.component.to_string()).collect();
        assert_eq!(
            kept,
            [
                "package-0-die-0",
                "package-1-die-0",
                "package-1-die-1",
                "package-2-die-0",
                "package-2-die-1"
            ]
        );
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(notes[0].starts_with("package-0-die-1 shows the same counter as package-0-die-0"));
        assert!(notes[1].contains("may be one counter"));
    }

    #[test]
    fn dies_of_one_socket_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        for (cpu, socket, die) in [(0, 0, 0), (4, 0, 1), (8, 1, 0)] {
            let topology = format!("devices/system/cpu/cpu{cpu}/topology");
            let topology = folder.path().join(topology);
            fs::create_dir_all(&topology).unwrap();
            fs::write(topology.join("physical_package_id"), socket.to_string()).unwrap();
            fs::write(topology.join("die_id"), die.to_string()).unwrap();
        }
        let roots = Roots {
            sysfs: folder.path().to_owned(),
            ..Roots::default()
        };
        let names = units(&roots, "0,4,8").into_iter();
        let names: Vec<_> = names.map(|(_, unit)| unit.to_string()).collect();
        assert_eq!(names, ["0-die-0", "0-die-1", "1"]);
    }
}
