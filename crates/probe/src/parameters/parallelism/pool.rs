//! A pool of places whose entries of the map are in memory and whose data are not.
//!
//! On a drive with its map in flash a random read is two reads of the flash, of which the one of the map may wait as well. Where
//! a second read of a place is one of data only, each place is read before it is timed. A memory of data hides that: it
//! answers the second read. It may keep less of the places than the memory of the map, whose entries are a few bytes long. So
//! many places are read, and some of them again that were read longer and longer ago. If those of an age are faster than at
//! first, and yet not as fast as reads of nothing, their entries were kept and their data were not. Only as many places are
//! read from there on.

use super::blank::{times, times_by_place, without_flash};
use super::collide::{by_memory, faster_but_read};
use super::take::SECOND;
use crate::robust::pace::Pace;
use crate::{Parameter, Record, Series, Session, Stop};

/// A read of a place of a pool of `x` bytes, and one after `x` other places of it were read.
const FIRST: Series = Series::new("pool_first");
const AGAIN: Series = Series::new("pool_again");

/// The numbers of places after which some are read again, of which the last is that of the pool.
const AGES: [u64; 6] = [2048, 3072, 4096, 6144, 8192, 12_288];
/// The places of an age that are read again.
const AGAINS: usize = 64;
/// The share of second reads that memory answers from which on it may hide the map.
const HIDDEN: f64 = 0.5;

/// Returns true if a memory of data answers second reads, so that they tell nothing of the map.
fn hidden(record: &Record, of: Parameter, second: &[f64]) -> bool {
    let Some(high) = without_flash(record, of, 0.9) else {
        return false;
    };
    let answered = second.iter().filter(|ns| by_memory(**ns, high)).count();
    answered as f64 > HIDDEN * second.len() as f64
}

/// Returns true if the memory of data answers second reads of the whole pool as well: whether each read fetches its entry of the
/// map from the flash is not known then.
pub(super) fn is_veiled(record: &Record, of: Parameter) -> bool {
    let oldest = record.series(of, AGAIN).map(|s| s.x).max();
    oldest.is_some_and(|oldest| hidden(record, of, &again(record, of, oldest)))
}

/// Returns the times of second reads of an age.
fn again(record: &Record, of: Parameter, age: u64) -> Vec<f64> {
    let all = record.series(of, AGAIN).filter(|s| s.x == age);
    all.map(|s| s.ns as f64).collect()
}

/// Reads a pool and some of it again, and returns the places whose entries were kept and whose data were not; none if no memory
/// of data is in the way, or if there are no such places.
pub(super) fn look(
    session: &mut Session<'_>,
    of: Parameter,
    mapped: bool,
    pace: Pace,
) -> Result<Vec<u64>, Stop> {
    let second = times(session.record(), of, SECOND);
    if mapped || pace.is_slow() || !hidden(session.record(), of, &second) {
        return Ok(Vec::new());
    }
    let (part, block) = (
        super::take::part(&session.space()),
        session.space().block_bytes,
    );
    let most = AGES.into_iter().max().unwrap_or_default();
    session.step(of, &pace.name("pool"), |io| {
        let slots = ((part.end - part.start) / (2 * block)).max(1);
        let places: Vec<u64> = (0..most)
            .map(|_| part.start + io.rng.below(slots) * 2 * block)
            .collect();
        for (rep, at) in (0..).zip(&places) {
            io.read(*at, block)?;
            io.sample(FIRST, most, rep);
            // Its entry is needed for reads of twice the length.
            io.read(at + block, block)?;
        }
        for age in AGES {
            let from = (most - age) as usize;
            for (rep, at) in (0..).zip(&places[from..][..AGAINS]) {
                io.read(*at, block)?;
                io.sample(AGAIN, age, rep);
            }
        }
        Ok(())
    })?;
    let record = session.record();
    let first = times_by_place(record, of, FIRST);
    let is_kept = |age: &u64| is_kept(record, of, last(&first, *age), *age);
    let kept = AGES.into_iter().rfind(is_kept).unwrap_or_default();
    Ok(last(&first, kept).iter().map(|(at, _)| *at).collect())
}

/// Returns so many of the places that were read last.
fn last(first: &[(u64, f64)], count: u64) -> &[(u64, f64)] {
    &first[first.len().saturating_sub(count as usize)..]
}

/// Returns true if the entries of places of an age were kept and their data were not; `first` are those read since then.
fn is_kept(record: &Record, of: Parameter, first: &[(u64, f64)], age: u64) -> bool {
    let again = again(record, of, age);
    let first: Vec<f64> = first.iter().map(|(_, ns)| *ns).take(again.len()).collect();
    let high = without_flash(record, of, 0.9);
    high.is_some_and(|high| faster_but_read(&first, &again, high))
}
