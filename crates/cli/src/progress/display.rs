//! One line of progress: updated in place on a terminal, printed every few seconds elsewhere (to a log).

use crate::out;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// Interval between updates on a terminal.
const DRAW_EVERY: Duration = Duration::from_millis(100);
/// Interval between lines in a log.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// A display of progress, with the time since its creation.
pub(crate) struct Display {
    place: Place,
    began: Instant,
    due: Mutex<Due>,
}

enum Place {
    Nowhere,
    Log,
    Terminal(ProgressBar),
}

#[allow(
    clippy::disallowed_methods,
    reason = "progress follows the user's clock; no result depends on it"
)]
pub(crate) fn clock() -> Instant {
    Instant::now()
}

impl Display {
    /// Creates a display on standard error; shows nothing if `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        let place = match quiet {
            true => Place::Nowhere,
            false if std::io::stderr().is_terminal() => Place::Terminal(line()),
            false => Place::Log,
        };
        Self {
            due: Mutex::new(Due::every(match place {
                Place::Terminal(_) => DRAW_EVERY,
                _ => LOG_EVERY,
            })),
            place,
            began: clock(),
        }
    }

    /// Returns the time since the creation.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Returns true if standard error is a log file rather than a terminal.
    pub(crate) fn is_log(&self) -> bool {
        matches!(self.place, Place::Log)
    }

    /// Shows the text if an update is due; builds it only then.
    pub(crate) fn show(&self, text: impl FnOnce() -> String) {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(self.place, Place::Nowhere) || !due.at(self.elapsed()) {
            return;
        }
        match &self.place {
            Place::Terminal(bar) => bar.set_message(out::error_screen().characters(&text())),
            _ => out::note(&text()),
        }
    }

    /// Prints a permanent line, above the updated one.
    pub(crate) fn say(&self, text: &str) {
        match &self.place {
            Place::Terminal(bar) => bar.suspend(|| out::note(text)),
            _ => out::note(text),
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        if let Place::Terminal(bar) = &self.place {
            bar.finish_and_clear();
        }
    }
}

/// Creates a line as wide as the terminal.
fn line() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    match ProgressStyle::with_template("{wide_msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// A periodic event.
struct Due {
    every: Duration,
    last: Duration,
}

impl Due {
    fn every(every: Duration) -> Self {
        Self {
            every,
            last: Duration::ZERO,
        }
    }

    /// Returns true if an event is due at `now`, measured from the beginning; the next one is then due `every` later.
    fn at(&mut self, now: Duration) -> bool {
        let due = now.saturating_sub(self.last) >= self.every;
        if due {
            self.last = now;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_again_is_due_once_in_a_while() {
        let mut due = Due::every(LOG_EVERY);
        let said = (0..350).filter(|i| due.at(Duration::from_millis(100 * i)));
        assert_eq!(said.collect::<Vec<_>>(), [100, 200, 300]);
    }
}
