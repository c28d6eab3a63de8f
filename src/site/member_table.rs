//! Tables with a row for each group or run of a page.

use super::label;
use super::site_map::{PageId, SiteMap};
use super::site_runs::Member;
use super::spec::{Direction, Ordering};
use super::table::{Cell, Column, Row, Table};

/// The groups inside a group: the number of their runs, and means with standard errors.
pub(super) fn group_table(
    map: &SiteMap,
    group: usize,
    variables: &[String],
    members: &[Member],
) -> Table {
    let mut table = Table {
        id: "summary",
        caption: "Mean ± standard error of the runs in each group".to_owned(),
        head: "Group",
        columns: columns(map, group, variables, true),
        rows: rows(map, group, variables, members),
        foot: Vec::new(),
        sortable: members.len() > 1,
    };
    table.columns.insert(0, Column::number("runs", "Runs", ""));
    for (row, member) in table.rows.iter_mut().zip(members) {
        row.cells.insert(0, Cell::count(member.runs.len()));
    }
    table
}

/// The runs of a group, and below them the mean of the whole group.
pub(super) fn run_table(
    map: &SiteMap,
    group: usize,
    variables: &[String],
    members: &[Member],
    whole: &Member,
) -> Table {
    let foot = (members.len() > 1).then(|| {
        let name = format!("Mean of {} runs", whole.runs.len());
        Row::new(name, cells(whole, variables))
    });
    Table {
        id: "runs",
        caption: "One row a run, and their mean ± standard error below".to_owned(),
        head: "Run",
        columns: columns(map, group, variables, false),
        rows: rows(map, group, variables, members),
        foot: foot.into_iter().collect(),
        sortable: members.len() > 1,
    }
}

fn columns(map: &SiteMap, group: usize, variables: &[String], spread: bool) -> Vec<Column> {
    let ordering = ordering(map, group, variables);
    let column = |variable: &String| Column {
        spread,
        sorted: ordering
            .filter(|ordering| ordering.variable == *variable)
            .map(|ordering| match ordering.direction {
                Direction::Descending => "descending",
                Direction::Ascending => "ascending",
            }),
        ..label::column(variable)
    };
    variables.iter().map(column).collect()
}

fn rows(map: &SiteMap, group: usize, variables: &[String], members: &[Member]) -> Vec<Row> {
    let ordering = ordering(map, group, variables);
    let is_ranked = map.tree.groups[group].is_ranked && members.len() > 1;
    let is_best = |member: &Member| {
        is_ranked
            && ordering.is_some_and(|ordering| member.statistics.contains_key(&ordering.variable))
    };
    let row = |(place, member): (usize, &Member)| Row {
        href: Some(map.href(PageId::Group(group), member.page)),
        hint: match member.page {
            PageId::Run(run, _) => Some(map.logs[run].relative.clone()),
            _ => None,
        },
        best: place == 0 && is_best(member),
        ..Row::new(member.name, cells(member, variables))
    };
    members.iter().enumerate().map(row).collect()
}

fn cells(member: &Member, variables: &[String]) -> Vec<Cell> {
    let cell = |variable: &String| Cell::statistic(variable, member.statistics.get(variable));
    variables.iter().map(cell).collect()
}

/// The ordering of a group, if its figure has a column.
fn ordering<'a>(map: &'a SiteMap, group: usize, variables: &[String]) -> Option<&'a Ordering> {
    let ordering = map.tree.groups[group].ordering.as_ref();
    ordering.filter(|ordering| variables.contains(&ordering.variable))
}
