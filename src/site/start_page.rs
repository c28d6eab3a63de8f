use serde_json::{Value, json};

use super::group_charts::charts;
use super::group_page::{caption_of_sums, headlines};
use super::label;
use super::logs::LogRoot;
use super::page::{Fact, StartPage, StatementBlock};
use super::site_map::PageId;
use super::site_runs::{Member, SiteRuns};
use super::table::{Cell, Column, Row, Table};
use crate::ledger::{Figure, Skipped};

const FIGURES: [Figure; 4] = [
    Figure::Energy,
    Figure::Emissions,
    Figure::Duration,
    Figure::MeasuredShare,
];

/// What the start page shows besides the groups.
#[derive(Debug)]
pub(super) struct StartPageContent<'a> {
    pub(super) statement: Option<StatementBlock>,
    pub(super) notices: &'a [String],
    pub(super) skipped: &'a [Skipped],
    pub(super) roots: &'a [LogRoot],
}

/// The start page, for people and as JSON.
pub(super) fn start_page(site: &SiteRuns, front: StartPageContent) -> (StartPage, Value) {
    let map = site.map;
    let whole = site.whole();
    let members: Vec<Member> = shown_groups(site)
        .into_iter()
        .map(|group| site.group(group))
        .collect();
    let mut skipped: Vec<Skipped> = front
        .skipped
        .iter()
        .map(|skipped| Skipped {
            path: without_roots(&skipped.path.display().to_string(), front.roots).into(),
            kind: skipped.kind,
            reason: without_roots(&skipped.reason, front.roots),
        })
        .collect();
    // By the shortened paths, so that the place of the logs does not change the page.
    skipped.sort_by(|a, b| a.path.cmp(&b.path));
    let json = json!({
        "schema": crate::site::SCHEMA,
        "kind": "start",
        "title": map.title,
        "generator": crate::site::GENERATOR,
        "runs": whole.runs.len(),
        "figures": whole.statistics,
        "rows": members.iter().map(|member| site.row_json(PageId::Start, member)).collect::<Vec<_>>(),
        "skipped": skipped,
    });
    let page = StartPage {
        shell: map.shell(PageId::Start, map.title),
        headlines: headlines(&whole),
        groups: groups_table(site, &members, &whole),
        charts: charts(&members).into_iter().take(1).collect(),
        statement: front.statement,
        notices: front.notices.to_vec(),
        skipped: skipped
            .into_iter()
            .map(|skipped| Fact {
                name: skipped.path.display().to_string(),
                value: skipped.reason,
            })
            .collect(),
    };
    (page, json)
}

/// The outermost groups; if there is only one, those inside it.
fn shown_groups(site: &SiteRuns) -> Vec<usize> {
    let tree = site.map.tree;
    let mut shown = tree.top.clone();
    while let [only] = shown.as_slice() {
        if tree.groups[*only].children.is_empty() {
            break;
        }
        shown.clone_from(&tree.groups[*only].children);
    }
    shown
}

fn groups_table(site: &SiteRuns, members: &[Member], whole: &Member) -> Table {
    let mut columns = vec![Column::number("runs", "Runs", "")];
    columns.extend(FIGURES.iter().map(|figure| match figure {
        Figure::MeasuredShare => label::column(figure.name()),
        _ => Column {
            meaning: format!(
                "{}: {}, summed over the runs",
                figure.name(),
                figure.meaning()
            ),
            ..label::column(figure.name())
        },
    }));
    let row = |member: &Member| {
        let mut cells = vec![Cell::count(member.runs.len())];
        cells.extend(FIGURES.iter().map(|figure| {
            let statistic = member.statistics.get(figure.name());
            match figure {
                Figure::MeasuredShare => Cell::share(statistic.map(|statistic| statistic.mean)),
                _ => Cell::sum(figure.name(), statistic, member.runs.len()),
            }
        }));
        Row {
            href: Some(site.map.href(PageId::Start, member.page)),
            ..Row::new(member.name, cells)
        }
    };
    Table {
        id: "groups",
        caption: caption_of_sums("Groups, summed over their runs", whole),
        head: "Group",
        columns,
        rows: members.iter().map(row).collect(),
        foot: Vec::new(),
        sortable: members.len() > 1,
    }
}

/// A text without the paths of the roots, which readers of the page need not know.
fn without_roots(text: &str, roots: &[LogRoot]) -> String {
    roots.iter().fold(text.to_owned(), |text, root| {
        let folder = root.run_folder().display().to_string();
        if text == folder {
            root.shown.clone()
        } else {
            text.replace(&format!("{folder}/"), "")
        }
    })
}
