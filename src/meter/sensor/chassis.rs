use super::Roots;
use super::kernel_file::line;
use super::processor::{Processor, SERVER_BRANDS};
use crate::model::{PersonalComputer, PersonalComputerKind};

/// What the firmware says the machine is built as: a type of SMBIOS, table 17.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chassis {
    Laptop(u8),
    Desktop(u8),
    Server,
    Other,
}

impl Chassis {
    /// None where the firmware says nothing.
    pub(super) fn of(roots: &Roots) -> Option<Self> {
        let number = line(&roots.sys("class/dmi/id/chassis_type"))?
            .parse()
            .ok()?;
        Some(match number {
            8..=10 | 14 | 30..=32 => Self::Laptop(number),
            3..=4 | 6..=7 | 13 | 15 | 24 | 35..=36 => Self::Desktop(number),
            17 | 23 | 25 | 28 | 29 => Self::Server,
            _ => Self::Other,
        })
    }
}

/// Whether the machine has a battery of its own; that of a mouse is one of a device.
pub(super) fn has_battery(roots: &Roots) -> bool {
    let supplies = std::fs::read_dir(roots.sys("class/power_supply"));
    supplies.into_iter().flatten().flatten().any(|supply| {
        let folder = supply.path();
        let is = |file: &str, value: &str| line(&folder.join(file)).as_deref() == Some(value);
        is("type", "Battery") && !is("scope", "Device")
    })
}

/// The personal computer that this machine is; none for servers, virtual machines, boards and where it is not certain.
///
/// Some servers say that their chassis is that of a desktop, so machines with processors of servers or several sockets
/// are never desktops here.
#[must_use]
pub fn personal_computer(roots: &Roots) -> Option<PersonalComputer> {
    let processor = Processor::of(roots);
    if processor.virtual_machine {
        return None;
    }
    let found = |kind, chassis_type| Some(PersonalComputer { kind, chassis_type });
    let brand = processor.brand.as_deref().unwrap_or_default();
    let is_of_a_server =
        processor.sockets > 1 || SERVER_BRANDS.iter().any(|name| brand.contains(name));
    match Chassis::of(roots) {
        Some(Chassis::Server) => None,
        Some(Chassis::Laptop(number)) => found(PersonalComputerKind::Laptop, Some(number)),
        _ if has_battery(roots) => found(PersonalComputerKind::Laptop, None),
        Some(Chassis::Desktop(number)) if !is_of_a_server => {
            found(PersonalComputerKind::Workstation, Some(number))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Files(tempfile::TempDir);

    impl Files {
        fn new(cpuinfo: &str) -> Self {
            let files = Self(tempfile::tempdir().unwrap());
            files.write("cpuinfo", cpuinfo);
            files
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.0.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        fn found(&self) -> Option<String> {
            let roots = Roots {
                sysfs: self.0.path().to_owned(),
                procfs: self.0.path().to_owned(),
                ..Roots::default()
            };
            personal_computer(&roots).map(|machine| machine.to_string())
        }
    }

    const CORE: &str = "model name\t: Intel(R) Core(TM) i7\nsiblings\t: 4\nflags\t: fpu\n";

    #[test]
    fn a_battery_or_the_chassis_shows_a_personal_computer() {
        let files = Files::new(CORE);
        assert_eq!(files.found(), None, "nothing is known");
        files.write("class/dmi/id/chassis_type", "3\n");
        assert_eq!(
            files.found().as_deref(),
            Some("a workstation, by its chassis type 3")
        );
        files.write("class/power_supply/hidpp_battery_0/type", "Battery\n");
        files.write("class/power_supply/hidpp_battery_0/scope", "Device\n");
        assert_eq!(
            files.found().as_deref(),
            Some("a workstation, by its chassis type 3")
        );
        files.write("class/power_supply/BAT0/type", "Battery\n");
        assert_eq!(files.found().as_deref(), Some("a laptop, by its battery"));
        files.write("class/dmi/id/chassis_type", "10\n");
        assert_eq!(
            files.found().as_deref(),
            Some("a laptop, by its chassis type 10")
        );
    }

    #[test]
    fn racks_virtual_machines_and_processors_of_servers_are_no_personal_computers() {
        let rack = Files::new(CORE);
        rack.write("class/dmi/id/chassis_type", "23\n");
        rack.write("class/power_supply/BAT0/type", "Battery\n");
        assert_eq!(rack.found(), None);
        for cpuinfo in [
            "model name\t: Intel(R) Core(TM) i7\nflags\t: fpu hypervisor\n",
            "model name\t: AMD EPYC 7763 64-Core Processor\nflags\t: fpu\n",
        ] {
            let files = Files::new(cpuinfo);
            files.write("class/dmi/id/chassis_type", "3\n");
            assert_eq!(files.found(), None, "{cpuinfo}");
        }
    }
}
