//! Parses the values of options.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
use fathom_base::{BadValue, Bytes, Dur, UnitError};
use fathom_probe::{Level, Method, Parameter};
use fathom_run::Precondition;
use fathom_workload::step::Arrival;
use std::num::{NonZeroU32, NonZeroU64};

/// Maximum seed: the maximum integer of TOML, which stores it in a profile.
pub(super) const SEED_MAX: u64 = i64::MAX as u64;

/// Budget of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Budget {
    /// Limit of bytes written.
    Bytes(Bytes),
    /// Limit of time on the drive's clock.
    Time(Dur),
}

pub(super) fn budget(text: &str) -> Result<Budget, String> {
    // `m` could mean minutes or MiB, so it is refused.
    if text.ends_with('m') {
        return Err("write bytes or a time with the unit, such as 5MiB or 5min".to_owned());
    }
    let bytes = text.parse().map(Budget::Bytes);
    bytes
        .or_else(|_| text.parse().map(Budget::Time))
        .map_err(|_| "write bytes or a time with the unit, such as 2GiB or 5min".to_owned())
}

pub(super) fn seed(text: &str) -> Result<u64, String> {
    let seed = text.parse().ok().filter(|seed| *seed <= SEED_MAX);
    seed.ok_or_else(|| {
        format!("write a whole number from 0 to {SEED_MAX} (2^63 - 1), the greatest one that a profile's TOML holds")
    })
}

/// Highest rate of a plan, in I/Os per second.
const RATE_MAX: f64 = 1e9;

/// Parses I/Os per second: a number, with k, M or G for 10^3, 10^6 or 10^9.
pub(super) fn rate(text: &str) -> Result<u64, String> {
    let (number, unit) = match text.chars().last() {
        Some('k' | 'K') => (text.get(..text.len() - 1), 1e3),
        Some('M') => (text.get(..text.len() - 1), 1e6),
        Some('G') => (text.get(..text.len() - 1), 1e9),
        _ => (Some(text), 1.0),
    };
    let wrong =
        || "write a number of I/Os per second from 1 to 1G, such as 800, 250k or 1.5M".to_owned();
    let number = number.ok_or_else(wrong)?;
    let plain = number.bytes().all(|c| c.is_ascii_digit() || c == b'.');
    let number: f64 = number.parse().ok().filter(|_| plain).ok_or_else(wrong)?;
    let rate = (number * unit).round();
    match (1.0..=RATE_MAX).contains(&rate) {
        true => Ok(rate as u64),
        false => Err(wrong()),
    }
}

pub(super) fn accesses(text: &str) -> Result<NonZeroU64, String> {
    let accesses = text.parse();
    accesses.map_err(|_| "write a whole number of at least 1".to_owned())
}

pub(super) fn depth(text: &str) -> Result<NonZeroU32, String> {
    let depth = text.parse();
    depth.map_err(|_| format!("write a whole number from 1 to {}", u32::MAX))
}

pub(super) fn endurance(text: &str) -> Result<Bytes, String> {
    let bytes: Bytes = text.parse().map_err(|error: UnitError| error.to_string())?;
    match bytes.0 {
        0 => Err("no drive is rated for nothing; leave it out where it is not known".to_owned()),
        _ => Ok(bytes),
    }
}

pub(super) fn arrival(text: &str) -> Result<Arrival, String> {
    text.parse().map_err(|bad: BadValue| bad.allowed)
}

pub(super) fn precondition(text: &str) -> Result<Precondition, String> {
    text.parse().map_err(|bad: BadValue| bad.allowed)
}

/// Returns the names of the lists.
pub(super) fn list() -> PossibleValuesParser {
    let lists = crate::names::lists().into_iter();
    PossibleValuesParser::new(lists.map(|kind| PossibleValue::new(kind.list).help(kind.summary)))
}

/// Returns a parser of names that stand for values.
pub(super) fn one_of<T, const N: usize>(
    named: [(&'static str, T); N],
) -> impl clap::builder::TypedValueParser<Value = T>
where
    T: Clone + Send + Sync + 'static,
{
    let names = named.each_ref().map(|(name, _)| *name);
    PossibleValuesParser::new(names).try_map(move |name| {
        let found = named.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.clone()).ok_or("no such name")
    })
}

pub(super) fn method() -> impl clap::builder::TypedValueParser<Value = Method> {
    one_of(Method::ALL.map(|method| (method.name(), method)))
}

pub(super) fn level() -> impl clap::builder::TypedValueParser<Value = Level> {
    one_of([("quick", Level::Quick), ("full", Level::Full)])
}

pub(super) fn parameter() -> impl clap::builder::TypedValueParser<Value = Parameter> {
    one_of(Parameter::ALL.map(|parameter| (parameter.name(), parameter)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_may_have_a_letter() {
        let good = [
            ("1", 1),
            ("800", 800),
            ("250k", 250_000),
            ("1.5M", 1_500_000),
            ("0.001M", 1_000),
            ("1G", 1_000_000_000),
        ];
        for (text, expected) in good {
            assert_eq!(rate(text), Ok(expected), "{text}");
        }
        let bad = [
            "", "0", "0.2", "k", "M", "1m", "1 M", "1e6", "-1", "1.1G", "1e12", "inf", "1µ",
            "1,000",
        ];
        for text in bad {
            let said = rate(text).unwrap_err();
            assert!(said.contains("from 1 to 1G"), "{text}: {said}");
        }
    }

    #[test]
    fn a_budget_is_bytes_or_time() {
        assert_eq!(budget("2GiB"), Ok(Budget::Bytes(Bytes::gib(2))));
        assert_eq!(budget("5min"), Ok(Budget::Time(Dur(300_000_000_000))));
        assert_eq!(budget("2G"), Ok(Budget::Bytes(Bytes::gib(2))));
        assert!(budget("5").is_err() && budget("5m").is_err());
    }
}
