//! Dips over host bytes: a drive that is overwritten in order erases a unit for each one that it fills.

use super::order::{DEPTH, LONG_PART, Level, levels};
use crate::Record;
use fathom_stats::location;
use fathom_stats::period::{correlation_in, period};

/// The least number of pieces of a unit.
const LEAST: usize = 6;
/// The least wait in a period, in nanoseconds: no data sheet has a block erased in less, and what takes turns in a stripe of
/// programs, or writes a page of the map, waits for less.
const WAIT_NS: f64 = 1e6;
/// The relative difference within which two periods, or a period and a multiple of another one, are the same.
const NEAR: f64 = 0.03;
/// The least autocorrelation of a period. Where a unit is filled in two groups of dies, one after the other, or where the drive's
/// memory waits at even distances as well, the distance between the dips of one unit has about half of the period's.
const STRONG: f64 = 0.6;
/// The share of a period's wait, and of its autocorrelation, that one of its parts must have.
const SHARE: f64 = 0.75;
/// The share of the autocorrelation of a period of short pieces that a part of it must have there. Long pieces do not tell
/// even distances from almost even ones, of which a part has half of it, and more where the distances vary.
const EVEN: f64 = 0.75;
/// The distances, as shares of a period, at which a second dip leaves two readings: two groups of dies in one unit, or two units
/// of which memory shows one sooner and the other one later; and the least share of the period's autocorrelation of one there.
const MIDDLE: [f64; 2] = [0.4, 0.6];
const SECOND: f64 = 0.3;
/// The share of a period's wait that a piece must have to be a dip by itself.
const LONE: f64 = 0.4;
/// The distances of such dips that are half of the period, and the whole of it, as shares; and the least number, and share, of
/// halves between wholes that leave the question open.
const HALF: [f64; 2] = [0.45, 0.65];
const WHOLE: [f64; 2] = [0.85, 1.15];
const HALVES: (usize, f64) = (3, 0.02);
/// The least number of pieces of a unit that show a dip after half of it.
const FINE: f64 = 10.0;
/// The least number of lengths of pieces that show a period.
const LENGTHS: usize = 2;
/// The relative errors beside that of the lag, below and above: what the drive writes of its own between the data of the host,
/// such as copies of collection and pages of the map, only makes the distances shorter.
const BESIDE: [f64; 2] = [0.012, 0.03];
/// By how many times requests that fill no whole pages make a unit smaller, at most. At twice and beyond, two units are seen as
/// one.
const WASTE: f64 = 1.9;
/// By how many times at least: less is within what coarse pieces leave open.
const WASTE_MIN: f64 = 1.05;

/// A period of the dips, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Dips {
    pub(super) bytes: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// The share of the time that the dips take.
    pub(super) share: f64,
    /// The time that the dips of a period take, in nanoseconds.
    pub(super) wait_ns: f64,
    /// The autocorrelation at this distance, up to 1.
    pub(super) correlation: f64,
}

/// What pieces of one length show.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reading {
    /// The length in bytes.
    len: f64,
    /// The pieces as they were written, of which these are sums.
    part: usize,
    /// The length of the requests in bytes.
    request: f64,
    dips: Dips,
}

/// Returns the period of the dips.
pub(super) fn dips(record: &Record) -> Option<Dips> {
    let levels = levels(record);
    let readings: Vec<Reading> = levels.iter().filter_map(reading).collect();
    // Long and short pieces see units of other sizes; each length alone has requests of its own.
    let of = |parts: &[usize]| {
        let parts = readings.iter().filter(|one| parts.contains(&one.part));
        let parts: Vec<Reading> = parts.copied().collect();
        chosen(&parts, |one, [from, to]| {
            // Sums of pieces of two lengths may be equally long.
            let is_its = |level: &&Level| level.part == one.part && level.len == one.len;
            let level = levels.iter().find(is_its)?;
            correlation_in(&level.times, from / level.len, to / level.len)
        })
    };
    let sets: [&[usize]; 5] = [&[0, 1], &[0, 2], &[0], &[1], &[2]];
    let best = of_all_requests(&sets.map(of))?;
    if is_lone(&best, &readings) {
        return None;
    }
    let best = best.dips;
    let dips = readings.iter().map(|one| one.dips).fold(best, wider);
    let fine = |level: &&Level| level.len <= dips.bytes / FINE;
    let halved = |level: &Level| is_halved(level, &dips);
    (!levels.iter().filter(fine).any(halved)).then_some(dips)
}

/// Returns the dips with an interval that holds the other ones as well, if those have the same period and are as strong.
fn wider(dips: Dips, other: Dips) -> Dips {
    if !is_same(other.bytes, dips.bytes) || other.correlation < STRONG {
        return dips;
    }
    Dips {
        low: dips.low.min(other.low),
        high: dips.high.max(other.high),
        ..dips
    }
}

/// Returns the reading of the requests that fill the drive's pages best, which is the longest one: what fills the last page in
/// part leaves flash unused. `None` if only another one has the same number of requests, and none the same number of bytes: it
/// may be that no length fills the pages.
fn of_all_requests(all: &[Option<Reading>]) -> Option<Reading> {
    let all = || all.iter().flatten().copied();
    let first = all().next()?;
    let longer = all().filter(|one| {
        (WASTE_MIN * first.dips.bytes..WASTE * first.dips.bytes).contains(&one.dips.bytes)
    });
    let best = longer
        .max_by(|a, b| a.dips.bytes.total_cmp(&b.dips.bytes))
        .unwrap_or(first);
    let requests = |one: &Reading| one.dips.bytes / one.request;
    let others: Vec<Reading> = all().filter(|one| one.request != best.request).collect();
    let (same, differ): (Vec<Reading>, Vec<Reading>) =
        (others.into_iter()).partition(|one| is_same(one.dips.bytes, best.dips.bytes));
    let in_requests = differ
        .iter()
        .any(|one| is_same(requests(one), requests(&best)));
    (!same.is_empty() || !in_requests).then_some(best)
}

/// Returns true if only short pieces of one length show a period, to what coarse pieces leave open: it may be that their requests
/// fill no pages.
fn is_lone(best: &Reading, readings: &[Reading]) -> bool {
    let shows = |one: &&Reading| {
        let times = one.dips.bytes / best.dips.bytes;
        (times - 1.0).abs() <= WASTE_MIN - 1.0 && one.dips.correlation >= STRONG
    };
    let mut others = readings.iter().filter(shows);
    best.part != LONG_PART && others.all(|one| one.part == best.part)
}

/// Returns true if a dip comes after half of the period now and then, between others that do not. A drive that puts erases off
/// until it must wait for two of them dips at every second unit, and at times starts over with the next one.
fn is_halved(level: &Level, dips: &Dips) -> bool {
    let usual = location::median(&level.times).unwrap_or_default();
    let deep = |(at, time): (usize, &f64)| {
        (time - usual >= LONE * dips.wait_ns).then_some(at as f64 * level.len / dips.bytes)
    };
    let places: Vec<f64> = (level.times.iter().enumerate()).filter_map(deep).collect();
    let within = |of: f64, [low, high]: [f64; 2]| (low..=high).contains(&of);
    let halves = places.windows(4).filter(|at| {
        within(at[1] - at[0], WHOLE) && within(at[2] - at[1], HALF) && within(at[3] - at[2], WHOLE)
    });
    let (count, share) = HALVES;
    let halves = halves.count();
    halves >= count && halves as f64 >= share * places.len() as f64
}

/// Returns the period with the longest wait; of several that wait for the same share of the time, and that come again as
/// regularly, the shortest. `None` if half of it may be the period as well, or if only one length of pieces shows it.
/// `correlation` is the highest one of pieces of a length, at distances from one to another, in bytes.
fn chosen(
    all: &[Reading],
    correlation: impl Fn(&Reading, [f64; 2]) -> Option<f64>,
) -> Option<Reading> {
    let all: Vec<Reading> = (all.iter().copied())
        .filter(|one| one.dips.wait_ns >= WAIT_NS && one.dips.correlation >= STRONG)
        .collect();
    let longest = (all.iter()).max_by(|a, b| a.dips.wait_ns.total_cmp(&b.dips.wait_ns))?;
    let part = |one: &&Reading| {
        is_multiple(longest.dips.bytes, one.dips.bytes)
            && one.dips.share >= SHARE * longest.dips.share
            && one.dips.correlation >= SHARE * longest.dips.correlation
    };
    let parts = all.iter().filter(part);
    let shortest = parts.min_by(|a, b| a.dips.bytes.total_cmp(&b.dips.bytes))?;
    let bytes = shortest.dips.bytes;
    let mut wholes = (all.iter())
        .filter(|whole| whole.len < shortest.len && whole.dips.bytes > 1.5 * bytes)
        .filter(|whole| is_multiple(whole.dips.bytes, bytes));
    let at = |one: &Reading, [from, to]: [f64; 2], least: f64| {
        let whole = correlation(one, [one.dips.bytes; 2]);
        let there = correlation(one, [from, to]);
        whole
            .zip(there)
            .is_some_and(|(whole, there)| there >= least * whole)
    };
    let even = wholes.all(|whole| at(whole, [bytes; 2], EVEN));
    let same = |one: &&Reading| is_same(one.dips.bytes, bytes);
    let finest = (all.iter().filter(same)).min_by(|a, b| a.len.total_cmp(&b.len))?;
    let two = at(finest, MIDDLE.map(|share| share * bytes), SECOND);
    if two || !even || all.iter().filter(same).count() < LENGTHS {
        return None;
    }
    // Of periods of the same length, the one that is known best.
    let width = |one: &Reading| one.dips.high - one.dips.low;
    (all.iter().filter(same))
        .min_by(|a, b| width(a).total_cmp(&width(b)))
        .copied()
}

fn is_same(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() <= NEAR
}

fn is_multiple(whole: f64, part: f64) -> bool {
    let times = whole / part;
    (times - times.round()).abs() <= NEAR * times
}

fn reading(level: &Level) -> Option<Reading> {
    let len = level.len;
    let mean = location::mean(&level.times)?;
    let found = period(&level.times, LEAST)?;
    // What comes again with every request of the host's queue is of the queue.
    if is_same(len * found.values, f64::from(DEPTH) * level.request) {
        return None;
    }
    let beside = BESIDE.map(|share| share * len * found.values);
    let dips = Dips {
        bytes: len * found.values,
        low: len * found.low - beside[0],
        high: len * found.high + beside[1],
        wait_ns: found.share * found.values * mean,
        share: found.share,
        correlation: found.correlation,
    };
    Some(Reading {
        len,
        part: level.part,
        request: level.request,
        dips,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1_048_576.0;

    fn one(len_mib: f64, mib: f64, wait_ms: f64, correlation: f64) -> Reading {
        let bytes = mib * MIB;
        let dips = Dips {
            bytes,
            low: 0.99 * bytes,
            high: 1.01 * bytes,
            share: 0.1 * wait_ms / mib,
            wait_ns: wait_ms * 1e6,
            correlation,
        };
        let len = len_mib * MIB;
        Reading {
            len,
            part: 0,
            request: len,
            dips,
        }
    }

    /// `there` is the correlation at a part of the period, `middle` the one about its middle.
    fn chosen_mib(all: &[Reading], there: f64, middle: f64) -> Option<f64> {
        let longest = all.iter().map(|one| one.dips.bytes).fold(0.0, f64::max);
        let at = |_: &Reading, [from, to]: [f64; 2]| match (from < to, from == longest) {
            (true, _) => Some(middle),
            (_, true) => Some(0.95),
            (_, false) => Some(there),
        };
        chosen(all, at).map(|one| (one.dips.bytes / MIB).round())
    }

    #[test]
    fn the_distance_of_two_dips_of_one_unit_is_no_period() {
        // Two groups of dies are erased a third of a unit apart, and the pieces at the end see only this distance.
        let unit = [one(0.375, 102.0, 9.0, 0.8), one(0.75, 102.0, 9.0, 0.9)];
        let third = [one(0.125, 34.0, 3.0, 0.42), one(0.25, 34.0, 3.0, 0.45)];
        assert_eq!(chosen_mib(&[unit, third].concat(), 0.4, 0.1), Some(102.0));
        assert_eq!(chosen_mib(&third, 0.4, 0.1), None);
        // They are erased almost half of a unit apart, which long pieces do not see.
        let half = [one(3.0, 51.0, 4.5, 0.9), one(6.0, 51.0, 4.5, 0.9)];
        assert_eq!(chosen_mib(&[unit, half].concat(), 0.4, 0.1), None);
        // The distances vary, so that short pieces prefer some multiple.
        assert_eq!(chosen_mib(&[unit, half].concat(), 0.8, 0.1), Some(51.0));
    }

    #[test]
    fn two_dips_of_a_period_may_be_two_units() {
        let both = [one(0.375, 52.0, 5.0, 0.9), one(0.75, 52.0, 5.0, 0.9)];
        assert_eq!(chosen_mib(&both, 0.1, 0.5), None);
        assert_eq!(chosen_mib(&both, 0.1, 0.2), Some(52.0));
        // One length of pieces is too little.
        assert_eq!(chosen_mib(&both[..1], 0.1, 0.2), None);
    }

    /// Dips of 5 ms after so many MiB each, in pieces of 1 MiB.
    fn level(distances: &[usize]) -> Level {
        let mut times = vec![1e6];
        for distance in distances {
            times.extend(std::iter::repeat_n(1e6, distance - 1));
            times.push(6e6);
        }
        Level {
            len: MIB,
            part: 0,
            request: MIB,
            times,
        }
    }

    #[test]
    fn dips_that_come_after_half_of_the_period_now_and_then_leave_it_open() {
        let dips = one(1.0, 28.0, 5.0, 0.9).dips;
        let now_and_then = [[28; 6].as_slice(), &[14]].concat().repeat(4);
        assert!(is_halved(&level(&now_and_then), &dips));
        assert!(!is_halved(&level(&[28; 40]), &dips));
        // Once is chance. Two groups of dies by turns have no whole distance.
        assert!(!is_halved(&level(&now_and_then[..10]), &dips));
        assert!(!is_halved(&level(&[12, 16].repeat(20)), &dips));
    }

    #[test]
    fn what_waits_for_less_than_an_erase_is_no_unit() {
        let memory = [one(0.375, 6.4, 0.65, 0.9), one(0.75, 6.4, 0.65, 0.9)];
        let unit = [one(6.0, 92.0, 2.3, 0.8), one(12.0, 92.0, 2.1, 0.8)];
        assert_eq!(chosen_mib(&[memory, unit].concat(), 0.9, 0.1), Some(92.0));
        assert_eq!(chosen_mib(&memory, 0.9, 0.1), None);
    }

    /// A reading of pieces of so many KiB, which are requests, with dips of 5 ms.
    fn of_requests(part: usize, kib: f64, mib: f64) -> Option<Reading> {
        let reading = one(kib / 1024.0, mib, 5.0, 0.9);
        Some(Reading { part, ..reading })
    }

    #[test]
    fn requests_that_fill_no_pages_make_units_smaller() {
        let best = |all: &[Option<Reading>]| of_all_requests(all).map(|one| one.dips.bytes / MIB);
        // Pages of 36 KiB: 128 KiB take 144 KiB, and 384 KiB take 396 KiB.
        let [short, even] = [of_requests(1, 128.0, 35.0), of_requests(2, 144.0, 39.375)];
        let long = of_requests(0, 384.0, 38.2);
        assert_eq!(best(&[short, even, long]), Some(39.375));
        assert_eq!(best(&[even, short, long]), Some(39.375));
        // Pages of 16 KiB: nothing is lost, and coarse pieces are no better.
        let [same, coarse] = [of_requests(2, 144.0, 35.1), of_requests(0, 384.0, 36.5)];
        assert_eq!(best(&[short, same, coarse]), Some(35.0));
        // The same number of requests of either length: pages of 36 KiB, or of 180 KiB.
        assert_eq!(best(&[short, even, None]), None);
        assert_eq!(best(&[None, None, None]), None);
    }

    #[test]
    fn short_pieces_of_one_length_alone_may_fill_no_pages() {
        let [short, even] = [of_requests(1, 128.0, 35.0), of_requests(2, 144.0, 39.375)];
        let long = of_requests(0, 384.0, 38.2);
        let all: Vec<Reading> = [short, even, long].into_iter().flatten().collect();
        // Long requests leave little unused, and show nearly the same distance as those that fill the pages.
        let lone = [0, 1, 2].map(|at| is_lone(&all[at], &all));
        assert_eq!(lone, [true, false, false]);
        // Pages of 32 KiB: 144 KiB take 160 KiB, which made 81 MiB of 90.
        let waste: Vec<Reading> = [of_requests(2, 144.0, 81.0), of_requests(0, 384.0, 90.0)]
            .into_iter()
            .flatten()
            .collect();
        assert!(is_lone(&waste[0], &waste) && !is_lone(&waste[1], &waste));
    }

    #[test]
    fn a_distance_of_the_queue_is_no_period() {
        let dip = |every: usize| Level {
            len: 131_072.0,
            part: 1,
            request: 131_072.0,
            times: (0..2048)
                .map(|at| if at % every == 0 { 5e6 } else { 1e5 })
                .collect(),
        };
        assert!(reading(&dip(DEPTH as usize)).is_none());
        let one = reading(&dip(40)).map(|one| (one.dips.bytes / 131_072.0).round());
        assert_eq!(one, Some(40.0));
    }

    #[test]
    fn an_interval_holds_what_the_other_pieces_show() {
        let [dips, other] = [(28.0, 0.9), (28.4, 0.7)].map(|(mib, c)| one(1.0, mib, 5.0, c).dips);
        let both = wider(dips, other);
        assert_eq!(
            (both.bytes, both.low, both.high),
            (dips.bytes, dips.low, other.high)
        );
        assert_eq!(wider(dips, one(1.0, 28.4, 5.0, 0.5).dips), dips);
        assert_eq!(wider(dips, one(1.0, 31.0, 5.0, 0.9).dips), dips);
    }
}
