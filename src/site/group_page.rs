use serde_json::{Value, json};

use super::entry::Entry;
use super::group_charts::{charts, scatters};
use super::label;
use super::member_table::{group_table, run_table};
use super::page::{GroupPage, Headline};
use super::site_map::PageId;
use super::site_runs::{Member, SiteRuns};
use super::table::{Cell, Column, Row, Table};
use super::tree::Group;
use crate::ledger::figure::without_intensity;
use crate::ledger::{Figure, RunOutcome};
use crate::text::number::{counted, percent};

/// The page of a group, for people and as JSON.
pub(super) fn group_page(site: &SiteRuns, group: usize) -> (GroupPage, Value) {
    let map = site.map;
    let here = &map.tree.groups[group];
    let page_id = PageId::Group(group);
    let whole = site.group(group);
    let children = site.children_of(group);
    let runs = site.runs_of(group);
    let shown = if children.is_empty() {
        &runs
    } else {
        &children
    };
    let (variables, mut notices) = known_variables(here, &whole);
    let missing = whole.runs.iter().filter(|entry| !entry.missing.is_empty());
    if let Some(first) = missing.clone().next() {
        let count = missing.count();
        notices.push(format!(
            "Figures are missing for {count} of {} runs, the first because {}.",
            whole.runs.len(),
            first.missing[0]
        ));
    }
    let page = GroupPage {
        shell: map.shell(page_id, &here.name),
        description: here.description.clone(),
        headlines: headlines(&whole),
        summary: (!children.is_empty()).then(|| group_table(map, group, &variables, &children)),
        scatters: scatters(&here.plots, shown),
        charts: charts(shown),
        figures: figures_table(&whole),
        runs: run_table(map, group, &variables, &runs, &whole),
        notices,
    };
    let path = map.tree.path_to(group);
    let json = json!({
        "schema": crate::site::SCHEMA,
        "kind": "group",
        "path": path.iter().map(|group| &map.tree.groups[*group].name).collect::<Vec<_>>(),
        "runs": whole.runs.len(),
        "figures": whole.statistics,
        "rows": shown.iter().map(|member| site.row_json(page_id, member)).collect::<Vec<_>>(),
    });
    (page, json)
}

/// The variables of a group that some run has, and what is to be said of the others.
fn known_variables(group: &Group, whole: &Member) -> (Vec<String>, Vec<String>) {
    let (known, unknown): (Vec<String>, Vec<String>) = group
        .variables
        .iter()
        .cloned()
        .partition(|variable| whole.statistics.contains_key(variable));
    let notices = if unknown.is_empty() {
        Vec::new()
    } else {
        let names: Vec<&str> = unknown.iter().map(|name| label::label(name)).collect();
        vec![format!("No run has a figure for {}.", names.join(", "))]
    };
    (known, notices)
}

pub(super) fn headlines(whole: &Member) -> Vec<Headline> {
    let mut headlines = vec![Headline {
        label: "Runs".to_owned(),
        value: whole.runs.len().to_string(),
        unit: String::new(),
        note: String::new(),
    }];
    for figure in [Figure::Energy, Figure::Emissions, Figure::Duration] {
        if let Some(statistic) = whole.statistics.get(figure.name()) {
            let all = whole.runs.len();
            let is_lower_bound = label::is_lower_bound(figure.name(), statistic, all);
            let shown = label::scale(figure.name(), statistic.sum);
            let digits = shown.digits(statistic.sum);
            headlines.push(Headline {
                label: label::label(figure.name()).to_owned(),
                value: if is_lower_bound {
                    format!("≥ {digits}")
                } else {
                    digits
                },
                unit: shown.full_unit(figure.name()),
                note: if is_lower_bound {
                    let unknown = (all - statistic.n) as u64;
                    format!("at least: {}", without_intensity(unknown, all as u64))
                } else if statistic.n < all {
                    format!("total of {}", counted(statistic.n, "run"))
                } else {
                    "total".to_owned()
                },
            });
        }
    }
    headlines.extend(failures(whole));
    headlines
}

/// A caption of sums, which says why a mass among them is a lower bound.
pub(super) fn caption_of_sums(caption: &str, whole: &Member) -> String {
    let name = Figure::Emissions.name();
    let known = whole.statistics.get(name).map_or(0, |mass| mass.n);
    let all = whole.runs.len();
    if known == 0 || known == all {
        return caption.to_owned();
    }
    let why = without_intensity((all - known) as u64, all as u64);
    format!("{caption}; emissions are at least (≥) these: {why}")
}

/// How many runs failed, and the share of the energy that went into them.
fn failures(whole: &Member) -> Option<Headline> {
    let energy = |entry: &&Entry| entry.figures.get(Figure::Energy.name()).copied();
    let is_failed = |entry: &&Entry| entry.summary.outcome == RunOutcome::Failed;
    let failed: Vec<&Entry> = whole.runs.iter().copied().filter(is_failed).collect();
    let all: f64 = whole.runs.iter().filter_map(energy).sum();
    let share = failed.iter().filter_map(energy).sum::<f64>() / all;
    (!failed.is_empty()).then(|| Headline {
        label: "Failed runs".to_owned(),
        value: failed.len().to_string(),
        unit: String::new(),
        note: if share.is_finite() {
            format!("with {} of the energy, which is included", percent(share))
        } else {
            "included".to_owned()
        },
    })
}

fn figures_table(whole: &Member) -> Table {
    let rows = whole.statistics.iter().map(|(name, statistic)| {
        let mut mean = Cell::statistic(name, Some(statistic)).with_unit_of(name);
        let error = Cell {
            text: mean.error.take().unwrap_or_else(|| "–".to_owned()),
            unit: statistic
                .stderr
                .map_or_else(String::new, |_| mean.unit.clone()),
            value: statistic.stderr,
            ..Cell::default()
        };
        mean.stderr = None;
        let sum = Some(statistic).filter(|_| label::adds_up(name));
        let cells = vec![
            mean,
            error,
            Cell::sum(name, sum, whole.runs.len()).with_unit_of(name),
            Cell::count(statistic.n),
            Cell::text(label::fixed_unit(name)),
        ];
        Row {
            key: Some(name.clone()),
            hint: Some(name.clone()),
            ..Row::new(label::for_people(name), cells)
        }
    });
    Table {
        id: "figures",
        caption: caption_of_sums("Every figure of the runs in this group", whole),
        head: "Figure",
        columns: vec![
            Column::number("mean", "Mean", ""),
            Column::number("stderr", "Standard error", ""),
            Column::number("sum", "Sum", ""),
            Column::number("n", "Runs", ""),
            Column {
                csv_only: true,
                ..Column::text("unit", "Unit")
            },
        ],
        rows: rows.collect(),
        foot: Vec::new(),
        sortable: false,
    }
}
