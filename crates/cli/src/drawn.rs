//! Formats a failure for the terminal: code, message and causes, the place in a file, advice.

mod narrow;

use crate::failure::{Failure, Source};
use crate::screen::plain;
use fathom_report::screen::Screen;
use std::error::Error;
use std::iter;
use std::ops::Range;

/// Terminal colours (ECMA-48, 8.3.117).
const DIM: u8 = 2;
const RED: u8 = 31;
const MAGENTA: u8 = 35;
const CYAN: u8 = 36;

/// Columns between tab stops.
const TAB: usize = 4;

/// Returns the text of a failure, without a final line break.
pub(crate) fn drawn(failure: &Failure, screen: Screen) -> String {
    let pen = Pen(screen);
    let mut text = pen.paint(RED, failure.code) + "\n\n";
    let said = iter::once(&failure.message).chain(&failure.lines);
    text += &pen.block(RED, ["  × ", "  │ "], said.map(String::as_str));
    let first = failure.cause.as_deref().map(|cause| cause as &dyn Error);
    let mut causes = iter::successors(first, |&cause| cause.source()).peekable();
    while let Some(cause) = causes.next() {
        let marks = match causes.peek() {
            Some(_) => ["  ├─▶ ", "  │   "],
            None => ["  ╰─▶ ", "      "],
        };
        text += &pen.block(RED, marks, cause.to_string().lines());
    }
    if let Some(source) = &failure.source {
        text += &pen.snippet(source);
    }
    let help = failure.help.as_deref();
    text += &pen.block(CYAN, ["  help: ", "        "], help.into_iter());
    screen.characters(text.trim_end())
}

/// Draws text for a screen.
struct Pen(Screen);

impl Pen {
    fn paint(&self, colour: u8, text: &str) -> String {
        match self.0.colour {
            true => format!("\u{1b}[{colour}m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }

    /// Formats lines behind a mark; the first line has a mark of its own.
    fn block<'a>(
        &self,
        colour: u8,
        marks: [&str; 2],
        lines: impl Iterator<Item = &'a str>,
    ) -> String {
        let [mut mark, below] = marks;
        let before = mark.chars().count();
        let room = Screen {
            width: self.0.width.map(|width| width.saturating_sub(before)),
            ..Screen::default()
        };
        let mut text = String::new();
        for line in lines {
            for part in room.text(&plain(&narrow::text(line))).lines() {
                text += &format!("{}{part}\n", self.paint(colour, mark));
                mark = below;
            }
        }
        text
    }

    /// Formats the marked line of a file with its neighbours.
    fn snippet(&self, source: &Source) -> String {
        let before = &source.text[..source.at.start];
        let number = before.matches('\n').count() + 1;
        let begin = before.rfind('\n').map_or(0, |end| end + 1);
        let lines: Vec<&str> = source.text.lines().collect();
        let last = number.max(lines.len().min(number + 1));
        let digits = last.to_string().len();
        let margin = " ".repeat(digits + 2);
        let column = before[begin..].chars().count() + 1;
        let place = self.paint(CYAN, &format!("{}:{number}:{column}", plain(&source.name)));
        let mut text = format!("{margin}╭─[{place}]\n");
        for shown in number.saturating_sub(1).max(1)..=last {
            let line = lines.get(shown - 1).copied().unwrap_or_default();
            let at = match shown == number {
                true => source.at.start - begin..source.at.end - begin,
                false => 0..0,
            };
            let (line, at) = narrow::line(line, at);
            let head = self.paint(DIM, &format!("{shown:digits$}"));
            text += &format!(" {head} │ {}\n", spaced(&line));
            if shown == number {
                let [below, label] = marks(&line, at);
                text += &format!("{margin}· {}\n", self.paint(MAGENTA, &below));
                text += &format!("{margin}· {}\n", self.paint(MAGENTA, &label));
            }
        }
        text + &margin + "╰────\n"
    }
}

/// Returns the two lines below a marked line: the underline and its label.
fn marks(line: &str, at: Range<usize>) -> [String; 2] {
    let columns = |end: usize| spaced(&line[..end]).chars().count();
    let (start, end) = (columns(at.start), columns(at.end));
    let middle = match end.saturating_sub(start) {
        0 => start,
        wide => start + wide / 2,
    };
    let left = "─".repeat(middle - start);
    let right = "─".repeat(end.saturating_sub(middle + 1));
    let sign = if start == end { '▲' } else { '┬' };
    let before = |columns: usize| " ".repeat(columns);
    [
        format!("{}{left}{sign}{right}", before(start)),
        format!("{}╰── here", before(middle)),
    ]
}

/// Expands tabs and replaces other control characters.
fn spaced(line: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for c in line.chars() {
        let wide = if c == '\t' { TAB - column % TAB } else { 1 };
        match c {
            '\t' => out.extend(iter::repeat_n(' ', wide)),
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
        column += wide;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(text: &str, at: Range<usize>) -> Failure {
        let mut failure = Failure::input("fathom::test", "a.toml: wrong").help("mend it");
        failure.source = Some(Box::new(Source {
            name: "a.toml".into(),
            text: text.into(),
            at,
        }));
        failure
    }

    #[test]
    fn a_place_is_marked_below_its_line() {
        let text = "a = 1\n\tb = 23 # ä\nc = 4\nd = 5\n";
        let at = text.find("23").unwrap();
        let expected = "\
fathom::test

  × a.toml: wrong
   ╭─[a.toml:2:6]
 1 │ a = 1
 2 │     b = 23 # ä
   ·         ─┬
   ·          ╰── here
 3 │ c = 4
   ╰────
  help: mend it";
        assert_eq!(
            drawn(&failure(text, at..at + 2), Screen::default()),
            expected
        );
    }

    #[test]
    fn a_place_at_an_end_is_marked_there() {
        let shown = |text: &str, at| drawn(&failure(text, at), Screen::default());
        let end = shown("[flash", 6..6);
        assert!(
            end.contains(" 1 │ [flash\n   ·       ▲\n   ·       ╰── here\n"),
            "{end}"
        );
        let below = shown("a = 1\n", 6..6);
        assert!(below.contains(" 1 │ a = 1\n 2 │ \n   · ▲\n"), "{below}");
        let empty = shown("", 0..0);
        assert!(empty.contains("[a.toml:1:1]\n 1 │ \n   · ▲\n"), "{empty}");
        // The range continues on the next lines; the rest of this line is marked.
        let long = shown("ab = [\n1,\n]\n", 0..10);
        assert!(long.contains(" 1 │ ab = [\n   · ───┬──\n"), "{long}");
    }

    #[test]
    fn every_line_has_the_room_of_the_screen() {
        let words = "one two three four five six seven eight nine ten";
        let mut failure = Failure::input("fathom::test", words).help(words);
        failure.lines = [format!("  {words}")].into();
        failure.cause = Some(words.into());
        let narrow = Screen {
            width: Some(24),
            ascii: true,
            colour: false,
        };
        let text = drawn(&failure, narrow);
        assert!(text.lines().all(|line| line.len() <= 24), "{text}");
        assert!(text.is_ascii(), "{text}");
        assert!(text.contains("\n  x one two three four\n  | five six seven eight\n"));
        assert!(text.contains("\n  |   one two three four\n"), "{text}");
        assert!(text.contains("\n  +-> one two three four\n      five six seven\n"));
        assert!(text.contains("\n  help: one two three\n        four five six\n"));
    }

    #[test]
    fn only_a_screen_with_colours_has_escapes() {
        let with = |colour| {
            let screen = Screen {
                colour,
                ..Screen::default()
            };
            drawn(&failure("a = 1\u{1b}[2J", 0..1), screen)
        };
        assert!(!with(false).contains('\u{1b}'));
        let coloured = with(true);
        assert!(coloured.contains("\u{1b}[31mfathom::test\u{1b}[0m"));
        assert!(!coloured.contains("\u{1b}[2J"));
    }
}
