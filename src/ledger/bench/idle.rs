use std::collections::BTreeMap;
use std::time::Duration;

use crate::model::Component;
use crate::model::info::Balance;
use crate::units::Energy;

/// The part of the attributed energy that the idle machine would have drawn anyway.
///
/// The run is charged the same share of a device's idle energy as of all of its energy. None if the idle power of a counted
/// device is not known.
#[must_use]
pub fn idle_energy(
    counted: &BTreeMap<Component, Balance>,
    idle_watts: &BTreeMap<Component, f64>,
    duration: Duration,
) -> Option<Energy> {
    let mut joules = 0.0;
    for (component, balance) in counted {
        let idle = idle_watts.get(component)? * duration.as_secs_f64();
        if balance.total_j > 0.0 {
            joules += idle * balance.attributed_j / balance.total_j;
        }
    }
    Energy::from_joules(joules).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CpuSocket;

    #[test]
    fn the_run_is_charged_its_share_of_the_idle_energy() {
        let package = Component::Package(CpuSocket::socket(0));
        let memory = Component::Dram(CpuSocket::socket(0));
        let balance = |total_j, attributed_j| Balance {
            total_j,
            attributed_j,
            ..Balance::default()
        };
        let counted = BTreeMap::from([
            (package.clone(), balance(100.0, 80.0)),
            (memory.clone(), balance(10.0, 5.0)),
        ]);
        let idle = BTreeMap::from([(package, 10.0), (memory.clone(), 1.0)]);
        let energy = idle_energy(&counted, &idle, Duration::from_secs(2)).unwrap();
        assert!((energy.joules() - (16.0 + 1.0)).abs() < 1e-9);
        let without = BTreeMap::from([(memory, 1.0)]);
        assert_eq!(
            idle_energy(&counted, &without, Duration::from_secs(2)),
            None
        );
    }
}
