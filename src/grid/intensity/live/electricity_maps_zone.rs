use std::borrow::Cow;

use crate::grid::intensity::{Fallback, Provenance, Source, table};
use crate::grid::zone::{ZoneId, register};

/// A zone by the name that Electricity Maps gives it.
pub(super) struct ElectricityMapsZone {
    pub(super) zone: ZoneId,
    /// The fallback to report if it is another zone, not only another name.
    pub(super) fallback: Option<Fallback>,
}

impl ElectricityMapsZone {
    /// The zone the crosswalk names, or the zone itself where it names none.
    pub(super) fn of(zone: &ZoneId) -> Self {
        let other = register::find_area(zone)
            .ok()
            .and_then(|area| table::substitute(&area.zone, area.state.as_deref()));
        match other {
            Some(other) => Self {
                zone: other.zone.clone(),
                fallback: other.fallback(),
            },
            None => Self {
                zone: zone.clone(),
                fallback: None,
            },
        }
    }

    /// The American balancing area, whose zone is named `US-<region>-<code>`, as EIA names it: by its code.
    pub(super) fn respondent(&self) -> Option<&str> {
        let mut parts = self.zone.as_str().split('-');
        match (parts.next()?, parts.next(), parts.next()) {
            ("US", None, None) => Some("US48"),
            ("US", Some(_region), code) => code,
            _ => None,
        }
    }

    /// The provenance of this zone's values from a service.
    pub(super) fn provenance(self, service: impl Into<Cow<'static, str>>) -> Provenance {
        let mut provenance = Provenance::of(Source::named(service));
        provenance.fallbacks.extend(self.fallback);
        provenance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(zone: &str) -> ElectricityMapsZone {
        ElectricityMapsZone::of(&zone.parse().unwrap())
    }

    #[test]
    fn zones_are_asked_for_by_the_names_of_electricity_maps() {
        for (zone, name) in [
            ("US-CA", "US-CAL-CISO"),
            ("US-VA", "US-MIDA-PJM"),
            ("AUS-NSW", "AU-NSW"),
            ("CL-SING", "CL-SEN"),
            ("IN-KA", "IN-SO"),
            ("US-NW-SCL", "US-NW-SCL"),
            ("FR", "FR"),
            ("LAB", "LAB"),
        ] {
            assert_eq!(of(zone).zone.as_str(), name);
        }
    }

    #[test]
    fn another_zone_is_named_with_the_rule_and_another_name_is_not() {
        let text = |zone: &str| of(zone).provenance("them").to_string();
        assert_eq!(
            text("US-CA"),
            "them; figure of US-CAL-CISO, its largest balancing area"
        );
        assert_eq!(text("AUS-NSW"), "them");
        assert_eq!(text("FR"), "them");
    }

    #[test]
    fn only_american_balancing_areas_report_to_eia() {
        assert_eq!(of("US").respondent(), Some("US48"));
        assert_eq!(of("US-CA").respondent(), Some("CISO"));
        assert_eq!(of("US-KY").respondent(), Some("LGEE"));
        assert_eq!(of("US-HI").respondent(), None);
        assert_eq!(of("GB").respondent(), None);
    }
}
