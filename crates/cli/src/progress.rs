//! Progress of several runs, with the estimated time left.

mod display;
mod playing;

pub(crate) use display::{Display, clock};
pub(crate) use playing::Playing;

use fathom_lab::study::Watcher;
use fathom_report::text::human_duration;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Minimum number of finished runs for an estimate of the time left.
const ESTIMATED_FROM: usize = 3;
/// Maximum number of untrusted runs named one by one; the rest are only counted.
const DISTRUSTED_MAX: usize = 5;
/// Width of the progress bar, in columns.
const BAR: usize = 30;

/// Shows the progress of runs: a bar on a terminal, a line per run elsewhere.
pub(crate) struct Progress {
    display: Display,
    of: usize,
    /// Number of runs that existed already and took no time.
    kept: AtomicUsize,
    done: AtomicUsize,
}

impl Progress {
    /// Creates a display for `of` runs.
    pub(crate) fn new(quiet: bool, of: usize) -> Self {
        Self {
            display: Display::new(quiet),
            of,
            kept: 0.into(),
            done: 0.into(),
        }
    }
}

/// Estimates the time left, from the mean time per run so far.
fn left(elapsed: Duration, ran: usize, of: usize) -> Option<Duration> {
    let known = ran >= ESTIMATED_FROM && of > 0;
    known.then(|| elapsed.mul_f64(of as f64 / ran as f64))
}

/// Returns the progress bar, filled in proportion to `done / of`.
fn bar(done: usize, of: usize) -> String {
    let full = BAR * done.min(of) / of.max(1);
    "█".repeat(full) + &"·".repeat(BAR - full)
}

impl Watcher for Progress {
    fn run_done(&self, name: &str, _done: usize, _of: usize, again: bool) {
        let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
        let kept =
            self.kept.fetch_add(usize::from(!again), Ordering::Relaxed) + usize::from(!again);
        let rest = left(
            self.display.elapsed(),
            done - kept,
            self.of.saturating_sub(done),
        );
        let rest = rest.map_or_else(String::new, |rest| {
            let ns = u64::try_from(rest.as_nanos()).unwrap_or(u64::MAX);
            format!(", about {} left", human_duration(ns))
        });
        let far = format!("{done} of {}{rest}: {name}", self.of);
        match self.display.is_log() {
            true => {
                let kept = if again { "" } else { " (was there)" };
                self.display.say(&format!("{far}{kept}"));
            }
            false => self
                .display
                .show(|| format!("{} {far}", bar(done, self.of))),
        }
    }

    fn distrusted(&self, runs: &[(String, String)]) {
        for (name, why) in runs.iter().take(DISTRUSTED_MAX) {
            let said = format!("warning: {name} is run again: {why}");
            self.display.say(&said);
        }
        let more = runs.len().saturating_sub(DISTRUSTED_MAX);
        if more > 0 {
            self.display.say(&format!("and {more} more are run again"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_takes_as_long_as_what_was_run() {
        let ten = Duration::from_secs(10);
        assert_eq!(left(ten, 5, 10), Some(Duration::from_secs(20)));
        assert_eq!(left(ten, 2, 10), None);
        assert_eq!(left(ten, 5, 0), None);
    }

    #[test]
    fn a_bar_is_as_full_as_what_is_done() {
        assert_eq!(bar(0, 3), "·".repeat(BAR));
        assert_eq!(bar(1, 3), "█".repeat(10) + &"·".repeat(20));
        assert_eq!(bar(3, 3), "█".repeat(BAR));
    }
}
