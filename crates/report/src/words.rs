//! Sizes, times and parameters in words for people.
//!
//! What is written here is for reading; it is rounded, and nothing reads it back.

use fathom_probe::record::Series;
use fathom_probe::{Estimate, Method, Parameter, Value, Verdict};

const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Two decimals at most, without trailing zeros.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

/// A size in bytes as number and unit; exact where two decimals or a smaller unit (below 10,000) can be.
fn split_bytes(bytes: u64) -> (String, &'static str) {
    let power = (63 - bytes.max(1).leading_zeros()) as usize / 10;
    let scale = 1u64 << (10 * power);
    // Hundredths are exact where 100 * bytes divides; in 128 bits, since sizes reach 2^64.
    let exact = (u128::from(bytes) * 100).is_multiple_of(u128::from(scale));
    if !exact && power > 0 {
        let below = scale >> 10;
        if bytes.is_multiple_of(below) && bytes / below < 10_000 {
            return ((bytes / below).to_string(), UNITS[power - 1]);
        }
    }
    (short(bytes as f64 / scale as f64), UNITS[power])
}

/// A size in bytes for people: `16 KiB`, `1.5 MiB`, `1025 KiB`, `55.89 GiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    let (number, unit) = split_bytes(bytes);
    format!("{number} {unit}")
}

/// A duration in nanoseconds for people, to three digits: `47.1 µs`, `1.2 s`, `12 min 5 s`.
pub(crate) fn duration(ns: u64) -> String {
    let seconds = ns / 1_000_000_000;
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} µs", three_digits(ns as f64 / 1e3)),
        1_000_000..1_000_000_000 => format!("{} ms", three_digits(ns as f64 / 1e6)),
        1_000_000_000..60_000_000_000 => format!("{} s", three_digits(ns as f64 / 1e9)),
        60_000_000_000..3_600_000_000_000 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

fn three_digits(value: f64) -> String {
    let decimals = match value {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    let text = format!("{value:.decimals$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A count with its thousands apart: `12,345`.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A figure of the evidence: whole numbers in full, others to six digits, very large and small ones with an
/// exponent.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if value.fract() == 0.0 && size < 1e15 {
        return format!("{value:.0}");
    }
    if size.is_finite() && !(1e-3..1e6).contains(&size) {
        return format!("{value:.4e}");
    }
    let digits_before = size.log10().floor().max(0.0) as usize;
    let text = format!("{value:.*}", 5usize.saturating_sub(digits_before));
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The value for people; a dash where there is none.
pub(crate) fn value(estimate: &Estimate) -> String {
    match &estimate.value {
        Some(Value::Bytes(size)) => bytes(*size),
        Some(Value::Choice(word)) => word.clone(),
        None => "–".to_owned(),
    }
}

/// The interval for people: `12–20 KiB`, `512 KiB – 2 MiB`, `≥ 4 MiB`, a dash where there is none.
pub(crate) fn interval(estimate: &Estimate) -> String {
    let (Some(low), Some(high)) = (estimate.low, estimate.high) else {
        return match (estimate.low, estimate.high) {
            (Some(low), None) => format!("≥ {}", bytes(low)),
            (None, Some(high)) => format!("≤ {}", bytes(high)),
            _ => "–".to_owned(),
        };
    };
    let ((low, low_unit), (high, high_unit)) = (split_bytes(low), split_bytes(high));
    if low_unit == high_unit {
        format!("{low}–{high} {high_unit}")
    } else {
        format!("{low} {low_unit} – {high} {high_unit}")
    }
}

/// The parameter's name for people.
pub(crate) const fn title(parameter: Parameter) -> &'static str {
    match parameter {
        Parameter::ClusteredPage => "clustered page",
        Parameter::ClusteredBlock => "clustered block",
        Parameter::LogicalBlock => "logical block",
        Parameter::ReadBuffer => "read buffer",
        Parameter::WriteBuffer => "write buffer",
        Parameter::Prefetch => "prefetch",
        Parameter::WritePolicy => "write policy",
    }
}

/// What the parameter asks, in one sentence.
pub(crate) const fn question(parameter: Parameter) -> &'static str {
    match parameter {
        Parameter::ClusteredPage => "How large is the unit in which the drive reads and writes?",
        Parameter::ClusteredBlock => "How large is the unit in which the drive erases?",
        Parameter::LogicalBlock => {
            "From which size on are random writes as fast as sequential ones?"
        }
        Parameter::ReadBuffer => "How much does the drive keep of what was just read?",
        Parameter::WriteBuffer => "How much can be written before the flash is waited for?",
        Parameter::Prefetch => "Does the drive read ahead?",
        Parameter::WritePolicy => "Is the memory for writes a FIFO buffer or a cache?",
    }
}

/// A sign for the verdict, so that it is told apart without colour.
pub(crate) const fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Identified => "✓",
        Verdict::Absent => "∅",
        Verdict::NotIdentifiable => "?",
        Verdict::Inconclusive => "…",
    }
}

/// The method's name for people.
pub(crate) const fn method(method: Method) -> &'static str {
    match method {
        Method::Robust => "robust",
        Method::Paper => "paper",
    }
}

/// The line's name in the legend.
pub(crate) const fn series(series: Series) -> &'static str {
    match series {
        Series::Sweep => "Write and flush",
        Series::Aligned => "Aligned writes",
        Series::Shifted => "Shifted writes",
        Series::Sequential => "Sequential writes",
        Series::Random => "Random writes",
        Series::RandomRead => "Random reads",
        Series::SequentialRead => "Sequential reads",
        Series::Onset => "Scattered writes",
        Series::Miss => "First read (miss)",
        Series::Hit => "Read again (hit)",
        Series::Filling => "Filling an empty buffer",
        Series::EmptyBuffer => "Into an empty buffer",
        Series::FullBuffer => "Into a full buffer",
        Series::FlushAfter => "Flush after the write",
        Series::Scattered => "Scattered reads",
        Series::Consecutive => "Consecutive reads",
        Series::Rewrite => "To the same places",
        Series::Place => "At regular places",
        Series::Around => "Around the ends of blocks",
        Series::Across => "Across multiples of a size that is tried",
        Series::Within => "Anywhere else",
        Series::StreamAcross => "Streams of writes across multiples of a size",
        Series::StreamWithin => "Streams of writes anywhere else",
        Series::Distinct => "To new places",
        Series::Hole => "Nothing is kept",
        Series::Blank => "All bytes are equal",
        Series::Data => "Bytes differ",
        Series::Again => "The same places again",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_exact_where_they_can_be() {
        let cases = [
            (0, "0 B"),
            (512, "512 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (16 << 10, "16 KiB"),
            (255 << 10, "255 KiB"),
            (1025 << 10, "1025 KiB"),
            (3 << 19, "1.5 MiB"),
            (60_022_480_896, "55.9 GiB"),
            (u64::MAX, "16 EiB"),
        ];
        for (size, text) in cases {
            assert_eq!(bytes(size), text);
        }
    }

    #[test]
    fn durations_have_three_digits() {
        let cases = [
            (0, "0 ns"),
            (999, "999 ns"),
            (47_100, "47.1 µs"),
            (100_000, "100 µs"),
            (9_996_000, "10 ms"),
            (1_234_000_000, "1.23 s"),
            (725_000_000_000, "12 min 5 s"),
            (7_380_000_000_000, "2 h 3 min"),
        ];
        for (ns, text) in cases {
            assert_eq!(duration(ns), text);
        }
    }

    #[test]
    fn counts_and_figures_keep_their_digits() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(count),
            ["0", "999", "1,000", "1,234,567"]
        );
        let cases = [
            (16384.0, "16384"),
            (-2.5, "-2.5"),
            (0.123_456_78, "0.12346"),
            (1234.5678, "1234.57"),
            (123_456.5, "123456"),
            (1.5e-9, "1.5000e-9"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }
}
