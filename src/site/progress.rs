use std::sync::{Mutex, PoisonError};

/// Counts what several threads have done, and reports the counts in order for a progress bar.
pub(super) struct Progress<'a> {
    done: Mutex<usize>,
    all: usize,
    report: &'a (dyn Fn(usize, usize) + Sync),
}

impl<'a> Progress<'a> {
    pub(super) fn of(all: usize, report: &'a (dyn Fn(usize, usize) + Sync)) -> Self {
        Self {
            done: Mutex::default(),
            all,
            report,
        }
    }

    pub(super) fn step(&self) {
        // Locked during the call, so that no larger number is reported first.
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *done += 1;
        (self.report)(*done, self.all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_told_after_a_larger_one() {
        const THREADS: usize = 8;
        const STEPS: usize = 500;
        let told = Mutex::new(Vec::new());
        let report = |done, _| {
            std::thread::yield_now();
            told.lock().unwrap().push(done);
        };
        let progress = Progress::of(THREADS * STEPS, &report);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| (0..STEPS).for_each(|_| progress.step()));
            }
        });
        let in_order: Vec<usize> = (1..=THREADS * STEPS).collect();
        assert_eq!(*told.lock().unwrap(), in_order);
    }
}
