//! Numbers and sentences in their written form.

use super::PlatformReport;
use crate::words::{count, duration, number};

/// What is absent.
pub(super) const NONE: &str = "-";

/// The unit of what processors spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Clocks.
    Clocks,
    /// Time, where no clock is known.
    Time,
}

impl Work {
    pub(super) fn of(report: &PlatformReport) -> Work {
        match report.clock_hz {
            Some(_) => Work::Clocks,
            None => Work::Time,
        }
    }

    /// Formats an amount for a table whose heading has the unit.
    pub(super) fn cell(self, amount: f64) -> String {
        match self {
            Work::Clocks => whole(amount),
            Work::Time => time(amount),
        }
    }

    /// Formats an amount with its unit.
    pub(super) fn told(self, amount: f64) -> String {
        match self {
            Work::Clocks if amount.abs() < 10.0 => format!("{} clocks", decimal(amount)),
            Work::Clocks => format!("{} clocks", whole(amount)),
            Work::Time if amount.abs() < 10.0 => format!("{} ns", decimal(amount)),
            Work::Time => time(amount),
        }
    }

    /// Formats an amount for a table that also has amounts of time.
    pub(super) fn cell_with_unit(self, amount: f64) -> String {
        match (self, amount.is_finite()) {
            (Work::Clocks, true) => format!("{} clocks", whole(amount)),
            _ => self.cell(amount),
        }
    }

    /// The name for headings.
    pub(super) fn name(self) -> &'static str {
        match self {
            Work::Clocks => "clocks",
            Work::Time => "processor time",
        }
    }
}

/// Formats nanoseconds.
pub(super) fn time(ns: f64) -> String {
    match ns {
        ns if !ns.is_finite() => NONE.to_owned(),
        ns if ns < 0.0 => format!("-{}", time(-ns)),
        ns if ns > 0.0 && ns < 0.5 => "<1 ns".to_owned(),
        ns => duration(ns.round() as u64),
    }
}

/// Formats a number without its fraction.
pub(super) fn whole(value: f64) -> String {
    match value {
        value if !value.is_finite() => NONE.to_owned(),
        value if value < 0.0 => format!("-{}", whole(-value)),
        value if value > 0.0 && value < 0.5 => "<1".to_owned(),
        value if value < 1e15 => count(value.round() as u64),
        value => number(value),
    }
}

/// Formats a small number with its fraction.
pub(super) fn decimal(value: f64) -> String {
    match value {
        value if !value.is_finite() => NONE.to_owned(),
        // A small number keeps its digits.
        value if value.abs() < 0.1 => number(value),
        value => number((value * 1e3).round() / 1e3),
    }
}

/// Formats a number with its fraction if it is small enough for that to matter.
pub(super) fn several(value: f64) -> String {
    match value {
        value if value > 0.0 && value < 0.005 => "<0.01".to_owned(),
        value if value.abs() < 100.0 => decimal((value * 1e2).round() / 1e2),
        value => whole(value),
    }
}

/// Formats a share from 0 to 1 as a percentage.
pub(super) fn percent(share: f64) -> String {
    match (share.is_finite(), share.abs()) {
        (false, _) => NONE.to_owned(),
        (true, 0.0) => "0 %".to_owned(),
        (true, size) if size < 0.0005 => "<0.1 %".to_owned(),
        (true, size) if (0.9995..1.0).contains(&size) => ">99.9 %".to_owned(),
        (true, size) if !(0.0995..0.995).contains(&size) && size < 1.0 => {
            format!("{:.1} %", 100.0 * share)
        }
        _ => format!("{:.0} %", 100.0 * share),
    }
}

/// Formats an interval.
pub(super) fn interval(ends: Option<[f64; 2]>, show: impl Fn(f64) -> String) -> String {
    match ends {
        Some([low, high]) if low.is_finite() && high.is_finite() => {
            format!("{} – {}", show(low), show(high))
        }
        _ => NONE.to_owned(),
    }
}

/// Formats a rate with two digits.
pub(super) fn rounded(rate: f64) -> String {
    let step = 10f64.powf(rate.log10().floor() - 1.0);
    match step >= 1.0 {
        true => whole((rate / step).round() * step),
        false => several(rate),
    }
}

/// A number that is something.
pub(super) fn positive(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then_some(value)
}

/// Returns the text with a full stop.
pub(super) fn sentence(text: &str) -> String {
    let text = text.trim();
    match text.ends_with(['.', '!', '?']) || text.is_empty() {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_never_nothing_and_nothing_is_never_a_number() {
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for text in [
                time(odd),
                whole(odd),
                decimal(odd),
                several(odd),
                percent(odd),
            ] {
                assert_eq!(text, NONE);
            }
        }
        assert_eq!(
            [time(0.3), whole(0.3), percent(0.0001)],
            ["<1 ns", "<1", "<0.1 %"]
        );
        assert_eq!([time(0.0), whole(0.0), percent(0.0)], ["0 ns", "0", "0 %"]);
        assert_eq!([time(-1_279.0), whole(-1_234.4)], ["-1.28 µs", "-1,234"]);
        assert_eq!(whole(1e300), "1.0000e300");
        assert_eq!([percent(0.017), percent(0.1378)], ["1.7 %", "14 %"]);
        assert_eq!([several(0.0003), several(0.0)], ["<0.01", "0"]);
        assert_eq!([decimal(0.000_25), decimal(2.1044)], ["2.5000e-4", "2.104"]);
        assert_eq!([percent(0.9987), percent(0.99999)], ["99.9 %", ">99.9 %"]);
        assert_eq!([percent(1.0), percent(1.214)], ["100 %", "121 %"]);
        assert_eq!(
            [several(2.104), several(1.0), several(1234.6)],
            ["2.1", "1", "1,235"]
        );
    }

    #[test]
    fn a_rate_has_two_digits() {
        assert_eq!(rounded(129_123.0), "130,000");
        assert_eq!(rounded(17_812.0), "18,000");
        assert_eq!([rounded(99.6), rounded(3.0)], ["100", "3"]);
    }
}
