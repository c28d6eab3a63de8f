use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::units::Energy;

/// The part of a component's work in one interval that is the run's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Share {
    /// Nothing used the component; its energy belongs to no one.
    Idle,
    /// The run did this fraction of the work.
    Of(f64),
}

impl Share {
    /// The run's part of the machine's busy time.
    ///
    /// The kernel counts busy time in coarser steps than that of a process, so the larger one is used.
    pub(crate) fn of_time(run: Duration, busy: Duration) -> Self {
        Self::of(run.as_secs_f64(), busy.as_secs_f64())
    }

    /// The run's part of what is in use.
    pub(crate) fn of(run: f64, all: f64) -> Self {
        let all = all.max(run);
        if all > 0.0 && all.is_finite() {
            Self::Of((run / all).clamp(0.0, 1.0))
        } else {
            Self::Idle
        }
    }

    /// The run's part of this.
    pub(crate) fn of_whole(self, whole: f64) -> f64 {
        match self {
            Self::Idle => 0.0,
            Self::Of(part) => whole * part,
        }
    }
}

/// How a component's energy since the start is split: the run, other processes, idle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ledger {
    total: u64,
    attributed: u64,
    idle: u64,
}

impl Ledger {
    /// Splits the energy since the last call, given the new total in microjoules.
    pub(crate) fn post(&mut self, total: u64, share: Share) {
        let step = total.saturating_sub(self.total);
        match share {
            Share::Idle => self.idle += step,
            Share::Of(part) => self.attributed += ((step as f64 * part).round() as u64).min(step),
        }
        self.total += step;
    }

    pub(crate) fn total(&self) -> Energy {
        Energy::from_microjoules(self.total)
    }

    pub(crate) fn attributed(&self) -> Energy {
        Energy::from_microjoules(self.attributed)
    }

    pub(crate) fn idle(&self) -> Energy {
        Energy::from_microjoules(self.idle)
    }

    /// The energy of other processes on the machine.
    pub(crate) fn other(&self) -> Energy {
        Energy::from_microjoules(self.total - self.attributed - self.idle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_never_exceeds_the_whole() {
        let second = Duration::from_secs(1);
        assert_eq!(Share::of_time(second * 2, second), Share::Of(1.0));
        assert_eq!(Share::of_time(second, second * 4), Share::Of(0.25));
        assert_eq!(Share::of_time(second, Duration::ZERO), Share::Of(1.0));
        assert_eq!(Share::of_time(Duration::ZERO, Duration::ZERO), Share::Idle);
    }

    proptest::proptest! {
        #[test]
        fn attributed_other_and_idle_add_up_to_the_total(steps in proptest::collection::vec((0u64..1_000_000_000, 0.0f64..1.5, proptest::bool::ANY), 0..60)) {
            let mut ledger = Ledger::default();
            let mut total = 0;
            for (step, part, idle) in steps {
                total += step;
                ledger.post(total, if idle { Share::Idle } else { Share::of(part, 1.0) });
            }
            proptest::prop_assert_eq!(ledger.total(), Energy::from_microjoules(total));
            let parts = ledger.attributed() + ledger.other() + ledger.idle();
            // Each part is rounded to the steps that joules are counted in, far below a microjoule.
            proptest::prop_assert!((parts.joules() - ledger.total().joules()).abs() < 1e-6);
        }
    }
}
