//! A pool of places whose entries of the map are in memory and whose data are not.
//!
//! On a drive with its map in flash a random read is two reads of the flash, of which the one of the map may wait as well. Where
//! a second read of a place is one of data only, each place is read before it is timed. A memory of data hides that: it
//! answers the second read. It keeps less of the places than the memory of the map, whose entries are a few bytes long. So many
//! places are read that the memory of data has lost the first ones when they are read again. If they are faster then, and
//! yet not as fast as reads of nothing, their entries were kept, and only these places are read from there on.

use super::collide::{by_memory, faster_but_read, times, times_by_place, without_flash};
use super::take::SECOND;
use crate::robust::pace::Pace;
use crate::{Parameter, Record, Series, Session, Stop};

/// A read of a place of a pool of `x` bytes, and one after all others of the pool were read.
const FIRST: Series = Series::new("pool_first");
const AGAIN: Series = Series::new("pool_again");

/// The places of a pool.
const PLACES: [u64; 2] = [2048, 8192];
/// The share of second reads that memory answers from which on it may hide the map.
const HIDDEN: f64 = 0.5;

/// Returns true if a memory of data answers second reads, so that they tell nothing of the map.
fn hidden(record: &Record, of: Parameter) -> bool {
    let second = times(record, of, SECOND);
    let Some(high) = without_flash(record, of, 0.9) else {
        return false;
    };
    let answered = second.iter().filter(|ns| by_memory(**ns, high)).count();
    answered as f64 > HIDDEN * second.len() as f64
}

/// Reads pools until the entries of one were kept, and returns its places; none if no memory of data is in the way, or if no
/// pool was kept.
pub(super) fn look(
    session: &mut Session<'_>,
    of: Parameter,
    mapped: bool,
    pace: Pace,
) -> Result<Vec<u64>, Stop> {
    if mapped || pace.is_slow() || !hidden(session.record(), of) {
        return Ok(Vec::new());
    }
    let part = super::take::part(&session.space());
    let block = session.space().block_bytes;
    for count in PLACES {
        session.step(of, &pace.name(&format!("pool of {count}")), |io| {
            let slots = ((part.end - part.start) / (2 * block)).max(1);
            let places: Vec<u64> = (0..count)
                .map(|_| part.start + io.rng.below(slots) * 2 * block)
                .collect();
            for series in [FIRST, AGAIN] {
                for (rep, at) in places.iter().enumerate() {
                    io.read(*at, block)?;
                    io.sample(series, count, rep as u32);
                    // Its entry is needed for reads of twice the length.
                    io.read(at + block, block)?;
                }
            }
            Ok(())
        })?;
        let places = kept(session.record(), of, count);
        if !places.is_empty() {
            return Ok(places);
        }
    }
    Ok(Vec::new())
}

/// Returns the places of a pool if their entries of the map were kept.
fn kept(record: &Record, of: Parameter, count: u64) -> Vec<u64> {
    let samples = |series| {
        let all = record.series(of, series).filter(|s| s.x == count);
        all.map(|s| s.ns as f64).collect::<Vec<_>>()
    };
    let high = without_flash(record, of, 0.9);
    if high.is_none_or(|high| !faster_but_read(&samples(FIRST), &samples(AGAIN), high)) {
        return Vec::new();
    }
    let places = times_by_place(record, of, FIRST);
    let last = places.len().saturating_sub(count as usize);
    places[last..].iter().map(|(at, _)| *at).collect()
}
