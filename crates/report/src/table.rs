//! Tables for a terminal of any width.
//!
//! A table that is too wide is narrowed in this order, and no word or number is ever broken. First, cells are wrapped
//! between words. Then a table of numbers is split into several tables below one another, each repeating the first column.
//! Last, each row becomes a list with a line per cell.

use crate::screen::Screen;
use crate::wrap::{columns, joined, wrap};

const GAP: &str = "  ";
/// Minimum width of a column of sentences, in columns; a narrower one is hard to read.
const SENTENCE_MIN: usize = 24;
/// Maximum lines of a cell of numbers, and of its head. A taller table is harder to read than two tables.
const CELL_LINES_MAX: usize = 2;
const HEAD_LINES_MAX: usize = 3;

/// A table of numbers with a heading and a note, for a terminal or a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Heading.
    pub title: String,
    /// Note on how to read it.
    pub note: String,
    /// Names of the columns.
    pub head: Vec<String>,
    /// Rows of cells; the first cell of a row is its name.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table without rows.
    pub fn new<N: Into<String>>(
        title: &str,
        note: &str,
        head: impl IntoIterator<Item = N>,
    ) -> Self {
        Self {
            title: title.to_owned(),
            note: note.to_owned(),
            head: head.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Returns head and rows, laid out for the screen.
    pub fn text(&self, screen: Screen) -> String {
        let head = std::slice::from_ref(&self.head);
        table(&[head, &self.rows].concat(), Kind::Numbers, screen)
    }
}

/// Kind of contents of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A head, names on the left, numbers right-aligned.
    Numbers,
    /// A head with a rule below it; the last column holds sentences.
    Words,
    /// A name and a sentence in each row, no head.
    List,
}

/// Decorates a line of the cell at the given row and column.
type Paint<'a> = &'a dyn Fn(usize, usize, &str) -> String;

/// Formats a table from rows of cells, the head first if its kind has one. Rows may lack their last cells.
pub fn table(rows: &[Vec<String>], kind: Kind, screen: Screen) -> String {
    painted(rows, kind, screen, &|_, _, text| text.to_owned())
}

/// As [`table`], with decorated cells. The result of `paint` must be as wide as its text.
pub(crate) fn painted(
    rows: &[Vec<String>],
    kind: Kind,
    screen: Screen,
    paint: Paint<'_>,
) -> String {
    let shown = |row: &Vec<String>| row.iter().map(|cell| screen.characters(cell)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(shown).collect();
    let set = Set {
        rows: &rows,
        kind,
        paint,
    };
    let all: Vec<usize> = (0..rows.first().map_or(0, Vec::len)).collect();
    let Some(width) = screen.width else {
        return set.beside(&all, &set.widths(&all));
    };
    match set.fitted(&all, width) {
        Some(widths) => set.beside(&all, &widths),
        None if kind == Kind::Numbers => set.parts(width).unwrap_or_else(|| set.stacked(width)),
        None => set.stacked(width),
    }
}

struct Set<'a> {
    rows: &'a [Vec<String>],
    kind: Kind,
    paint: Paint<'a>,
}

impl Set<'_> {
    fn column(&self, column: usize) -> impl Iterator<Item = &str> {
        let cells = self.rows.iter().filter_map(move |row| row.get(column));
        cells.map(String::as_str)
    }

    /// Returns the natural widths: those of the widest cells.
    fn widths(&self, part: &[usize]) -> Vec<usize> {
        let width = |&column: &usize| self.column(column).map(columns).max().unwrap_or(0);
        part.iter().map(width).collect()
    }

    /// Returns the minimum width of a column.
    fn least(&self, column: usize, natural: usize) -> usize {
        let words = self.column(column).flat_map(joined);
        let word = words.map(|word| columns(&word)).max().unwrap_or(0);
        let last = Some(column + 1) == self.rows.first().map(Vec::len);
        match last && self.kind != Kind::Numbers {
            true => word.max(SENTENCE_MIN).min(natural.max(word)),
            false => word,
        }
    }

    /// Returns widths for these columns that fit into `width`, narrowing the widest first; `None` if words would have to be
    /// broken or cells become too tall.
    fn fitted(&self, part: &[usize], width: usize) -> Option<Vec<usize>> {
        let mut widths = self.widths(part);
        let room = width.checked_sub(GAP.len() * part.len().saturating_sub(1))?;
        let least: Vec<usize> = part
            .iter()
            .zip(&widths)
            .map(|(&column, &natural)| self.least(column, natural))
            .collect();
        while widths.iter().sum::<usize>() > room {
            let spare = (0..part.len()).filter(|&i| widths[i] > least[i]);
            let widest = spare.max_by_key(|&i| widths[i])?;
            widths[widest] -= 1;
        }
        let short = |row: usize, column: usize, width: usize| {
            let cell = self.rows[row].get(column).map_or("", String::as_str);
            let most = if row == 0 {
                HEAD_LINES_MAX
            } else {
                CELL_LINES_MAX
            };
            set_in(cell, width).len() <= most
        };
        let mut columns = part.iter().zip(&widths);
        let readable = self.kind != Kind::Numbers
            || columns
                .all(|(&column, &width)| (0..self.rows.len()).all(|row| short(row, column, width)));
        readable.then_some(widths)
    }

    /// Formats the columns side by side.
    fn beside(&self, part: &[usize], widths: &[usize]) -> String {
        let mut out = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            out += &self.row(index, row, part, widths);
            if index == 0 && self.kind == Kind::Words {
                let rule = widths.iter().map(|&width| "─".repeat(width));
                out += &(rule.collect::<Vec<_>>().join(GAP) + "\n");
            }
        }
        out
    }

    fn row(&self, index: usize, row: &[String], part: &[usize], widths: &[usize]) -> String {
        let cells = part.iter().map(|&column| row.get(column));
        let cells: Vec<Vec<String>> = cells
            .zip(widths)
            .map(|(cell, &width)| cell.map_or_else(Vec::new, |cell| set_in(cell, width)))
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let mut out = String::new();
        for number in 0..height {
            let mut line = String::new();
            for (i, (cell, &width)) in cells.iter().zip(widths).enumerate() {
                let text = cell.get(number).map_or("", String::as_str);
                let pad = " ".repeat(width.saturating_sub(columns(text)));
                let text = (self.paint)(index, part[i], text);
                line += if i == 0 { "" } else { GAP };
                line += &match self.kind == Kind::Numbers && i > 0 {
                    true => pad + &text,
                    false => text + &pad,
                };
            }
            out += line.trim_end();
            out.push('\n');
        }
        out
    }

    /// Splits the table into several below one another, each with the first column. Returns `None` if a single column beside
    /// the first is already too wide. Each part leaves out rows that have nothing in it.
    fn parts(&self, width: usize) -> Option<String> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for column in 1..columns {
            let natural = |part: &[usize]| {
                self.widths(part).iter().sum::<usize>() + GAP.len() * (part.len() - 1)
            };
            match parts.last_mut() {
                Some(part) if natural(&[part.as_slice(), &[column]].concat()) <= width => {
                    part.push(column);
                }
                _ => parts.push(vec![0, column]),
            }
        }
        let set = parts.iter().map(|part| {
            let some = |row: &&Vec<String>| {
                let mut cells = part[1..].iter().filter_map(|&column| row.get(column));
                cells.any(|cell| !matches!(cell.as_str(), "" | "-"))
            };
            let rows: Vec<Vec<String>> = self.rows.iter().filter(some).cloned().collect();
            let set = Set {
                rows: &rows,
                ..*self
            };
            Some(set.beside(part, &set.fitted(part, width)?))
        });
        Some(set.collect::<Option<Vec<_>>>()?.join("\n"))
    }

    /// Formats each row as a list: its first cell, then each other cell with its head.
    fn stacked(&self, width: usize) -> String {
        let (head, rows) = match (self.kind, self.rows.split_first()) {
            (Kind::List, _) | (_, None) => (&[][..], self.rows),
            (_, Some((head, rows))) => (head.as_slice(), rows),
        };
        let named = head.iter().skip(1).map(|name| columns(name)).max();
        let first = self.rows.len() - rows.len();
        let lists = rows.iter().enumerate().map(|(index, row)| {
            let mut list = row
                .first()
                .map_or_else(String::new, |name| wrap(name, width).join("\n") + "\n");
            for column in 1..row.len() {
                let name = head.get(column).map_or("", String::as_str);
                let before = match named {
                    None => GAP.to_owned(),
                    Some(named) => format!("{GAP}{name}{}{GAP}", " ".repeat(named - columns(name))),
                };
                list += &self.entry(&before, first + index, column, width);
            }
            list
        });
        let parting = if head.is_empty() { "" } else { "\n" };
        lists.collect::<Vec<_>>().join(parting)
    }

    /// Formats a cell after the prefix `before`.
    fn entry(&self, before: &str, row: usize, column: usize, width: usize) -> String {
        let cell = &self.rows[row][column];
        if cell.is_empty() {
            return String::new();
        }
        let lines = wrap(cell, width.saturating_sub(columns(before)));
        let lines = lines.iter().map(|line| (self.paint)(row, column, line));
        let below = format!("\n{}", " ".repeat(columns(before)));
        format!("{before}{}\n", lines.collect::<Vec<_>>().join(&below))
    }
}

/// Wraps a cell if it is too wide; otherwise keeps it as it is.
fn set_in(cell: &str, width: usize) -> Vec<String> {
    match columns(cell) <= width {
        true => vec![cell.to_owned()],
        false => wrap(cell, width),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        let row = |row: &&[&str]| row.iter().map(|&cell| cell.to_owned()).collect();
        rows.iter().map(row).collect()
    }

    fn of(rows: &[Vec<String>], kind: Kind, width: usize) -> String {
        let screen = Screen {
            width: Some(width),
            ..Screen::default()
        };
        table(rows, kind, screen)
    }

    #[test]
    fn a_table_that_fits_is_as_wide_as_its_cells() {
        let rows = rows(&[&["", "a", "b"], &["merged", "100", "2000"]]);
        let expected = "          a     b\nmerged  100  2000\n";
        assert_eq!(of(&rows, Kind::Numbers, 17), expected);
        assert_eq!(table(&rows, Kind::Numbers, Screen::default()), expected);
    }

    #[test]
    fn cells_are_wrapped_between_words_and_a_number_keeps_its_unit() {
        let rows = rows(&[&["", "95 % interval"], &["reads", "2.5 µs to 3.6 µs"]]);
        let expected =
            "             95 %\n         interval\nreads   2.5 µs to\n           3.6 µs\n";
        assert_eq!(of(&rows, Kind::Numbers, 17), expected);
    }

    #[test]
    fn a_table_of_numbers_goes_on_below_itself() {
        let rows = rows(&[
            &["", "a", "b", "c"],
            &["merged", "100", "2000", "7"],
            &["given", "-", "-", "1"],
            &["short"],
        ]);
        let expected = "          a     b\nmerged  100  2000\n\n        c\nmerged  7\ngiven   1\n";
        assert_eq!(of(&rows, Kind::Numbers, 17), expected);
    }

    #[test]
    fn what_cannot_stand_beside_anything_is_a_list() {
        let rows = rows(&[&["run", "mean", "told"], &["runs/long", "4.5 ms", ""]]);
        assert_eq!(of(&rows, Kind::Numbers, 12), "runs/long\n  mean  4.5 ms\n");
        let sentence = "reads at a fixed place take as long";
        let words = [
            vec!["parameter".to_owned(), "verdict".into(), "why".into()],
            vec!["read buffer".into(), "absent".into(), sentence.into()],
        ];
        let expected = "read buffer\n  verdict  absent\n  why      reads at a fixed\n           place take as long\n";
        assert_eq!(of(&words, Kind::Words, 30), expected);
    }

    #[test]
    fn no_line_is_too_long_and_no_word_is_lost_or_broken() {
        let rows = rows(&[
            &[
                "process",
                "count",
                "done after",
                "bytes/s",
                "mean of all that it asked for",
            ],
            &["0", "2000", "12 min 5 s", "49.97 MiB", "156 µs"],
            &["12 others", "180118", "165 ms", "47.35 MiB", "165 µs"],
        ]);
        let words = |text: &str| {
            let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            words.sort();
            words.dedup();
            words
        };
        let all = words(&rows.concat().join(" "));
        for width in 42..90 {
            let text = of(&rows, Kind::Numbers, width);
            assert!(
                text.lines().all(|line| columns(line) <= width),
                "{width}\n{text}"
            );
            assert_eq!(words(&text), all, "{width}\n{text}");
        }
    }
}
