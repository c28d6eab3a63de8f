use std::fmt::Write as _;

use super::shown;
use crate::meter::power_cap::{CapError, Milliwatts, PackageLimit};
use crate::text::escape;
use crate::text::quantity::Quantity;
use crate::track::power_cap::{BoardState, ShownBoard};

/// The limits of all boards and packages, each with what this user may do about it.
pub(super) fn show(
    boards: &Result<Vec<ShownBoard>, CapError>,
    packages: &[PackageLimit],
) -> String {
    let mut out = String::new();
    match boards {
        Ok(boards) if boards.is_empty() => out.push_str("GPU: no NVIDIA board\n"),
        Ok(boards) => boards.iter().for_each(|board| write_board(&mut out, board)),
        Err(why) => {
            let _ = writeln!(out, "GPU: {}", escape::line(&why.to_string()));
        }
    }
    if packages.is_empty() {
        out.push_str("CPU: no power limit in powercap's folder\n");
    }
    for package in packages {
        write_package(&mut out, package);
    }
    if !packages.is_empty() {
        out.push_str("  impact only shows the limits of processors.\n");
    }
    out
}

fn write_board(out: &mut String, board: &ShownBoard) {
    let _ = writeln!(
        out,
        "{}, {}",
        escape::line(&board.label),
        escape::line(&board.uuid)
    );
    let limit = |limit: &Result<Milliwatts, CapError>| match limit {
        Ok(limit) => shown(*limit),
        Err(_) => "unknown".to_owned(),
    };
    let range = match &board.range {
        Ok((least, most)) => format!("{} to {}", shown(*least), shown(*most)),
        Err(_) => "unknown".to_owned(),
    };
    let _ = writeln!(
        out,
        "  limit {}, default {}, allowed {range}",
        limit(&board.limit),
        limit(&board.default)
    );
    let state = board.state.map(|state| match state {
        BoardState::Lasting { original } => format!(
            "impact powercap set has set it instead of {}; impact powercap reset",
            shown(original)
        ),
        BoardState::Held { back } => {
            format!("a run holds it and gives back {}", shown(back))
        }
        BoardState::LeftOver { back } => format!(
            "a run that was killed has left it; impact powercap reset gives back {}",
            shown(back)
        ),
    });
    if let Some(state) = state {
        let _ = writeln!(out, "  {state}");
    }
    let _ = match &board.may_set {
        Ok(()) => writeln!(
            out,
            "  you may set it: impact track --power-cap POWER -- CMD"
        ),
        Err(CapError::NotAllowed { .. }) => writeln!(
            out,
            "  you may not set it; root may: sudo impact powercap set POWER, or sudo nvidia-smi -pl WATTS"
        ),
        Err(why) => writeln!(
            out,
            "  it cannot be set: {}",
            escape::line(&why.to_string())
        ),
    };
}

fn write_package(out: &mut String, package: &PackageLimit) {
    let amount = |watts: crate::units::Watts| Quantity::Power.amount(watts.get());
    let limit = package.limit.map_or_else(|| "unknown".to_owned(), amount);
    let most = package.most.map(amount);
    let most = most.map_or_else(String::new, |most| format!(", at most {most}"));
    let enabled = match package.is_enabled {
        Some(true) => ", enabled",
        Some(false) => ", not enabled",
        None => "",
    };
    let _ = writeln!(
        out,
        "CPU {} {}: limit {limit}{most}{enabled}\n  {}",
        package.component,
        escape::line(&package.name),
        escape::line(&package.zone)
    );
}
