//! The steps that take the samples of the queue's knee: closed loops of many depths, then the depth that was found, and
//! reads that are due at random times.

use crate::robust::blank::SETTLE;
use crate::{Ask, Io, Level, Parameter, Series, Served, Session, Space, Stop};
use fathom_base::Dur;

/// A single read, for its latency.
pub(super) const ALONE: Series = Series::new("alone");
/// The rate of a closed loop at depth `x`; the same at depths around the knee.
pub(super) const CLOSED: Series = Series::new("closed_loop");
/// The processor time of the host during a closed loop at depth `x`.
pub(super) const HOST: Series = Series::new("host_time");
/// Reads of a closed loop at the knee.
pub(super) const AT_KNEE: Series = Series::new("at_knee");
/// Reads that are due at random times, at `x` percent of the rate at the knee.
pub(super) const OPEN: Series = Series::new("open_loop");

const PARAMETER: Parameter = Parameter::QueueKnee;
/// The length of a read, in bytes, if the logical block is not longer.
const READ: u64 = 4096;
/// The deepest queue that is tried.
const DEPTH_MAX: u32 = 1024;
/// The reads of a lone reader.
const ALONES: u32 = 48;
/// The rounds of the sweep.
const ROUNDS: [u32; 2] = [5, 9];
/// A closed loop has this many requests for each place in the queue, beside those that fill and empty it, and at least so
/// many at each level: a loop begins with its requests spread evenly over the dies and is faster at first, until some of them
/// have longer queues than others. It has no more than a lone reader makes in `LOOP` for each place in the queue, though never too few.
const EACH: u64 = 16;
const LEAST: [u64; 2] = [1024, 6144];
const LOOP: Dur = Dur::ms(100);
const FEW: u64 = 4;
/// The requests of the loop at the knee, and of an open loop.
const KNEE_READS: u64 = 3000;
const OPEN_READS: u64 = 1500;

/// The length of a read, in bytes.
pub(crate) fn read_bytes(space: &Space) -> u64 {
    READ.next_multiple_of(space.block_bytes)
}

/// The loads of the open loop, in percent of the rate at the knee.
pub(crate) fn loads(level: Level) -> &'static [u64] {
    match level {
        Level::Quick => &[50, 90],
        Level::Full => &[10, 25, 50, 75, 90, 100],
    }
}

pub(crate) fn rounds(level: Level) -> u32 {
    ROUNDS[usize::from(level == Level::Full)]
}

/// Returns the depths of the sweep: powers of two, the depths halfway between, and the deepest.
pub(crate) fn depths(queue_depth: u32) -> Vec<u32> {
    let most = queue_depth.clamp(1, DEPTH_MAX);
    let powers = std::iter::successors(Some(1u32), |d| d.checked_mul(2));
    let mut all: Vec<u32> = powers
        .take_while(|d| *d <= most)
        .flat_map(|d| [d, d + d / 2])
        .filter(|d| *d <= most)
        .chain([most])
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the depths between two of the sweep, at most seven.
pub(crate) fn between(low: u32, high: u32) -> Vec<u32> {
    let gap = high.saturating_sub(low);
    let count = 7.min(gap.saturating_sub(1));
    let mut all: Vec<u32> = (1..=count).map(|i| low + i * gap / (count + 1)).collect();
    all.dedup();
    all
}

fn places(io: &mut Io<'_>, space: &Space, count: u64) -> Vec<Ask> {
    let read = read_bytes(space);
    let slots = (space.span() / read).max(1);
    let place = |_| Ask::read(space.region.start + io.rng.below(slots) * read, read);
    (0..count).map(place).collect()
}

pub(crate) fn alone(session: &mut Session<'_>) -> Result<(), Stop> {
    let space = session.space();
    session.step(PARAMETER, "alone", |io| {
        io.idle(SETTLE)?;
        let asks = places(io, &space, u64::from(ALONES));
        let served = io.serve(&asks, 1)?;
        for (rep, one) in (0..).zip(&served) {
            io.sample_served(ALONE, 1, rep, one);
        }
        Ok(())
    })
}

/// Returns how many requests a closed loop has.
pub(crate) fn count(depth: u32, alone_ns: f64, level: Level) -> u64 {
    let depth = u64::from(depth);
    let in_time = (LOOP.0 as f64 / alone_ns.max(1.0)) as u64;
    let wanted = (EACH * depth).max(LEAST[usize::from(level == Level::Full)]);
    2 * depth + wanted.min((in_time * depth).max(FEW * depth).max(FEW))
}

/// Runs closed loops of these depths once, in random order.
pub(crate) fn sweep(
    session: &mut Session<'_>,
    name: &str,
    round: u32,
    depths: &[u32],
    alone_ns: f64,
) -> Result<(), Stop> {
    let space = session.space();
    session.step(PARAMETER, name, |io| {
        let mut order = depths.to_vec();
        io.rng.shuffle(&mut order);
        for depth in order {
            let asks = places(io, &space, count(depth, alone_ns, space.level));
            let served = closed(io, &asks, depth, round)?;
            io.sample_rate(CLOSED, u64::from(depth), round, &served, depth);
        }
        Ok(())
    })
}

fn closed(io: &mut Io<'_>, asks: &[Ask], depth: u32, round: u32) -> Result<Vec<Served>, Stop> {
    let before = io.host_time();
    let from = io.now();
    let served = io.serve(asks, depth)?;
    if let Some((before, after)) = before.zip(io.host_time()) {
        io.sample_host(
            HOST,
            u64::from(depth),
            round,
            from,
            Dur(after.0.saturating_sub(before.0)),
        );
    }
    Ok(served)
}

/// The knee that was found: its depth, and its rate in reads per second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) depth: u32,
    pub(crate) per_second: f64,
}

/// Reads at the knee for the latencies there.
pub(crate) fn at_knee(session: &mut Session<'_>, found: Found) -> Result<(), Stop> {
    let space = session.space();
    let Found { depth, per_second } = found;
    session.step(PARAMETER, "at the knee", |io| {
        let reads = KNEE_READS
            .min((10.0 * per_second) as u64)
            .max(4 * u64::from(depth));
        let asks = places(io, &space, reads);
        for (rep, one) in (0..).zip(&io.serve(&asks, depth)?) {
            io.sample_served(AT_KNEE, u64::from(depth), rep, one);
        }
        Ok(())
    })
}

/// Reads at random times, so that on average `load` percent of the rate are due.
pub(crate) fn open(
    session: &mut Session<'_>,
    load: u64,
    attempt: u32,
    found: Found,
) -> Result<(), Stop> {
    let space = session.space();
    let Found { depth, per_second } = found;
    session.step(PARAMETER, &format!("open at {load} %, {attempt}"), |io| {
        let gap = 1e11 / (per_second.max(1e-3) * load as f64);
        // The loop must last much longer than the queue takes to fill.
        let least = 30 * u64::from(depth);
        let reads = OPEN_READS
            .max(least)
            .min((20.0 * per_second) as u64)
            .max(16);
        let mut due = 0.0;
        let asks: Vec<Ask> = places(io, &space, reads)
            .into_iter()
            .map(|ask| {
                due += io.rng.exponential(gap);
                ask.at(Dur(due as u64))
            })
            .collect();
        for one in &io.serve(&asks, u32::MAX)? {
            io.sample_served(OPEN, load, attempt, one);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::{Level, between, count, depths};

    #[test]
    fn depths_end_with_the_deepest_queue() {
        assert_eq!(depths(1), [1]);
        assert_eq!(depths(5), [1, 2, 3, 4, 5]);
        assert_eq!(depths(32), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]);
        assert_eq!(depths(4096).last(), Some(&1024));
        assert_eq!(between(4, 6), [5]);
        assert_eq!(between(4, 5), []);
        assert_eq!(between(64, 96), [68, 72, 76, 80, 84, 88, 92]);
    }

    #[test]
    fn a_loop_is_long_against_its_queue_and_short_on_a_slow_drive() {
        let quick = |depth, ns| count(depth, ns, Level::Quick);
        assert_eq!(quick(1, 10_000.0), 2 + 1024);
        // A thousand in 100 ms.
        assert_eq!(quick(1, 100_000.0), 2 + 1000);
        assert_eq!(quick(1024, 100_000.0), 18 * 1024);
        assert_eq!(count(32, 100_000.0, Level::Full), 64 + 6144);
        // At 10 ms a read ten in 100 ms, for each place in the queue.
        assert_eq!(quick(1, 1e7), 12);
        assert_eq!(quick(32, 1e7), 64 + 320);
        assert_eq!(count(32, 1e7, Level::Full), 64 + 320);
        assert_eq!(quick(32, 1e9), 64 + 128);
    }
}
