//! Wraps text at spaces and measures its width.

const UNITS: [&str; 18] = [
    "B", "KiB", "MiB", "GiB", "TiB", "ns", "us", "µs", "ms", "s", "min", "h", "%", "MB/s", "B/s",
    "KiB/s", "MiB/s", "GiB/s",
];

/// Replaces control characters: a drive's identity must not control the terminal.
pub(crate) fn clean(text: &str) -> String {
    let keep = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(keep).collect()
}

/// Returns the width in columns. Counts one per character, which holds for all characters used here.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Wraps text to lines of at most `width` columns, at spaces but not between a number and its unit. A longer word gets a
/// line of its own.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in joined(text) {
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(&word) <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// Returns the text with no-break spaces between numbers and units.
pub(crate) fn unbroken(text: &str) -> String {
    let words = joined(text).into_iter();
    words
        .map(|w| w.replace(' ', "\u{a0}"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Splits the text into words; a number and its unit form one word.
pub(crate) fn joined(text: &str) -> Vec<String> {
    let unit = |word: &str| UNITS.contains(&word.trim_end_matches(|c: char| ",.;:)".contains(c)));
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(last) if unit(word) && last.ends_with(|c: char| c.is_ascii_digit()) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_keeps_every_word_and_the_width() {
        let text = "a page of 16 KiB, averyveryverylongwordindeed, and the rest";
        let expected = [
            "a page of",
            "16 KiB,",
            "averyveryverylongwordindeed,",
            "and the rest",
        ];
        assert_eq!(wrap(text, 12), expected);
        assert!(wrap("", 10).is_empty());
        assert_eq!(
            wrap("up to 16 KiB, as is", 9),
            ["up to", "16 KiB,", "as is"]
        );
    }

    #[test]
    fn a_drive_may_not_steer_the_terminal() {
        assert_eq!(clean("disk\u{1b}[2J\n"), "disk\u{fffd}[2J\u{fffd}");
    }
}
