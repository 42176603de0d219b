//! Standard output and standard error. Only this module prints.

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

/// Prints data. A closed pipe, as in `fathom ... | head`, is no error.
///
/// # Errors
/// If standard output cannot be written for another reason, such as a full disk.
pub(crate) fn data(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    printed(written)
}

/// Judges what became of printing: a reader that leaves is no error.
///
/// # Errors
/// Standard output cannot be written.
pub(crate) fn printed(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::input("fathom::output", "cannot write to standard output").because(e))
        }
        _ => Ok(()),
    }
}

/// Version of the JSON output, described in docs/schema. It increases if a key is removed or changes its meaning; new keys
/// do not change it.
const SCHEMA: u32 = 1;

/// An object with its schema version.
#[derive(Serialize)]
struct Versioned<'a, T> {
    schema: u32,
    #[serde(flatten)]
    value: &'a T,
}

/// Prints an object as indented JSON with the schema version.
///
/// # Errors
/// As for [`data`].
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    data(&versioned(value)?)
}

/// Returns an object as indented JSON with the schema version, for standard output or a file.
///
/// # Errors
/// An object that JSON cannot express, which none of Fathom's is.
pub(crate) fn versioned(value: &impl Serialize) -> Result<String, Failure> {
    let value = Versioned {
        schema: SCHEMA,
        value,
    };
    let text = serde_json::to_string_pretty(&value)
        .map_err(|e| Failure::input("fathom::output", "cannot be put as JSON").because(e))?;
    Ok(text + "\n")
}

/// Prints text for people, wrapped and in the characters of [`screen()`].
///
/// # Errors
/// As for [`data`].
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    data(&screen().text(text))
}

/// Returns the screen of standard output.
pub(crate) fn screen() -> Screen {
    let terminal = io::stdout().is_terminal().then(|| {
        let size = rustix::termios::tcgetwinsize(io::stdout());
        size.map_or(0, |size| size.ws_col)
    });
    screen::of(terminal, variable)
}

/// Prints a failure and returns its exit code.
pub(crate) fn failure(failure: &Failure) -> ExitCode {
    error(&(drawn(failure, error_screen()) + "\n"));
    failure.exit.into()
}

/// Returns the screen of standard error. Always has a width: where it is no terminal, that of a terminal that reports none.
pub(crate) fn error_screen() -> Screen {
    let screen = note_screen();
    Screen {
        width: screen.width.or(screen::of(Some(0), variable).width),
        ..screen
    }
}

/// Returns the screen of standard error, without a width where it is no terminal.
fn note_screen() -> Screen {
    let terminal = io::stderr().is_terminal().then(|| {
        let size = rustix::termios::tcgetwinsize(io::stderr());
        size.map_or(0, |size| size.ws_col)
    });
    screen::of(terminal, variable)
}

/// Returns an environment variable.
fn variable(name: &str) -> Option<String> {
    #[allow(
        clippy::disallowed_methods,
        reason = "how text is shown follows the user's terminal; no result depends on it"
    )]
    std::env::var(name).ok()
}

/// Returns true if the user can be asked.
pub(crate) fn interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Prints a line to standard error, with control characters escaped ([`plain`]), wrapped on a terminal. Write errors are
/// ignored.
pub(crate) fn note(text: &str) {
    error(&(note_screen().text(&plain(text)) + "\n"));
}

/// Prints text to standard error unchanged. Write errors are ignored.
pub(crate) fn error(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush());
}

/// Returns a path as [`plain`] text.
pub(crate) fn shown(path: &Path) -> String {
    plain(&path.display().to_string())
}

/// Prints the warnings of a loaded file and returns its value.
pub(crate) fn loaded<T>(loaded: Loaded<T>) -> T {
    for warning in loaded.notes {
        note(&format!("warning: {warning}"));
    }
    loaded.value
}

/// Asks a question and returns true if the answer, typed after the question, is `y` or `yes`.
pub(crate) fn confirm(question: &str) -> bool {
    // An error means that there is no terminal and so no earlier input to discard.
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush());
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}
