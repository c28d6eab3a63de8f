use super::kernel_file::line;
use super::{KernelFile, Roots, cpu_list};

/// The processors of this machine, from /proc/cpuinfo and sysfs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Processor {
    pub(crate) brand: Option<String>,
    pub(crate) sockets: u32,
    pub(crate) cores: u32,
    pub(crate) threads: u32,
    pub(crate) virtual_machine: bool,
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
        Self::parse(&first, threads)
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
            virtual_machine: field(&["flags"])
                .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
