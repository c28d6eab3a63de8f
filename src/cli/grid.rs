use std::fmt::Write as _;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use clap::{Args, ValueEnum};

use super::bad_value::BadValue;
use super::output::{print, tell};
use super::settings::{Config, Sources};
use super::{Failure, Outcome, configured, exit};
use crate::grid::intensity::live::ServiceClient;
use crate::grid::intensity::provider_chain::{Answer, NoProviderAnswered, Refusal};
use crate::grid::intensity::{Declined, Period, Series, live};
use crate::grid::zone::{ZoneId, register};
use crate::text::escape;
use crate::text::number::counted;
use crate::text::table::Table;
use crate::units::parse_instant;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  impact grid GB
  impact grid US-CA --from 2026-11-01 --to 2026-11-08 --format csv

Tokens are taken from the environment: ELECTRICITYMAPS_TOKEN, ENTSOE_TOKEN, EIA_API_KEY, and for
watttime, which is asked only by name, WATTTIME_USERNAME (or WATTTIME_USER), WATTTIME_PASSWORD
and WATTTIME_REGION.")]
pub struct GridArgs {
    /// The zone, such as US-CA, FR or DK-DK1, or a country; GB-1 to GB-17 are the regions of Great Britain
    #[arg(value_parser = register::named)]
    zone: ZoneId,
    /// Start of the period: a date or time, in UTC unless it has an offset [default: a day before its end]
    #[arg(long, value_parser = instant)]
    from: Option<DateTime<Utc>>,
    /// End of the period [default: now]
    #[arg(long, value_parser = instant)]
    to: Option<DateTime<Utc>>,
    /// Provider to ask: auto (each in turn, then the yearly table), table (no network), or the name of one
    /// [default: auto]
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Output format [default: text]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Csv,
}

impl GridArgs {
    pub fn run(self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        let client = Arc::new(configured::client(&config));
        let provider = configured::provider(self.provider, &config);
        let chain =
            live::chosen(&client, &provider).ok_or_else(|| no_such_provider(&client, &provider))?;
        let to = self.to.unwrap_or_else(Utc::now);
        let from = self
            .from
            .unwrap_or_else(|| Period::until(to, TimeDelta::days(1)).from());
        let period = Period::new(from, to).map_err(|wrong| {
            Failure::new(wrong)
                .advise("--from before --to, such as --from 2026-11-01 --to 2026-11-08")
                .exit_with(exit::USAGE)
        })?;
        // Some services know zones that the tables do not.
        let zone = register::zone_or_country(&self.zone).unwrap_or(self.zone);
        let answer = chain
            .intensity(&zone, &period)
            .map_err(|unanswered| no_answer(&unanswered))?;
        let format = self.format.or_else(|| configured::format(&config));
        let format = format.unwrap_or(Format::Text);
        let text = match format {
            Format::Text => text(&answer, &period),
            Format::Json => json(&answer)?,
            Format::Csv => csv(&answer),
        };
        if format != Format::Text {
            for refusal in &answer.declined {
                tell(escape::terminal(&refusal.to_string()));
            }
        }
        print(&text)?;
        Ok(exit::DONE)
    }
}

/// A provider that is not there, and those that are.
pub(super) fn no_such_provider(client: &Arc<ServiceClient>, name: &str) -> Failure {
    let names: Vec<&str> = live::all(client).iter().map(|one| one.name()).collect();
    Failure::new(anyhow::anyhow!("no provider is called {name}"))
        .advise(format!("auto, or one of {}", names.join(", ")))
        .exit_with(exit::USAGE)
}

fn no_answer(unanswered: &NoProviderAnswered) -> Failure {
    let is_unknown = |refusal: &Refusal| {
        matches!(
            refusal.reason,
            Declined::NotServed(_) | Declined::NoToken(_)
        )
    };
    if let Err(no_such_zone) = register::find_area(&unanswered.zone)
        && unanswered.declined.iter().all(is_unknown)
    {
        return Failure::new(no_such_zone).advise("impact region --all");
    }
    let has_asked_the_table = unanswered
        .declined
        .iter()
        .any(|refusal| refusal.provider == "table");
    let country = unanswered.zone.country_prefix();
    reasons(unanswered).advise(if has_asked_the_table {
        format!("impact grid {country}, which the yearly table knows, or the zone again later")
    } else {
        "--provider auto, which falls back to the yearly table".to_owned()
    })
}

/// That no provider answered, with the reason of each.
pub(super) fn reasons(unanswered: &NoProviderAnswered) -> Failure {
    Failure::new(anyhow::anyhow!(unanswered.reasons("\n")).context(unanswered.to_string()))
}

/// A date or time, in UTC unless it says otherwise.
fn instant(text: &str) -> Result<DateTime<Utc>, BadValue> {
    parse_instant(text).ok_or(BadValue::NotAnInstant)
}

fn text(answer: &Answer, period: &Period) -> String {
    let series = &answer.series;
    let minute = |at: DateTime<Utc>| at.format("%Y-%m-%d %H:%M").to_string();
    let (low, high) = series.extremes();
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}  {} to {} UTC",
        series.zone,
        minute(period.from()),
        minute(period.to())
    );
    if series.points().len() > 1 {
        let _ = writeln!(out, "{}", plot(series, period));
    }
    let _ = writeln!(
        out,
        "mean     {:.1} g CO2eq/kWh ({}, {})",
        series.mean().get(),
        counted(series.points().len(), "value"),
        series.basis
    );
    if series.points().len() > 1 {
        for (name, point) in [("lowest", low), ("highest", high)] {
            let _ = writeln!(
                out,
                "{name:8} {:.1} at {}",
                point.intensity.get(),
                minute(point.at)
            );
        }
    }
    let _ = writeln!(out, "source   {}", escape::terminal(&series.source()));
    for refusal in &answer.declined {
        let _ = writeln!(out, "declined {}", escape::terminal(&refusal.to_string()));
    }
    out
}

/// One character for each part of the period, from its cleanest to its dirtiest; gaps stay empty.
fn plot(series: &Series, period: &Period) -> String {
    const WIDTH: i32 = 72;
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let (low, high) = series.extremes();
    let range = (high.intensity.get() - low.intensity.get()).max(f64::MIN_POSITIVE);
    let whole = period.to() - period.from();
    (0..WIDTH)
        .map(|column| {
            let middle = period.from() + whole / (2 * WIDTH) * (2 * column + 1);
            series.at(middle).map_or(' ', |value| {
                let share = (value.get() - low.intensity.get()) / range;
                BARS[((share * 7.0).round() as usize).min(7)]
            })
        })
        .collect()
}

fn json(answer: &Answer) -> Result<String, Failure> {
    let declined: Vec<_> = answer
        .declined
        .iter()
        .map(|refusal| serde_json::json!({"provider": refusal.provider, "reason": refusal.reason.reason()}))
        .collect();
    let value = serde_json::json!({
        "schema": "impact-grid/1",
        "provider": answer.provider,
        "series": answer.series,
        "declined": declined,
    });
    Ok(escape::pretty_json(&value)?)
}

fn csv(answer: &Answer) -> String {
    let series = &answer.series;
    let mut table = Table::new(
        &["zone", "time", "carbon_intensity", "basis", "source"],
        &[],
    );
    for point in series.points() {
        table.push([
            series.zone.to_string(),
            point.at.to_rfc3339(),
            point.intensity.get().to_string(),
            series.basis.to_string(),
            series.source(),
        ]);
    }
    table.csv()
}
