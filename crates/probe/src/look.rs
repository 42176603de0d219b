//! A first look at a drive: a few cheap facts that decide which questions fit it.
//!
//! A question is skipped only where the facts leave it nothing to find. The look is no measurement of a parameter: its
//! figures stand in the record, and no answer uses them.

use crate::Space;
use crate::record::{Cost, Look};
use crate::session::{Io, Session, Stop};
use fathom_base::Dur;
use fathom_stats::location::median;

/// The area that the look writes, at most, in bytes: wider than the log blocks of most drives that have any.
const AREA_MAX: u64 = 256 << 20;
/// The length of a small request, in bytes, if the logical block is not longer.
const SMALL: u64 = 4096;
/// The small writes of a round, and the rounds of each order.
const WRITES: u64 = 128;
const ROUNDS: usize = 5;
/// The small reads at depth 1, and the depth and number of those in flight together.
const READS: u64 = 64;
const DEPTH: u32 = 32;
/// No further round begins after this time on the drive's clock: a card may take a second for a merge.
const TIME_MAX: Dur = Dur::ms(10_000);
/// The percentage of random to sequential small writes below which a drive is taken to map pages: merging log blocks costs
/// several times the write.
const SCATTER_MIN_PERCENT: u64 = 130;

/// A small random read of a disk takes at least this long, typically, in nanoseconds: half a revolution at 15,000 rpm is
/// 2 ms. Hypervisors report flash as rotating.
const SEEK_MIN_NS: u64 = 1_000_000;

/// Fits every drive.
pub(crate) fn always(_: &Look) -> Result<(), &'static str> {
    Ok(())
}

/// Fits drives whose random writes may merge blocks.
pub(crate) fn merges(look: &Look) -> Result<(), &'static str> {
    match look.scatter_percent {
        Some(percent) if percent < SCATTER_MIN_PERCENT => Err(
            "a first look shows no merges of blocks: some hundred small writes at random places take about as long as in \
             order (many log blocks may hide merges; --only measures it all the same)",
        ),
        _ => Ok(()),
    }
}

/// Returns the most that the look writes, in bytes.
pub(crate) fn bound(space: &Space) -> u64 {
    area(space) + 2 * ROUNDS as u64 * WRITES * small(space.block_bytes)
}

fn area(space: &Space) -> u64 {
    let area = AREA_MAX.min(space.bytes() / 2);
    area / space.block_bytes * space.block_bytes
}

fn small(block_bytes: u64) -> u64 {
    SMALL.next_multiple_of(block_bytes)
}

/// Looks at the drive of a session, or returns what an earlier run of it saw.
pub(crate) fn look(session: &mut Session<'_>) -> Result<Look, Stop> {
    let space = session.space();
    let info = session.info();
    let mut look = Look {
        queue_depth: info.queue_depth,
        trim: info.trim,
        rotational: info.rotational,
        read_only: session.read_only(),
        region_bytes: space.bytes(),
        scatter_percent: None,
        read_ns: 0,
        gain_percent: 100,
        cost: Cost::default(),
    };
    let mut seen = (None, 0, 100);
    look.cost = session.aside("look", bound(&space), |io| {
        let area = area(&space);
        if !look.read_only {
            io.fill_sequential(space.region.start..space.region.start + area)?;
            seen.0 = scatter(io, &space, area)?;
        }
        (seen.1, seen.2) = reads(io, &space, area)?;
        Ok(())
    })?;
    (look.scatter_percent, look.read_ns, look.gain_percent) = seen;
    look.rotational = look
        .rotational
        .map(|told| told && look.read_ns >= SEEK_MIN_NS);
    Ok(look)
}

/// Writes in order and at random places, in turns, each time with a flush.
fn scatter(io: &mut Io<'_>, space: &Space, area: u64) -> Result<Option<u64>, Stop> {
    let small = small(space.block_bytes);
    let (start, slots) = (space.region.start, area / small);
    let began = io.now();
    let mut percents = Vec::new();
    for _ in 0..ROUNDS {
        let mut took = [Dur::ZERO; 2];
        let first = io.rng.below(slots.saturating_sub(WRITES).max(1));
        for (random, took) in took.iter_mut().enumerate() {
            for i in 0..WRITES.min(slots) {
                let slot = if random == 1 {
                    io.rng.below(slots)
                } else {
                    first + i
                };
                *took += io.write(start + slot * small, small)?;
            }
            *took += io.flush()?;
        }
        percents.push(100.0 * took[1].0 as f64 / took[0].0.max(1) as f64);
        if io.now().since(began) > TIME_MAX {
            break;
        }
    }
    Ok(median(&percents).map(|percent| percent as u64))
}

/// Reads at random places, one at a time and many at a time.
fn reads(io: &mut Io<'_>, space: &Space, area: u64) -> Result<(u64, u64), Stop> {
    let small = small(space.block_bytes);
    let (start, slots) = (space.region.start, (area / small).max(1));
    let places: Vec<(u64, u64)> = (0..READS)
        .map(|_| (start + io.rng.below(slots) * small, small))
        .collect();
    let mut times = Vec::new();
    for (offset, len) in &places {
        times.push(io.read(*offset, *len)?.0 as f64);
    }
    let again: Vec<(u64, u64)> = (0..4 * READS)
        .map(|_| (start + io.rng.below(slots) * small, small))
        .collect();
    let together = io.read_queued(&again, DEPTH)?.0 as f64 / again.len() as f64;
    let one = median(&times).unwrap_or_default();
    Ok((one as u64, (100.0 * one / together.max(1.0)) as u64))
}

#[cfg(test)]
mod tests {
    use super::{Cost, Look, merges};

    fn seen(scatter_percent: Option<u64>) -> Look {
        Look {
            queue_depth: 32,
            trim: true,
            rotational: None,
            read_only: scatter_percent.is_none(),
            region_bytes: 1 << 30,
            scatter_percent,
            read_ns: 100_000,
            gain_percent: 800,
            cost: Cost::default(),
        }
    }

    #[test]
    fn blocks_are_asked_for_unless_random_writes_are_as_fast() {
        assert!(merges(&seen(None)).is_ok());
        assert!(merges(&seen(Some(500))).is_ok());
        assert!(merges(&seen(Some(110))).is_err());
    }
}
