use std::ops::RangeInclusive;

/// A list is cut after this many processors; no machine has more.
const MOST: usize = 1 << 16;

/// The numbers in a kernel CPU list, such as `0,8-9`.
pub(super) fn numbers(list: &str) -> impl Iterator<Item = u32> {
    let range = |part: &str| -> Option<RangeInclusive<u32>> {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some(from.trim().parse().ok()?..=to.trim().parse().ok()?)
    };
    list.split(',').filter_map(range).flatten().take(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_single_numbers_may_be_mixed() {
        assert_eq!(numbers("0,8-9\n").collect::<Vec<_>>(), [0, 8, 9]);
        assert_eq!(numbers("0-3,8").count(), 5);
        assert_eq!(numbers("").count(), 0);
        assert_eq!(numbers("3-1").count(), 0);
        assert_eq!(numbers("0-4294967295").count(), MOST);
    }
}
