use std::fmt::Write as _;

use super::Statement;
use super::brief;
use super::prose::{and, why_unknown};
use super::text::prose;
use crate::ledger::{RunOutcome, Tally};
use crate::text::escape;
use crate::text::number::{counted, percent};
use crate::text::quantity;
use crate::units::Hours;

const NOT_RECORDED: &str = "not recorded in the logs; add it";

/// The answers to what the checklists of conferences ask about compute, one question a line.
///
/// These are `Experiments compute resources` of NeurIPS, and C1 of the Responsible NLP Checklist of ACL.
#[must_use]
pub fn checklist(statement: &Statement) -> String {
    let tally = &statement.tally;
    let mut out = String::from(
        "Compute, as asked by the NeurIPS paper checklist (experiments compute resources)\n\
         and by the ACL Responsible NLP checklist (C1)\n\n",
    );
    let answers = [
        ("Computing infrastructure", infrastructure(tally)),
        ("GPU hours", gpu_hours(tally)),
        ("Compute of a run", of_a_run(tally)),
        ("Total compute", total(tally)),
        ("Energy", energy(tally)),
        ("Emissions", emissions(tally)),
        (
            "Not included",
            "experiments that were not tracked, and the production of the hardware".to_owned(),
        ),
        ("Number of parameters", NOT_RECORDED.to_owned()),
    ];
    for (question, answer) in answers {
        let _ = writeln!(out, "- {question}: {}", escape::line(&answer));
    }
    out.push('\n');
    out.push_str(&prose(brief::paragraphs(statement)));
    out
}

fn infrastructure(tally: &Tally) -> String {
    let machines: Vec<String> = tally.hardware.machines.keys().cloned().collect();
    let parts: Vec<String> = accelerators(tally).into_iter().chain(machines).collect();
    if parts.is_empty() {
        return NOT_RECORDED.to_owned();
    }
    parts.join("; ")
}

/// The most accelerators that a run used, by name: `8 x NVIDIA A100`.
pub(super) fn accelerators(tally: &Tally) -> Vec<String> {
    let gpus = tally.hardware.gpus.iter();
    gpus.map(|(name, devices)| format!("{} x {name}", devices.most))
        .collect()
}

fn gpu_hours(tally: &Tally) -> String {
    let Some(all) = tally.hardware.gpu_hours() else {
        return "no run names a GPU".to_owned();
    };
    let by_name: Vec<String> = tally
        .hardware
        .gpus
        .iter()
        .map(|(name, devices)| format!("{name} {}", hours(devices.time)))
        .collect();
    let busy = tally.gpu_time.map_or_else(String::new, |time| {
        format!("; weighted by utilisation {}", hours(time))
    });
    format!(
        "{}, wall-clock time times the number of GPUs ({}{busy})",
        hours(all),
        by_name.join(", ")
    )
}

/// Checklists ask for hours.
fn hours(time: Hours) -> String {
    format!("{} h", quantity::digits(time.hours()))
}

fn of_a_run(tally: &Tally) -> String {
    let mean = tally.duration.hours() / tally.runs.max(1) as f64;
    let energy = tally.energy.kwh() / tally.runs.max(1) as f64;
    format!(
        "{} and {} on average (--per-run lists all)",
        quantity::Quantity::Time.amount(mean),
        quantity::Quantity::Electricity.amount(energy)
    )
}

fn total(tally: &Tally) -> String {
    let mut parts = vec![format!(
        "{}, {} of wall-clock time",
        counted(tally.runs, "run"),
        quantity::time(tally.duration)
    )];
    parts.extend(
        tally
            .cpu_time
            .map(|time| format!("{} of CPU time", quantity::time(time))),
    );
    let (failed, _) = tally.outcomes.get(RunOutcome::Failed);
    let (unknown, _) = tally.outcomes.get(RunOutcome::Unknown);
    parts.push(match (failed, tally.outcomes.failed_share()) {
        (0, _) if unknown == tally.runs => "which of them failed is not recorded".to_owned(),
        (0, _) => "none of them known to have failed".to_owned(),
        (runs, Some(share)) => format!(
            "{runs} of them failed, with {} of the energy; they are included",
            percent(share)
        ),
        (runs, None) => format!("{runs} of them failed; they are included"),
    });
    parts.join(", ")
}

fn energy(tally: &Tally) -> String {
    format!(
        "{}, data-centre overhead as stated below; {} without it",
        quantity::electricity(tally.energy),
        quantity::electricity(tally.energy_without_pue())
    )
}

fn emissions(tally: &Tally) -> String {
    let unknown = tally.runs_without_intensity();
    match tally.mass() {
        None => format!("unknown, because {}", why_unknown(tally)),
        Some(mass) if unknown > 0 => format!(
            "at least {} CO2eq ({unknown} of {} without a carbon intensity)",
            quantity::mass(mass),
            counted(tally.runs, "run")
        ),
        Some(mass) => {
            let places = brief::places(tally);
            let places = Some(and(&places)).filter(|places| !places.is_empty());
            let places = places.map_or_else(String::new, |places| format!(", in {places}"));
            format!("{} CO2eq{places}", quantity::mass(mass))
        }
    }
}
