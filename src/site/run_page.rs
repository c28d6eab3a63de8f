use chrono::SecondsFormat;
use serde_json::{Value, json};

use super::chart::{Band, Line, lines};
use super::entry::RunDetails;
use super::label;
use super::page::{Archive, Chart, Fact, Headline, Image, RunPage};
use super::site_map::{PageId, SiteMap};
use super::table::{Cell, Column, Row, Table};
use crate::ledger::Figure;
use crate::log::{Gauge, TimeSeries};
use crate::model::{Edge, Info};
use crate::text::number;
use crate::units::Energy;

/// Title, unit, what to divide by, and the gauges of one chart with their names.
type GaugeChart = (
    &'static str,
    &'static str,
    f64,
    &'static [(Gauge, &'static str)],
);

const GAUGE_CHARTS: [GaugeChart; 6] = [
    (
        "Power",
        "W",
        1.0,
        &[
            (Gauge::CpuPower, "CPU, this run"),
            (Gauge::GpuPower, "GPU, this run"),
            (Gauge::MachineCpuPower, "CPU, machine"),
            (Gauge::MachineGpuPower, "GPU, machine"),
        ],
    ),
    (
        "GPU utilisation",
        "%",
        0.01,
        &[(Gauge::GpuUtilization, "GPU")],
    ),
    (
        "CPU utilisation",
        "processors",
        1.0,
        &[(Gauge::CpuUtilization, "CPU")],
    ),
    ("Memory", "GB", 1e9, &[(Gauge::Memory, "memory")]),
    (
        "Temperature",
        "°C",
        1.0,
        &[
            (Gauge::CpuTemperature, "CPU"),
            (Gauge::GpuTemperature, "GPU"),
        ],
    ),
    (
        "Carbon intensity",
        "g CO₂eq/kWh",
        1.0,
        &[(Gauge::CarbonIntensity, "grid")],
    ),
];

/// The page of one run and the same for machines.
pub(super) fn run_page(
    map: &SiteMap,
    run: usize,
    reading: &RunDetails,
    picture: Option<Image>,
    archive: Option<Archive>,
) -> (RunPage, Value) {
    let log = &map.logs[run];
    let homes = map.tree.innermost_groups_of(run);
    let place = PageId::Run(run, homes.first().copied());
    let entry = &reading.entry;
    let name = entry.name.as_deref().unwrap_or(&map.labels[run]);
    let mut notes = entry.summary.notes.clone();
    notes.extend(entry.missing.iter().cloned());
    let page = RunPage {
        shell: map.shell(place, name),
        path: log.relative.clone(),
        headlines: headlines(reading),
        figures: figures(reading),
        provenance: provenance(reading),
        charts: charts(&reading.series),
        about: about(reading),
        hardware: hardware(&reading.info),
        region: region(reading),
        map: picture,
        packages: packages(&reading.info),
        notes,
        homes: homes
            .iter()
            .map(|home| map.links(place, &map.tree.path_to(*home)))
            .collect(),
        archive,
    };
    let json = json!({
        "schema": crate::site::SCHEMA,
        "kind": "run",
        "name": name,
        "log": { "root": log.root, "path": log.relative },
        "figures": entry.figures,
        "quality": quality(reading),
        "notes": page.notes,
    });
    (page, json)
}

fn headlines(reading: &RunDetails) -> Vec<Headline> {
    let figures = &reading.entry.figures;
    let mut headlines = Vec::new();
    let mut add = |figure: Figure, note: String| {
        if let Some(value) = figures.get(figure.name()) {
            headlines.push(Headline {
                label: label::label(figure.name()).to_owned(),
                value: number::typeset(*value),
                unit: label::unit(figure.name()),
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
        .map(|carbon| carbon.source.clone());
    add(Figure::Emissions, source.unwrap_or_default());
    add(
        Figure::Duration,
        number::duration(reading.entry.summary.duration.hours()),
    );
    if let Some(share) = figures.get(Figure::MeasuredShare.name()) {
        headlines.push(Headline {
            label: label::label(Figure::MeasuredShare.name()).to_owned(),
            value: number::typeset(share * 100.0),
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
            .map_or("from a file beside the log", Figure::meaning);
        let cells = vec![
            Cell::number(Some(*value)),
            Cell::text(label::unit(name)),
            Cell::text(meaning),
        ];
        Row::new(name.clone(), cells)
    });
    Table {
        id: "figures",
        caption: "Every figure of this run".to_owned(),
        head: "Figure",
        columns: vec![
            Column::number("value", "Value", ""),
            Column::text("unit", "Unit"),
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
            Cell::number(Some(part.attributed.kwh())),
            Cell::number(part.machine.map(Energy::kwh)),
            Cell::text(part.method.to_string()),
            Cell::text(source.map_or("–", |note| note.source.as_str())),
            Cell::text(counted),
        ];
        rows.push(Row::new(name, cells));
    }
    for (group, why) in &summary.absent {
        let cells = vec![
            Cell::number(None),
            Cell::number(None),
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
            Column::number("attributed_kwh", "This run", "kWh"),
            Column::number("machine_kwh", "Machine", "kWh"),
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

fn charts(series: &TimeSeries) -> Vec<Chart> {
    let bands = bands(series);
    let mut charts = Vec::new();
    for (place, (title, unit, divisor, gauges)) in GAUGE_CHARTS.into_iter().enumerate() {
        let drawn: Vec<Line> = gauges
            .iter()
            .enumerate()
            .map(|(colour, (gauge, name))| {
                let mut points = series.points(*gauge);
                for point in &mut points {
                    point.value /= divisor;
                }
                Line {
                    name,
                    colour: colour + 1,
                    points,
                }
            })
            .filter(|line| !line.points.is_empty())
            .collect();
        if drawn.is_empty() {
            continue;
        }
        charts.push(Chart {
            title: title.to_owned(),
            svg: lines(
                &format!("series-{place}"),
                title,
                unit,
                series.seconds(),
                &drawn,
                &bands,
            ),
            caption: String::new(),
        });
    }
    charts
}

/// The phases that marks open and close; one that is never closed lasts to the end.
fn bands(series: &TimeSeries) -> Vec<Band> {
    let mut bands: Vec<Band> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (seconds, mark) in series.marks() {
        match mark.edge {
            Edge::Start => {
                open.push(bands.len());
                bands.push(Band {
                    name: mark.name.clone(),
                    from: *seconds,
                    to: series.seconds(),
                });
            }
            Edge::End => {
                if let Some(place) = open.iter().rposition(|band| bands[*band].name == mark.name) {
                    bands[open.remove(place)].to = *seconds;
                }
            }
            Edge::Point => bands.push(Band {
                name: mark.name.clone(),
                from: *seconds,
                to: *seconds,
            }),
        }
    }
    bands
}

fn facts(list: Vec<(&str, Option<String>)>) -> Vec<Fact> {
    list.into_iter()
        .filter_map(|(name, value)| {
            let value = value.filter(|value| !value.trim().is_empty())?;
            Some(Fact {
                name: name.to_owned(),
                value,
            })
        })
        .collect()
}

fn about(reading: &RunDetails) -> Vec<Fact> {
    let info = &reading.info;
    let started = reading
        .entry
        .summary
        .started
        .map(|time| time.to_rfc3339_opts(SecondsFormat::Secs, true));
    let git = info.git.as_ref().map(|git| match git.dirty {
        Some(true) => format!("{} with changes that are not committed", git.commit),
        _ => git.commit.clone(),
    });
    let mut facts = facts(vec![
        ("Started", started),
        (
            "Command",
            (!info.command.is_empty()).then(|| info.command.join(" ")),
        ),
        ("Exit code", info.exit_code.map(|code| code.to_string())),
        ("Git commit", git),
        (
            "Python",
            info.python
                .as_ref()
                .and_then(|python| python.version.clone()),
        ),
        (
            "Sampled every",
            info.interval_s.map(|seconds| format!("{seconds} s")),
        ),
        ("Recorded by", Some(info.impact_version.clone())),
    ]);
    for (name, value) in info.tags.iter().chain(&info.scheduler) {
        facts.push(Fact {
            name: name.clone(),
            value: value.clone(),
        });
    }
    facts
}

fn hardware(info: &Info) -> Vec<Fact> {
    let host = &info.host;
    let cpu = host.cpu.as_ref().map(|cpu| {
        let count = |count: Option<u32>, what: &str| {
            count
                .map(|count| format!(", {count} {what}"))
                .unwrap_or_default()
        };
        format!(
            "{}{}{}{}",
            cpu.brand,
            count(cpu.sockets, "sockets"),
            count(cpu.cores, "cores"),
            count(cpu.threads, "threads")
        )
    });
    let mut list = vec![("Processor", cpu)];
    for gpu in &host.gpus {
        let memory = gpu
            .memory_bytes
            .map(|bytes| format!(", {}", number::bytes(bytes)))
            .unwrap_or_default();
        let limit = gpu
            .power_limit_w
            .map(|watts| format!(", limited to {watts} W"))
            .unwrap_or_default();
        list.push(("GPU", Some(format!("{}{memory}{limit}", gpu.name))));
    }
    list.extend([
        ("Memory", host.memory_bytes.map(number::bytes)),
        ("GPU driver", host.gpu_driver.clone()),
        ("Operating system", host.os.clone()),
        ("Kernel", host.kernel.clone()),
        ("Host", host.hostname.clone()),
        ("Container", host.container.clone()),
    ]);
    facts(list)
}

fn region(reading: &RunDetails) -> Vec<Fact> {
    let region = reading.info.region.as_ref();
    let carbon = reading.footprint.carbon.as_ref();
    let zone = carbon
        .and_then(|carbon| carbon.zone.as_ref())
        .or(region.map(|region| &region.zone))
        .map(|zone| zone.as_str().to_owned());
    let name = region
        .and_then(|region| region.name.clone())
        .filter(|name| Some(name) != zone.as_ref());
    let average = region.and_then(|region| {
        let year = region
            .year
            .map(|year| format!(" ({year})"))
            .unwrap_or_default();
        Some(format!(
            "{} g CO₂eq/kWh{year}",
            number::typeset(region.carbon_intensity?.get())
        ))
    });
    facts(vec![
        ("Zone", zone),
        ("Name", name),
        ("Found by", region.and_then(|region| region.how.clone())),
        ("Average intensity", average),
        (
            "Source of the average",
            region.and_then(|region| region.source.clone()),
        ),
        (
            "Intensity used",
            carbon.map(|carbon| format!("{} g CO₂eq/kWh", number::typeset(carbon.intensity.get()))),
        ),
        ("Its source", carbon.map(|carbon| carbon.source.clone())),
    ])
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
