//! `impact doctor` on machines made of files: what it says first, what it advises, and that the advice fits.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{IMPACT, Machine};

const SERVER: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) CPU E5-2630 v4 @ 2.20GHz\nsiblings\t: 20\ncpu cores\t: 10\nflags\t\t: fpu vme\n\n";
const LAPTOP: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: 12th Gen Intel(R) Core(TM) i7-1260P\nsiblings\t: 16\ncpu cores\t: 12\nflags\t\t: fpu vme\n\n";
const VIRTUAL: &str = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 7763 64-Core Processor\nsiblings\t: 4\ncpu cores\t: 2\nflags\t\t: fpu hypervisor\n\n";

/// A machine whose /proc says this of its processor, with 16 GB of memory and a clock of CPU time.
fn machine(machine: Machine, cpuinfo: &str) -> Machine {
    let proc = machine.path("proc");
    fs::create_dir_all(&proc).unwrap();
    fs::write(proc.join("cpuinfo"), cpuinfo).unwrap();
    fs::write(proc.join("meminfo"), "MemTotal:       16777216 kB\n").unwrap();
    fs::write(proc.join("stat"), "cpu  100 0 100 1000 0 0 0 0 0 0\n").unwrap();
    fs::create_dir_all(machine.path("sys")).unwrap();
    machine
}

/// What the doctor says of a machine, with its exit code.
struct Said {
    text: String,
    json: Value,
    code: i32,
}

impl Said {
    fn of(machine: &Machine, with: &[(&str, &Path)]) -> Self {
        Self::by(|| machine.impact(), machine, with)
    }

    fn by(program: impl Fn() -> Command, machine: &Machine, with: &[(&str, &Path)]) -> Self {
        let run = |arguments: &[&str]| {
            let mut command = program();
            command.env("IMPACT_PROCFS_ROOT", machine.path("proc"));
            command.envs(with.iter().copied());
            command.arg("doctor").args(arguments).output().unwrap()
        };
        let text = run(&[]);
        let json = run(&["--format", "json"]);
        assert_eq!(text.status, json.status);
        let said = String::from_utf8(text.stdout).unwrap();
        assert!(text.status.code().is_some(), "{said}");
        Self {
            json: serde_json::from_slice(&json.stdout).unwrap(),
            code: text.status.code().unwrap(),
            text: said,
        }
    }

    fn first_line(&self) -> &str {
        let first = self.text.lines().next().unwrap();
        assert_eq!(self.json["summary"], first);
        first
    }

    /// The lines below "What to do".
    fn advice(&self) -> &str {
        let (_, rest) = self.text.split_once("\nWhat to do\n").unwrap();
        rest.split_once("\nDetails\n").unwrap().0
    }

    fn about(&self) -> Vec<&str> {
        let advice = self.json["advice"].as_array().unwrap().iter();
        advice
            .map(|advice| advice["about"].as_str().unwrap())
            .collect()
    }
}

#[test]
fn a_server_with_readable_counters_has_nothing_to_do() {
    let machine = machine(Machine::with_rapl(), SERVER);
    let said = Said::of(&machine, &[]);
    assert_eq!(
        said.first_line(),
        "CPU and memory: measured by energy counters; GPU: none with a power meter."
    );
    assert_eq!(said.advice(), "  nothing: impact track -- COMMAND\n");
    assert_eq!(said.code, 0);
    assert_eq!(said.json["schema"], "impact-doctor/1");
    assert_eq!(said.json["cpu"]["method"], "measured");
    assert_eq!(said.json["virtual_machine"], false);
}

#[test]
fn a_laptop_whose_memory_has_no_counter_says_that_it_is_estimated() {
    let machine = Machine::bare();
    machine.domain("intel-rapl:0", "package-0", 262_143_328_850);
    let machine = self::machine(machine, LAPTOP);
    let said = Said::of(&machine, &[]);
    assert_eq!(
        said.first_line(),
        "CPU: measured by energy counters; memory: only estimated; GPU: none with a power meter."
    );
    assert_eq!(said.code, 0);
    assert!(said.about().is_empty(), "{}", said.text);
}

#[test]
fn a_virtual_machine_says_that_only_its_host_has_the_meters() {
    let machine = machine(Machine::bare(), VIRTUAL);
    let said = Said::of(&machine, &[]);
    assert_eq!(
        said.first_line(),
        "CPU and memory: only estimated; GPU: none with a power meter."
    );
    assert!(
        said.text
            .contains("An estimate follows from time, CPU load and an assumed power.")
    );
    assert!(
        said.advice()
            .contains("only its host has the energy counters")
    );
    for wrong in ["docker", "modprobe", "chmod", "setcap"] {
        assert!(!said.advice().contains(wrong), "{wrong}: {}", said.text);
    }
    assert_eq!(said.about(), ["virtual machine", "cpu-tdp"]);
    assert_eq!(
        (said.code, &said.json["virtual_machine"]),
        (4, &Value::Bool(true))
    );
    // In a container as well, because its host has no meters either.
    let said = Said::of(&machine, &[("container", Path::new("docker"))]);
    assert!(!said.advice().contains("docker run"), "{}", said.text);
}

#[test]
fn a_container_is_told_how_to_see_the_counters_of_its_host() {
    let machine = machine(Machine::bare(), SERVER);
    let advice = |kind: &str| {
        let said = Said::of(&machine, &[("container", Path::new(kind))]);
        assert_eq!(said.json["container"], kind);
        said.advice().to_owned()
    };
    let docker = advice("docker");
    assert!(docker.contains("docker run -v /sys/class/powercap:/host/sys/class/powercap:ro"));
    assert!(!docker.contains("modprobe"), "{docker}");
    assert!(advice("podman").contains("podman run -v"));
    assert!(!advice("lxc").contains("docker"), "{}", advice("lxc"));
}

/// `impact` that may read only what the permissions of a file say, also where the tests run as root.
fn unprivileged(machine: &Machine) -> Command {
    if !rustix::process::geteuid().is_root() {
        return machine.impact();
    }
    let mut command = machine.program("setpriv");
    command.args([
        "--bounding-set=-dac_override,-dac_read_search",
        "--inh-caps=-all",
        IMPACT,
    ]);
    command
}

#[test]
fn counters_that_may_not_be_read_get_the_exact_commands_once() {
    let machine = machine(Machine::with_rapl(), SERVER);
    for zone in ["intel-rapl:0", "intel-rapl:0:0", "intel-rapl:0:1"] {
        fs::set_permissions(machine.counter(zone), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let said = Said::by(|| unprivileged(&machine), &machine, &[]);
    assert_eq!(
        said.first_line(),
        "CPU and memory: only estimated; GPU: none with a power meter."
    );
    assert!(
        said.text.contains("no   package-0: Permission denied"),
        "{}",
        said.text
    );
    assert_eq!(said.about(), ["powercap", "cpu-tdp"]);
    assert!(
        said.advice()
            .starts_with("  1. The energy counters are there, but this user may not read them.")
    );
    assert_eq!(
        said.advice().matches("sudo chmod a+r").count(),
        1,
        "{}",
        said.text
    );
    assert_eq!(said.json["sensors"][0]["state"], "refused");
    assert_eq!(said.code, 4);
}

#[test]
fn an_amd_card_with_a_power_file_is_in_the_first_line() {
    let machine = machine(Machine::with_rapl(), SERVER);
    let device = machine.path("sys/class/drm/card0/device");
    let monitor = device.join("hwmon/hwmon0");
    fs::create_dir_all(&monitor).unwrap();
    fs::write(device.join("vendor"), "0x1002\n").unwrap();
    fs::write(device.join("unique_id"), "abc\n").unwrap();
    fs::write(monitor.join("power1_average"), "25000000\n").unwrap();
    let said = Said::of(&machine, &[]);
    assert_eq!(
        said.first_line(),
        "CPU and memory: measured by energy counters; 1 GPU: measured by power sensors."
    );
    assert_eq!(said.json["gpus"][0]["method"], "integrated");
}

/// Where cargo has put the NVML stub it built for these tests.
fn stub() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().join("libnvml_stub.so")
}

#[test]
fn nvidia_boards_are_counted_by_how_well_they_are_known() {
    let machine = machine(Machine::with_rapl(), SERVER);
    let scenario = machine.path("scenario");
    let boards =
        "board uuid=GPU-1 name=A power=150 energy=1000\nboard uuid=GPU-2 name=B power=100\n";
    fs::write(&scenario, boards).unwrap();
    let library = stub();
    let said = Said::of(
        &machine,
        &[
            ("IMPACT_NVML_LIB", &library),
            ("IMPACT_STUB_SCENARIO", &scenario),
        ],
    );
    assert_eq!(
        said.first_line(),
        "CPU and memory: measured by energy counters; 1 GPU: measured by energy counters; 1 GPU: measured by power sensors."
    );
    assert!(said.about().is_empty(), "{}", said.text);
}

#[test]
fn a_driver_that_does_not_answer_gets_the_command_that_fits() {
    let machine = machine(Machine::with_rapl(), SERVER);
    let nowhere = machine.path("no-such-library");
    let said = Said::of(
        &machine,
        &[
            ("IMPACT_NVML_LIB", &nowhere),
            ("container", Path::new("docker")),
        ],
    );
    assert!(
        said.first_line().ends_with("NVIDIA GPUs: cannot be read."),
        "{}",
        said.text
    );
    assert!(said.advice().contains("docker run --gpus all"));
    assert_eq!(said.code, 0);
    let said = Said::of(
        &machine,
        &[
            ("IMPACT_NVML_LIB", &nowhere),
            ("APPTAINER_NAME", Path::new("x")),
        ],
    );
    assert!(
        said.advice().contains("apptainer exec --nv"),
        "{}",
        said.text
    );
    assert!(!said.advice().contains("docker"), "{}", said.text);
}

#[test]
fn a_machine_of_which_nothing_is_known_says_so() {
    let machine = machine(Machine::bare(), SERVER);
    fs::remove_dir_all(machine.path("proc")).unwrap();
    let said = Said::of(&machine, &[]);
    assert_eq!(
        said.first_line(),
        "CPU and memory: unknown; GPU: none with a power meter."
    );
    assert!(said.text.contains("their energy will be unknown, not 0"));
    assert!(said.advice().contains("impact doctor --procfs-root DIR"));
    assert_eq!(said.code, 4);
}
