use crate::grid::intensity::{Fallback, table};
use crate::grid::zone::{ZoneId, register};

/// One of our zones as Electricity Maps names it.
pub(super) struct ElectricityMapsZone {
    pub(super) zone: ZoneId,
    /// What is to be said where it is another zone, not only another name.
    pub(super) stand_in: Option<Fallback>,
}

impl ElectricityMapsZone {
    /// The zone the crosswalk names, or the zone itself where it names none.
    pub(super) fn of(zone: &ZoneId) -> Self {
        let other = register::find_area(zone)
            .ok()
            .and_then(|area| table::stand_in(&area));
        match other {
            Some(other) => Self {
                zone: other.zone.clone(),
                stand_in: other.fallback(),
            },
            None => Self {
                zone: zone.clone(),
                stand_in: None,
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

    /// A source with what stands in for the zone, as statements name both.
    pub(super) fn source(&self, name: &str) -> String {
        match &self.stand_in {
            Some(stand_in) => format!("{name}; {stand_in}"),
            None => name.to_owned(),
        }
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
        for (ours, theirs) in [
            ("US-CA", "US-CAL-CISO"),
            ("US-VA", "US-MIDA-PJM"),
            ("AUS-NSW", "AU-NSW"),
            ("CL-SING", "CL-SEN"),
            ("IN-KA", "IN-SO"),
            ("US-NW-SCL", "US-NW-SCL"),
            ("FR", "FR"),
            ("LAB", "LAB"),
        ] {
            assert_eq!(of(ours).zone.as_str(), theirs);
        }
    }

    #[test]
    fn another_zone_is_named_with_the_rule_and_another_name_is_not() {
        assert_eq!(
            of("US-CA").source("them"),
            "them; US-CAL-CISO stands for it (largest balancing area)"
        );
        assert_eq!(of("AUS-NSW").source("them"), "them");
        assert_eq!(of("FR").source("them"), "them");
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
