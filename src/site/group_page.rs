use serde_json::{Value, json};

use super::group_charts::{charts, scatters};
use super::label;
use super::member_table::{group_table, run_table};
use super::page::{GroupPage, Headline};
use super::site_map::PageId;
use super::site_runs::{Member, SiteRuns};
use super::table::{Cell, Column, Row, Table};
use super::tree::Group;
use crate::ledger::Figure;
use crate::text::number::{self, counted};

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
        vec![format!("No run has a figure for {}.", unknown.join(", "))]
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
            let known = if statistic.n == whole.runs.len() {
                String::new()
            } else {
                format!(" of {}", counted(statistic.n, "run"))
            };
            headlines.push(Headline {
                label: label::label(figure.name()).to_owned(),
                value: number::typeset(statistic.sum),
                unit: label::unit(figure.name()),
                note: format!("total{known}"),
            });
        }
    }
    headlines
}

fn figures_table(whole: &Member) -> Table {
    let rows = whole.statistics.iter().map(|(name, statistic)| {
        let (mean, error) = number::typeset_mean(statistic.mean, statistic.stderr);
        let cell = |text: String, value: Option<f64>| Cell {
            text,
            value,
            ..Cell::default()
        };
        Row::new(
            name.clone(),
            vec![
                cell(mean, Some(statistic.mean)),
                cell(error.unwrap_or_else(|| "–".to_owned()), statistic.stderr),
                Cell::number(adds_up(name).then_some(statistic.sum)),
                Cell::count(statistic.n),
                Cell::text(label::unit(name)),
            ],
        )
    });
    Table {
        id: "figures",
        caption: "Every figure of the runs in this group".to_owned(),
        head: "Figure",
        columns: vec![
            Column::number("mean", "Mean", ""),
            Column::number("stderr", "Standard error", ""),
            Column::number("sum", "Sum", ""),
            Column::number("n", "Runs", ""),
            Column::text("unit", "Unit"),
        ],
        rows: rows.collect(),
        foot: Vec::new(),
        sortable: false,
    }
}

/// Of a figure of a processor only its author knows.
fn adds_up(name: &str) -> bool {
    name.parse().map_or(true, Figure::adds_up)
}
