//! The balancing areas that deliver the electricity of an American state.

use super::{CROSSWALK, STATE_MIXES};

/// One balancing area of a state's mix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MixPart {
    /// Its zone in the yearly table, `US-CAR-DUK`.
    pub(crate) zone: &'static str,
    /// Its part of the electricity delivered in the state, from 0 to 1.
    pub(crate) share: f64,
}

/// The mix of an area such as `US-SC:SC`, or of a zone that is one state, such as `US-SC`; largest share first.
///
/// Empty where one balancing area delivers most of the electricity: the crosswalk names it.
pub(crate) fn of(area: &str) -> Vec<MixPart> {
    let Some(state) = state_area(area) else {
        return Vec::new();
    };
    let rows = STATE_MIXES.text().lines().filter_map(|line| {
        let mut fields = line.split(',');
        let (name, zone, share) = (fields.next()?, fields.next()?, fields.next()?);
        (name == state).then_some((zone, share))
    });
    rows.filter_map(|(zone, share)| {
        let share = share.parse().ok()?;
        Some(MixPart { zone, share })
    })
    .collect()
}

/// The area of the one state a zone consists of; the area itself if it names a state.
fn state_area(area: &str) -> Option<&str> {
    if area.contains(':') {
        return Some(area);
    }
    let names = CROSSWALK.text().lines();
    let mut states = names
        .filter_map(|line| line.split(',').next())
        .filter(|name| {
            name.strip_prefix(area)
                .is_some_and(|rest| rest.starts_with(':'))
        });
    let only = states.next()?;
    states.next().is_none().then_some(only)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_of_one_state_has_the_mix_of_the_state() {
        let mix = of("US-SC");
        assert_eq!(mix, of("US-SC:SC"));
        assert_eq!(mix[0].zone, "US-CAR-DUK");
        assert!((mix.iter().map(|part| part.share).sum::<f64>() - 1.0).abs() < 0.001);
    }

    #[test]
    fn zones_of_several_states_and_states_of_one_area_have_no_mix() {
        for area in ["US-PJM", "US-PJM:VA", "US-TX:TX", "US-NW-BPAT:OR", "FR", ""] {
            assert!(of(area).is_empty(), "{area}");
        }
    }
}
