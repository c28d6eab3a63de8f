use crate::zone::ZoneId;

/// Our zones of the United States and the balancing area that stands for each: the largest in it.
///
/// Electricity Maps names the areas `US-<region>-<code>`; EIA uses the code alone.
const AREAS: &[(&str, &str)] = &[
    ("US-AL", "US-SE-SOCO"),
    ("US-BPA", "US-NW-BPAT"),
    ("US-CA", "US-CAL-CISO"),
    ("US-CO", "US-NW-PSCO"),
    ("US-DC", "US-MIDA-PJM"),
    ("US-FL", "US-FLA-FPL"),
    ("US-GA", "US-SE-SOCO"),
    ("US-IPC", "US-NW-IPCO"),
    ("US-MISO", "US-MIDW-MISO"),
    ("US-MS", "US-MIDW-MISO"),
    ("US-MT", "US-NW-NWMT"),
    ("US-NC", "US-CAR-DUK"),
    ("US-NEISO", "US-NE-ISNE"),
    ("US-NV", "US-NW-NEVP"),
    ("US-NY", "US-NY-NYIS"),
    ("US-OR", "US-NW-PGE"),
    ("US-PJM", "US-MIDA-PJM"),
    ("US-SC", "US-CAR-SC"),
    ("US-SPP", "US-CENT-SWPP"),
    ("US-SVERI", "US-SW-AZPS"),
    ("US-TN", "US-TEN-TVA"),
    ("US-TX", "US-TEX-ERCO"),
    ("US-UT", "US-NW-PACE"),
    ("US-WY", "US-NW-PACE"),
];

/// The balancing area of a zone, as Electricity Maps names it.
pub(super) fn area(zone: &ZoneId) -> Option<&'static str> {
    AREAS
        .iter()
        .find(|(ours, theirs)| [*ours, *theirs].contains(&zone.as_str()))
        .map(|(_, area)| *area)
}

/// The balancing area of a zone, as EIA names it.
pub(super) fn respondent(zone: &ZoneId) -> Option<&'static str> {
    if zone.as_str() == "US" {
        return Some("US48");
    }
    area(zone)?.rsplit('-').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn california_is_its_system_operator() {
        let zone: ZoneId = "US-CA".parse().unwrap();
        assert_eq!(area(&zone), Some("US-CAL-CISO"));
        assert_eq!(respondent(&zone), Some("CISO"));
        assert_eq!(area(&"GB".parse().unwrap()), None);
    }
}
