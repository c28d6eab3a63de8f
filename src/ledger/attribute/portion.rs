/// An amount that is divided evenly over a whole.
///
/// Amounts of steps of 1e-18 kWh times nanoseconds do not fit in 128 bits, so quotient and remainder are multiplied apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rise {
    quotient: u128,
    remainder: u64,
    whole: u64,
}

impl Default for Rise {
    /// Nothing.
    fn default() -> Self {
        Self::of(0, 1)
    }
}

impl Rise {
    pub(super) fn of(amount: u128, whole: u64) -> Self {
        let whole = whole.max(1);
        Self {
            quotient: amount / u128::from(whole),
            remainder: (amount % u128::from(whole)) as u64,
            whole,
        }
    }

    /// The part of the amount that this part of the whole has, rounded down.
    pub(super) fn portion(&self, part: u64) -> u128 {
        let part = part.min(self.whole);
        let rest = match self.remainder.checked_mul(part) {
            Some(product) => u128::from(product / self.whole),
            None => u128::from(self.remainder) * u128::from(part) / u128::from(self.whole),
        };
        self.quotient * u128::from(part) + rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_portion_is_the_exact_quotient(amount in 0..1u128 << 64, part: u64, more: u64) {
            let part = part >> 1;
            let whole = (part + (more >> 1)).max(1);
            let rise = Rise::of(amount, whole);
            prop_assert_eq!(rise.portion(part), amount * u128::from(part) / u128::from(whole));
            prop_assert_eq!(Rise::of(u128::MAX, whole).portion(whole), u128::MAX);
        }
    }
}
