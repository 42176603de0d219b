//! Standard output and standard error: the only place that prints.

use crate::drawn::drawn;
use crate::failure::Failure;
use crate::screen::{self, plain};
use fathom_lab::store::Loaded;
use fathom_report::screen::Screen;
use rustix::termios::{QueueSelector, tcflush};
use serde::Serialize;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

/// Prints data. A reader that has gone away, as in `fathom ... | head`, is no error.
///
/// # Errors
/// When standard output cannot be written for another reason, such as a full disk.
pub(crate) fn data(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::input("fathom::output", "cannot write to standard output").because(e))
        }
        _ => Ok(()),
    }
}

/// The version of what is printed as JSON, which docs/schema describes. It grows where a key goes or means something else; keys
/// that are added leave it.
const SCHEMA: u32 = 1;

/// An object with its version.
#[derive(Serialize)]
struct Versioned<'a, T> {
    schema: u32,
    #[serde(flatten)]
    value: &'a T,
}

/// Prints an object as JSON, indented, with the version of its schema.
///
/// # Errors
/// As [`data`].
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let value = Versioned {
        schema: SCHEMA,
        value,
    };
    let text = serde_json::to_string_pretty(&value)
        .map_err(|e| Failure::input("fathom::output", "cannot be put as JSON").because(e))?;
    data(&(text + "\n"))
}

/// Prints what people read, in the lines and characters of [`screen()`].
///
/// # Errors
/// As [`data`].
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    data(&screen().text(text))
}

/// What standard output is shown on.
pub(crate) fn screen() -> Screen {
    let terminal = io::stdout().is_terminal().then(|| {
        let size = rustix::termios::tcgetwinsize(io::stdout());
        size.map_or(0, |size| size.ws_col)
    });
    screen::of(terminal, variable)
}

/// Tells the user of a failure, and gives the exit code.
pub(crate) fn failure(failure: &Failure) -> ExitCode {
    error(&(drawn(failure, error_screen()) + "\n"));
    failure.exit.into()
}

/// What standard error is shown on: where it is no terminal, lines are as long as on one that does not say.
pub(crate) fn error_screen() -> Screen {
    let size = rustix::termios::tcgetwinsize(io::stderr());
    let columns = size.map_or(0, |size| size.ws_col);
    Screen {
        colour: io::stderr().is_terminal() && screen::of(Some(columns), variable).colour,
        ..screen::of(Some(columns), variable)
    }
}

/// A variable of the environment.
fn variable(name: &str) -> Option<String> {
    #[allow(
        clippy::disallowed_methods,
        reason = "how text is shown follows the user's terminal; no result depends on it"
    )]
    std::env::var(name).ok()
}

/// Whether somebody is there to ask.
pub(crate) fn interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Says something to the user beside the data, on one line ([`plain`]). Nobody listening is no error.
pub(crate) fn note(text: &str) {
    error(&(screen().characters(&plain(text)) + "\n"));
}

/// Puts a text on standard error as it is. Nobody listening is no error.
pub(crate) fn error(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush());
}

/// A path as [`plain`] text.
pub(crate) fn shown(path: &Path) -> String {
    plain(&path.display().to_string())
}

/// What was read, once its warnings are told.
pub(crate) fn loaded<T>(loaded: Loaded<T>) -> T {
    for warning in loaded.notes {
        note(&format!("warning: {warning}"));
    }
    loaded.value
}

/// Asks a question that only `y` or `yes` answers with yes, typed after it was asked.
pub(crate) fn confirm(question: &str) -> bool {
    // An error means that there is no terminal, so that nothing was typed.
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush());
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}
