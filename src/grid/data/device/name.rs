use std::collections::BTreeSet;

use super::Kind;

/// The name of a device, taken apart into what identifies it and what may be left out.
///
/// `NVIDIA GeForce RTX 3080 12 GB` is the model `3080` with the details `geforce`, `rtx` and `12gb`,
/// made by `nvidia`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// The words that identify the model, in order.
    pub(super) model: Vec<String>,
    /// Families, form factors and memory sizes, which people leave out.
    pub(super) details: BTreeSet<String>,
    pub(super) maker: Option<&'static str>,
}

const MAKERS: [&str; 8] = [
    "amd", "apple", "ampere", "google", "intel", "nvidia", "sony", "via",
];
const GPU_FAMILIES: [&str; 6] = ["geforce", "gtx", "instinct", "radeon", "rtx", "tesla"];
const CPU_FAMILIES: [&str; 4] = ["core", "epyc", "ryzen", "xeon"];
const FORM_FACTORS: [&str; 7] = ["nvl", "pcie", "sxm", "sxm2", "sxm3", "sxm4", "sxm5"];
/// Words of a name that do not distinguish devices.
const FILLERS: [&str; 9] = [
    "apu",
    "cpu",
    "design",
    "generation",
    "gpu",
    "processor",
    "soc",
    "tm",
    "with",
];
/// Families that people write together with the number: `rtx3090`.
const PREFIXES: [&str; 7] = ["core", "epyc", "gtx", "rtx", "rx", "ryzen", "xeon"];
/// Suffixes that people write together with the number: `1080ti`.
const SUFFIXES: [&str; 4] = ["super", "ti", "xtx", "xt"];
const CORE_COUNTS: [&str; 9] = [
    "dual", "triple", "quad", "six", "eight", "ten", "twelve", "sixteen", "octa",
];
/// Names by which NVIDIA's driver calls a form factor.
const DRIVER_NAMES: [(&str, &str); 1] = [("h100 80gb hbm3", "h100 sxm5 80gb")];

impl Name {
    pub(super) fn parse(kind: Kind, text: &str) -> Self {
        let mut name = Self {
            model: Vec::new(),
            details: BTreeSet::new(),
            maker: None,
        };
        let families: &[&str] = match kind {
            Kind::Cpu => &CPU_FAMILIES,
            Kind::Gpu => &GPU_FAMILIES,
        };
        for word in words(kind, text) {
            if let Some(maker) = maker(&word) {
                name.maker = name.maker.or(Some(maker));
            } else if families.contains(&word.as_str())
                || kind == Kind::Gpu && (FORM_FACTORS.contains(&word.as_str()) || is_memory(&word))
            {
                name.details.insert(word);
            } else {
                name.model.push(word);
            }
        }
        name
    }

    /// Whether nothing in it could distinguish devices.
    pub(super) fn is_empty(&self) -> bool {
        self.model.is_empty() && self.details.is_empty() && self.maker.is_none()
    }

    /// A text that is in the name of every device of this model: its longest number, else how it starts.
    pub(super) fn part(&self) -> &str {
        let words = self.model.iter();
        let numbers = words.flat_map(|word| word.split(|c: char| !c.is_ascii_digit()));
        match numbers.max_by_key(|number| number.len()) {
            Some(number) if !number.is_empty() => number,
            _ => {
                let first = self.model.first().map_or("", String::as_str);
                first.get(..3).unwrap_or(first)
            }
        }
    }

    /// Whether both are the same model, however its words are separated.
    pub(super) fn has_model_of(&self, other: &Self) -> bool {
        self.model.concat() == other.model.concat()
    }

    /// Whether every word of this name is in the other, too.
    pub(super) fn is_part_of(&self, other: &Self) -> bool {
        self.agrees_with(other) && self.model.iter().all(|word| other.model.contains(word))
    }

    /// Whether the maker and the details, as far as this name has them, are those of the other.
    pub(super) fn agrees_with(&self, other: &Self) -> bool {
        let same_maker = match (self.maker, other.maker) {
            (None, _) => true,
            (Some(maker), Some(other)) => maker == other,
            // The only rows without a maker are processors of AMD.
            (Some(maker), None) => maker == "amd",
        };
        same_maker && self.details.is_subset(&other.details)
    }
}

/// The maker that a word or a cell of a table names.
pub(super) fn maker(word: &str) -> Option<&'static str> {
    if word.eq_ignore_ascii_case("ati") {
        return Some("amd");
    }
    MAKERS
        .into_iter()
        .find(|maker| maker.eq_ignore_ascii_case(word))
}

/// The words in lower case, in one spelling, without those that say nothing.
pub(super) fn words(kind: Kind, text: &str) -> Vec<String> {
    let text = text.to_ascii_lowercase();
    // The clock rate is no part of the name.
    let text = text.split('@').next().unwrap_or_default();
    let text = text.replace("(r)", " ").replace("(tm)", " ");
    let text = match kind {
        Kind::Cpu => without_graphics(&text),
        Kind::Gpu => &text,
    };
    let mut words: Vec<String> = Vec::new();
    let separators = |c: char| !c.is_alphanumeric() && !matches!(c, '.' | '+' | '-');
    for word in text.split(separators) {
        if !is_core_count(word) {
            let parts = word.split('-').filter(|part| !part.is_empty());
            words.extend(parts.flat_map(separated).map(str::to_owned));
        }
    }
    let mut out: Vec<String> = Vec::new();
    for word in words {
        match (out.last().map(String::as_str), word.as_str()) {
            (Some(number), "gb") if is_number(number) => {
                out.last_mut().expect("it was matched").push_str("gb");
            }
            (Some(count), "core") if CORE_COUNTS.contains(&count) => drop(out.pop()),
            (Some(ordinal), "gen") if is_ordinal(ordinal) => drop(out.pop()),
            (_, "laptop" | "notebook") => out.push("mobile".to_owned()),
            (_, filler) if FILLERS.contains(&filler) => {}
            _ => out.push(word),
        }
    }
    if ends_in_filler(kind, &out) {
        out.pop();
    }
    let known = DRIVER_NAMES.iter().find(|(driver, _)| {
        let words = out.iter().map(String::as_str);
        words
            .filter(|word| maker(word).is_none())
            .eq(driver.split(' '))
    });
    match known {
        Some((_, name)) => name.split(' ').map(str::to_owned).collect(),
        None => out,
    }
}

/// `E5-2670 0`, where later versions have `v2`, and `Arc A770 Graphics`, though not `Arc Graphics`.
fn ends_in_filler(kind: Kind, words: &[String]) -> bool {
    let [.., before, last] = words else {
        return false;
    };
    let is_model = before.contains(|c: char| c.is_ascii_digit());
    let filler = match kind {
        Kind::Cpu => "0",
        Kind::Gpu => "graphics",
    };
    is_model && last == filler
}

/// AMD names the graphics unit of a processor after the processor.
fn without_graphics(name: &str) -> &str {
    let ends = [" with ", " w/ ", " radeon"];
    let end = ends.iter().filter_map(|end| name.find(end)).min();
    let name = &name[..end.unwrap_or(name.len())];
    if name.trim_start().starts_with("with ") {
        ""
    } else {
        name
    }
}

/// `64-core`; the number of cores follows from the model.
fn is_core_count(word: &str) -> bool {
    word.strip_suffix("-cores")
        .or_else(|| word.strip_suffix("-core"))
        .is_some_and(|count| is_number(count) || CORE_COUNTS.contains(&count))
        || word
            .strip_suffix("core")
            .is_some_and(|count| CORE_COUNTS.contains(&count))
}

/// A word that people write for two: `rtx3090`, `1080ti`.
fn separated(word: &str) -> Vec<&str> {
    let starts_with_digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let mut parts = Vec::new();
    let mut rest = word;
    if let Some(prefix) = PREFIXES
        .iter()
        .find(|prefix| rest.strip_prefix(**prefix).is_some_and(starts_with_digit))
    {
        parts.push(*prefix);
        rest = &rest[prefix.len()..];
    }
    match SUFFIXES
        .iter()
        .find(|suffix| rest.strip_suffix(**suffix).is_some_and(is_number))
    {
        Some(suffix) => parts.extend([&rest[..rest.len() - suffix.len()], *suffix]),
        None => parts.push(rest),
    }
    parts
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_memory(word: &str) -> bool {
    word.strip_suffix("gb").is_some_and(is_number)
}

/// `12th`.
fn is_ordinal(word: &str) -> bool {
    let endings = ["st", "nd", "rd", "th"];
    endings
        .iter()
        .any(|ending| word.strip_suffix(ending).is_some_and(is_number))
}
