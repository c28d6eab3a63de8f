//! Charts that compare the groups or the runs of a page.

use super::chart::{Bar, BoxRow, Dot, Scatter, bars, boxes, scatter};
use super::label;
use super::page::Chart;
use super::site_map::PageId;
use super::site_runs::Member;
use super::spec::{Better, Plot};
use crate::ledger::Figure;

/// Beyond these a chart only shows the first rows of its table.
const MOST_BARS: usize = 30;
const MOST_DOTS: usize = 400;
const SPREAD_FIGURES: [Figure; 3] = [Figure::Duration, Figure::Emissions, Figure::Energy];
const PARTS: [&str; 4] = ["CPU", "GPU", "DRAM", "overhead (PUE)"];

/// The plots that a spec asks for.
pub(super) fn scatters(plots: &[Plot], members: &[Member]) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (place, plot) in plots.iter().enumerate() {
        let mut dots: Vec<Dot> = members
            .iter()
            .take(MOST_DOTS)
            .filter_map(|member| {
                let (x, y) = (
                    member.statistics.get(&plot.x)?,
                    member.statistics.get(&plot.y)?,
                );
                Some(Dot {
                    label: member.name.to_owned(),
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
        let largest =
            |value: fn(&Dot) -> f64| dots.iter().map(|dot| value(dot).abs()).fold(0.0, f64::max);
        let x = label::scale(&plot.x, largest(|dot| dot.x));
        let y = label::scale(&plot.y, largest(|dot| dot.y));
        for dot in &mut dots {
            dot.x *= x.factor;
            dot.x_error *= x.factor;
            dot.y *= y.factor;
            dot.y_error *= y.factor;
        }
        let title = format!(
            "{} against {}",
            label::label(&plot.y),
            label::label(&plot.x)
        );
        let plot = Scatter {
            title: &title,
            x_name: &x.title(&plot.x),
            y_name: &y.title(&plot.y),
            low_x_is_better: label::better(&plot.x, plot.better_x) == Better::Low,
            low_y_is_better: label::better(&plot.y, plot.better_y) == Better::Low,
            dots: &dots,
        };
        charts.push(Chart {
            svg: scatter(&format!("scatter-{place}"), &plot),
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
                label: member.name.to_owned(),
                parts: parts.into_iter().chain([overhead.max(0.0)]).collect(),
            })
        })
        .collect();
    let of_groups = members
        .iter()
        .any(|member| matches!(member.page, PageId::Group(_)));
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
        let totals = rows.iter().map(|bar| bar.parts.iter().sum());
        let shown = label::scale(Figure::Energy.name(), totals.fold(0.0, f64::max));
        let amount = |value| label::amount(Figure::Energy.name(), value);
        charts.push(Chart {
            title: title.to_owned(),
            svg: bars("energy", title, (&shown.unit, shown.factor), &PARTS, &rows, &amount),
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
                label: member.name.to_owned(),
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
        let largest = rows
            .iter()
            .flat_map(|row| &row.values)
            .copied()
            .fold(0.0, f64::max);
        let shown = label::scale(figure.name(), largest);
        let amount = |value| label::amount(figure.name(), value);
        let title = format!("{} of the runs", label::label(figure.name()));
        charts.push(Chart {
            svg: boxes(
                &format!("box-{}", figure.name()),
                &title,
                (&shown.full_unit(figure.name()), shown.factor),
                &rows,
                &amount,
            ),
            title,
            caption: String::new(),
        });
    }
    charts
}
