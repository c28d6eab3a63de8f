use crate::ledger::compare::Random;

/// The order of the commands in a round: each once, shuffled anew for every round.
///
/// So what drifts in the machine, such as its temperature, falls on all commands alike.
#[must_use]
pub fn order(commands: usize, round: usize, seed: u64) -> Vec<usize> {
    // Rounds must not begin at neighbouring states of the generator.
    let mut random = Random::seeded(seed ^ (round as u64).wrapping_mul(0xd134_2543_de82_ef95));
    let mut order: Vec<usize> = (0..commands).collect();
    for last in (1..commands).rev() {
        order.swap(last, random.below(last + 1));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_has_every_command_once_in_an_order_of_its_own() {
        let mut first = [0; 4];
        for round in 0..400 {
            let mut order = order(4, round, 7);
            first[order[0]] += 1;
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2, 3]);
        }
        // 100 each, with a standard deviation of 8.7.
        assert!(
            first.iter().all(|count| (65..=135).contains(count)),
            "{first:?}"
        );
    }

    #[test]
    fn the_same_seed_gives_the_same_order() {
        let all = |seed| {
            (0..20)
                .map(|round| order(3, round, seed))
                .collect::<Vec<_>>()
        };
        assert_eq!(all(1), all(1));
        assert_ne!(all(1), all(2));
    }
}
