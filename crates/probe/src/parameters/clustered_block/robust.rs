//! The clustered block: finds the size at whose multiples an access takes another time than elsewhere, because blocks end
//! there.
//!
//! The paper looks for the size at which random writes cost as much as sequential ones (`parameter-aware-io` 4.2.4), which
//! takes writes of every possible size. The ends of blocks test all sizes at once, and are exact to the byte.
//!
//! Two effects are used; the one that needs no writes comes first:
//!
//! - *Reads*. If all of a block lies on one lane, or one set of lanes, and the next block on another, a read within a block
//!   takes its pages one after another, while a read that lies half in each of two blocks takes two pages at a time.
//! - *Writes*. A drive with log blocks opens one at the first write into a block, and reclaims another one for that: this
//!   write takes a merge longer. With FAST it is the write of the first unit of a block, or the one after it. Memory that
//!   takes flushed writes shows it a constant number of writes later.
//!
//! The places are regular, and [`fathom_stats::teeth`] finds the size at whose multiples the accesses differ. No size is
//! preferred. A size that is shown is looked at again around its multiples, which also makes it more exact. Sizes count from
//! the start of the drive, so on a partition or a file that does not begin at a multiple nothing is found.
//!
//! A drive with page mapping shows neither effect: its pages are spread over the lanes everywhere, and a write opens
//! nothing. To reads its stripes can look like small blocks, so a small size that only reads show does not count.

use super::look::Sign;
use super::parts::Part;
use super::scan::{Kind, Scan, UNIT, all, scans};
use super::{exact, parts};
use crate::parameters::clustered_page::robust as clustered_page;
use crate::record::Target;
use crate::robust::prepare::prepare;
use crate::robust::size::size;
use crate::robust::units::page_part;
use crate::{Answers, Estimate, Parameter, Probe, Record, Session, Space, Stop, Value};
use fathom_stats::teeth::Fit;

const PARAMETER: Parameter = Parameter::ClusteredBlock;

/// The largest stripe over all lanes (64 of 32 KiB), in bytes. A size that only reads show must be at least as large.
const STRIPE_MAX: u64 = 2 << 20;

/// The largest ratio that a write across the end of a clustered page takes.
const TWICE: f64 = 2.5;

/// The width of an interval, in units of the distance at which a size is e times less likely.
const WIDTHS: f64 = 16.0;

pub(crate) struct ClusteredBlock;

impl Probe for ClusteredBlock {
    fn bound(&self, space: &Space) -> u64 {
        let scans = all(space, &queued(), UNIT);
        parts::bound(&scans) + scans.iter().map(Scan::bound).sum::<u64>() + exact::bound(space)
    }

    fn expected(&self, space: &Space) -> u64 {
        // Reads find a block without a write, and short writes with a tenth of the bound.
        self.bound(space) / 10
    }

    fn fruitless(&self, space: &Space) -> u64 {
        let scans = all(space, &queued(), UNIT);
        scans.iter().map(Scan::first_look).sum()
    }

    fn least(&self, space: &Space) -> u64 {
        self.bound(space) / 20
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        prepare(session, PARAMETER)?;
        look(session)
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        match block(record) {
            Some(block) => found(&block),
            None => not_found(record),
        }
    }
}

/// Returns a drive with a queue. Without one only the reads would differ; the writes are the same.
fn queued() -> Target {
    Target {
        queue_depth: 2,
        ..Target::default()
    }
}

/// Scans until a size is found.
fn look(session: &mut Session<'_>) -> Result<(), Stop> {
    let scans = scans(session.record());
    for scan in scans {
        if scan.kind != Kind::Reads {
            // Opens the logs that the next writes have to reclaim.
            scan.measure(session, true)?;
        }
        scan.measure(session, false)?;
        let shown = counting(&scan, session.record());
        let mut periods = Vec::new();
        for (_, fit) in &shown {
            if !periods.contains(&fit.period) {
                periods.push(fit.period);
            }
        }
        for &period in &periods {
            scan.measure_again(session, period)?;
        }
        let found = shown_twice(&scan, session.record(), &shown);
        let closely = found.is_some_and(|part| !faint(&part));
        if scan.kind != Kind::Reads && !periods.is_empty() && !closely {
            scan.wider().measure(session, false)?;
        }
        if let Some(found) = shown_twice(&scan, session.record(), &shown) {
            parts::run(session, found)?;
            let smallest = parts::smallest(session.record(), found);
            if stands(session.record(), &smallest) {
                exact::run(session, &smallest)?;
                break;
            }
        }
    }
    Ok(())
}

/// Returns true if writes show the size by less than a merge: other causes occasionally lengthen a write as much.
fn faint(part: &Part) -> bool {
    part.kind != Kind::Reads && part.fit.ratio < TWICE
}

/// Returns true if the size is no stripe and no large clustered page; a write across the end of one of those takes twice as
/// long. Memory that takes flushed writes is emptied from time to time, which lengthens writes as much, at any distance.
fn counts(record: &Record, part: &Part) -> bool {
    match part.kind {
        Kind::Writes | Kind::LongWrites if !faint(part) => true,
        Kind::Writes | Kind::LongWrites if clustered_page::from_memory(record) => false,
        _ => part.fit.period >= STRIPE_MAX,
    }
}

/// Returns true if the size is also no segment of a map that the drive keeps in flash. A segment has as many entries as a
/// page holds, a power of two as pages and units are. Reads of one segment wait for one page of the map; reads across its
/// end wait for two at a time. Writes may show a block of such a size.
fn stands(record: &Record, part: &Part) -> bool {
    let (low, high) = part.fit.between;
    let segment = low.next_power_of_two() <= high;
    counts(record, part) && (part.kind != Kind::Reads || !segment)
}

/// Returns the sizes that a scan shows, without possible stripes. Of the sizes that writes may mean, only the likeliest is
/// looked at again: with FAST only a write that begins where a block does shows it.
fn counting(scan: &Scan, record: &Record) -> Vec<(Sign, Fit)> {
    let kind = scan.kind;
    let likely = |fit: Fit| match kind {
        Kind::Reads => fit,
        Kind::Writes | Kind::LongWrites => Fit {
            period: whole_pages(record, &fit),
            ..fit
        },
    };
    let shown = scan.shows(record).into_iter();
    let sizes = shown.map(|(sign, fit)| (sign, likely(fit)));
    sizes
        .filter(|&(_, fit)| counts(record, &Part { kind, fit }))
        .collect()
}

/// Returns the size that a scan shows twice.
fn found_by(scan: &Scan, record: &Record) -> Option<Part> {
    let measured = scan.measured_again(record);
    measured.then(|| shown_twice(scan, record, &counting(scan, record)))?
}

/// Returns the first of the sizes that a scan has `shown` which the second look shows too. What a scan shows costs much to
/// compute.
fn shown_twice(scan: &Scan, record: &Record, shown: &[(Sign, Fit)]) -> Option<Part> {
    let kind = scan.kind;
    let mut again = shown.iter().filter_map(|&(sign, fit)| {
        let closely = scan.shows_again(record, sign, &fit);
        let widely = || scan.wider().shows_at(record, sign, &fit);
        match closely.map(|fit| Part { kind, fit }) {
            None => widely().map(|fit| Part { kind, fit }),
            // If the wider writes were not made, the first look counts.
            Some(part) if faint(&part) && scan.wider().measured(record) => widely().map(|_| part),
            Some(part) => Some(part),
        }
    });
    again.next()
}

/// A block that was found.
pub(crate) struct Block {
    /// Its size in bytes.
    pub(crate) bytes: u64,
    /// The interval of its size, in bytes.
    pub(crate) between: (u64, u64),
    kind: Kind,
    fit: Fit,
}

/// Returns the block that a record shows.
pub(crate) fn block(record: &Record) -> Option<Block> {
    let scans = scans(record);
    let found = scans.iter().filter_map(|scan| found_by(scan, record));
    let mut sizes = found.map(|found| parts::smallest(record, found));
    let part = sizes.find(|part| stands(record, part))?;
    let Part { kind, fit } = exact::exact(record, part).unwrap_or(part);
    let bytes = whole_pages(record, &fit);
    let (low, high) = fit.between;
    Some(Block {
        bytes,
        between: (low.min(bytes), high.max(bytes)),
        kind,
        fit,
    })
}

fn found(block: &Block) -> Estimate {
    let (bytes, ratio) = (size(block.bytes), block.fit.ratio);
    let reason = match block.kind {
        Kind::Reads => format!(
            "reads across the ends of blocks of {bytes} take {ratio:.2} times as long as others: two blocks are read at a time"
        ),
        Kind::Writes | Kind::LongWrites => format!(
            "the first write into a block of {bytes} takes {ratio:.1} times as long as others: a merge"
        ),
    };
    Estimate::identified(Value::Bytes(block.bytes), reason)
        .between(Value::Bytes(block.between.0), Value::Bytes(block.between.1))
        .figure("ratio", ratio)
        .figure("multiples", block.fit.teeth as f64)
}

fn not_found(record: &Record) -> Estimate {
    let scans = scans(record);
    let least = scans.iter().map(|scan| scan.sizes().0).min();
    let most = scans.iter().map(|scan| scan.sizes().1).max();
    let (Some(least), Some(most)) = (least, most) else {
        return Estimate::inconclusive("the region is too small for several blocks");
    };
    if scans.iter().any(|scan| !scan.measured(record)) {
        return Estimate::inconclusive(
            "the record is of another version, which looked for blocks in another way",
        );
    }
    Estimate::not_identifiable(format!(
        "from {} to {} there is no size at whose multiples reads or flushed writes take another time: page mapping, or merges that cannot be seen",
        size(least),
        size(most)
    ))
}

/// Returns the likeliest size. A block has whole pages, and few sizes are multiples of large ones, which is weighed against
/// the distance from the fit, whose interval is wide.
fn whole_pages(record: &Record, fit: &Fit) -> u64 {
    let (low, high) = fit.between;
    let scale = (high - low) as f64 / WIDTHS;
    let likely = |size: &u64| {
        let away = size.abs_diff(fit.period) as f64;
        (page_part(*size) as f64).ln() - away / scale.max(1.0)
    };
    let units = [clustered_page::known(record), Some(4 << 10), Some(2 << 10)];
    let among = |unit: u64| {
        let sizes = (low.div_ceil(unit)..=high / unit).map(move |n| n * unit);
        sizes.max_by(|a, b| likely(a).total_cmp(&likely(b)))
    };
    let block = u64::from(record.meta.target.logical_block_bytes).max(1);
    let units = units.into_iter().flatten();
    let mut found = units
        .filter(|unit| unit.is_multiple_of(block))
        .filter_map(among);
    found.next().unwrap_or(fit.period)
}
