//! All keys, one in each row.

use super::key::{Key, parses};
use crate::cli::bad_value::BadValue;
use crate::grid::intensity::Dataset;
use crate::grid::zone::{Iso3, register};
use crate::units::{GramsPerKwh, PricePerKwh, Pue, Span, Watts};

/// All keys, in the order in which they are printed.
pub(crate) static KEYS: &[Key] = &[
    Key::new("pue", parses::<Pue>, "Power usage effectiveness of the data centre")
        .variable("OVERRIDE_PUE"),
    Key::new("emissions-factor", parses::<GramsPerKwh>, "Carbon intensity for all runs, in g CO2eq per kWh"),
    Key::new("price", parses::<PricePerKwh>, "Price of a kWh")
        .alias("price-factor"),
    Key::new("currency", currency, "Currency of the price")
        .default("USD"),
    Key::new("interval", parses::<Span>, "Time between two samples")
        .default("1s"),
    Key::new("zone", zone, "Zone of the electricity map, such as US-CA"),
    Key::new("region", words, "Cloud region, such as aws:us-east-1"),
    Key::new("address", words, "City, such as Montreal, Canada"),
    Key::new("country", parses::<Iso3>, "Country, by code or name"),
    Key::new("dataset", parses::<Dataset>, "Data set of intensities: auto, electricity-maps, eit-2019, ember or egrid"),
    Key::new("cpu-tdp", parses::<Watts>, "Design power of all processors in W, for machines without a power meter"),
    Key::new("gpu-tdp", parses::<Watts>, "Design power of a GPU in W, for GPUs without a power meter"),
    Key::new("memory-watts-per-gb", parses::<Watts>, "Power of a GB of memory in W, for machines without a power meter of the memory"),
    Key::new("output", words, "Folder of the logs; in a project's file one below the working directory")
        .folder()
        .default("impact-logs"),
    Key::new("format", format, "Output format of the commands that have it: text, markdown, latex, html, json, yaml or csv")
        .default("text"),
    Key::new("log-level", log_level, "What track prints on standard error: error hides its table; warn, info and debug show it")
        .default("info"),
    Key::new("provider", words, "Provider of live intensities; auto asks each in turn")
        .default("auto"),
    Key::new("electricitymaps-token", words, "Token for Electricity Maps")
        .variable("ELECTRICITYMAPS_TOKEN")
        .secret(),
    Key::new("eia-token", words, "Key for the US Energy Information Administration")
        .variable("EIA_API_KEY")
        .secret(),
    Key::new("entsoe-token", words, "Token for ENTSO-E")
        .variable("ENTSOE_TOKEN")
        .secret(),
    Key::new("watttime-username", words, "Account at WattTime")
        .variable("WATTTIME_USERNAME"),
    Key::new("watttime-password", words, "Password at WattTime")
        .variable("WATTTIME_PASSWORD")
        .secret(),
    // Keys that name files, roots and libraries: a project's author could have any file read and any code run.
    Key::new("zones", words, "GeoJSON file with zones to use instead of the built-in map; not allowed in a project's file")
        .personal(),
    Key::new("sysfs-root", words, "Folder to use instead of /sys, such as a mount of the host's in a container; not allowed in a project's file")
        .personal()
        .default("/sys"),
    Key::new("procfs-root", words, "Folder to use instead of /proc; not allowed in a project's file")
        .personal()
        .default("/proc"),
    Key::new("run-root", words, "Folder to use instead of /run, where cloud-init writes the cloud region and power caps are recorded; not allowed in a project's file")
        .personal()
        .default("/run"),
    Key::new("etc-root", words, "Folder to use instead of /etc, where the time zone of the clock is; not allowed in a project's file")
        .personal()
        .default("/etc"),
    Key::new("nvml-lib", words, "NVML library to load instead of the one the dynamic loader finds; not allowed in a project's file")
        .personal(),
    Key::new("intensities", words, "CSV file with intensities to use before the built-in ones; not allowed in a project's file")
        .personal(),
];

/// A short code such as EUR.
pub(crate) fn currency(text: &str) -> Result<String, BadValue> {
    if (1..=8).contains(&text.chars().count()) && text.chars().all(|c| !c.is_control()) {
        Ok(text.to_owned())
    } else {
        Err(BadValue::NotACurrency)
    }
}

fn zone(text: &str) -> Result<String, BadValue> {
    match register::named(text) {
        Ok(zone) => Ok(zone.to_string()),
        Err(error) => Err(BadValue::Unparsed(error.into())),
    }
}

fn words(text: &str) -> Result<String, BadValue> {
    if text.trim().is_empty() || text.chars().any(char::is_control) {
        Err(BadValue::NotAText)
    } else {
        Ok(text.to_owned())
    }
}

/// One of some words, in upper or lower case.
fn one_of(text: &str, choices: &'static [&'static str]) -> Result<String, BadValue> {
    choices
        .iter()
        .find(|choice| choice.eq_ignore_ascii_case(text.trim()))
        .map(|choice| (*choice).to_owned())
        .ok_or_else(|| BadValue::NotAChoice {
            text: text.to_owned(),
            choices,
        })
}

fn format(text: &str) -> Result<String, BadValue> {
    one_of(
        text,
        &["text", "markdown", "latex", "html", "json", "yaml", "csv"],
    )
}

fn log_level(text: &str) -> Result<String, BadValue> {
    one_of(text, &["error", "warn", "warning", "info", "debug"])
}
