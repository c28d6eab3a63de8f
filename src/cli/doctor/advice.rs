use super::diagnosis::Situation;
use crate::meter::sensor::{Interface, State, Survey};

/// Something that would make the figures better.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(super) struct Advice {
    /// What it is about, such as `powercap`.
    pub(super) about: &'static str,
    /// What is the case, or what to do.
    pub(super) text: String,
    /// Commands that do it, each of which can be pasted.
    pub(super) commands: Vec<String>,
}

/// A rule that lets every member of the group `power` read the counters, after each boot.
const UDEV_RULE: &str = "sudo groupadd -f power && sudo usermod -aG power \"$USER\" && \
echo 'SUBSYSTEM==\"powercap\", ACTION==\"add\", RUN+=\"/bin/sh -c \\\"chgrp power /sys%p/energy_uj && chmod g+r /sys%p/energy_uj\\\"\"' \
| sudo tee /etc/udev/rules.d/99-impact-rapl.rules && sudo udevadm control --reload && \
sudo udevadm trigger --subsystem-match=powercap --action=add";

/// What fits this machine, the most useful first.
pub(super) fn advice(survey: &Survey, situation: &Situation, lacks_nvidia: bool) -> Vec<Advice> {
    let mut all = Vec::new();
    if !survey.meters_a_processor() {
        all.extend(counters(survey, situation));
        if survey.sensors.is_empty() {
            all.push(Advice {
                about: "procfs",
                text: "Without /proc impact cannot see how busy the processors are: name the folder in which it is mounted"
                    .to_owned(),
                commands: vec!["impact doctor --procfs-root DIR".to_owned()],
            });
        } else {
            all.push(Advice {
                about: "cpu-tdp",
                text: "Until then, the estimate is better if you state the power of the processors at full load, in watts"
                    .to_owned(),
                commands: vec!["impact config set --user cpu-tdp WATTS".to_owned()],
            });
        }
    } else if let Some(advice) = unreadable(survey, situation) {
        all.push(advice);
    }
    all.extend(lacks_nvidia.then(|| nvidia(situation)));
    all
}

/// How to get at the energy counters of the processors.
fn counters(survey: &Survey, situation: &Situation) -> Vec<Advice> {
    if let Some(advice) = unreadable(survey, situation) {
        return std::iter::once(advice)
            .chain(perf(survey, situation))
            .collect();
    }
    if situation.is_virtual_machine {
        return vec![Advice {
            about: "virtual machine",
            text: "This is a virtual machine: only its host has the energy counters. Measure on the host, or on a \
                   machine that is not virtual (cloud providers call it bare metal)"
                .to_owned(),
            commands: Vec::new(),
        }];
    }
    if let Some(kind) = &situation.container {
        return std::iter::once(mount(kind))
            .chain(perf(survey, situation))
            .collect();
    }
    if let Some(advice) = perf(survey, situation) {
        return vec![advice];
    }
    if survey.processor.is_arm {
        return vec![Advice {
            about: "powercap",
            text: "Linux reads no energy counter of this ARM processor".to_owned(),
            commands: Vec::new(),
        }];
    }
    vec![Advice {
        about: "powercap",
        text: "Intel processors since 2011 and AMD processors since 2017 have energy counters; this loads their driver"
            .to_owned(),
        commands: vec!["sudo modprobe intel_rapl_msr".to_owned()],
    }]
}

/// How to open counters that are there and may not be read.
fn unreadable(survey: &Survey, situation: &Situation) -> Option<Advice> {
    let is_refused = survey.findings.iter().any(|finding| {
        matches!(
            (&finding.interface, &finding.state),
            (Interface::Powercap(_), State::Refused(_))
        )
    });
    is_refused.then(|| match &situation.container {
        Some(_) => Advice {
            about: "powercap",
            text: "The energy counters are there, but this user may not read them. On the host, not in the container, until \
                   its next boot"
                .to_owned(),
            commands: vec!["sudo chmod a+r /sys/class/powercap/*/energy_uj".to_owned()],
        },
        None => Advice {
            about: "powercap",
            text: "The energy counters are there, but this user may not read them. The first command lasts until the next \
                   boot, the second for good"
                .to_owned(),
            commands: vec![
                format!("sudo chmod a+r {}/class/powercap/*/energy_uj", situation.sysfs),
                UDEV_RULE.to_owned(),
            ],
        },
    })
}

/// How to open the same counters through perf.
fn perf(survey: &Survey, situation: &Situation) -> Option<Advice> {
    let is_refused = survey.findings.iter().any(|finding| {
        matches!(
            (&finding.interface, &finding.state),
            (Interface::Perf, State::Refused(_))
        )
    });
    is_refused.then(|| Advice {
        about: "perf",
        text: "Or through perf: either command is enough".to_owned(),
        commands: match situation.container.as_deref() {
            Some(kind @ ("docker" | "podman")) => vec![format!(
                "{kind} run --cap-add PERFMON IMAGE impact track -- CMD"
            )],
            _ => vec![
                "sudo setcap cap_perfmon=ep \"$(command -v impact)\"".to_owned(),
                "sudo sysctl kernel.perf_event_paranoid=0".to_owned(),
            ],
        },
    })
}

/// How a container is started so that it sees the host's counters.
fn mount(kind: &str) -> Advice {
    let (text, command) = match kind {
        "kubernetes" => (
            "Mount the host's /sys/devices/virtual/powercap as a read-only hostPath volume at \
             /host/powercap/devices/virtual/powercap and /sys/class/powercap at /host/powercap/class/powercap, and set \
             IMPACT_SYSFS_ROOT=/host/powercap",
            None,
        ),
        "apptainer" => (
            "The container does not see the host's energy counters. Start it so",
            Some(
                "apptainer exec --bind /sys/class/powercap,/sys/devices/virtual/powercap IMAGE impact track -- CMD"
                    .to_owned(),
            ),
        ),
        "docker" | "podman" => (
            "The container does not see the host's energy counters. Start it so",
            Some(format!(
                "{kind} run -v /sys/class/powercap:/host/sys/class/powercap:ro \
                 -v /sys/devices/virtual/powercap:/host/sys/devices/virtual/powercap:ro \
                 -e IMPACT_SYSFS_ROOT=/host/sys IMAGE impact track -- CMD"
            )),
        ),
        _ => (
            "The container does not see the host's energy counters. Mount the host's /sys/class/powercap and \
             /sys/devices/virtual/powercap into it below a folder of their own, and set IMPACT_SYSFS_ROOT to that folder",
            None,
        ),
    };
    Advice {
        about: "container",
        text: text.to_owned(),
        commands: command.into_iter().collect(),
    }
}

/// What to do where the driver of NVIDIA's boards does not answer.
fn nvidia(situation: &Situation) -> Advice {
    let (text, command) = match situation.container.as_deref() {
        Some("docker") => (
            "NVIDIA's library cannot be used. Give the container the GPUs",
            "docker run --gpus all IMAGE impact track -- CMD",
        ),
        Some("podman") => (
            "NVIDIA's library cannot be used. Give the container the GPUs",
            "podman run --device nvidia.com/gpu=all IMAGE impact track -- CMD",
        ),
        Some("apptainer") => (
            "NVIDIA's library cannot be used. Give the container the GPUs",
            "apptainer exec --nv IMAGE impact track -- CMD",
        ),
        Some("kubernetes") => (
            "NVIDIA's library cannot be used. Request nvidia.com/gpu in the limits of the container, and look inside it",
            "nvidia-smi",
        ),
        _ => (
            "NVIDIA's library cannot be used; this says what is wrong with the driver",
            "nvidia-smi",
        ),
    };
    Advice {
        about: "nvidia",
        text: text.to_owned(),
        commands: vec![command.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::sensor::Roots;

    /// The advice on a machine without counters outside of containers, whose /proc says this of its processor.
    fn on(cpuinfo: &str) -> Vec<Advice> {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots {
            sysfs: folder.path().join("sys"),
            procfs: folder.path().join("proc"),
            ..Roots::default()
        };
        std::fs::create_dir_all(&roots.procfs).unwrap();
        std::fs::write(roots.procfs.join("cpuinfo"), cpuinfo).unwrap();
        std::fs::write(
            roots.procfs.join("stat"),
            "cpu  100 0 100 1000 0 0 0 0 0 0\n",
        )
        .unwrap();
        let survey = Survey::of(&roots);
        let situation = Situation {
            processor: survey.processor.brand.clone(),
            is_virtual_machine: survey.processor.virtual_machine,
            container: None,
            sysfs: roots.sysfs.display().to_string(),
        };
        advice(&survey, &situation, false)
    }

    #[test]
    fn a_machine_without_counters_gets_the_command_that_fits_its_processor() {
        let intel = on("model name\t: Intel(R) Xeon(R) CPU E5-2630 v4 @ 2.20GHz\nflags\t: fpu\n");
        assert_eq!(intel[0].commands, ["sudo modprobe intel_rapl_msr"]);
        let arm = on("processor\t: 0\nCPU implementer\t: 0x41\n");
        assert!(
            arm[0].text.contains("ARM") && arm[0].commands.is_empty(),
            "{arm:?}"
        );
        let guest = on("model name\t: AMD EPYC\nflags\t: fpu hypervisor\n");
        assert_eq!(guest[0].about, "virtual machine");
        for advice in [intel, arm, guest] {
            assert_eq!(advice[1].about, "cpu-tdp");
            let commands = advice.iter().flat_map(|advice| &advice.commands);
            assert!(
                commands
                    .into_iter()
                    .all(|command| !command.contains("docker"))
            );
        }
    }

    #[test]
    fn counters_that_may_not_be_read_are_opened_on_the_host() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots {
            sysfs: folder.path().join("sys"),
            procfs: folder.path().join("proc"),
            ..Roots::default()
        };
        let mut survey = Survey::of(&roots);
        survey.findings[0].state = State::Refused("Permission denied".to_owned());
        let commands = |container: Option<&str>| {
            let situation = Situation {
                processor: None,
                is_virtual_machine: false,
                container: container.map(str::to_owned),
                sysfs: "/sys".to_owned(),
            };
            advice(&survey, &situation, false).swap_remove(0).commands
        };
        let chmod = "sudo chmod a+r /sys/class/powercap/*/energy_uj";
        assert_eq!(commands(None), [chmod, UDEV_RULE]);
        assert_eq!(commands(Some("docker")), [chmod]);
    }
}
