use std::fmt::Write as _;

use clap::Args;

use super::hardware::Hardware;
use super::output::print;
use super::settings::{Config, Sources};
use super::{Outcome, exit};
use crate::meter::host;
use crate::meter::sensor::{Boards, Finding, Interface, Roots, State, Survey};
use crate::text::escape;

/// Show which energy sensors this machine has, and how to make the others readable
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  impact doctor

Exit code 0: the energy of the CPUs can be measured. Exit code 4: it can only be estimated.")]
pub struct DoctorArgs {
    #[command(flatten)]
    hardware: Hardware,
}

impl DoctorArgs {
    pub fn run(self, settings: &Sources) -> Outcome {
        let roots = self.hardware.roots(&Config::load(settings)?);
        let survey = Survey::of(&roots);
        let container = host::container(&settings.environment, None);
        let mut text = String::new();
        for finding in &survey.findings {
            let _ = writeln!(text, "{}", line(finding));
            if let Some(fix) = fix(finding, &roots, &survey, container.as_deref()) {
                let _ = writeln!(text, "    {fix}");
            }
        }
        boards(&mut text, &roots);
        let is_measured = survey.meters_a_processor();
        let quality = match survey.sensors.as_slice() {
            _ if is_measured => "measured",
            [] => "unknown: nothing meters them or says how busy they are",
            _ => "estimated from their load",
        };
        let _ = writeln!(
            text,
            "\nquality: the energy of the processors will be {quality}"
        );
        print(&escape::terminal(&text))?;
        Ok(if is_measured {
            exit::DONE
        } else {
            exit::ESTIMATED
        })
    }
}

fn line(finding: &Finding) -> String {
    let (sign, said) = match &finding.state {
        State::Read(method) => ("ok  ", method.to_string()),
        State::TwinOf(zone) => ("skip", format!("the same meter as {}", zone.display())),
        State::Refused(why) | State::Missing(why) => ("no  ", why.clone()),
    };
    format!(
        "{sign} {}: {said}\n     {}",
        finding.interface, finding.place
    )
}

/// The exact command that opens a sensor, or why there is none.
fn fix(
    finding: &Finding,
    roots: &Roots,
    survey: &Survey,
    container: Option<&str>,
) -> Option<String> {
    let text = match (&finding.interface, &finding.state, container) {
        (_, State::Read(_) | State::TwinOf(_), _) | (Interface::Perf, State::Missing(_), _) => {
            return None;
        }
        (Interface::LoadModel, ..) => {
            "try: --procfs-root DIR, the folder in which /proc is mounted".to_owned()
        }
        (Interface::Perf, State::Refused(_), _) => {
            "try: sudo setcap cap_perfmon=ep \"$(command -v impact)\"\n    \
             or:  sudo sysctl kernel.perf_event_paranoid=0"
                .to_owned()
        }
        (Interface::Powercap(_), State::Refused(_), Some(_)) => {
            "on the host: sudo chmod a+r /sys/class/powercap/*/energy_uj".to_owned()
        }
        (Interface::Powercap(_), State::Refused(_), None) => format!(
            "until the next boot: sudo chmod a+r {}/class/powercap/*/energy_uj\n    for good: {UDEV_RULE}",
            roots.sysfs.display()
        ),
        (Interface::Powercap(_), State::Missing(_), Some(kind)) => mount(kind),
        (Interface::Powercap(_), State::Missing(_), None) if survey.processor.virtual_machine => {
            "a virtual machine: only its host can pass these counters through".to_owned()
        }
        (Interface::Powercap(_), State::Missing(_), None) => {
            "try: sudo modprobe intel_rapl_msr   (Intel since 2011, AMD since 2017)".to_owned()
        }
    };
    Some(text)
}

/// A rule that lets every member of the group `power` read the counters, after each boot.
const UDEV_RULE: &str = "sudo groupadd -f power && sudo usermod -aG power \"$USER\" && \
echo 'SUBSYSTEM==\"powercap\", ACTION==\"add\", RUN+=\"/bin/sh -c \\\"chgrp power /sys%p/energy_uj && chmod g+r /sys%p/energy_uj\\\"\"' \
| sudo tee /etc/udev/rules.d/99-impact-rapl.rules && sudo udevadm control --reload && \
sudo udevadm trigger --subsystem-match=powercap --action=add";

/// How a container is started so that it sees the host's counters.
fn mount(kind: &str) -> String {
    match kind {
        "kubernetes" => "mount the host's /sys/devices/virtual/powercap as a read-only hostPath volume at /host/powercap/devices/virtual/powercap and /sys/class/powercap at /host/powercap/class/powercap, and set IMPACT_SYSFS_ROOT=/host/powercap".to_owned(),
        "apptainer" => "try: apptainer exec --bind /sys/class/powercap,/sys/devices/virtual/powercap IMAGE impact track -- CMD".to_owned(),
        kind => format!("try: {kind} run -v /sys/class/powercap:/host/sys/class/powercap:ro -v /sys/devices/virtual/powercap:/host/sys/devices/virtual/powercap:ro -e IMPACT_SYSFS_ROOT=/host/sys IMAGE impact track -- CMD"),
    }
}

fn boards(text: &mut String, roots: &Roots) {
    if !Boards::are_likely(roots) {
        let _ = writeln!(
            text,
            "no   GPU: no NVIDIA driver, and no card with a power meter\n     {}",
            roots.sys("class/drm").display()
        );
        return;
    }
    let boards = Boards::of(roots);
    for board in &boards.found {
        let about = board.board();
        let _ = match board.sensor() {
            Ok(sensor) => writeln!(
                text,
                "ok   {} ({}): {}\n     {}",
                about.component(),
                about.name,
                sensor.method,
                sensor.place
            ),
            Err(why) => writeln!(text, "no   {} ({}): {why}", about.component(), about.name),
        };
    }
    if let Some(why) = boards.missing {
        let _ = writeln!(
            text,
            "no   NVIDIA boards: {why}\n    try: nvidia-smi, which says what is wrong with the driver; in a container, docker run --gpus all"
        );
    } else if boards.found.is_empty() {
        let _ = writeln!(text, "no   GPU: none with a power meter");
    }
}
