//! One line that says how far something is: on a terminal it changes in its place, elsewhere (a log) it is said again now and
//! then.

use crate::out;
use crate::screen::plain;
use fathom_report::screen::Screen;
use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the line of a terminal is drawn.
const DRAW_EVERY: Duration = Duration::from_millis(100);
/// How often a log is told.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// Shows how far something is, from now on.
pub(crate) struct Display {
    began: Instant,
    line: Mutex<Line>,
}

#[allow(
    clippy::disallowed_methods,
    reason = "progress follows the user's clock; no result depends on it"
)]
pub(crate) fn clock() -> Instant {
    Instant::now()
}

impl Display {
    /// On standard error; nothing where it is to be `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        let place = match quiet {
            true => Place::Nowhere,
            false if std::io::stderr().is_terminal() => Place::Terminal,
            false => Place::Log,
        };
        Self {
            began: clock(),
            line: Mutex::new(Line {
                place,
                screen: out::error_screen(),
                drawn: Duration::ZERO,
                stands: false,
            }),
        }
    }

    /// Since it began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Whether there is a log that is told in lines of their own.
    pub(crate) fn is_log(&self) -> bool {
        self.line().place == Place::Log
    }

    /// Shows `text` where it is time for it.
    pub(crate) fn show(&self, text: impl FnOnce() -> String) {
        let mut line = self.line();
        out::error(&line.show(self.elapsed(), text));
    }

    /// Says something that stays, above the line.
    pub(crate) fn say(&self, text: &str) {
        let mut line = self.line();
        out::error(&line.say(text));
    }

    fn line(&self) -> std::sync::MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let mut line = self.line();
        out::error(line.clear());
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Nowhere,
    Log,
    Terminal,
}

/// The line, as what is to be written for it.
struct Line {
    place: Place,
    screen: Screen,
    /// When it was drawn last, since the beginning.
    drawn: Duration,
    /// Whether it stands on the terminal.
    stands: bool,
}

impl Line {
    fn show(&mut self, now: Duration, text: impl FnOnce() -> String) -> String {
        let every = match self.place {
            Place::Nowhere => return String::new(),
            Place::Log => LOG_EVERY,
            Place::Terminal => DRAW_EVERY,
        };
        if now.saturating_sub(self.drawn) < every {
            return String::new();
        }
        self.drawn = now;
        let text = self.screen.characters(&plain(&text()));
        if self.place == Place::Log {
            return text + "\n";
        }
        self.stands = true;
        // The last column stays free: a terminal may begin a new line after it.
        let room = self.screen.width.map_or(usize::MAX, |width| width - 1);
        let text: String = text.chars().take(room).collect();
        format!("{CLEAR}{text}")
    }

    fn say(&mut self, text: &str) -> String {
        format!("{}{}\n", self.clear(), self.screen.characters(&plain(text)))
    }

    /// What takes the line away.
    fn clear(&mut self) -> &'static str {
        match std::mem::take(&mut self.stands) {
            true => CLEAR,
            false => "",
        }
    }
}

/// To the beginning of the line, and the line erased (ECMA-48, 8.3.41).
const CLEAR: &str = "\r\u{1b}[2K";

#[cfg(test)]
mod tests {
    use super::*;

    fn line(place: Place) -> Line {
        Line {
            place,
            screen: Screen {
                width: Some(8),
                ..Screen::default()
            },
            drawn: Duration::ZERO,
            stands: false,
        }
    }

    fn at(line: &mut Line, millis: u64) -> String {
        line.show(Duration::from_millis(millis), || format!("at {millis} ms"))
    }

    #[test]
    fn a_log_is_told_in_plain_lines_now_and_then() {
        let mut log = line(Place::Log);
        let said: String = (0..350).map(|i| at(&mut log, 100 * i)).collect();
        assert_eq!(said, "at 10000 ms\nat 20000 ms\nat 30000 ms\n");
        assert_eq!(log.say("note"), "note\n");
        assert_eq!(log.clear(), "");
    }

    #[test]
    fn a_terminal_has_one_line_that_fits() {
        let mut terminal = line(Place::Terminal);
        assert_eq!(at(&mut terminal, 50), "");
        assert_eq!(at(&mut terminal, 100), "\r\u{1b}[2Kat 100 ");
        assert_eq!(at(&mut terminal, 150), "");
        assert_eq!(terminal.say("note"), "\r\u{1b}[2Knote\n");
        assert_eq!(terminal.clear(), "");
        at(&mut terminal, 250);
        assert_eq!(terminal.clear(), "\r\u{1b}[2K");
    }

    #[test]
    fn nothing_is_shown_to_who_wants_none() {
        assert_eq!(at(&mut line(Place::Nowhere), 1_000_000), "");
    }
}
