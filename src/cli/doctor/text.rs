use std::fmt::Write as _;

use super::diagnosis::{Diagnosis, Quality};
use crate::meter::sensor::{Finding, State};
use crate::model::Method;
use crate::text::escape;
use crate::text::number::counted;

/// What will be measured and how well, then what to do, then the details.
pub(super) fn text(diagnosis: &Diagnosis) -> String {
    let mut out = format!("{}\n", summary(diagnosis));
    if let Some(meaning) = meaning(diagnosis) {
        let _ = writeln!(out, "{meaning}");
    }
    let _ = writeln!(out, "\nWhat to do");
    if diagnosis.advice.is_empty() {
        let _ = writeln!(out, "  nothing: impact track -- COMMAND");
    }
    for (place, advice) in diagnosis.advice.iter().enumerate() {
        let _ = writeln!(
            out,
            "  {}. {}{}",
            place + 1,
            advice.text,
            if advice.commands.is_empty() { "." } else { ":" }
        );
        for command in &advice.commands {
            let _ = writeln!(out, "       {command}");
        }
    }
    let _ = writeln!(out, "\nDetails");
    let _ = writeln!(out, "  {}", surroundings(diagnosis));
    for finding in &diagnosis.findings {
        let _ = writeln!(out, "  {}", line(finding));
    }
    boards(&mut out, diagnosis);
    out
}

/// One line, such as `CPU and memory: measured by energy counters; GPU: none with a power meter.`
pub(super) fn summary(diagnosis: &Diagnosis) -> String {
    let cpu = quality(&diagnosis.cpu);
    let memory = quality(&diagnosis.memory);
    let first = if cpu == memory {
        format!("CPU and memory: {cpu}")
    } else {
        format!("CPU: {cpu}; memory: {memory}")
    };
    format!("{first}; {}.", gpus(diagnosis))
}

fn quality(quality: &Quality) -> String {
    match quality {
        Quality::Known(method) => short(method).to_owned(),
        Quality::Within(whole) => format!("measured as a part of {whole}"),
        Quality::Unknown => "unknown".to_owned(),
    }
}

fn short(method: &Method) -> &'static str {
    match method {
        Method::Measured => "measured by energy counters",
        Method::Integrated { .. } => "measured by power sensors",
        Method::Estimated { .. } => "only estimated",
        Method::Absent { .. } => "unknown",
    }
}

fn gpus(diagnosis: &Diagnosis) -> String {
    let methods = diagnosis.boards.iter().map(|board| match &board.sensor {
        Ok((method, _)) => short(method),
        Err(_) => "unknown",
    });
    let mut by_method: Vec<(&str, usize)> = Vec::new();
    for method in methods {
        match by_method.iter_mut().find(|(known, _)| *known == method) {
            Some((_, count)) => *count += 1,
            None => by_method.push((method, 1)),
        }
    }
    if diagnosis.nvidia_missing.is_some() {
        by_method.push(("cannot be read", 0));
    }
    let parts: Vec<String> = by_method
        .into_iter()
        .map(|(method, count)| match count {
            0 => format!("NVIDIA GPUs: {method}"),
            count => format!("{}: {method}", counted(count, "GPU")),
        })
        .collect();
    if parts.is_empty() {
        return "GPU: none with a power meter".to_owned();
    }
    parts.join("; ")
}

/// What an estimate is good for.
pub(super) fn meaning(diagnosis: &Diagnosis) -> Option<&'static str> {
    match &diagnosis.cpu {
        Quality::Known(Method::Estimated { .. }) => Some(
            "An estimate follows from time, CPU load and an assumed power. It shows the order of magnitude; it cannot show \
             that a program uses less power at the same load. Statements and pages label it as estimated.",
        ),
        Quality::Unknown => Some("Runs can be tracked, but their energy will be unknown, not 0."),
        _ => None,
    }
}

fn surroundings(diagnosis: &Diagnosis) -> String {
    let situation = &diagnosis.situation;
    let processor = situation
        .processor
        .as_deref()
        .unwrap_or("unknown processor");
    let mut parts = vec![escape::line(processor).into_owned()];
    if situation.is_virtual_machine {
        parts.push("in a virtual machine".to_owned());
    }
    if let Some(kind) = &situation.container {
        parts.push(format!("in a container ({})", escape::line(kind)));
    }
    parts.join(", ")
}

fn line(finding: &Finding) -> String {
    let (sign, said) = match &finding.state {
        State::Read(method) => ("ok  ", method.to_string()),
        State::TwinOf(zone) => ("skip", format!("the same meter as {}", zone.display())),
        State::Refused(why) | State::Missing(why) => ("no  ", why.clone()),
    };
    format!(
        "{sign} {}: {said}\n       {}",
        finding.interface, finding.place
    )
}

fn boards(out: &mut String, diagnosis: &Diagnosis) {
    for board in &diagnosis.boards {
        let about = format!("{} ({})", board.component, board.name);
        let _ = match &board.sensor {
            Ok((method, place)) => writeln!(out, "  ok   {about}: {method}\n       {place}"),
            Err(why) => writeln!(out, "  no   {about}: {why}"),
        };
    }
    if let Some(why) = &diagnosis.nvidia_missing {
        let _ = writeln!(out, "  no   NVIDIA boards: {why}");
    } else if diagnosis.boards.is_empty() {
        let place = &diagnosis.situation.sysfs;
        let _ = writeln!(
            out,
            "  no   GPU: no NVIDIA driver, and no card with a power meter\n       {place}/class/drm"
        );
    }
}
