use serde_json::{Value, json};

use super::entry::RunDetails;
use super::gauge_charts::gauge_charts;
use super::label;
use super::page::{Archive, Headline, Image, Picture, RunPage};
use super::phases::{phase_table, phases_json};
use super::run_facts::{about, hardware, region};
use super::site_map::{PageId, SiteMap};
use super::table::{Cell, Column, Row, Table};
use crate::ledger::Figure;
use crate::model::Info;
use crate::text::number::{self, percent};
use crate::units::Energy;

/// The page of a run, for people and as JSON.
pub(super) fn run_page(
    map: &SiteMap,
    run: usize,
    reading: &RunDetails,
    map_image: Option<Image>,
    archive: Option<Archive>,
    pictures: Option<Result<Vec<Picture>, String>>,
) -> (RunPage, Value) {
    let log = &map.logs[run];
    let homes = map.tree.innermost_groups_of(run);
    let place = PageId::Run(run, homes.first().copied());
    let entry = &reading.entry;
    let name = entry.name.as_deref().unwrap_or(&map.labels[run]);
    let mut notes = entry.summary.notes.clone();
    notes.extend(entry.missing.iter().cloned());
    let pictures = pictures.unwrap_or_else(|| Ok(Vec::new()));
    let pictures = pictures.unwrap_or_else(|why| {
        notes.push(why);
        Vec::new()
    });
    let page = RunPage {
        shell: map.shell(place, name),
        path: log.relative.clone(),
        headlines: headlines(reading),
        figures: figures(reading),
        provenance: provenance(reading),
        phases: phase_table(&entry.summary),
        charts: gauge_charts(&reading.series, &reading.bands),
        about: about(reading),
        hardware: hardware(&reading.info),
        region: region(reading),
        map: map_image,
        packages: packages(&reading.info),
        notes,
        homes: homes
            .iter()
            .map(|home| map.links(place, &map.tree.path_to(*home)))
            .collect(),
        archive,
        pictures,
    };
    let json = json!({
        "schema": crate::site::SCHEMA,
        "kind": "run",
        "name": name,
        "log": { "root": log.root, "path": log.relative },
        "figures": entry.figures,
        "quality": quality(reading),
        "phases": phases_json(&entry.summary),
        "notes": page.notes,
    });
    (page, json)
}

fn headlines(reading: &RunDetails) -> Vec<Headline> {
    let figures = &reading.entry.figures;
    let mut headlines = Vec::new();
    let mut add = |figure: Figure, note: String| {
        if let Some(value) = figures.get(figure.name()) {
            let shown = label::scale(figure.name(), *value);
            headlines.push(Headline {
                label: label::label(figure.name()).to_owned(),
                value: shown.digits(*value),
                unit: shown.full_unit(figure.name()),
                note,
            });
        }
    };
    add(
        Figure::Energy,
        format!("with a PUE of {}", reading.footprint.pue),
    );
    let source = reading
        .footprint
        .carbon
        .as_ref()
        .map(|carbon| carbon.origin.to_string());
    add(Figure::Emissions, source.unwrap_or_default());
    // Shorter ones are as easily read as the figure.
    let duration = reading.entry.summary.duration;
    let in_words = Some(number::duration(duration.hours())).filter(|_| duration.seconds() >= 60.0);
    add(Figure::Duration, in_words.unwrap_or_default());
    if let Some(share) = figures.get(Figure::MeasuredShare.name()) {
        headlines.push(Headline {
            label: label::label(Figure::MeasuredShare.name()).to_owned(),
            value: percent(*share).trim_end_matches(" %").to_owned(),
            unit: "%".to_owned(),
            note: "of the energy has a sensor behind it".to_owned(),
        });
    }
    headlines
}

fn figures(reading: &RunDetails) -> Table {
    let rows = reading.entry.figures.iter().map(|(name, value)| {
        let meaning = name
            .parse::<Figure>()
            .map_or_else(|_| label::meaning_of_own(name), Figure::meaning);
        let cells = vec![
            Cell::figure(name, Some(*value)).with_unit_of(name),
            Cell::text(label::fixed_unit(name)),
            Cell::text(meaning),
        ];
        Row {
            key: Some(name.clone()),
            hint: Some(name.clone()),
            ..Row::new(label::for_people(name), cells)
        }
    });
    Table {
        id: "figures",
        caption: "Every figure of this run".to_owned(),
        head: "Figure",
        columns: vec![
            Column::number("value", "Value", ""),
            Column {
                csv_only: true,
                ..Column::text("unit", "Unit")
            },
            Column::text("meaning", "Meaning"),
        ],
        rows: rows.collect(),
        foot: Vec::new(),
        sortable: false,
    }
}

fn provenance(reading: &RunDetails) -> Table {
    let summary = &reading.entry.summary;
    let counted: Vec<String> = summary
        .counted()
        .map(|(_, component, _)| component.to_string())
        .collect();
    let mut rows: Vec<Row> = Vec::new();
    for (component, part) in &summary.parts {
        let name = component.to_string();
        let source = reading
            .info
            .sensors
            .iter()
            .find(|note| note.component == *component);
        let counted = if counted.contains(&name) {
            "yes"
        } else {
            "no, contained in another"
        };
        let cells = vec![
            Cell::figure(Figure::Energy.name(), Some(part.attributed.kwh())),
            Cell::figure(Figure::Energy.name(), part.machine.map(Energy::kwh)),
            Cell::text(part.method.to_string()),
            Cell::text(source.map_or("–", |note| note.source.as_str())),
            Cell::text(counted),
        ];
        rows.push(Row::new(name, cells));
    }
    for (group, why) in &summary.absent {
        let cells = vec![
            Cell::figure(Figure::Energy.name(), None),
            Cell::figure(Figure::Energy.name(), None),
            Cell::text(format!("absent: {why}")),
            Cell::text("–"),
            Cell::text("no"),
        ];
        rows.push(Row::new(group.name(), cells));
    }
    Table {
        id: "provenance",
        caption: "How the energy of each component is known".to_owned(),
        head: "Component",
        columns: vec![
            Column::number("attributed_kwh", "This run", ""),
            Column::number("machine_kwh", "Machine", ""),
            Column::text("method", "Method"),
            Column::text("source", "Source"),
            Column::text("counted", "Counted"),
        ],
        rows,
        foot: Vec::new(),
        sortable: false,
    }
}

fn quality(reading: &RunDetails) -> Value {
    let parts = reading.entry.summary.parts.iter();
    parts
        .map(|(component, part)| (component.to_string(), json!(part.method)))
        .collect()
}

fn packages(info: &Info) -> Option<Table> {
    let packages = &info.python.as_ref()?.packages;
    if packages.is_empty() {
        return None;
    }
    let row = |(name, version): (&String, &String)| {
        Row::new(name.clone(), vec![Cell::text(version.clone())])
    };
    Some(Table {
        id: "packages",
        caption: format!("{} Python packages", packages.len()),
        head: "Package",
        columns: vec![Column::text("version", "Version")],
        rows: packages.iter().map(row).collect(),
        foot: Vec::new(),
        sortable: false,
    })
}
