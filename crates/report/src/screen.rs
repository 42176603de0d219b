//! What a terminal shows: how many columns it has, and whether it knows more than ASCII.
//!
//! Whose terminal it is, is the caller's business; here text is set for it.

use crate::wrap::{columns, wrap};

/// The terminal, or whatever else text is printed to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// Its columns; `None` where lines may be as long as they are.
    pub width: Option<usize>,
    /// Whether its character set is ASCII alone.
    pub ascii: bool,
    /// Whether verdicts are coloured (ANSI escape sequences).
    pub colour: bool,
}

impl Screen {
    /// Text as the screen shows it: its characters, and lines that it has room for. A word longer than the screen stays whole.
    pub fn text(&self, text: &str) -> String {
        let text = self.characters(text);
        let Some(width) = self.width else {
            return text;
        };
        text.split_inclusive('\n')
            .map(|line| folded(line, width))
            .collect()
    }

    /// Text in characters that the screen has. A letter of a name that ASCII lacks stays as it is: a path has to be found again.
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

/// What stands for a sign of ours, or of those who draw our messages, in ASCII.
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
        // A row of bars, from the lowest to the highest.
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

/// A line in lines of at most `width` columns; what goes on below stands as far in as the line does, that of an item further.
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

/// Columns of a line without what colours it.
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
