use std::cmp::Ordering as Order;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::chart::{Bar, BoxRow, Dot, Scatter, bars, boxes, scatter};
use super::entry::{Entry, statistics};
use super::label;
use super::page::{Chart, GroupPage, Headline};
use super::site_map::{PageId, SiteMap};
use super::spec::{Better, Direction, Ordering, Plot};
use super::statistic::Statistic;
use super::table::{Cell, Column, Row, Table};
use super::tree::Group;
use crate::ledger::Figure;
use crate::text::number::{self, counted};

/// Beyond these a chart only shows the first rows of its table.
const MOST_BARS: usize = 30;
const MOST_DOTS: usize = 400;
const SPREAD_FIGURES: [Figure; 3] = [Figure::Duration, Figure::Emissions, Figure::Energy];
const PARTS: [&str; 4] = ["CPU", "GPU", "DRAM", "overhead (PUE)"];

/// What a table of members is called.
#[derive(Debug, Clone, Copy)]
struct Listing {
    id: &'static str,
    caption: &'static str,
    head: &'static str,
}

const GROUPS: Listing = Listing {
    id: "summary",
    caption: "Mean ± standard error of the runs in each group",
    head: "Group",
};
const RUNS: Listing = Listing {
    id: "runs",
    caption: "One row a run, and their mean ± standard error below",
    head: "Run",
};

/// A group or a run, as tables and charts show it.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) name: String,
    pub(super) place: PageId,
    pub(super) runs: Vec<&'a Entry>,
    pub(super) statistics: BTreeMap<String, Statistic>,
}

/// The runs of a site as they were read; none for a log that could not be.
#[derive(Debug)]
pub(super) struct SiteRuns<'a> {
    pub(super) map: &'a SiteMap<'a>,
    pub(super) runs: &'a [Option<Entry>],
    /// The name of each run in tables.
    pub(super) names: &'a [String],
}

impl<'a> SiteRuns<'a> {
    pub(super) fn group(&self, group: usize) -> Member<'a> {
        let here = &self.map.tree.groups[group];
        let runs: Vec<&Entry> = here
            .runs
            .iter()
            .filter_map(|run| self.runs[*run].as_ref())
            .collect();
        Member {
            name: here.name.clone(),
            place: PageId::Group(group),
            statistics: statistics(runs.iter().copied()),
            runs,
        }
    }

    fn run(&self, run: usize) -> Option<Member<'a>> {
        let entry = self.runs[run].as_ref()?;
        Some(Member {
            name: self.names[run].clone(),
            place: PageId::Run(run, None),
            statistics: statistics([entry].into_iter()),
            runs: vec![entry],
        })
    }

    /// The page of a group and the same for machines.
    pub(super) fn group_page(&self, group: usize) -> (GroupPage, Value) {
        let here = &self.map.tree.groups[group];
        let place = PageId::Group(group);
        let whole = self.group(group);
        let sorted = |members: Vec<Member<'a>>| sorted(members, here.ordering.as_ref());
        let children = sorted(
            here.children
                .iter()
                .map(|child| self.group(*child))
                .collect(),
        );
        let runs = sorted(here.runs.iter().filter_map(|run| self.run(*run)).collect());
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
        let summary =
            (!children.is_empty()).then(|| self.members(GROUPS, group, &variables, &children));
        let page = GroupPage {
            shell: self.map.shell(place, &here.name),
            description: here.description.clone(),
            headlines: headlines(&whole),
            summary,
            scatters: scatters(&here.plots, shown),
            charts: charts(shown),
            figures: figures_table(&whole),
            runs: self.members(RUNS, group, &variables, &runs),
            notices,
        };
        let json = json!({
            "schema": crate::site::SCHEMA,
            "kind": "group",
            "path": self.map.tree.path_to(group).iter().map(|g| &self.map.tree.groups[*g].name).collect::<Vec<_>>(),
            "runs": whole.runs.len(),
            "figures": whole.statistics,
            "rows": shown.iter().map(|member| self.row_json(place, member)).collect::<Vec<_>>(),
        });
        (page, json)
    }

    pub(super) fn row_json(&self, from: PageId, member: &Member) -> Value {
        json!({
            "name": member.name,
            "href": self.map.href(from, member.place),
            "runs": member.runs.len(),
            "figures": member.statistics,
        })
    }

    fn members(
        &self,
        listing: Listing,
        group: usize,
        variables: &[String],
        members: &[Member],
    ) -> Table {
        let from = PageId::Group(group);
        let group = &self.map.tree.groups[group];
        let of_groups = members
            .iter()
            .any(|member| matches!(member.place, PageId::Group(_)));
        let ordering = group
            .ordering
            .as_ref()
            .filter(|ordering| variables.contains(&ordering.variable));
        let mut columns: Vec<Column> = Vec::new();
        if of_groups {
            columns.push(Column::number("runs", "Runs", ""));
        }
        for variable in variables {
            columns.push(Column {
                spread: of_groups,
                sorted: ordering
                    .filter(|ordering| ordering.variable == *variable)
                    .map(|ordering| match ordering.direction {
                        Direction::Descending => "descending",
                        Direction::Ascending => "ascending",
                    }),
                ..label::column(variable)
            });
        }
        let cells = |member: &Member| {
            let mut cells = Vec::new();
            if of_groups {
                cells.push(Cell::count(member.runs.len()));
            }
            cells.extend(
                variables
                    .iter()
                    .map(|variable| Cell::statistic(member.statistics.get(variable))),
            );
            cells
        };
        let rows: Vec<Row> = members
            .iter()
            .enumerate()
            .map(|(place, member)| Row {
                href: Some(self.map.href(from, member.place)),
                hint: match member.place {
                    PageId::Run(run, _) => Some(self.map.logs[run].relative.clone()),
                    _ => None,
                },
                best: place == 0
                    && group.is_ranked
                    && members.len() > 1
                    && ordering
                        .is_some_and(|ordering| member.statistics.contains_key(&ordering.variable)),
                ..Row::new(member.name.clone(), cells(member))
            })
            .collect();
        let whole = Member {
            name: String::new(),
            place: from,
            statistics: statistics(
                members
                    .iter()
                    .flat_map(|member| member.runs.iter().copied()),
            ),
            runs: members
                .iter()
                .flat_map(|member| member.runs.iter().copied())
                .collect(),
        };
        let foot = if of_groups || members.len() < 2 {
            Vec::new()
        } else {
            vec![Row::new(
                format!("Mean of {} runs", whole.runs.len()),
                cells(&whole),
            )]
        };
        Table {
            id: listing.id,
            caption: listing.caption.to_owned(),
            head: listing.head,
            columns,
            rows,
            foot,
            sortable: members.len() > 1,
        }
    }
}

/// The best first by the ordering variable; what lacks it comes last, what is equal stays in order.
fn sorted<'a>(mut members: Vec<Member<'a>>, ordering: Option<&Ordering>) -> Vec<Member<'a>> {
    if let Some(ordering) = ordering {
        let value = |member: &Member| {
            member
                .statistics
                .get(&ordering.variable)
                .map(|statistic| statistic.mean)
        };
        members.sort_by(|a, b| match (value(a), value(b)) {
            (Some(a), Some(b)) => match ordering.direction {
                Direction::Descending => b.total_cmp(&a),
                Direction::Ascending => a.total_cmp(&b),
            },
            (Some(_), None) => Order::Less,
            (None, Some(_)) => Order::Greater,
            (None, None) => Order::Equal,
        });
    }
    members
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

fn scatters(plots: &[Plot], members: &[Member]) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (place, plot) in plots.iter().enumerate() {
        let dots: Vec<Dot> = members
            .iter()
            .take(MOST_DOTS)
            .filter_map(|member| {
                let (x, y) = (
                    member.statistics.get(&plot.x)?,
                    member.statistics.get(&plot.y)?,
                );
                Some(Dot {
                    label: member.name.clone(),
                    x: x.mean,
                    y: y.mean,
                    x_error: x.stderr.unwrap_or(0.0),
                    y_error: y.stderr.unwrap_or(0.0),
                })
            })
            .collect();
        if dots.is_empty() {
            continue;
        }
        let title = format!(
            "{} against {}",
            label::label(&plot.y),
            label::label(&plot.x)
        );
        let picture = Scatter {
            title: &title,
            x_name: &label::with_unit(&plot.x),
            y_name: &label::with_unit(&plot.y),
            low_x_is_better: label::better(&plot.x, plot.better_x) == Better::Low,
            low_y_is_better: label::better(&plot.y, plot.better_y) == Better::Low,
            dots: &dots,
        };
        charts.push(Chart {
            svg: scatter(&format!("scatter-{place}"), &picture),
            title,
            caption: String::new(),
        });
    }
    charts
}

/// Where the energy went, and how durations, emissions and energies are spread.
pub(super) fn charts(members: &[Member]) -> Vec<Chart> {
    let rows: Vec<Bar> = members
        .iter()
        .take(MOST_BARS)
        .filter_map(|member| {
            let mean = |figure: Figure| {
                member
                    .statistics
                    .get(figure.name())
                    .map_or(0.0, |s| s.sum / member.runs.len() as f64)
            };
            let parts = [Figure::CpuEnergy, Figure::GpuEnergy, Figure::MemoryEnergy].map(mean);
            let overhead = mean(Figure::Energy) - parts.iter().sum::<f64>();
            (!member.runs.is_empty()).then(|| Bar {
                label: member.name.clone(),
                parts: parts.into_iter().chain([overhead.max(0.0)]).collect(),
            })
        })
        .collect();
    let of_groups = members
        .iter()
        .any(|member| matches!(member.place, PageId::Group(_)));
    let mut charts = Vec::new();
    if !rows.is_empty() {
        let title = if of_groups {
            "Where the energy went, mean of a run"
        } else {
            "Where the energy went"
        };
        let more = if members.len() > MOST_BARS {
            format!("The first {MOST_BARS} of {}. ", members.len())
        } else {
            String::new()
        };
        charts.push(Chart {
            title: title.to_owned(),
            svg: bars("energy", title, "kWh", &PARTS, &rows),
            caption: format!("{more}Memory (DRAM) has a part of its own only where the machine measures it apart from the CPU."),
        });
    }
    for figure in SPREAD_FIGURES {
        let values = |member: &Member| -> Vec<f64> {
            member
                .runs
                .iter()
                .filter_map(|entry| entry.figures.get(figure.name()).copied())
                .collect()
        };
        let rows: Vec<BoxRow> = if of_groups {
            let row = |member: &Member| BoxRow {
                label: member.name.clone(),
                values: values(member),
            };
            members
                .iter()
                .take(MOST_BARS)
                .map(row)
                .filter(|row| !row.values.is_empty())
                .collect()
        } else {
            let all: Vec<f64> = members.iter().flat_map(values).collect();
            (all.len() > 1)
                .then(|| BoxRow {
                    label: format!("{} runs", all.len()),
                    values: all,
                })
                .into_iter()
                .collect()
        };
        if rows.is_empty() {
            continue;
        }
        let title = format!("{} of the runs", label::label(figure.name()));
        charts.push(Chart {
            svg: boxes(
                &format!("box-{}", figure.name()),
                &title,
                &label::unit(figure.name()),
                &rows,
            ),
            title,
            caption: String::new(),
        });
    }
    charts
}
