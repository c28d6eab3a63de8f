use super::paths::Paths;
use super::sweep::Own;

/// What each path had with the paths within it, in the order of the paths.
pub(super) fn with_calls(paths: &Paths, own: &[Own]) -> Vec<Own> {
    let mut sums: Vec<Own> = own.to_vec();
    sums.resize(paths.len(), Own::default());
    for path in (2..paths.len()).rev() {
        let (sum, parent) = (sums[path], paths.get(path as u32).parent as usize);
        sums[parent].energy += sum.energy;
        sums[parent].nanoseconds = sums[parent].nanoseconds.saturating_add(sum.nanoseconds);
    }
    sums
}

/// What each name had with what it called, by number; what a name had within itself counts once.
pub(super) fn with_calls_by_name(paths: &Paths, own: &[Own], names: usize) -> Vec<Own> {
    let sums = with_calls(paths, own);
    let (mut first_child, mut next_sibling) = (vec![0u32; paths.len()], vec![0u32; paths.len()]);
    for path in (2..paths.len() as u32).rev() {
        let parent = paths.get(path).parent as usize;
        next_sibling[path as usize] = first_child[parent];
        first_child[parent] = path;
    }
    let mut of_names = vec![Own::default(); names];
    let mut within = vec![0u32; names];
    // Without recursion: paths may be deeper than the stack of a thread allows.
    let mut path = first_child[Paths::ROOT as usize];
    let mut callers: Vec<u32> = Vec::new();
    loop {
        if path == 0 {
            let Some(caller) = callers.pop() else {
                return of_names;
            };
            within[paths.get(caller).name.0 as usize] -= 1;
            path = next_sibling[caller as usize];
            continue;
        }
        let name = paths.get(path).name.0 as usize;
        if within[name] == 0 {
            of_names[name].energy += sums[path as usize].energy;
            of_names[name].nanoseconds += sums[path as usize].nanoseconds;
        }
        within[name] += 1;
        callers.push(path);
        path = first_child[path as usize];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::attribute::profile::Name;

    #[test]
    fn what_a_name_calls_counts_for_it_and_recursion_counts_once() {
        let mut paths = Paths::with_space_for(10);
        let (f, g) = (Name(1), Name(2));
        let outer = paths.child(Paths::ROOT, f);
        let called = paths.child(outer, g);
        let inner = paths.child(called, f);
        let mut own = vec![Own::default(); paths.len()];
        for (path, energy) in [(outer, 1), (called, 10), (inner, 100)] {
            own[path as usize].energy = energy;
        }
        let sums = with_calls_by_name(&paths, &own, 3);
        assert_eq!((sums[1].energy, sums[2].energy), (111, 110));
        assert_eq!(with_calls(&paths, &own)[inner as usize].energy, 100);
    }
}
