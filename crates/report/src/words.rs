//! Formats sizes, times and parameters for people.
//!
//! The output is rounded and never parsed again.

use fathom_base::Bytes;
use fathom_probe::{Estimate, Value, Verdict};

/// Formats a size in bytes: `16 KiB`, `1.5 MiB`, `1025 KiB`, `55.89 GiB`.
pub fn bytes(bytes: u64) -> String {
    Bytes(bytes).human()
}

/// Formats a duration in nanoseconds, with at most three digits below a minute: `47.1 µs`, `1.2 s`, `12 min 5 s`.
pub fn duration(ns: u64) -> String {
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

/// Formats a count with thousands separators: `12,345`.
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

/// Formats a count with its noun: `1 request`, `12,345 requests`.
pub(crate) fn counted(n: u64, what: &str) -> String {
    let ending = if n == 1 { "" } else { "s" };
    format!("{} {what}{ending}", count(n))
}

/// Formats a figure of the evidence: integers in full, other numbers with at most six digits, very large and small ones with
/// an exponent.
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

/// Formats the value of an estimate; a dash if there is none.
pub(crate) fn value(estimate: &Estimate) -> String {
    estimate
        .value
        .as_ref()
        .map_or_else(|| "–".to_owned(), of_value)
}

/// Formats a value: `16 KiB`, `12,345`, `0.25`, `47.1 µs`, `512 MiB/s`, `8,000/s`, or the word.
pub(crate) fn of_value(value: &Value) -> String {
    match value {
        Value::Bytes(size) => bytes(*size),
        Value::Count(n) => count(*n),
        Value::Ratio(x) => number(*x),
        Value::Nanoseconds(ns) => duration(*ns),
        Value::BytesPerSecond(rate) => format!("{}/s", bytes(*rate)),
        Value::PerSecond(rate) if rate.fract() == 0.0 && (0.0..1e15).contains(rate) => {
            format!("{}/s", count(*rate as u64))
        }
        Value::PerSecond(rate) => format!("{}/s", number(*rate)),
        Value::Word(word) => word.clone(),
    }
}

/// Formats an interval: `12–20 KiB`, `512 KiB – 2 MiB`, `16 KiB` for equal ends, `≥ 4 MiB`, a dash if there is none.
pub(crate) fn interval(estimate: &Estimate) -> String {
    let ends = [&estimate.low, &estimate.high].map(|end| end.as_ref().map(of_value));
    let (low, high) = match ends {
        [Some(low), Some(high)] => (low, high),
        [Some(low), None] => return format!("≥ {low}"),
        [None, Some(high)] => return format!("≤ {high}"),
        [None, None] => return "–".to_owned(),
    };
    let unit = |size: &str| size.rsplit(' ').next().map(str::to_owned);
    match low.split_once(' ') {
        _ if low == high => low,
        Some((number, _)) if unit(&low) == unit(&high) => format!("{number}–{high}"),
        _ => format!("{low} – {high}"),
    }
}

/// Returns a symbol for the verdict, readable without colour.
pub(crate) const fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Identified => "✓",
        Verdict::Absent => "∅",
        Verdict::NotIdentifiable => "?",
        Verdict::Inconclusive => "…",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_of_equal_ends_is_one_size() {
        let of = |low: Option<u64>, high: Option<u64>| {
            let verdict = Verdict::Identified;
            interval(&Estimate {
                low: low.map(Value::Bytes),
                high: high.map(Value::Bytes),
                ..Estimate::without_value(verdict, "")
            })
        };
        assert_eq!(of(Some(16 << 10), Some(16 << 10)), "16 KiB");
        assert_eq!(of(Some(12 << 10), Some(20 << 10)), "12–20 KiB");
        assert_eq!(of(Some(512 << 10), Some(2 << 20)), "512 KiB – 2 MiB");
        assert_eq!(of(Some(4 << 20), None), "≥ 4 MiB");
        assert_eq!(of(None, None), "–");
    }

    #[test]
    fn one_is_singular() {
        let said = [0, 1, 2, 1234].map(|n| counted(n, "request"));
        assert_eq!(
            said,
            ["0 requests", "1 request", "2 requests", "1,234 requests"]
        );
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
