//! What a message quotes of its input, no longer than somebody reads.

use std::borrow::Cow;
use std::ops::Range;

/// The longest message, and how much of a longer one is shown at each end, in characters.
const MESSAGE: (usize, usize) = (4000, 1000);
/// The same of a word. A path may be long.
const WORD: (usize, usize) = (512, 60);
/// The longest line of a file that is shown whole, in bytes, and how much of a longer one is shown on each side of its fault.
const LINE_MAX: usize = 240;
const SIDE: usize = LINE_MAX / 2;

/// A message without the middles of words that nobody reads, and of itself.
pub(super) fn text(message: &str) -> String {
    let words = message.split_inclusive(char::is_whitespace);
    let words: String = words.map(|word| cut(word, WORD)).collect();
    cut(&words, MESSAGE).into_owned()
}

fn cut(text: &str, (max, end): (usize, usize)) -> Cow<'_, str> {
    // A character has a byte at least.
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

/// The text with its long lines cut, and where the place `at` is then. The lines keep their numbers.
pub(super) fn lines(text: &str, at: Range<usize>) -> (String, Range<usize>) {
    let mut out = String::new();
    let mut place = 0..0;
    let mut from = 0;
    for line in text.split_inclusive('\n') {
        let here = at.start.checked_sub(from).filter(|here| *here < line.len());
        let last = from + line.len() == text.len();
        let here = here.or_else(|| (last && at.start >= text.len()).then_some(line.len()));
        let bare = line.trim_end_matches('\n');
        let window = window(bare, here.unwrap_or(0));
        if let Some(here) = here {
            let start = if window.start > 0 { "…".len() } else { 0 };
            let start = out.len() + start + here.min(window.end).saturating_sub(window.start);
            place = start..start + at.len().min(window.end.saturating_sub(here));
        }
        out.push_str(if window.start > 0 { "…" } else { "" });
        out.push_str(&bare[window.clone()]);
        out.push_str(if window.end < bare.len() { "…" } else { "" });
        out.push_str(&line[bare.len()..]);
        from += line.len();
    }
    (out, place)
}

/// What of a line is shown around a place in it.
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
    fn short_lines_stay_and_so_does_the_place() {
        let text = "a = 1\nb = 2\n\nc";
        for at in [0..1, 6..7, 10..11, 13..14, 14..14] {
            assert_eq!(lines(text, at.clone()), (text.to_owned(), at));
        }
    }

    #[test]
    fn of_a_long_line_what_is_around_the_place_is_shown() {
        let long = "ä".repeat(1_000_000);
        let text = format!("a = 1\nb = '{long}' wrong '{long}'\nc = '{long}'\n");
        let at = text.find("wrong").unwrap();
        let (shown, place) = lines(&text, at..at + 5);
        assert_eq!(&shown[place], "wrong");
        assert_eq!(shown.lines().count(), 3);
        assert!(shown.len() < 4 * LINE_MAX, "{}", shown.len());
        // A place that is as long as the line ends where the line does.
        let (shown, place) = lines(&text, 10..text.len() - 3);
        assert!(shown.is_char_boundary(place.start) && shown.get(place).is_some());
    }
}
