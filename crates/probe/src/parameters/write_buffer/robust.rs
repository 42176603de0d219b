//! The write buffer (`parameter-aware-io` 4.2.6): how much emptied memory takes before a write waits for the flash.
//!
//! Makes runs of small writes into emptied memory, in pieces of a 64th of the tried size. The piece that does not fit waits
//! at the same place in every run, while a stall from another cause comes at random places. The tried size grows by a factor
//! of four until there is such a piece. Then smaller pieces find the exact place, and pieces of another size find it once
//! more after a pause. An onset that depends on the number of writes and not on their bytes, or that does not repeat, does
//! not count.
//!
//! A limit in front of the drive makes requests wait, too, once its burst is gone. It counts reads as well: a place from which
//! on reads of the same lengths wait, or a little later, is no memory for writes. Reads of the flash may take longer than the
//! limit makes them wait, so that a place of the first few writes must also be none of their number: of long writes the second
//! must not wait for longer than the first.
//!
//! If a flush costs nothing and the fastest small writes take longer than reads from the flash, no memory takes the writes.
//! Delays at regular distances then have other causes, such as writes of the map, and do not count.
//!
//! No shape of the curve is assumed: if the flash is faster than the link, a write waits for one program and the next ones
//! are fast.

use super::beside_reads;
use super::drain::{self, Drained, Seen};
use super::filling::{Emptying, LONG_WRITES, Pass, onset_of, restore};
use super::in_front;
use super::steps::{Kind, make, small, window};
use crate::robust::prepare::prepare;
use crate::robust::samples::{at, sizes, times};
use crate::robust::size::{SEEN, size};
use crate::{
    Answers, Estimate, Parameter, Probe, Quick, Record, Series, Session, Space, Stop, Value,
};
use fathom_base::Dur;
use fathom_stats::location;
use fathom_stats::separate::separate;

const PARAMETER: Parameter = Parameter::WriteBuffer;
/// The number of pieces of a run, and the factor by which the tried size grows from run to run.
const PIECES: u64 = 64;
const GROWTH: u64 = 4;
/// The pieces of a finer pass: before and after the place, and within it.
const BEFORE: u64 = 32;
const WITHIN: u64 = 32;
/// The largest tried size, in bytes.
const LARGEST: u64 = 128 << 20;
/// The place is found to the logical block up to this capacity, in bytes; for larger ones to the capacity divided by this.
const EXACT: u64 = 4 << 20;
const RESOLUTION: u64 = 512;
/// A wait shorter than this share of a small write does not matter.
const MATTERS: f64 = 0.05;
/// A place closer than this many pieces to the beginning may depend on the number of writes as well as on their bytes. Writes
/// of so many times its length tell, by a wait of this share of the time of one: all of them wait for the flash, and nearly
/// as long.
const PIECES_MIN: u64 = 4;
const LONG: u64 = 8;
const LONG_WAIT: f64 = 0.5;

pub(crate) struct WriteBuffer;

/// The next step, or the result, computed from the record.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// Flushes must be compared.
    Small,
    /// A pass must be made.
    Make(Pass, Kind),
    /// A pass must be made that a limit would show in as well: memory may hold the first size and not the second, in bytes.
    Check(Pass, Kind, (u64, u64)),
    /// Memory holds the first size and not the second, in bytes, in the runs and in their repetition.
    Found(u64, u64),
    /// The same, but filled more slowly memory takes more: the flash empties it meanwhile.
    Drains(u64, Drained),
    /// Reads wait from the same place on; roughly where, in bytes.
    Limit(u64),
    /// A place was seen but not seen again; roughly where, in bytes.
    Lost(u64),
    /// All writes wait for the flash.
    Flash,
    /// No piece waits up to this size, in bytes.
    Nothing(u64),
}

/// Returns true if a flush after a small write takes longer than one after nothing; `None` before that was measured.
fn flush_drains(record: &Record) -> Option<bool> {
    let tried = sizes(record, PARAMETER, Series::FLUSH_AFTER);
    let len = tried.last().copied().filter(|len| *len > 0)?;
    // A flush may take no time at all.
    let flushes = |x| at(record, PARAMETER, Series::FLUSH_AFTER, x).into_iter();
    let arms = [len, 0].map(|x| flushes(x).map(|ns| ns.max(1.0)).collect::<Vec<_>>());
    let test = separate(&arms[0], &arms[1], 0.99, 0.2)?;
    Some(test.interval.low > 1.2)
}

/// Returns the time of the fastest writes over that of reads of the flash; `None` before that was measured.
fn over_reads(record: &Record, space: &Space) -> Option<f64> {
    beside_reads::ratio(record, &wide(space).next()?, space.block_bytes)
}

/// Returns true if the fastest writes take longer than reads, that is, wait for the flash.
fn from_flash(record: &Record, space: &Space) -> bool {
    over_reads(record, space).is_some_and(|ratio| ratio > 1.0)
}

pub(crate) fn emptying(record: &Record) -> Emptying {
    match flush_drains(record) {
        Some(true) => Emptying::Flush,
        _ => Emptying::Forget,
    }
}

/// Returns the passes of growing size. The pieces that a smaller run covered are known to fit in the next one, unless their
/// waits were too even to be seen.
fn wide(space: &Space) -> impl Iterator<Item = Pass> {
    let most = LARGEST.min(space.span() / 2);
    let first = space.block_bytes;
    let pieces = std::iter::successors(Some(first), |piece| Some(piece * GROWTH));
    pieces
        .map(move |piece| Pass {
            before: 0,
            piece,
            count: PIECES,
            fitting: if piece == first {
                1
            } else {
                PIECES / GROWTH - 1
            },
        })
        .take_while(move |pass| pass.bytes() <= most)
}

/// Returns the next step or the result.
fn stage(record: &Record, space: &Space) -> Stage {
    if flush_drains(record).is_none() {
        return Stage::Small;
    }
    let (mut tried, mut lost, mut limited) = (0, None, None);
    let protected = emptying(record) == Emptying::Forget;
    for pass in wide(space) {
        let place = match seen(record, &pass, Kind::Wide) {
            None => return Stage::Make(pass, Kind::Wide),
            Some(_) if protected && from_flash(record, space) => return Stage::Flash,
            Some(place) => place,
        };
        // A place that is not found again does not count; memory may be larger.
        match place.map(|place| finer(record, space, &pass, place)) {
            Some(Stage::Lost(about)) => lost = lost.or(Some(about)),
            Some(Stage::Limit(about)) => limited = limited.or(Some(about)),
            // After a lost place it may be one of several at which memory is full.
            Some(Stage::Found(..)) if lost.is_some() => break,
            Some(stage) => return stage,
            None => {}
        }
        tried = pass.bytes();
    }
    let limited = limited.map(Stage::Limit);
    limited
        .or(lost.map(Stage::Lost))
        .unwrap_or(Stage::Nothing(tried))
}

/// Returns the least wait that matters, in nanoseconds.
fn least(record: &Record) -> f64 {
    let smallest = sizes(record, PARAMETER, Series::FILLING).first().copied();
    let times = smallest.map(|x| at(record, PARAMETER, Series::FILLING, x));
    MATTERS
        * times
            .and_then(|times| location::median(&times))
            .unwrap_or(0.0)
}

/// Returns the time in which the flash takes so many bytes, by the slowest writes that waited for it; zero before any did.
/// Protected memory needs so long to be empty: what is due is programmed even if it was trimmed meanwhile.
fn draining(record: &Record, space: &Space, bytes: u64) -> Dur {
    let times = wide(space).filter_map(|pass| {
        let place = seen(record, &pass, Kind::Wide)??;
        let kind = Kind::Wide;
        drain::time(record, &Seen { pass: &pass, kind }, place, bytes)
    });
    times.max().unwrap_or(Dur::ZERO)
}

/// Returns true if the second of some long writes waits, and the first does not; `None` before they were made.
fn by_number(record: &Record, pass: &Pass) -> Option<bool> {
    let name = Kind::Long.name(pass);
    let typical = location::median(&times(record, PARAMETER, &name, LONG_WRITES)).unwrap_or(0.0);
    let least = LONG_WAIT * typical;
    let found = onset_of(record, PARAMETER, &name, LONG_WRITES, pass, least)?;
    Some(found == Some(1))
}

/// Returns the bytes that memory holds and those that it does not, if a pass shows an edge; the outer `None` if it was not
/// made.
fn seen(record: &Record, pass: &Pass, kind: Kind) -> Option<Option<(u64, u64)>> {
    let series = kind.series();
    let found = onset_of(
        record,
        PARAMETER,
        &kind.name(pass),
        series,
        pass,
        least(record),
    )?;
    Some(found.map(|index| (pass.at(index as u64), pass.at(index as u64 + 1))))
}

/// Narrows a place down to the answer.
fn finer(record: &Record, space: &Space, wide: &Pass, place: (u64, u64)) -> Stage {
    let block = space.block_bytes;
    let (mut low, mut high) = place;
    while high - low > block && (low <= EXACT || high - low > low / RESOLUTION) {
        let piece = space.round_up((high - low) / WITHIN);
        let pass = around(low, high - low, piece);
        match seen(record, &pass, Kind::Fine) {
            None => return Stage::Make(pass, Kind::Fine),
            // The place may lie one piece beyond either end.
            Some(Some((l, h))) if l + piece >= low && l <= high + piece => (low, high) = (l, h),
            Some(_) => return Stage::Lost(low),
        }
    }
    let piece = space.round_up((high - low) * 3 / 2).max(2 * block);
    let piece = if low < 2 * piece { block } else { piece };
    let pass = around(low, 4 * piece, piece);
    match seen(record, &pass, Kind::Again) {
        None => Stage::Make(pass, Kind::Again),
        Some(Some((l, h))) if l <= high && low <= h => match seen(record, &pass, Kind::Read) {
            None => Stage::Check(pass, Kind::Read, (low, high)),
            // Reads take their time, in which a limit lets more of them pass: theirs is the same place or a later one.
            Some(Some((_, h))) if low <= h => Stage::Limit(low),
            Some(_) if beside_reads::held(record, &pass, space.block_bytes) => Stage::Limit(low),
            Some(_) => match counted(record, space, (low, high)) {
                Stage::Found(..) => slowly(record, space, wide, &pass, (low, high)),
                stage => stage,
            },
        },
        Some(_) => Stage::Lost(low),
    }
}

/// Returns the result at a place that is confirmed as far as its distance from the beginning tells.
fn counted(record: &Record, space: &Space, (low, high): (u64, u64)) -> Stage {
    let pass = Pass {
        before: 0,
        piece: LONG * high,
        count: PIECES / GROWTH,
        fitting: 1,
    };
    if low >= PIECES_MIN * space.block_bytes || pass.bytes() > space.span() / 2 {
        return Stage::Found(low, high);
    }
    match by_number(record, &pass) {
        None => Stage::Check(pass, Kind::Long, (low, high)),
        Some(true) => Stage::Limit(low),
        Some(false) => Stage::Found(low, high),
    }
}

/// Returns the result at a place that is confirmed, by a run of slower writes.
fn slowly(
    record: &Record,
    space: &Space,
    wide: &Pass,
    again: &Pass,
    (low, high): (u64, u64),
) -> Stage {
    let of = |pass, kind| Seen { pass, kind };
    let [first, second] = [of(wide, Kind::Wide), of(again, Kind::Again)];
    let drained = drain::drained(record, &first, &second, (low, high), space.block_bytes);
    let Some(drained) = drained else {
        return Stage::Found(low, high);
    };
    if drained.least + space.block_bytes > low {
        return Stage::Found(low, high);
    }
    match seen(record, again, Kind::Slow) {
        None => Stage::Check(*again, Kind::Slow, (low, high)),
        Some(Some((l, _))) if l <= high => Stage::Found(low, high),
        Some(_) => Stage::Drains(low, drained),
    }
}

/// Returns a pass of pieces around a place. At least one piece fits before it, and the one at the place may fit.
fn around(low: u64, step: u64, piece: u64) -> Pass {
    let lead = BEFORE.min(low / piece);
    Pass {
        before: low - lead * piece,
        piece,
        count: lead + step.div_ceil(piece) + BEFORE,
        fitting: (lead.saturating_sub(1)).max(1),
    }
}

impl Probe for WriteBuffer {
    fn bound(&self, space: &Space) -> u64 {
        let wide: Vec<u64> = wide(space).map(|pass| pass.runs() * pass.bytes()).collect();
        // The finer passes and the repetition, or writing the trimmed range again.
        wide.iter().sum::<u64>() + wide.last().map_or(0, |most| 2 * most)
    }

    fn expected(&self, space: &Space) -> u64 {
        self.bound(space) / 4
    }

    fn quick(&self) -> Quick {
        // Memory of some tens of megabytes takes a gigabyte.
        Quick {
            bytes_percent: 30,
            ..Quick::default()
        }
    }

    fn least(&self, space: &Space) -> u64 {
        // The bytes of the runs that find a buffer of a quarter of a mebibyte.
        self.bound(space) / 256
    }

    fn reach(&self, _: &Space) -> u64 {
        2 * LARGEST
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        prepare(session, PARAMETER)?;
        let space = session.space();
        let mut written = session.region().start..session.region().start;
        loop {
            match stage(session.record(), &space) {
                Stage::Small => small(session)?,
                Stage::Make(pass, kind) | Stage::Check(pass, kind, _) => {
                    let by = emptying(session.record());
                    written.end = written.end.max(window(&space, by, pass.bytes()).end);
                    let rest = draining(session.record(), &space, pass.bytes());
                    make(session, pass, kind, by, rest)?;
                }
                Stage::Found(..)
                | Stage::Drains(..)
                | Stage::Limit(_)
                | Stage::Lost(_)
                | Stage::Flash
                | Stage::Nothing(_) => break,
            }
        }
        let by = emptying(session.record());
        restore(session, PARAMETER, by, &written)
    }

    fn solve(&self, record: &Record, others: &Answers<'_>) -> Estimate {
        let space = Space::of(record);
        let by = emptying(record);
        let limited = |low| in_front::at_the_pace(record, PARAMETER, low, others);
        match stage(record, &space) {
            Stage::Found(low, _) | Stage::Drains(low, _) if limited(low) => {
                Estimate::not_identifiable(format!(
                    "writes wait from about {} on, and then come as fast as the limit in front of the drive lets them pass",
                    size(low)
                ))
            }
            Stage::Found(low, _)
                if by == Emptying::Forget && low < PIECES_MIN * space.block_bytes =>
            {
                Estimate::absent(
                    "a flush after a write costs no more than one of nothing, and a write waits for the flash from the first ones on",
                )
            }
            // Records of former versions have no such pass.
            Stage::Found(low, high) | Stage::Check(_, _, (low, high)) => {
                let reason = format!(
                    "emptied memory takes {} and no write of it waits; the next one waits for the flash, in every run and again after a pause",
                    size(low)
                );
                Estimate::identified(Value::Bytes(low), reason)
                    .between(Value::Bytes(low), Value::Bytes(high - space.block_bytes))
            }
            Stage::Drains(seen, drained) => drained.answer(seen),
            Stage::Lost(about) => {
                let reason = format!(
                    "writes seem to wait from about {} on, and do not do so again with other sizes",
                    size(about)
                );
                Estimate::inconclusive(reason).figure(SEEN, about as f64)
            }
            Stage::Limit(about) => Estimate::not_identifiable(format!(
                "writes wait from about {} on, and so do reads of the same lengths: a limit in front of the drive makes both \
                 wait before the memory is full",
                size(about)
            )),
            Stage::Flash => Estimate::absent(
                "a flush after a write costs no more than one of nothing, and writes take longer than reads of the flash: no memory takes them",
            ),
            Stage::Nothing(tried) if by == Emptying::Forget => {
                beside_reads::without_wait(over_reads(record, &space), tried)
            }
            Stage::Nothing(tried) => Estimate::not_identifiable(format!(
                "every write up to {} is taken at the link's speed: the buffer is larger",
                size(tried)
            )),
            Stage::Small | Stage::Make(..) => {
                Estimate::inconclusive("it was not measured to its end")
            }
        }
    }
}
