//! Shortens quoted input in messages.

use std::borrow::Cow;
use std::ops::Range;

/// Maximum length of a message, and the length kept at each end of a longer one, in characters.
const MESSAGE: (usize, usize) = (4000, 1000);
/// The same for a word. Paths may be long.
const WORD: (usize, usize) = (512, 60);
/// Maximum length in bytes of a line of a file that is shown whole, and the length kept on each side of the fault otherwise.
const LINE_MAX: usize = 240;
const SIDE: usize = LINE_MAX / 2;

/// Shortens overlong words, and the message itself, in the middle.
pub(super) fn text(message: &str) -> String {
    let words = message.split_inclusive(char::is_whitespace);
    let words: String = words.map(|word| cut(word, WORD)).collect();
    cut(&words, MESSAGE).into_owned()
}

fn cut(text: &str, (max, end): (usize, usize)) -> Cow<'_, str> {
    // A character takes at least a byte, so a text of few bytes needs no counting.
    let chars = if text.len() > max {
        text.chars().count()
    } else {
        0
    };
    if chars <= max {
        return text.into();
    }
    let head: String = text.chars().take(end).collect();
    let tail: String = text.chars().skip(chars - end).collect();
    format!("{head}…({} characters)…{tail}", chars - 2 * end).into()
}

/// Shortens a long line and returns the range `at` within the result. A range beyond the line ends with it.
pub(super) fn line(line: &str, at: Range<usize>) -> (String, Range<usize>) {
    let window = window(line, at.start);
    let cut = |cut: bool| if cut { "…" } else { "" };
    let head = cut(window.start > 0);
    let text = format!(
        "{head}{}{}",
        &line[window.clone()],
        cut(window.end < line.len())
    );
    let place = |at: usize| head.len() + at.min(window.end).saturating_sub(window.start);
    (text, place(at.start)..place(at.end))
}

/// Returns the part of a line to show around a position.
fn window(line: &str, here: usize) -> Range<usize> {
    if line.len() <= LINE_MAX {
        return 0..line.len();
    }
    let boundary = |mut at: usize| {
        while !line.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(here.min(line.len()).saturating_sub(SIDE));
    start..boundary((start + LINE_MAX).min(line.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_loses_its_middle() {
        assert_eq!(text("short"), "short");
        let said = text(&format!(
            "drive.toml:3: `{}`: allowed is 1",
            "ä".repeat(3_000_000)
        ));
        assert!(
            said.starts_with("drive.toml:3: `ä") && said.ends_with("ä`: allowed is 1"),
            "{said}"
        );
        assert!(said.chars().count() < 200, "{said}");
        let words = text(&"many words ".repeat(10_000));
        assert!(words.chars().count() < MESSAGE.0, "{words}");
    }

    #[test]
    fn a_short_line_stays_and_so_does_the_place() {
        for at in [0..1, 4..5, 5..5] {
            assert_eq!(line("a = 1", at.clone()), ("a = 1".to_owned(), at));
        }
        assert_eq!(line("a = 1", 4..99).1, 4..5);
    }

    #[test]
    fn of_a_long_line_what_is_around_the_place_is_shown() {
        let long = "ä".repeat(1_000_000);
        let text = format!("b = '{long}' wrong '{long}'");
        let at = text.find("wrong").unwrap();
        let (shown, place) = line(&text, at..at + 5);
        assert_eq!(&shown[place], "wrong");
        assert!(shown.len() < 2 * LINE_MAX, "{}", shown.len());
        // A range as long as the line ends with the shown part.
        let (shown, place) = line(&text, 0..text.len());
        assert!(shown.get(place).is_some());
    }
}
