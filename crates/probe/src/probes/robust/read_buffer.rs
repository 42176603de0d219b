//! The read buffer (`parameter-aware-io` 4.2.5): the sizes at which the second of two equal reads is faster.
//!
//! Every pair is at a place that was not read before, so that the first is a miss without any garbage. What is
//! looked at is the time saved, not its share of the whole: a buffer whose benefit fades against a long transfer
//! has no edge, and its capacity is *not identifiable*.

use super::{at, identified, prepare, size, sizes, without};
use crate::probes::{Needs, Probe, Space};
use crate::profile::{Estimate, Parameter, Value, Verdict};
use crate::record::{Record, Series};
use crate::session::{Session, Stop};
use crate::solve::robust;
use crate::solve::separate::mann_whitney_p;

const PARAMETER: Parameter = Parameter::ReadBuffer;
const PAIRS: u32 = 8;
const LARGEST: u64 = 16 << 20;
/// Places are this far apart at least, in bytes: no stream, and no line shared.
const GAP: u64 = 1 << 20;
/// Sizes closer than this share of the capacity are not told apart.
const RESOLUTION: u64 = 64;
/// A saving counts with this p-value, and from this share of a miss on.
const P: f64 = 0.0005;
const SAVES: f64 = 0.01;
/// Beyond its capacity a buffer saves less than this share of what it saved below.
const COLLAPSE: f64 = 0.35;

pub(super) struct ReadBuffer;

impl ReadBuffer {
    /// Octaves and their halves.
    fn grid(space: &Space) -> Vec<u64> {
        space.half_octaves(LARGEST.min(space.span() / 16))
    }

    /// Halves the gap between the largest size that saves and the next one.
    fn halve(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        let space = Space::from(&*session);
        while let Some((fast, slow)) = edge(session.record()) {
            let finest = space.round_up((fast / RESOLUTION).clamp(1, 4 << 10));
            let middle = space.round_down((fast + slow) / 2 / finest * finest);
            if slow - fast <= finest || middle <= fast || middle >= slow {
                break;
            }
            self.measure(session, middle, 0)?;
        }
        Ok(())
    }

    fn measure(&self, session: &mut Session<'_>, len: u64, round: u32) -> Result<(), Stop> {
        let (start, span) = (session.region().start, Space::from(&*session).span());
        let block = Space::from(&*session).block_bytes;
        let slot = (len + GAP).next_multiple_of(GAP);
        session.step(PARAMETER, &format!("pairs {len} round {round}"), |io| {
            let piece = io.info().max_request_bytes;
            for rep in 0..PAIRS {
                // A new place in each of as many parts of the span as there are pairs.
                let part = span / u64::from(PAIRS) / slot;
                let place = (u64::from(rep) * part.max(1) + io.rng.below(part.max(1))) * slot
                    % (span - len);
                let offset = start + place / block.max(4096) * block.max(4096);
                // In mixed order, so that a long read that is sent in pieces is no stream.
                let mut pieces: Vec<(u64, u64)> = (0..len.div_ceil(piece))
                    .map(|i| (offset + i * piece, piece.min(len - i * piece)))
                    .collect();
                io.rng.shuffle(&mut pieces);
                io.read_queued(&pieces, u32::MAX)?;
                io.sample(Series::Miss, len, round * PAIRS + rep);
                io.read_queued(&pieces, u32::MAX)?;
                io.sample(Series::Hit, len, round * PAIRS + rep);
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Median time that the second read saves at a size, in nanoseconds; `None` where it saves nothing.
fn saving(record: &Record, len: u64) -> Option<f64> {
    let (miss, hit) = (
        at(record, PARAMETER, Series::Miss, len),
        at(record, PARAMETER, Series::Hit, len),
    );
    let typical = robust::median(&miss)?;
    let saved = typical - robust::median(&hit)?;
    (mann_whitney_p(&miss, &hit)? < P && saved > SAVES * typical).then_some(saved)
}

/// The largest size that saves and the next one that does not, and what each saves.
fn edge(record: &Record) -> Option<(u64, u64)> {
    let sizes = sizes(record, PARAMETER, Series::Miss);
    let fast = *sizes
        .iter()
        .rev()
        .find(|len| saving(record, **len).is_some())?;
    let slow = sizes.iter().find(|len| **len > fast)?;
    Some((fast, *slow))
}

/// Whether the saving breaks off between two sizes.
fn breaks_off(record: &Record, fast: u64, slow: u64) -> bool {
    let below = saving(record, fast).unwrap_or(0.0);
    let medians = [Series::Miss, Series::Hit]
        .map(|s| robust::median(&at(record, PARAMETER, s, slow)).unwrap_or(0.0));
    let above = medians[0] - medians[1];
    above < COLLAPSE * below
}

impl Probe for ReadBuffer {
    fn parameter(&self) -> Parameter {
        PARAMETER
    }

    fn needs(&self) -> Needs {
        Needs {
            writes: false,
            prepared: true,
        }
    }

    fn bound(&self, _: &Space) -> u64 {
        0
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        prepare(session, PARAMETER)?;
        let space = Space::from(&*session);
        for len in Self::grid(&space) {
            self.measure(session, len, 0)?;
        }
        // Of many sizes one looks faster by chance: both sides of the edge are measured again until they hold.
        loop {
            self.halve(session)?;
            let sides = edge(session.record()).map_or(Vec::new(), |(fast, slow)| vec![fast, slow]);
            let fresh = |len: &u64| {
                at(session.record(), PARAMETER, Series::Miss, *len).len() == PAIRS as usize
            };
            let again: Vec<u64> = sides.into_iter().filter(fresh).collect();
            if again.is_empty() {
                return Ok(());
            }
            for len in again {
                self.measure(session, len, 1)?;
            }
        }
    }

    fn solve(&self, record: &Record) -> Estimate {
        let tried = sizes(record, PARAMETER, Series::Miss);
        let Some(largest) = tried.last().copied() else {
            return without(
                PARAMETER,
                Verdict::Inconclusive,
                "the region is too small for reads of several sizes",
            );
        };
        let Some(first) = tried
            .iter()
            .copied()
            .find(|len| saving(record, *len).is_some())
        else {
            let reason = format!(
                "a second read at once is no faster at any size up to {largest}",
                largest = size(largest)
            );
            return without(PARAMETER, Verdict::Absent, reason);
        };
        let Some((fast, slow)) = edge(record) else {
            let reason = format!(
                "a second read is faster at every size up to {largest}: the capacity is larger",
                largest = size(largest)
            );
            return without(PARAMETER, Verdict::NotIdentifiable, reason);
        };
        if !breaks_off(record, fast, slow) {
            let reason = "a second read saves a time that fades against the transfer and does not break off: the capacity has no edge";
            return without(PARAMETER, Verdict::NotIdentifiable, reason)
                .figure("smallest_served_bytes", first as f64);
        }
        let reason = format!(
            "a second read at once is faster from {first} to {fast} and not at {slow}",
            fast = size(fast),
            first = size(first),
            slow = size(slow)
        );
        let block = u64::from(record.meta.target.logical_block_bytes);
        identified(PARAMETER, Value::Bytes(fast), reason)
            .between(fast, slow - block)
            .figure("smallest_served_bytes", first as f64)
            .figure("saved_ns", saving(record, fast).unwrap_or(0.0))
    }
}
