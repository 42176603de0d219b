//! Lays out Markdown pages for the terminal.

use fathom_report::screen::Screen;
use fathom_report::table::{Kind, table};

/// Maximum width of prose, in columns.
const WIDTH: usize = 100;

/// Lays out a page for a screen: refills paragraphs and list items and formats tables; keeps headings, code and blank lines.
/// Without a width the page stays as written.
pub(super) fn set(page: &str, screen: Screen) -> String {
    let Some(width) = screen.width else {
        return page.to_owned();
    };
    let mut out = String::new();
    let mut code = false;
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        let fence = line.starts_with("```");
        code ^= fence;
        if code || fence || !is_text(line) && !is_row(line) {
            out += &format!("{line}\n");
            continue;
        }
        let row = is_row(line);
        let mut block = vec![line];
        let goes_on = |next: &&str| match row {
            true => is_row(next),
            false => is_text(next) && !is_item(next),
        };
        while let Some(next) = lines.next_if(goes_on) {
            block.push(next);
        }
        out += &match row {
            true => table(&cells(&block), Kind::Words, screen),
            false => filled(&block, width.min(WIDTH)),
        };
    }
    out
}

/// Refills paragraphs, separated by blank lines, and list items to lines of at most 100 columns.
pub(super) fn wrap(text: &str) -> String {
    let screen = Screen {
        width: Some(WIDTH),
        ..Screen::default()
    };
    set(text, screen).trim_end().to_owned()
}

fn is_row(line: &str) -> bool {
    line.starts_with('|')
}

fn is_item(line: &str) -> bool {
    let bare = line.trim_start();
    let number = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    bare.starts_with("- ") || number.len() < bare.len() && number.starts_with(". ")
}

/// Returns true if a line may be refilled: not blank, not a heading, fence, table row or code.
fn is_text(line: &str) -> bool {
    let code = line.starts_with("    ") && !is_item(line);
    !(line.trim().is_empty() || line.starts_with(['#', '|']) || line.starts_with("```") || code)
}

/// Joins the lines of a paragraph or list item and wraps them at `width` columns.
fn filled(block: &[&str], width: usize) -> String {
    let first = block.first().copied().unwrap_or_default();
    let indent = &first[..first.len() - first.trim_start().len()];
    let words = block.iter().flat_map(|line| line.split_whitespace());
    let line = format!("{indent}{}\n", words.collect::<Vec<_>>().join(" "));
    let screen = Screen {
        width: Some(width),
        ..Screen::default()
    };
    screen.text(&line)
}

/// Returns the cells of a table's rows, without the alignment row.
fn cells(rows: &[&str]) -> Vec<Vec<String>> {
    let aligns = |row: &str| row.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
    let rows = rows.iter().filter(|row| !aligns(row));
    rows.map(|row| {
        let row = row.trim().trim_start_matches('|').trim_end_matches('|');
        row.split('|').map(|cell| cell.trim().to_owned()).collect()
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(page: &str, width: usize) -> String {
        let screen = Screen {
            width: Some(width),
            ..Screen::default()
        };
        set(page, screen)
    }

    #[test]
    fn text_is_set_anew_by_paragraphs() {
        let long = "word ".repeat(30);
        let text = format!("a\nb\n\n- c\n- d\n{long}\n{long}");
        let lines: Vec<String> = wrap(&text).lines().map(str::to_owned).collect();
        assert_eq!(lines[..3], ["a b", "", "- c"]);
        // 60 words of five columns with their blanks: 19 after "- d", and 19 on each line below, which are indented.
        let words: Vec<usize> = lines[3..]
            .iter()
            .map(|l| l.split_whitespace().filter(|w| *w == "word").count())
            .collect();
        assert_eq!(words, [19, 19, 19, 3]);
        assert!(lines.iter().all(|line| line.chars().count() <= 100));
    }

    #[test]
    fn code_headings_and_tables_keep_their_lines() {
        let page = "# a heading of many words\none two\nthree\n\n    code of many words here\n\n```\nmore code of many words\n```\n\
                    | a | b |\n|---|--:|\n| x | 1 2 |\n1. one\n   two\n";
        let set = "# a heading of many words\none two three\n\n    code of many words here\n\n```\nmore code of many words\n```\n\
                   a  b\n─  ───\nx  1 2\n1. one two\n";
        assert_eq!(at(page, 20), set);
    }

    #[test]
    fn a_page_stays_as_it_is_where_nobody_looks() {
        assert_eq!(super::set("a\nb\n", Screen::default()), "a\nb\n");
    }
}
