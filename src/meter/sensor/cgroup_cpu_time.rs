use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{CpuTimes, KernelFile, Roots};

/// The CPU time of a control group and all below it, from its `cpu.stat`.
#[derive(Debug)]
pub(crate) struct CgroupCpuTime {
    path: PathBuf,
    file: KernelFile,
}

impl CgroupCpuTime {
    pub(crate) fn of(group: &Path) -> io::Result<Self> {
        let path = group.join("cpu.stat");
        let file = KernelFile::open(&path)?;
        let clock = Self { path, file };
        clock.read()?;
        Ok(clock)
    }

    /// That of the whole machine, where the root control group is visible.
    ///
    /// What a container sees as the root is a group of the host, which has a `cgroup.type`.
    pub(crate) fn of_machine(roots: &Roots) -> Option<Self> {
        mounts(roots)
            .into_iter()
            .filter(|mount| !mount.join("cgroup.type").exists())
            .find_map(|mount| Self::of(&mount).ok())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn read(&self) -> io::Result<CpuTimes> {
        let mut buffer = [0; 512];
        parse(self.file.text(&mut buffer)?).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "no CPU times of a control group",
            )
        })
    }
}

/// Where cgroup v2 may be mounted: alone, or beside cgroup v1.
pub(crate) fn mounts(roots: &Roots) -> [PathBuf; 2] {
    ["fs/cgroup", "fs/cgroup/unified"].map(|mount| roots.sys(mount))
}

fn parse(text: &str) -> Option<CpuTimes> {
    let field = |name: &str| -> Option<Duration> {
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        let (_, value) = lines.find(|(key, _)| *key == name)?;
        value.parse().ok().map(Duration::from_micros)
    };
    Some(CpuTimes {
        user: field("user_usec")?,
        system: field("system_usec")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_times_of_a_group_are_read_as_the_kernel_writes_them() {
        let times = parse("usage_usec 1500\nuser_usec 1000\nsystem_usec 500\nnice_usec 0\n");
        assert_eq!(times.unwrap().total(), Duration::from_micros(1500));
        assert_eq!(parse("nr_periods 0\n"), None);
    }

    #[test]
    fn the_root_group_of_a_container_is_not_the_machine() {
        let folder = tempfile::tempdir().unwrap();
        let group = folder.path().join("fs/cgroup");
        fs::create_dir_all(&group).unwrap();
        fs::write(group.join("cpu.stat"), "user_usec 7\nsystem_usec 2\n").unwrap();
        let roots = Roots {
            sysfs: folder.path().to_owned(),
            ..Roots::default()
        };
        let machine = CgroupCpuTime::of_machine(&roots).unwrap();
        assert_eq!(machine.read().unwrap().total(), Duration::from_micros(9));
        fs::write(group.join("cgroup.type"), "domain\n").unwrap();
        assert!(CgroupCpuTime::of_machine(&roots).is_none());
    }
}
