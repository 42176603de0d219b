//! Parsers of fio's value syntax: numbers with suffixes, percentages, times, one value per operation.

use super::choices::{Amount, Distribution, Each, Rw};

use super::lengths::{Range, Split};
use fathom_base::Dur;

/// Parses a whole number with fio's suffixes under `kb_base=1024`, in either case: `k`, `kb` and `ki` are 1024, and
/// `kib` is 1000. This is what fio 3.33 does, although its manual says that `ki` is 1000 as well. `0x` starts a
/// hexadecimal number without a suffix.
pub(super) fn int(text: &str) -> Option<u64> {
    let lower = text.trim().to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        return u64::from_str_radix(digits, 16).ok().filter(|_| plain);
    }
    let end = lower
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(lower.len());
    let (digits, suffix) = lower.split_at(end);
    let mut unit = suffix.chars();
    let power = match unit.next() {
        None => 0,
        Some('b') if suffix == "b" => 0,
        Some('k') => 1,
        Some('m') => 2,
        Some('g') => 3,
        Some('t') => 4,
        Some('p') => 5,
        Some(_) => return None,
    };
    let base = match unit.as_str() {
        "" | "b" | "i" => 1024u64,
        "ib" => 1000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(base.pow(power))
}

/// Parses a number in a range, without a suffix.
pub(super) fn within(text: &str, least: u64, most: u64) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse::<u64>().ok().filter(|_| plain)?;
    (least..=most).contains(&number).then_some(number)
}

/// Parses 0 or 1.
pub(super) fn boolean(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// Parses a switch; an option without a value is set.
pub(super) fn switch(text: &str) -> Option<bool> {
    if text.is_empty() {
        Some(true)
    } else {
        boolean(text)
    }
}

/// Parses a number of bytes, a percentage in 1..=100, or a number of zones such as `4z`.
pub(super) fn amount(text: &str) -> Option<Amount> {
    if let Some(zones) = text.strip_suffix('z') {
        return within(zones.trim(), 0, u32::MAX.into()).map(|zones| Amount::Zones(zones as u32));
    }
    match text.strip_suffix('%') {
        Some(percent) => within(percent.trim(), 1, 100).map(|p| Amount::Percent(p as u32)),
        None => int(text).map(Amount::Bytes),
    }
}

/// Parses a time in whole units of at least a microsecond. `unitless_us` is the unit of a number without a suffix, in
/// microseconds.
pub(super) fn time(text: &str, unitless_us: u64) -> Option<Dur> {
    let lower = text.trim().to_ascii_lowercase();
    let end = lower
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(lower.len());
    let (digits, suffix) = lower.split_at(end);
    let unit_us = match suffix {
        "" => unitless_us,
        "us" | "usec" => 1,
        "ms" | "msec" => 1_000,
        "s" | "sec" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ => return None,
    };
    let us = digits.parse::<u64>().ok()?.checked_mul(unit_us)?;
    us.checked_mul(1_000).map(Dur)
}

/// Parses up to three values: for reads, writes and trims. The last one also applies to the operations after it, unless
/// a comma follows it. Omitted values are `default`.
pub(super) fn each<T: Clone>(
    text: &str,
    default: &T,
    one: impl Fn(&str) -> Option<T>,
) -> Option<Each<T>> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > 3 || parts.iter().all(|part| part.is_empty()) {
        return None;
    }
    let mut values = Vec::with_capacity(3);
    for part in &parts {
        values.push(match *part {
            "" => default.clone(),
            part => one(part)?,
        });
    }
    let follows = match parts.last() {
        Some(&"") | None => default.clone(),
        Some(_) => values.last()?.clone(),
    };
    values.resize(3, follows);
    let [read, write, trim] = values.try_into().ok()?;
    Some(Each { read, write, trim })
}

/// Parses `512/10:1k/5:...` with percentages that add up to 100. Omitted percentages share the remainder.
pub(super) fn splits(text: &str) -> Option<Vec<Split>> {
    let mut parts = Vec::new();
    for part in text.split(':') {
        let (bytes, percent) = part.split_once('/').unwrap_or((part, ""));
        let bytes = int(bytes).filter(|&bytes| bytes > 0)?;
        let percent = match percent.trim() {
            "" => None,
            percent => Some(within(percent, 0, 100)?),
        };
        parts.push((bytes, percent));
    }
    let given: u64 = parts.iter().filter_map(|part| part.1).sum();
    let open = parts.iter().filter(|part| part.1.is_none()).count() as u64;
    let rest = 100u64.checked_sub(given)?;
    let share = match open {
        0 if rest > 0 => return None,
        0 => 0,
        _ => rest / open,
    };
    let split = |(bytes, percent): (u64, Option<u64>)| Split {
        bytes,
        percent: percent.unwrap_or(share) as u32,
    };
    let mut splits: Vec<Split> = parts.into_iter().map(split).collect();
    // As in fio, the last length gets what cannot be divided evenly into whole percents.
    let total: u32 = splits.iter().map(|split| split.percent).sum();
    if let Some(last) = splits.last_mut() {
        last.percent += 100 - total;
    }
    Some(splits)
}

/// Parses `1k-4k` or `1k:4k`, in either order.
pub(super) fn range(text: &str) -> Option<Range> {
    let (one, other) = text.split_once(['-', ':'])?;
    let ends = [int(one)?, int(other)?];
    let [least, most] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
    (least > 0).then_some(Range { least, most })
}

/// Parses a value of `rw`. Returns the operations, the accesses per new place (random jobs), and the bytes to skip
/// between accesses (sequential jobs).
pub(super) fn rw(text: &str) -> Option<(Rw, u64, u64)> {
    let (name, number) = match text.split_once(':') {
        Some((name, number)) => (name, Some(number)),
        None => (text, None),
    };
    let rw = Rw::NAMES.iter().find(|(known, _)| *known == name)?.1;
    match number {
        None => Some((rw, 1, 0)),
        Some(every) if rw.is_random() => Some((rw, within(every, 1, u64::from(u32::MAX))?, 0)),
        Some(skip) => Some((rw, 1, int(skip)?)),
    }
}

/// Parses `random`, `zipf:THETA` or `pareto:H`; fio's defaults are 1.1 and 0.2.
pub(super) fn distribution(text: &str) -> Option<Distribution> {
    let (name, value) = match text.split_once(':') {
        Some((name, value)) => (name, Some(value.parse::<f64>().ok()?)),
        None => (text, None),
    };
    match (name, value) {
        ("random", None) => Some(Distribution::Random),
        ("zipf", value) => {
            let theta = value.unwrap_or(1.1);
            let usable = theta.is_finite() && theta > 0.0 && theta != 1.0;
            usable.then_some(Distribution::Zipf(theta))
        }
        ("pareto", value) => {
            let h = value.unwrap_or(0.2);
            (h > 0.0 && h < 1.0).then_some(Distribution::Pareto(h))
        }
        _ => None,
    }
}
