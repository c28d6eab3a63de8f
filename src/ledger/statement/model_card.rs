use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::checklist::accelerators;
use super::prose::{source_words, why_unknown};
use super::{Statement, brief};
use crate::ledger::Tally;
use crate::text::escape;
use crate::text::number::{counted, percent};

/// The `co2_eq_emissions` of a model card of Hugging Face, in YAML; what is not known is a comment.
#[must_use]
pub fn model_card(statement: &Statement, training_type: Option<&str>) -> String {
    let tally = &statement.tally;
    let mut out = String::from("co2_eq_emissions:\n");
    let unknown = tally.runs_without_intensity();
    if let Some(mass) = tally.mass() {
        if unknown > 0 {
            let _ = writeln!(
                out,
                "  # a lower bound: {unknown} of {} without a carbon intensity",
                counted(tally.runs, "run")
            );
        }
        // In grams.
        let _ = writeln!(out, "  emissions: {}", mass.exact_grams());
    } else {
        let why = escape::terminal(&escape::line(&why_unknown(tally))).into_owned();
        let _ = writeln!(out, "  # emissions: unknown, because {why}");
    }
    let hardware: Vec<String> = match accelerators(tally) {
        gpus if gpus.is_empty() => tally.hardware.machines.keys().cloned().collect(),
        gpus => gpus,
    };
    let known = [
        ("source", Some(source(tally))),
        ("training_type", training_type.map(str::to_owned)),
        ("geographical_location", joined(&brief::places(tally))),
        ("hardware_used", joined(&hardware)),
    ];
    for (key, value) in known {
        let _ = match value {
            Some(value) => writeln!(out, "  {key}: {}", escape::yaml(&value)),
            None if key == "training_type" => {
                writeln!(
                    out,
                    "  # {key}: pre-training or fine-tuning (--training-type)"
                )
            }
            None => writeln!(out, "  # {key}: not recorded"),
        };
    }
    out
}

fn joined(parts: &[String]) -> Option<String> {
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn source(tally: &Tally) -> String {
    let mut parts = vec![format!("impact {}", env!("CARGO_PKG_VERSION"))];
    parts.extend(tally.measured_share().map(|share| {
        if share == 1.0 {
            "energy measured".to_owned()
        } else {
            format!(
                "{} of the energy measured, the rest estimated",
                percent(share)
            )
        }
    }));
    let zones = tally.zones.values();
    let origins: BTreeSet<_> = zones
        .flat_map(|zone| zone.sources.iter().cloned())
        .collect();
    if !origins.is_empty() {
        parts.push(format!("carbon intensity: {}", source_words(&origins)));
    }
    parts.join("; ")
}
