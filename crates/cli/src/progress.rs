//! How far many runs are, and how long the rest may take.

mod playing;

pub(crate) use playing::Playing;

use fathom_lab::study::Watcher;
use fathom_report::text::human_duration;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Fewer runs than that tell nothing of the rest.
const ESTIMATED_FROM: usize = 3;
/// So many runs are named of which something has to be said; the others are counted.
const DISTRUSTED_MAX: usize = 5;

/// Watches runs: a bar on a terminal, a line for each run where nothing can be drawn.
pub(crate) struct Progress {
    shown: Shown,
    of: usize,
    /// Those that were there already take no time.
    kept: AtomicUsize,
    done: AtomicUsize,
    began: Instant,
}

enum Shown {
    Nothing,
    Lines,
    Bar(ProgressBar),
}

#[allow(
    clippy::disallowed_methods,
    reason = "an estimate for the user follows the user's clock; no result depends on it"
)]
fn clock() -> Instant {
    Instant::now()
}

impl Progress {
    /// Of that many runs.
    pub(crate) fn new(quiet: bool, of: usize) -> Self {
        let shown = if quiet {
            Shown::Nothing
        } else if io::stderr().is_terminal() {
            let target = ProgressDrawTarget::stderr_with_hz(10);
            let bar = ProgressBar::with_draw_target(Some(of as u64), target);
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len}{wide_msg}") {
                bar.set_style(crate::out::drawn(style));
            }
            bar.tick();
            Shown::Bar(bar)
        } else {
            Shown::Lines
        };
        Self {
            shown,
            of,
            kept: 0.into(),
            done: 0.into(),
            began: clock(),
        }
    }

    /// Says something above the bar.
    fn say(&self, text: &str) {
        match &self.shown {
            Shown::Bar(bar) => bar.suspend(|| crate::out::note(text)),
            _ => crate::out::note(text),
        }
    }
}

/// The time that is left, if what is left takes as long as what was run.
fn left(elapsed: Duration, ran: usize, of: usize) -> Option<Duration> {
    let known = ran >= ESTIMATED_FROM && of > 0;
    known.then(|| elapsed.mul_f64(of as f64 / ran as f64))
}

impl Watcher for Progress {
    fn run_done(&self, name: &str, _done: usize, _of: usize, again: bool) {
        let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
        let kept =
            self.kept.fetch_add(usize::from(!again), Ordering::Relaxed) + usize::from(!again);
        let rest = left(
            self.began.elapsed(),
            done - kept,
            self.of.saturating_sub(done),
        );
        let rest = rest.map_or_else(String::new, |rest| {
            let ns = u64::try_from(rest.as_nanos()).unwrap_or(u64::MAX);
            format!(", about {} left", human_duration(ns))
        });
        match &self.shown {
            Shown::Nothing => {}
            Shown::Lines => {
                let kept = if again { "" } else { " (was there)" };
                crate::out::note(&format!("{done} of {}{rest}: {name}{kept}", self.of));
            }
            Shown::Bar(bar) => {
                bar.set_position(done as u64);
                bar.set_message(crate::out::screen().characters(&format!("{rest}: {name}")));
            }
        }
    }

    fn distrusted(&self, runs: &[(String, String)]) {
        for (name, why) in runs.iter().take(DISTRUSTED_MAX) {
            self.say(&format!("warning: {name} is run again: {why}"));
        }
        let more = runs.len().saturating_sub(DISTRUSTED_MAX);
        if more > 0 {
            self.say(&format!("and {more} more are run again"));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
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
}
