use std::fmt::Write as _;

use clap::ValueEnum;
use serde_json::Value;

use super::answer::{Answer, Candidate};
use crate::cli::Failure;
use crate::cli::yaml::yaml;
use crate::grid::zone::{Map, geojson};
use crate::text::escape;
use crate::text::number::grouped;
use crate::text::table::Table;

/// How answers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Format {
    Text,
    Json,
    Yaml,
    Geojson,
}

const CANDIDATES: usize = 8;

/// One answer or several in the format asked for.
pub(super) fn show<'a>(
    answers: &[Answer],
    alone: bool,
    format: Format,
    map: impl FnOnce() -> &'a Map,
) -> Result<String, Failure> {
    Ok(match (format, answers) {
        (Format::Text, [answer]) if alone => text(answer),
        (Format::Text, several) => table(several),
        (Format::Json, [answer]) if alone => escape::pretty_json(answer)?,
        (Format::Json, several) => escape::pretty_json(&several)?,
        (Format::Yaml, [answer]) if alone => yaml(answer)?,
        (Format::Yaml, several) => yaml(&several)?,
        (Format::Geojson, several) => features(several, map())?,
    })
}

fn text(answer: &Answer) -> String {
    let mut out = String::new();
    for (label, value) in answer.lines() {
        let _ = writeln!(out, "{label:<17} {}", escape::terminal(&value));
    }
    if answer.candidates.len() > 1 {
        let _ = writeln!(
            out,
            "\nThe address may mean (* chosen; say more to choose another):"
        );
        for candidate in answer.candidates.iter().take(CANDIDATES) {
            let Candidate {
                place,
                population,
                chosen,
                ..
            } = candidate;
            let mark = if *chosen { '*' } else { ' ' };
            let _ = writeln!(
                out,
                "{mark} {} ({} people)",
                escape::terminal(place),
                grouped(&population.to_string())
            );
        }
        let more = answer.candidates.len().saturating_sub(CANDIDATES);
        if more > 0 {
            let _ = writeln!(out, "  and {more} smaller");
        }
    }
    out
}

/// A row for each answer; the distance only where one was asked for.
fn table(answers: &[Answer]) -> String {
    let is_far = answers.iter().any(|answer| answer.distance_km.is_some());
    let numbers: &[&str] = if is_far {
        &["g/kWh", "year", "km"]
    } else {
        &["g/kWh", "year"]
    };
    let mut table = Table::new(&["zone", "name"], numbers);
    for answer in answers {
        table.push(answer.row());
    }
    escape::terminal(&table.text()).into_owned()
}

fn features(answers: &[Answer], map: &Map) -> Result<String, Failure> {
    let mut features = Vec::new();
    for answer in answers {
        let Value::Object(properties) = serde_json::to_value(answer)? else {
            continue;
        };
        let areas = map.areas().iter().filter(|area| {
            area.id == answer.area
                || (answer.area.state.is_none() && area.id.zone == answer.area.zone)
        });
        features.extend(areas.map(|area| geojson::feature(area, properties.clone())));
    }
    let collection = geojson::collection(features) + "\n";
    Ok(escape::json(&collection).into_owned())
}
