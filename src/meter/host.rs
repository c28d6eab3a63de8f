use std::collections::BTreeMap;
use std::path::Path;

use super::sensor::kernel_file::line;
use super::sensor::{Processor, Roots};
use crate::files;
use crate::model::info::{Cpu, Host};
use crate::model::{Environment, Pseudonyms};

/// Environment variables in which batch systems and MPI launchers name job, step and rank.
const SCHEDULER: [&str; 28] = [
    "SLURM_JOB_ID",
    "SLURM_JOB_NAME",
    "SLURM_STEP_ID",
    "SLURM_PROCID",
    "SLURM_LOCALID",
    "SLURM_NODEID",
    "SLURM_NTASKS",
    "SLURM_ARRAY_JOB_ID",
    "SLURM_ARRAY_TASK_ID",
    "SLURM_CLUSTER_NAME",
    "PBS_JOBID",
    "PBS_ARRAY_INDEX",
    "LSB_JOBID",
    "LSB_JOBINDEX",
    "JOB_ID",
    "SGE_TASK_ID",
    "FLUX_JOB_ID",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "PMI_RANK",
    "PMI_SIZE",
    "PMIX_RANK",
    "MPI_LOCALRANKID",
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "KUBERNETES_SERVICE_HOST",
    "CUDA_VISIBLE_DEVICES",
];

/// Larger files are not read.
const LARGEST: u64 = 1 << 20;

/// The id of this boot of the machine.
pub(crate) fn boot_id(roots: &Roots) -> Option<String> {
    line(&roots.proc("sys/kernel/random/boot_id"))
}

/// A description of the machine without its GPU boards.
pub(crate) fn host(roots: &Roots, processor: &Processor, memory_bytes: Option<u64>) -> Host {
    let names = rustix::system::uname();
    let text = |name: &std::ffi::CStr| Some(name.to_string_lossy().into_owned());
    let group = files::read_text(&roots.processes().join("self/cgroup"), LARGEST)
        .ok()
        .and_then(|groups| {
            groups
                .lines()
                .last()?
                .splitn(3, ':')
                .nth(2)
                .map(str::to_owned)
        });
    Host {
        hostname: text(names.nodename()),
        boot_id: boot_id(roots),
        os: os_name(),
        kernel: text(names.release()),
        cpu: Some(Cpu {
            brand: processor.brand.clone().unwrap_or_default(),
            sockets: Some(processor.sockets),
            cores: Some(processor.cores),
            threads: Some(processor.threads),
        }),
        memory_bytes,
        container: container(&roots.environment, group.as_deref()),
        cgroup: group,
        ..Host::default()
    }
}

/// Those that contain names or addresses.
const NAMES: [&str; 3] = [
    "SLURM_JOB_NAME",
    "SLURM_CLUSTER_NAME",
    "KUBERNETES_SERVICE_HOST",
];

/// The job, step and rank ids that are set; if redacted, without names, addresses and ids of devices.
pub(crate) fn scheduler(
    environment: &Environment,
    redacted: Option<&Pseudonyms>,
) -> BTreeMap<String, String> {
    let value = |name: &str| {
        let value = environment.raw(name)?;
        // PBS appends the name of its server to the number.
        let number = value.split('.').next().unwrap_or_default();
        Some(match (name, redacted) {
            ("PBS_JOBID", Some(_)) => number.to_owned(),
            ("CUDA_VISIBLE_DEVICES", Some(pseudonyms)) => pseudonyms.devices(value),
            _ => value.to_owned(),
        })
    };
    SCHEDULER
        .iter()
        .filter(|name| !(redacted.is_some() && NAMES.contains(name)))
        .filter_map(|name| Some(((*name).to_owned(), value(name)?)))
        .collect()
}

fn os_name() -> Option<String> {
    let text = files::read_text(Path::new("/etc/os-release"), LARGEST).ok()?;
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches('"').to_owned())
}

/// The kind of container that this process runs in, by what each kind sets.
pub(crate) fn container(environment: &Environment, group: Option<&str>) -> Option<String> {
    let set = |name: &str| environment.raw(name).is_some();
    let group = group.unwrap_or_default();
    // Images set `oci`, which does not say what runs them.
    let named = environment.get("container").filter(|kind| *kind != "oci");
    let kind = if set("APPTAINER_NAME") || set("SINGULARITY_NAME") {
        "apptainer"
    } else if set("KUBERNETES_SERVICE_HOST") || group.contains("kubepods") {
        "kubernetes"
    } else if let Some(kind) = named {
        kind
    } else if Path::new("/run/.containerenv").exists() {
        "podman"
    } else if Path::new("/.dockerenv").exists() || group.contains("/docker") {
        "docker"
    } else {
        return environment.get("container").map(str::to_owned);
    };
    Some(kind.to_owned())
}
