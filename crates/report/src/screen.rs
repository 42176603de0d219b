//! The terminal's properties: its width, and whether it shows more than ASCII.
//!
//! The caller determines the terminal; this module only lays out text for it.

use crate::wrap::{columns, wrap};

/// The terminal, or another destination of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// Width in columns; `None` for lines of unlimited length.
    pub width: Option<usize>,
    /// True if the character set is ASCII only.
    pub ascii: bool,
    /// True if verdicts and error messages are coloured (ANSI escape sequences).
    pub colour: bool,
}

impl Screen {
    /// Converts text for the screen: replaces characters it lacks and wraps lines at its width. A word longer than the
    /// screen is not broken.
    pub fn text(&self, text: &str) -> String {
        let text = self.characters(text);
        let Some(width) = self.width else {
            return text;
        };
        text.split_inclusive('\n')
            .map(|line| folded(line, width))
            .collect()
    }

    /// Replaces signs and symbols that the screen lacks. Other non-ASCII characters stay as they are, so that a path in a
    /// message remains usable.
    pub fn characters(&self, text: &str) -> String {
        if !self.ascii || text.is_ascii() {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match in_ascii(c) {
                Some(plain) => out.push_str(plain),
                None => out.push(c),
            }
        }
        out
    }
}

/// Returns the ASCII replacement for a symbol in our messages or drawings.
const fn in_ascii(c: char) -> Option<&'static str> {
    Some(match c {
        'µ' | 'μ' => "u",
        '·' | '•' => "*",
        '–' | '—' | '─' | '━' | '┄' | '╴' | '╶' => "-",
        '→' | '▶' | '▸' => ">",
        '│' | '┃' | '┆' | '╎' | '┊' => "|",
        '╭' | '╮' | '╰' | '╯' | '├' | '┤' | '┬' | '┴' | '┼' | '┌' | '┐' | '└' | '┘' => {
            "+"
        }
        '…' => "...",
        '≤' => "<=",
        '≥' => ">=",
        '±' => "+-",
        '²' => "^2",
        '×' => "x",
        '⚠' => "!",
        '✓' => "ok",
        '∅' => "none",
        '“' | '”' => "\"",
        '‘' | '’' => "'",
        '\u{a0}' => " ",
        // Bars, from the lowest to the highest.
        '▁' => "_",
        '▂' => ".",
        '▃' => "-",
        '▄' => "=",
        '▅' => "+",
        '▆' => "*",
        '▇' => "%",
        '█' => "#",
        _ => return None,
    })
}

/// Wraps a line at `width` columns. Continuation lines keep the indentation; those of a list item are indented further.
fn folded(line: &str, width: usize) -> String {
    let bare = line.trim_end_matches('\n');
    if visible(bare) <= width {
        return line.to_owned();
    }
    let words = bare.trim_start();
    let indent = columns(bare) - columns(words);
    let further = indent + if words.starts_with("- ") { 2 } else { 0 };
    let lines = wrap(words, width.saturating_sub(further));
    let first = " ".repeat(indent);
    let below = format!("\n{}", " ".repeat(further));
    first + &lines.join(&below) + &line[bare.len()..]
}

/// Returns the width of a line without its colour codes.
fn visible(line: &str) -> usize {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().map_or(0, columns);
    let after = |part: &str| part.split_once('m').map_or(0, |(_, text)| columns(text));
    first + parts.map(after).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_takes_no_room() {
        let screen = Screen {
            width: Some(5),
            ..Screen::default()
        };
        let text = "\u{1b}[32mfive \u{1b}[0m\n";
        assert_eq!(screen.text(text), text);
    }

    #[test]
    fn lines_are_folded_between_words() {
        let screen = Screen {
            width: Some(12),
            ..Screen::default()
        };
        let text = "a  b\n- one two three four\n  take 3.09 µs or so\n/a/very/long/path\n";
        let expected =
            "a  b\n- one two\n  three four\n  take\n  3.09 µs or\n  so\n/a/very/long/path\n";
        assert_eq!(screen.text(text), expected);
        assert_eq!(Screen::default().text(text), text);
    }

    #[test]
    fn ascii_has_no_other_signs_of_ours_and_leaves_names() {
        let screen = Screen {
            ascii: true,
            ..Screen::default()
        };
        assert_eq!(screen.text("3 µs – ≤ 4 … ä"), "3 us - <= 4 ... ä");
        assert_eq!(screen.text("▁█ ╰─▶"), "_# +->");
    }
}
