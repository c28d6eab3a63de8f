use std::time::Duration;

use anyhow::anyhow;
use clap::{Args, ValueEnum};

use super::accounting::doubt;
use super::bad_value::BadValue;
use super::number::{fraction, within};
use super::output::print;
use super::place::{Place, unresolved};
use super::region::tables::Tables;
use super::settings::{Config, Sources};
use super::table_format::{TableFormat, TableFormatArg};
use super::{Advise, Failure, Outcome, exit};
use crate::grid::data::device::Kind;
use crate::grid::intensity::Intensity;
use crate::grid::zone::{AreaId, cloud, register};
use crate::grid::{PlaceResolver, ResolveError};
use crate::ledger::estimate::{Estimate, Fleet, Grid, Job};
use crate::ledger::{AssumedPue, estimate};
use crate::text::escape;
use crate::text::quantity::{self, Quantity};
use crate::text::table::Table;
use crate::units::{GramsCo2e, GramsPerKwh, Pue, SECONDS_PER_HOUR, Span};

#[derive(Debug, Args)]
#[command(mut_arg("format", |format| format.help(
    "Output format; markdown and csv only with --where or --list [default: text]"
)))]
#[command(after_help = "\
Examples:
  impact estimate --gpu \"A100 SXM4 80GB\" --gpus 8 --hours 24 --gpu-utilization 0.8 \\
      --cpu \"EPYC 7763\" --address \"Montreal, QC, Canada\"
  impact estimate --gpu \"A100 SXM4 80GB\" --hours 24 --where clouds
  impact estimate --list gpus

The estimate is rough and has a low and a high figure. `impact track` measures.")]
pub(crate) struct EstimateArgs {
    /// Name of the GPU, such as A100 SXM4 80GB; of A100 alone, the bounds cover every A100
    #[arg(long, value_name = "NAME")]
    gpu: Option<String>,
    /// Number of GPUs
    #[arg(long, default_value_t = 1, requires = "gpu", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    gpus: u32,
    /// Average utilisation of the GPUs, from 0 to 1 or in %
    #[arg(long, default_value_t = 1.0, value_parser = share, value_name = "SHARE")]
    gpu_utilization: f64,
    /// Name of the CPU, such as EPYC 7763
    #[arg(long, value_name = "NAME")]
    cpu: Option<String>,
    /// Number of CPUs
    #[arg(long, default_value_t = 1, requires = "cpu", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    cpus: u32,
    /// Average utilisation of the CPUs, from 0 to 1 or in %
    #[arg(long, default_value_t = 1.0, value_parser = share, value_name = "SHARE")]
    cpu_utilization: f64,
    /// Memory in GB [default: not counted]
    #[arg(long, value_parser = gigabytes, value_name = "GB", allow_negative_numbers = true)]
    memory: Option<f64>,
    /// Duration of the job in hours, or with a unit, such as 30m
    #[arg(long, value_parser = hours, allow_negative_numbers = true, required_unless_present = "list")]
    hours: Option<f64>,
    #[command(flatten)]
    place: Place,
    /// Power usage effectiveness [default: that of the provider of --region, else the newest average, 1.54]
    #[arg(long, value_name = "PUE")]
    pue: Option<Pue>,
    /// Use this carbon intensity, in g CO2eq per kWh
    #[arg(long, value_name = "G_PER_KWH")]
    emissions_factor: Option<GramsPerKwh>,
    /// Compare the job in all zones or cloud regions, cleanest first; zones if no word is given
    #[arg(long = "where", value_enum, value_name = "PLACES", num_args = 0..=1, default_missing_value = "zones")]
    everywhere: Option<Everywhere>,
    /// Find the cleanest hours of the next two days, from a live forecast for the zone
    #[cfg(feature = "live")]
    #[arg(long, conflicts_with = "everywhere")]
    when: bool,
    /// List the known devices instead
    #[arg(long, value_enum)]
    list: Option<List>,
    #[command(flatten)]
    format: TableFormatArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Everywhere {
    Zones,
    Clouds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum List {
    Gpus,
    Cpus,
}

impl EstimateArgs {
    pub(crate) fn run(mut self, settings: &Sources) -> Outcome {
        let config = Config::load(settings)?;
        let format = self.format.or_configured(&config);
        if let Some(list) = self.list {
            write(&devices(list), format)?;
            return Ok(exit::DONE);
        }
        self.pue = config.or(self.pue, "pue");
        self.emissions_factor = config.or(self.emissions_factor, "emissions-factor");
        doubt(self.emissions_factor);
        self.place.fill(&config);
        let job = self.job()?;
        let places = Tables::default().open(&config)?;
        if let Some(kind) = self.everywhere {
            write(&everywhere(&job, self.pue, kind, &places, format)?, format)?;
            return Ok(exit::DONE);
        }
        #[cfg(feature = "live")]
        if self.when {
            if !matches!(self.format.format, None | Some(TableFormat::Text)) {
                return Err(
                    Failure::new(anyhow!("--when prints text only")).advise("leave --format out")
                );
            }
            print(&escape::terminal(&self.best_hours(&job, &places, &config)?))?;
            return Ok(exit::DONE);
        }
        if matches!(
            self.format.format,
            Some(TableFormat::Markdown | TableFormat::Csv)
        ) {
            return Err(
                Failure::new(anyhow!("a single estimate has no table format"))
                    .advise("--format text or json; --where and --list give tables"),
            );
        }
        let estimate = self.estimate(job, &places)?;
        let text = match format {
            TableFormat::Json => estimate::json(&estimate),
            // The configured format is ignored by commands that do not have it.
            TableFormat::Text | TableFormat::Markdown | TableFormat::Csv => {
                escape::terminal(&estimate::text(&estimate)).into_owned()
            }
        };
        print(&text)?;
        Ok(exit::DONE)
    }

    fn job(&self) -> Result<Job, Failure> {
        let fleet = |kind: Kind, name: &str, count: u32, utilization: f64| {
            let list = match kind {
                Kind::Cpu => "impact estimate --list cpus",
                Kind::Gpu => "impact estimate --list gpus",
            };
            let devices = kind.of_one_model(name).advise(list)?;
            Ok::<_, Failure>(Fleet {
                devices,
                count,
                utilization,
            })
        };
        let mut fleets = Vec::new();
        if let Some(name) = &self.gpu {
            fleets.push(fleet(Kind::Gpu, name, self.gpus, self.gpu_utilization)?);
        }
        if let Some(name) = &self.cpu {
            fleets.push(fleet(Kind::Cpu, name, self.cpus, self.cpu_utilization)?);
        }
        if fleets.is_empty() && self.memory.is_none() {
            return Err(Failure::new(anyhow!("no hardware is given"))
                .advise("--gpu NAME, --cpu NAME or --memory GB")
                .exit_with(exit::USAGE));
        }
        Ok(Job {
            fleets,
            memory_gb: self.memory,
            time: Duration::from_secs_f64(self.hours.unwrap_or_default() * SECONDS_PER_HOUR),
            pue: self.pue_and_source()?.0,
        })
    }

    /// The PUE given, else that of the cloud provider, else the global average.
    fn pue_and_source(&self) -> Result<(Pue, String), Failure> {
        if let Some(pue) = self.pue {
            return Ok((pue, "given".to_owned()));
        }
        if let Some(region) = self.place.cloud_region()?
            && let Some(known) = cloud::pue(region)
        {
            return Ok((known.pue, known.provenance()));
        }
        let AssumedPue { pue, citation } = AssumedPue::newest();
        Ok((pue, format!("global average: {citation}")))
    }

    fn estimate(&self, job: Job, places: &PlaceResolver) -> Result<Estimate, Failure> {
        let mut sources = Vec::new();
        if self.gpu.is_some() {
            sources.push(format!("GPU: {}", Kind::Gpu.source()));
        }
        if self.cpu.is_some() {
            sources.push(format!("CPU: {}", Kind::Cpu.source()));
        }
        Ok(Estimate {
            job,
            grid: self.grid(places)?,
            pue_source: self.pue_and_source()?.1,
            sources,
        })
    }

    fn grid(&self, places: &PlaceResolver) -> Result<Option<Grid>, Failure> {
        let place = self.place.find_given(places)?;
        let region = place.map(|place| place.region(self.place.source()));
        if let Some(factor) = self.emissions_factor {
            let (zone, how) = region.map(|region| (region.zone, region.how)).unzip();
            return Ok(Some(Grid {
                zone,
                how: how.flatten(),
                intensity: factor,
                source: "the emissions factor given".to_owned(),
            }));
        }
        Ok(region.and_then(|region| {
            let average = region.average()?;
            Some(Grid {
                intensity: average.value,
                source: average.provenance.to_string(),
                how: region.how,
                zone: Some(region.zone),
            })
        }))
    }

    /// The cleanest hours of the next two days, by the first provider with a forecast.
    #[cfg(feature = "live")]
    fn best_hours(
        &self,
        job: &Job,
        places: &PlaceResolver,
        config: &Config,
    ) -> Result<String, Failure> {
        use std::sync::Arc;

        use chrono::{TimeDelta, Utc};

        use crate::grid::intensity::provider_chain::Refusal;
        use crate::grid::intensity::{Period, live};

        use crate::cli::grid::reasons;

        let zone = self
            .grid(places)?
            .and_then(|grid| grid.zone)
            .ok_or_else(|| Failure::new(anyhow!("no place was named")).advise("--zone GB"))?;
        let now = Utc::now();
        let period = Period::new(now, now + TimeDelta::hours(48))?;
        let services = Arc::new(crate::cli::configured::client(config));
        let answer = live::auto(&services)
            .intensity(&zone, &period)
            .map_err(|unanswered| {
                let may_pass = |refusal: &Refusal| refusal.reason.may_pass();
                reasons(&unanswered).advise(if unanswered.declined.iter().any(may_pass) {
                    "again when the service can be reached, or without --when"
                } else {
                    "a zone whose grid publishes a forecast, such as GB"
                })
            })?;
        let forecast: Vec<_> = answer
            .series
            .points()
            .iter()
            .map(|point| (point.at, point.intensity))
            .collect();
        let length = TimeDelta::from_std(job.time)?;
        let window = estimate::best_window(&forecast, answer.series.resolution, length)
            .ok_or_else(|| {
                Failure::new(anyhow!("the forecast is shorter than the job"))
                    .advise("a job of fewer hours")
            })?;
        let mass = job.mass(window.mean).map(GramsCo2e::kg);
        Ok(format!(
            "ROUGH ESTIMATE: in {zone} the cleanest start is {}, with {} on average by the forecast of {}: {} of CO2eq.\n",
            window.from.format("%Y-%m-%d %H:%M UTC"),
            quantity::intensity(window.mean),
            answer.series.source(),
            estimate::range(Quantity::Mass, mass),
        ))
    }
}

fn write(table: &Table, format: TableFormat) -> Result<(), Failure> {
    let text = match format {
        TableFormat::Text => escape::terminal(&table.text()).into_owned(),
        TableFormat::Markdown => table.markdown(),
        TableFormat::Csv => table.csv(),
        TableFormat::Json => table.json(),
    };
    print(&text)
}

fn devices(list: List) -> Table {
    let kind = match list {
        List::Gpus => Kind::Gpu,
        List::Cpus => Kind::Cpu,
    };
    let mut table = Table::new(&["name"], &["TDP (W)"]);
    for device in kind.all() {
        table.push([device.name, device.watts.get().to_string()]);
    }
    table
}

/// None where the data set has no figure for the place.
fn known(figure: Result<Intensity, ResolveError>) -> Result<Option<Intensity>, Failure> {
    match figure {
        Ok(intensity) => Ok(Some(intensity)),
        Err(ResolveError::Figure(_)) => Ok(None),
        Err(other) => Err(unresolved(other)),
    }
}

/// The same job in every place, cleanest first; each cloud with its own PUE unless one is given.
fn everywhere(
    job: &Job,
    given: Option<Pue>,
    kind: Everywhere,
    places: &PlaceResolver,
    format: TableFormat,
) -> Result<Table, Failure> {
    let usual = given.unwrap_or_else(|| AssumedPue::newest().pue);
    let mut rows = Vec::new();
    match kind {
        Everywhere::Zones => {
            for zone in register::all().values() {
                let area = AreaId::from(zone.id.clone());
                if let Some(intensity) = known(places.intensity(&area))? {
                    rows.push((zone.id.to_string(), zone.name.clone(), intensity, usual));
                }
            }
        }
        Everywhere::Clouds => {
            for region in cloud::all() {
                let Some(intensity) = known(places.intensity(&region.area))? else {
                    continue;
                };
                let code = format!("{}:{}", region.provider, region.code);
                let its_own = || cloud::pue(region).map(|known| known.pue);
                let pue = given.or_else(its_own).unwrap_or(usual);
                rows.push((code, region.city.clone(), intensity, pue));
            }
        }
    }
    let mut rows: Vec<_> = rows
        .into_iter()
        .map(|(place, name, intensity, pue)| {
            let mass = Job { pue, ..job.clone() }.mass(intensity.value);
            (place, name, intensity, pue, mass.map(GramsCo2e::kg))
        })
        .collect();
    rows.sort_by(|a, b| {
        let masses = a.4.middle.total_cmp(&b.4.middle);
        masses.then_with(|| a.0.cmp(&b.0))
    });
    // Programs get fixed units and all digits.
    let is_for_people = matches!(format, TableFormat::Text | TableFormat::Markdown);
    let title = if is_for_people { "CO2eq" } else { "kg CO2eq" };
    let mut table = Table::new(
        &["place", "name", "source"],
        &["g CO2eq/kWh", "PUE", title, "low", "high"],
    );
    for (place, name, intensity, pue, mass) in rows {
        let intensity_g = intensity.value.get();
        let [first, masses @ ..] = if is_for_people {
            let mass = [mass.middle, mass.low, mass.high].map(|kg| Quantity::Mass.amount(kg));
            let [middle, low, high] = mass;
            [quantity::digits(intensity_g), middle, low, high]
        } else {
            [intensity_g, mass.middle, mass.low, mass.high].map(|number| number.to_string())
        };
        let words = [place, name, intensity.provenance.to_string()];
        table.push(
            words
                .into_iter()
                .chain([first, pue.to_string()])
                .chain(masses),
        );
    }
    Ok(table)
}

fn share(text: &str) -> Result<f64, BadValue> {
    fraction(
        text,
        0.0..=1.0,
        "it must lie between 0 and 1, or 0% and 100%",
    )
}

fn hours(text: &str) -> Result<f64, BadValue> {
    let rule = "it must be a number of hours from 0.000001 to 100,000,000, or a time such as 30m";
    let is_plain = text.trim().parse::<f64>().is_ok();
    match text.parse::<Span>() {
        Ok(span) if !is_plain => {
            let hours = span.0.as_secs_f64() / SECONDS_PER_HOUR;
            within(&hours.to_string(), 1e-6..=1e8, rule)
        }
        _ => within(text, 1e-6..=1e8, rule),
    }
}

fn gigabytes(text: &str) -> Result<f64, BadValue> {
    within(text, 0.0..=1e9, "it must be a number of gigabytes")
}
