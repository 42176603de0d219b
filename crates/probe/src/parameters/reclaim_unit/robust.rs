//! The reclaim unit by two signals: dips of a stream in order tell its size, and zones of a quarter and of four times the size
//! must differ as it says.

use super::dips::{self, Dips};
use super::memory;
use super::order;
use super::zones::{self, Zoned};
use crate::robust::size::size;
use crate::robust::{limits, overwritten};
use crate::{Answers, Estimate, Probe, Record, Session, Space, Stop, Value};
use fathom_stats::isotonic::ascending;
use fathom_stats::location::median;

/// The sizes of zones, in quarters of the unit that the dips show; without dips, in quarters of [`USUAL`].
const QUARTERS: [u64; 3] = [1, 4, 16];
const USUAL: u64 = 32 << 20;
/// The least ratio of the times of the smallest zones and of the stream in order for data to be moved.
const MOVES: f64 = 1.12;
/// The largest share of the logarithm of this ratio that is left with zones of twice or four times the unit.
const LEFT: f64 = 0.4;
/// The longest wait in a period, in nanoseconds, that is one erase. Data sheets name 2 to 15 ms for most blocks, and up to 30 ms
/// for some of QLC; in a longer wait several blocks may be erased one after the other, or data be moved, so that the distance
/// may be several units or a part of one: on a drive whose map lies in flash dips of 32 to 59 ms were two and four units apart.
/// On 513 drawn drives one of five answers beyond it was wrong, and 3 of 139 others.
const WAIT_MAX_NS: f64 = 15e6;
/// The least share of the time that the dips take. Where memory absorbs most of the erases, the one that shows may be one of
/// several: of eleven on a card whose dips took 0.3 % of the time.
const SHARE_MIN: f64 = 0.005;
/// The page of most drives of today, in bytes.
const PAGE: f64 = 16_384.0;
/// The widest interval that names a size, as a share of it.
const WIDE_MAX: f64 = 0.2;
/// The least ratio of the bytes written to the media for small and for large zones, where the drive tells.
const MEDIA: f64 = 1.05;

pub(crate) struct ReclaimUnit;

fn unfit(record: &Record) -> Option<Estimate> {
    overwritten::unfit(record, bound, "is erased")
}

fn bound(space: &Space) -> u64 {
    order::bound(space) + QUARTERS.len() as u64 * zones::bound(space) + zones::bound_of_parts(space)
}

/// Returns the sizes of zones to write, in bytes, ascending.
fn sizes(space: &Space, dips: Option<&Dips>) -> Vec<u64> {
    let most = space.bytes() / zones::ZONES_MIN;
    let unit = dips.map_or(USUAL, |dips| dips.bytes as u64);
    let size = |quarters: &u64| space.round_up(unit * quarters / 4);
    let mut sizes: Vec<u64> = QUARTERS.iter().map(size).collect();
    // Where four units are too much, two may do.
    if sizes.last().is_some_and(|last| *last > most) {
        sizes.pop();
        sizes.push(space.round_up(2 * unit));
    }
    sizes.retain(|bytes| *bytes <= most);
    sizes
}

/// The times of zones over those in order.
#[derive(Clone, Debug, PartialEq)]
struct Curve {
    /// The sizes, ascending, with the time of a byte over that in order: never longer for larger zones.
    slower: Vec<(u64, f64)>,
    /// The sizes that are parts of the unit, with the same times.
    parts: Vec<(u64, f64)>,
    /// The bytes written to the media for each one of the host, of the smallest and of the largest zones.
    media: Option<[f64; 2]>,
}

fn curve(record: &Record, dips: Option<&Dips>) -> Option<Curve> {
    let base = order::ns_per_byte(record)?;
    let sizes = sizes(&Space::of(record), dips).into_iter();
    let zoned: Vec<Zoned> = sizes
        .map_while(|bytes| zones::zoned(record, bytes))
        .collect();
    let time = |zoned: &Zoned| Some(-(median(&zoned.ns_per_byte)? / base).ln());
    let speeds: Vec<f64> = zoned.iter().map_while(time).collect();
    let slower = zoned.iter().zip(ascending(&speeds, &[]));
    let ends = zoned.first().zip(zoned.last());
    let parts = zones::of_parts(record).into_iter();
    Some(Curve {
        parts: parts
            .filter_map(|(bytes, times)| Some((bytes, median(&times)? / base)))
            .collect(),
        slower: slower.map(|(z, log)| (z.bytes, (-log).exp())).collect(),
        media: ends.and_then(|(first, last)| Some([first.media?, last.media?])),
    })
}

impl Curve {
    /// Returns how many times as long the smallest and the largest zones take as a stream in order.
    fn ends(&self) -> Option<[f64; 2]> {
        Some([self.slower.first()?.1, self.slower.last()?.1])
    }

    /// Returns the sizes between which half of the difference is gone.
    fn settles(&self) -> Option<[u64; 2]> {
        let [small, _] = self.ends()?;
        let half = 0.5 * small.ln();
        let at = self
            .slower
            .iter()
            .position(|(_, times)| times.ln() <= half)?;
        Some([self.slower.get(at.checked_sub(1)?)?.0, self.slower[at].0])
    }

    fn told(&self) -> String {
        let one = |(bytes, times): &(u64, f64)| format!("{times:.2} with {}", size(*bytes));
        let all: Vec<String> = self.slower.iter().map(one).collect();
        all.join(", ")
    }
}

/// Returns the answer where the dips have no clear period.
fn without_dips(curve: Option<&Curve>) -> Estimate {
    let none = "overwrites in order have no dips at even distances";
    let Some(curve) = curve.filter(|curve| curve.ends().is_some_and(|[small, _]| small >= MOVES))
    else {
        return Estimate::inconclusive(format!(
            "{none}, and zones at random are as fast as the drive in order"
        ));
    };
    match curve.settles() {
        Some([low, high]) => Estimate::inconclusive(format!(
            "{none}; the times of zones over those in order ({}) settle from {} to {}, which is no more than its magnitude",
            curve.told(),
            size(low),
            size(high)
        )),
        None => Estimate::inconclusive(format!(
            "{none}; the times of zones over those in order do not settle: {}",
            curve.told()
        )),
    }
}

/// Returns the size in whole pages, if the interval has such a size: no unit ends within a page.
fn whole(dips: &Dips) -> f64 {
    let pages = (dips.bytes / PAGE).round() * PAGE;
    match (dips.low..=dips.high).contains(&pages) {
        true => pages,
        false => dips.bytes,
    }
}

/// Returns the answer where the dips tell no size, whatever zones do; `every` says how far they are apart.
fn unclear(dips: &Dips, every: &str) -> Option<Estimate> {
    if dips.wait_ns > WAIT_MAX_NS {
        return Some(Estimate::inconclusive(format!(
            "{every}, but for {:.0} ms, longer than most blocks take to be erased: several may be erased one after the other, or \
             data be moved even for a stream in order, and then this is not the size of one",
            dips.wait_ns / 1e6
        )));
    }
    if dips.share < SHARE_MIN {
        return Some(Estimate::inconclusive(format!(
            "{every}, but they take {:.1} % of the time: memory absorbs most of the erases, and those that show may be one of \
             several",
            100.0 * dips.share
        )));
    }
    if dips.high - dips.low > WIDE_MAX * dips.bytes {
        return Some(Estimate::inconclusive(format!(
            "{every}, or every {} to {}, which names no size",
            size(dips.low as u64),
            size(dips.high as u64)
        )));
    }
    None
}

fn with_dips(dips: &Dips, curve: &Curve) -> Estimate {
    let every = format!("overwrites in order dip every {}", size(dips.bytes as u64));
    if let Some(unclear) = unclear(dips, &every) {
        return unclear;
    }
    let unit = dips.bytes as u64;
    let Some([small, large]) = curve.ends() else {
        return Estimate::inconclusive(format!("{every}, but the drive has too few such zones"));
    };
    if small < MOVES {
        return Estimate::inconclusive(format!(
            "{every}, but zones of a quarter are about as fast ({small:.2} times as long): the spare flash hides whether data \
             is moved"
        ));
    }
    let settled = (curve.slower.iter())
        .any(|(bytes, times)| *bytes > unit && times.ln() <= LEFT * small.ln());
    if !settled {
        return Estimate::inconclusive(format!(
            "{every}, but larger zones do not settle ({}): the dips come from something else, or the drive has too few zones",
            curve.told()
        ));
    }
    let as_fast = |(_, times): &&(u64, f64)| times.ln() <= LEFT * small.ln();
    if let Some((part, times)) = curve.parts.iter().find(as_fast) {
        return Estimate::inconclusive(format!(
            "{every}, but zones of {} at random take no longer than larger ones ({times:.2} times as long as the drive in order): \
             the drive may erase several units of this size together, or wait for one of several",
            size(*part)
        ));
    }
    if let Some([first, last]) = curve.media.filter(|[first, last]| first / last < MEDIA) {
        return Estimate::inconclusive(format!(
            "{every}, and zones of a quarter take {small:.2} times as long, but the drive's log does not agree: it writes \
             {first:.2} and {last:.2} bytes to the media for each of the host"
        ));
    }
    let reason = format!(
        "{every}, for {:.1} ms; zones of a quarter at random take {small:.2} times as long as the drive in order, the largest \
         ones {large:.2} times",
        dips.wait_ns / 1e6
    );
    let value = |bytes: f64| Value::Bytes(bytes.max(0.0) as u64);
    let named = Estimate::identified(value(whole(dips)), reason)
        .between(value(dips.low), value(dips.high))
        .figure("dip_ns", dips.wait_ns)
        .figure("dip_share_ratio", dips.share)
        .figure("small_zone_slower_ratio", small)
        .figure("large_zone_slower_ratio", large);
    match curve.media {
        Some([first, last]) => named
            .figure("small_zone_media_ratio", first)
            .figure("large_zone_media_ratio", last),
        None => named,
    }
}

impl Probe for ReclaimUnit {
    fn bound(&self, space: &Space) -> u64 {
        let fits = overwritten::fits(space);
        if fits { bound(space) } else { 0 }
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        if unfit(session.record()).is_some() || !session.info().trim {
            return Ok(());
        }
        order::measure(session)?;
        let dips = dips::dips(session.record());
        for (number, bytes) in (0..).zip(sizes(&session.space(), dips.as_ref())) {
            zones::measure(session, bytes)?;
            if let Some(dips) = dips.filter(|_| number == 0) {
                let about = dips.low..2.0 * dips.bytes - dips.low;
                zones::measure_parts(session, about)?;
            }
        }
        Ok(())
    }

    fn solve(&self, record: &Record, others: &Answers<'_>) -> Estimate {
        if let Some(unfit) = unfit(record) {
            return unfit;
        }
        if limits::any(others) {
            return Estimate::not_identifiable(
                "a limit in front of the drive sets the speed of writes: it hides erases, and has pauses of its own",
            );
        }
        if order::ns_per_byte(record).is_none() {
            return Estimate::inconclusive(
                "the drive takes no TRIM, so zones cannot be given back",
            );
        }
        let dips = dips::dips(record);
        let curve = curve(record, dips.as_ref());
        match (dips, curve) {
            (Some(dips), Some(curve)) => {
                let estimate = match memory::absorbed(&dips, &curve.slower, others) {
                    Some(open) => open,
                    None => with_dips(&dips, &curve),
                };
                estimate.figure("dips_apart_bytes", dips.bytes)
            }
            (_, curve) => without_dips(curve.as_ref()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dips() -> Dips {
        let bytes = (64 << 20) as f64;
        Dips {
            bytes,
            low: 0.99 * bytes,
            high: 1.01 * bytes,
            share: 0.1,
            wait_ns: 5e6,
            correlation: 0.9,
        }
    }

    fn curve(slower: [f64; 3], media: Option<[f64; 2]>) -> Curve {
        let sizes = [16 << 20, 64 << 20, 256 << 20];
        Curve {
            slower: sizes.into_iter().zip(slower).collect(),
            parts: Vec::new(),
            media,
        }
    }

    #[test]
    fn dips_count_if_zones_agree() {
        let identified = |slower, media| {
            with_dips(&dips(), &curve(slower, media)).verdict == crate::Verdict::Identified
        };
        assert!(identified([2.0, 1.5, 1.1], None));
        assert!(identified([2.0, 1.5, 1.1], Some([1.8, 1.1])));
        // Zones of a quarter are as fast; large ones are as slow; the log says otherwise.
        assert!(!identified([1.05, 1.0, 1.0], None));
        assert!(!identified([3.0, 2.8, 2.5], None));
        assert!(!identified([2.0, 1.5, 1.1], Some([1.2, 1.2])));
        // In a long dip several blocks are erased one after the other, or data is moved.
        for (wait_ns, named) in [(1.4e7, true), (2e7, false), (1e8, false)] {
            let one = Dips { wait_ns, ..dips() };
            let answer = with_dips(&one, &curve([2.0, 1.5, 1.1], None));
            let is_named = answer.verdict == crate::Verdict::Identified;
            assert_eq!(is_named, named, "{wait_ns}");
        }
    }

    #[test]
    fn an_interval_of_half_of_the_unit_names_none() {
        let curve = curve([2.0, 1.5, 1.1], None);
        for (share, named) in [(0.09, true), (0.24, false)] {
            let (low, high) = (dips().bytes * (1.0 - share), dips().bytes * (1.0 + share));
            let answer = with_dips(
                &Dips {
                    low,
                    high,
                    ..dips()
                },
                &curve,
            );
            let is_named = answer.verdict == crate::Verdict::Identified;
            assert_eq!(is_named, named, "{share}");
        }
    }

    #[test]
    fn dips_are_those_of_several_units_if_zones_of_a_part_are_as_fast() {
        let named = |parts: &[(u64, f64)]| {
            let mut curve = curve([2.0, 1.5, 1.1], None);
            curve.parts = parts.to_vec();
            with_dips(&dips(), &curve).verdict == crate::Verdict::Identified
        };
        assert!(named(&[(32 << 20, 1.7), (22 << 20, 1.9)]));
        // A card with three logs waits when the third is full: zones of one block are merged by a switch.
        assert!(!named(&[(32 << 20, 1.7), (22 << 20, 1.02)]));
    }

    #[test]
    fn dips_of_hardly_any_time_name_no_unit() {
        let answer = |share| with_dips(&Dips { share, ..dips() }, &curve([2.0, 1.5, 1.1], None));
        assert_eq!(answer(0.003).verdict, crate::Verdict::Inconclusive);
        assert_eq!(answer(0.006).verdict, crate::Verdict::Identified);
    }

    #[test]
    fn a_curve_settles_where_half_of_it_is_gone() {
        let settles = curve([4.0, 1.9, 1.1], None).settles();
        assert_eq!(settles, Some([16 << 20, 64 << 20]));
        assert_eq!(curve([4.0, 3.0, 2.5], None).settles(), None);
    }
}
