//! Determines the terminal's width and capabilities, in this one place, and escapes control characters.

use fathom_report::screen::Screen;

/// Width in columns of a terminal that does not report one.
const WIDTH: usize = 80;

/// Returns the screen for an output. `terminal` is the width that a terminal reports, 0 if it reports none, `None` if the
/// output is no terminal. `COLUMNS` takes precedence (POSIX, Environment Variables, 8.3).
pub(crate) fn of(terminal: Option<u16>, variable: impl Fn(&str) -> Option<String>) -> Screen {
    let given = variable("COLUMNS").and_then(|columns| columns.trim().parse().ok());
    let own = terminal.map(|columns| match columns {
        0 => WIDTH,
        columns => usize::from(columns),
    });
    let plain = variable("NO_COLOR").is_some_and(|value| !value.is_empty())
        || variable("TERM").is_some_and(|terminal| terminal == "dumb");
    Screen {
        width: given.filter(|&columns| columns > 0).or(own),
        ascii: ascii(&variable),
        colour: terminal.is_some() && !plain,
    }
}

/// Returns true if the locale's character set is not UTF-8. `LC_ALL` takes precedence over `LC_CTYPE`, and that over `LANG`;
/// an empty variable counts as unset (locale(7)). If none is set, UTF-8 is assumed, as terminals have it.
fn ascii(variable: &impl Fn(&str) -> Option<String>) -> bool {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        !locale.contains("utf-8") && !locale.contains("utf8")
    })
}

/// Returns the text with control characters escaped. A path or drive name may contain any of them: a line break would split
/// a message, and others would control the terminal.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() {
            true => plain.extend(c.escape_default()),
            false => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(terminal: Option<u16>, set: &[(&str, &str)]) -> Screen {
        of(terminal, |name| {
            let found = set.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn columns_come_from_the_variable_then_the_terminal_then_80() {
        let width = |terminal, columns| screen(terminal, &[("COLUMNS", columns)]).width;
        assert_eq!(width(Some(120), "60"), Some(60));
        assert_eq!(width(None, "60"), Some(60));
        for wrong in ["", "0", "-1", "wide"] {
            assert_eq!(width(Some(120), wrong), Some(120), "{wrong}");
            assert_eq!(width(Some(0), wrong), Some(80), "{wrong}");
            assert_eq!(width(None, wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_locale_says_whether_there_is_more_than_ascii() {
        let ascii = |set: &[(&str, &str)]| screen(None, set).ascii;
        assert!(!ascii(&[]));
        assert!(!ascii(&[("LANG", "C.UTF-8")]));
        assert!(ascii(&[("LANG", "C")]));
        assert!(ascii(&[("LANG", "de_DE.utf8"), ("LC_CTYPE", "POSIX")]));
        assert!(ascii(&[("LC_CTYPE", "C.UTF-8"), ("LC_ALL", "C")]));
        assert!(!ascii(&[("LANG", "C"), ("LC_ALL", "en_GB.UTF-8")]));
        assert!(!ascii(&[("LANG", "C.UTF-8"), ("LC_ALL", "")]));
    }

    #[test]
    fn only_a_terminal_has_colours() {
        assert!(screen(Some(80), &[("NO_COLOR", "")]).colour);
        assert!(!screen(Some(80), &[("NO_COLOR", "1")]).colour);
        assert!(!screen(Some(80), &[("TERM", "dumb")]).colour);
        assert!(screen(Some(80), &[("TERM", "xterm")]).colour);
        assert!(!screen(None, &[]).colour);
    }
}
