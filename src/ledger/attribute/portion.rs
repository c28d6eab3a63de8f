/// The part of an amount that `part` is of `whole`, rounded down; `part` is at most `whole`, which is not 0.
///
/// Amounts of steps of 1e-18 kWh times nanoseconds do not fit in 128 bits, so quotient and remainder are multiplied apart.
pub(super) fn portion(amount: u128, part: u64, whole: u64) -> u128 {
    let (quotient, remainder) = (amount / u128::from(whole), amount % u128::from(whole));
    let rest = match (remainder as u64).checked_mul(part) {
        Some(product) => u128::from(product / whole),
        None => remainder * u128::from(part) / u128::from(whole),
    };
    quotient * u128::from(part) + rest
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
            prop_assert_eq!(portion(amount, part, whole), amount * u128::from(part) / u128::from(whole));
            prop_assert_eq!(portion(u128::MAX, whole, whole), u128::MAX);
        }
    }
}
