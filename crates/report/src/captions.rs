//! Texts of a figure: what it shows, and how many samples.

use crate::points::DRAWN_MAX;
use crate::words;
use fathom_probe::Estimate;
use fathom_probe::about::Figure;
use std::ops::Range;

/// Returns the sentence on what the figure shows.
pub(crate) fn see(figure: &Figure, estimate: Option<&Estimate>) -> String {
    let size = estimate.and_then(Estimate::bytes).map(words::bytes);
    let text = match figure.see_found {
        Some(found) if size.is_some() => found,
        _ => figure.see,
    };
    let here = |how: &str| match &size {
        Some(size) => format!(" (here {how} {size})"),
        None => String::new(),
    };
    text.replace("{at}", &here("at"))
        .replace("{every}", &here("every"))
}

/// Returns the sentence on how many samples there are, how many are drawn, and what is shaded.
pub(crate) fn note(
    total: usize,
    drawn: usize,
    strip: bool,
    interval: Option<Range<u64>>,
) -> String {
    let number = |n: usize| words::count(n as u64);
    let medians = match strip {
        true => "large marks are medians, bars the middle half",
        false => "lines are medians",
    };
    let mut out = if drawn < total {
        format!(
            "{} of {} samples are drawn as points (at most {} of a series, the extremes always among them); \
             {medians}, of all samples.",
            number(drawn),
            number(total),
            number(DRAWN_MAX)
        )
    } else {
        format!(
            "{}, all drawn; {medians}.",
            words::counted(total as u64, "sample")
        )
    };
    if let Some(ends) = interval {
        let (low, high) = (words::bytes(ends.start), words::bytes(ends.end));
        if low != high {
            out.push_str(&format!(" Shaded: the interval, {low} to {high}."));
        }
    }
    out
}

/// Returns the sentence on samples above the visible range; empty if there are none.
pub(crate) fn outside(above: usize, total: usize) -> String {
    let verb = if above == 1 { "lies" } else { "lie" };
    match above {
        0 => String::new(),
        _ => format!(
            "{} of {} samples {verb} above the axis and {} not shown.",
            words::count(above as u64),
            words::count(total as u64),
            if above == 1 { "is" } else { "are" }
        ),
    }
}
