use super::chassis::{Chassis, has_battery};
use super::kernel_file::line;
use super::{KernelFile, Roots, cpu_list};
use crate::grid::data::typical_power::Part;

/// The processors of this machine, from /proc/cpuinfo and sysfs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Processor {
    pub(crate) brand: Option<String>,
    pub(crate) sockets: u32,
    pub(crate) cores: u32,
    pub(crate) threads: u32,
    pub(crate) virtual_machine: bool,
    pub(crate) is_arm: bool,
    pub(crate) class: MachineClass,
    /// Design power of all processors, as the user states it, in whole watts.
    pub(crate) stated_watts: Option<u32>,
}

/// Desktops have no more cores.
const MOST_CORES_OF_A_DESKTOP: u32 = 32;
/// Processors that are built for servers, also if the model is hidden.
pub(super) const SERVER_BRANDS: [&str; 3] = ["EPYC", "Xeon", "Opteron"];

/// The kind of machine, which determines how much a core of an unknown processor may draw.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum MachineClass {
    /// A board with a system on a chip, such as a Raspberry Pi.
    Board,
    /// A machine with a battery or the chassis of a laptop.
    Laptop,
    Server,
    /// A server with an ARM processor, whose cores draw less.
    ArmServer,
    /// A desktop, or nothing is known.
    #[default]
    Desktop,
}

impl MachineClass {
    fn of(roots: &Roots, processor: &Processor) -> Self {
        let server = if processor.is_arm {
            Self::ArmServer
        } else {
            Self::Server
        };
        let many_cores = processor.cores > MOST_CORES_OF_A_DESKTOP || processor.sockets > 1;
        let models = [
            roots.proc("device-tree/model"),
            roots.sys("firmware/devicetree/base/model"),
        ];
        if models.iter().any(|model| line(model).is_some()) {
            return if many_cores { server } else { Self::Board };
        }
        match Chassis::of(roots) {
            Some(Chassis::Laptop(_)) => return Self::Laptop,
            Some(Chassis::Server) => return server,
            _ => {}
        }
        if has_battery(roots) {
            return Self::Laptop;
        }
        let brand = processor.brand.as_deref().unwrap_or_default();
        let is_of_a_server = SERVER_BRANDS.iter().any(|name| brand.contains(name));
        // Most virtual machines are those of clouds. ARM machines that are no boards are servers.
        if is_of_a_server || many_cores || processor.virtual_machine || processor.is_arm {
            server
        } else {
            Self::Desktop
        }
    }

    /// What one of its cores is.
    pub(crate) fn core(self) -> Part {
        match self {
            Self::Board => Part::BoardCore,
            Self::Laptop => Part::LaptopCore,
            Self::Server => Part::ServerCore,
            Self::ArmServer => Part::ArmServerCore,
            Self::Desktop => Part::DesktopCore,
        }
    }
}

impl Processor {
    /// Reads only the first block of /proc/cpuinfo: reading all of it is slow on large machines.
    pub(crate) fn of(roots: &Roots) -> Self {
        let mut buffer = [0; 4096];
        let first = KernelFile::open(&roots.proc("cpuinfo"))
            .and_then(|file| file.text(&mut buffer).map(str::to_owned))
            .unwrap_or_default();
        let threads = line(&roots.sys("devices/system/cpu/online"))
            .map(|list| cpu_list::numbers(&list).count() as u32)
            .filter(|threads| *threads > 0)
            .or_else(|| {
                std::thread::available_parallelism()
                    .ok()
                    .map(|n| n.get() as u32)
            })
            .unwrap_or(1);
        let processor = Self::parse(&first, threads);
        Self {
            class: MachineClass::of(roots, &processor),
            stated_watts: roots.cpu_tdp_w,
            ..processor
        }
    }

    fn parse(block: &str, threads: u32) -> Self {
        let block = block.split("\n\n").next().unwrap_or_default();
        let field = |names: &[&str]| {
            block.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                names
                    .contains(&name.trim())
                    .then(|| value.trim().to_owned())
            })
        };
        let number = |name: &str| field(&[name])?.parse::<u32>().ok().filter(|n| *n > 0);
        let per_socket = number("siblings").unwrap_or(threads);
        let sockets = (threads / per_socket).max(1);
        Self {
            brand: field(&["model name", "cpu model", "Processor", "cpu"]),
            sockets,
            cores: number("cpu cores").map_or(threads, |cores| cores * sockets),
            threads,
            class: MachineClass::default(),
            is_arm: field(&["CPU implementer"]).is_some(),
            stated_watts: None,
            virtual_machine: field(&["flags"])
                .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_of_a_machine_is_that_of_its_chassis_battery_or_board() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots {
            sysfs: folder.path().to_owned(),
            procfs: folder.path().to_owned(),
            ..Roots::default()
        };
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let unknown = Processor::parse("", 4);
        let class = |processor: &Processor| MachineClass::of(&roots, processor);
        assert_eq!(class(&unknown), MachineClass::Desktop);
        write("class/power_supply/BAT0/type", "Battery\n");
        assert_eq!(class(&unknown), MachineClass::Laptop);
        write("class/dmi/id/chassis_type", "23\n");
        assert_eq!(class(&unknown), MachineClass::Server);
        write("device-tree/model", "Raspberry Pi 4 Model B Rev 1.4\0");
        assert_eq!(class(&unknown), MachineClass::Board);
    }

    #[test]
    fn many_cores_an_arm_processor_and_a_virtual_machine_are_those_of_servers() {
        let nowhere = std::path::PathBuf::from("/nonexistent");
        let roots = Roots {
            sysfs: nowhere.clone(),
            procfs: nowhere,
            ..Roots::default()
        };
        let class = |text: &str, threads| {
            let processor = Processor::parse(text, threads);
            MachineClass::of(&roots, &processor)
        };
        assert_eq!(
            class("CPU implementer\t: 0x41\n", 64),
            MachineClass::ArmServer
        );
        assert_eq!(class("model name\t: Abacus\n", 64), MachineClass::Server);
        assert_eq!(class("model name\t: Abacus\n", 8), MachineClass::Desktop);
        assert_eq!(class("model name\t: AMD EPYC\n", 2), MachineClass::Server);
        assert_eq!(class("flags\t: fpu hypervisor\n", 2), MachineClass::Server);
    }

    #[test]
    fn two_sockets_of_eight_cores_are_counted() {
        let block = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) CPU E5-2630 v3 @ 2.40GHz\n\
                     siblings\t: 16\ncpu cores\t: 8\nflags\t\t: fpu vme\n\nprocessor\t: 1\n";
        let processor = Processor::parse(block, 32);
        assert_eq!(
            (processor.sockets, processor.cores, processor.threads),
            (2, 16, 32)
        );
        assert!(!processor.virtual_machine);
    }

    #[test]
    fn a_machine_that_says_nothing_still_has_its_threads() {
        let processor = Processor::parse("", 4);
        assert_eq!((processor.brand, processor.cores), (None, 4));
    }
}
