//! The steps that take the samples of the compression.

use super::series::{
    READ_REPEATED, READ_UNIQUE, READ_ZEROS, REPEATED, SMALL_REPEATED, SMALL_UNIQUE, SMALL_ZEROS,
    UNIQUE, ZEROS,
};
use crate::record::{Level, Timed};
use crate::{Io, Parameter, Series, Session, Space, Stop};
use fathom_block::Payload;

pub(super) const PARAMETER: Parameter = Parameter::Compression;
/// The length of a write in order, and of a small write at a random place, in bytes.
const LONG: u64 = 8 << 20;
const SMALL: u64 = 4096;
/// What is written before it of the same content, so that memory holds nothing else: with a volatile cache, which a flush
/// empties, and with memory that may be protected.
const LEAD: [u64; 2] = [0, 32 << 20];
/// The small writes of a sample.
const WRITES: u64 = 64;
/// The orders of the contents: each comes as often first, second and third, and as often after each other one. A drive that
/// merges blocks makes one write in a round pay for what was written before it, and an order that is only drawn gives that
/// place to one content more often than to another.
const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];
/// The rounds of a batch, one for each order, and the batches at each level.
const ROUNDS: u32 = ORDERS.len() as u32;
const BATCHES: [u32; 2] = [2, 5];
/// The bytes of each content that are written between two looks at the drive's own log, at each level.
const LOGGED: [u64; 2] = [32 << 20, 64 << 20];
/// How often each content is written so.
const LOGS: u32 = 3;

/// A content with its series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arm {
    pub(super) payload: Payload,
    pub(super) long: Series,
    pub(super) small: Series,
    pub(super) read: Series,
}

/// The contents, the one that cannot shrink first.
pub(super) const ARMS: [Arm; 3] = [
    Arm {
        payload: Payload::Unique,
        long: UNIQUE,
        small: SMALL_UNIQUE,
        read: READ_UNIQUE,
    },
    Arm {
        payload: Payload::Repeated,
        long: REPEATED,
        small: SMALL_REPEATED,
        read: READ_REPEATED,
    },
    Arm {
        payload: Payload::Zero,
        long: ZEROS,
        small: SMALL_ZEROS,
        read: READ_ZEROS,
    },
];

/// The lengths of a measurement, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lengths {
    lead: u64,
    long: u64,
    small: u64,
    logged: u64,
    pub(super) batches: u32,
}

impl Lengths {
    pub(super) fn of(space: &Space, volatile_cache: bool) -> Self {
        let (logged, batches) = match space.level {
            Level::Quick => (LOGGED[0], BATCHES[0]),
            Level::Full => (LOGGED[1], BATCHES[1]),
        };
        let small = space.round_up(SMALL);
        let whole = |bytes: u64| bytes.min(space.span() / 16) / small * small;
        Self {
            lead: whole(LEAD[usize::from(!volatile_cache)]),
            long: whole(LONG).max(small),
            small,
            logged: whole(logged).max(small),
            batches,
        }
    }

    fn area(&self) -> u64 {
        self.lead + self.long
    }

    /// Returns the most that is written, in bytes.
    pub(super) fn bound(&self) -> u64 {
        let round = 2 * self.area() + WRITES * self.small;
        3 * (u64::from(self.batches * ROUNDS) * round
            + 2 * u64::from(LOGS) * (self.lead + self.logged))
    }
}

/// Makes a batch of rounds. In each, every content is written in an area of its own, in order and at random places, and
/// read; then all areas are filled with bytes that occur nowhere else, so that every round finds the same state.
pub(super) fn batch(session: &mut Session<'_>, lengths: Lengths, number: u32) -> Result<(), Stop> {
    let space = session.space();
    session.step(PARAMETER, &format!("rounds {number}"), |io| {
        let mut orders = ORDERS;
        io.rng.shuffle(&mut orders);
        for (order, round) in orders.into_iter().zip(0..) {
            let areas = areas(io, &space, lengths.area());
            for (arm, area) in order.map(|arm| ARMS[arm]).into_iter().zip(areas) {
                make(io, arm, lengths, area, number * ROUNDS + round)?;
            }
            for area in areas {
                io.fill_sequential(area..area + lengths.area())?;
            }
        }
        Ok(())
    })
}

/// Returns three areas that follow each other, somewhere in the span.
fn areas(io: &mut Io<'_>, space: &Space, len: u64) -> [u64; 3] {
    let slots = space.span() / len;
    let first = io.rng.below(slots.saturating_sub(2).max(1));
    [0, 1, 2].map(|i| space.region.start + (first + i).min(slots.max(1) - 1) * len)
}

fn make(io: &mut Io<'_>, arm: Arm, lengths: Lengths, area: u64, rep: u32) -> Result<(), Stop> {
    io.flush()?;
    io.payload(arm.payload);
    if lengths.lead > 0 {
        io.write(area, lengths.lead)?;
    }
    let area = area + lengths.lead;
    let mark = io.mark(area);
    io.write(area, lengths.long)?;
    io.flush()?;
    io.sample_since(&mark, Timed::WriteFlush, arm.long, lengths.long, rep);
    io.read(area, lengths.long)?;
    io.sample(arm.read, lengths.long, rep);
    let slots = lengths.long / lengths.small;
    let places: Vec<(u64, u64)> = (0..WRITES.min(slots))
        .map(|_| (area + io.rng.below(slots) * lengths.small, lengths.small))
        .collect();
    let mark = io.mark(area);
    io.write_queued(&places, u32::MAX)?;
    io.flush()?;
    io.sample_since(&mark, Timed::WriteFlush, arm.small, lengths.small, rep);
    io.payload(Payload::Unique);
    Ok(())
}

/// The name of a step that writes a content between two looks at the drive's own log.
fn logged_name(arm: Arm, round: u32) -> String {
    format!("log {} {round}", arm.long)
}

/// The names of all such steps of a content.
pub(super) fn logged_names(arm: Arm) -> impl Iterator<Item = String> {
    (0..LOGS).map(move |round| logged_name(arm, round))
}

/// Writes each content in order between two looks at the drive's own log, if it counts media bytes. What comes before is of
/// the same content, so that memory holds as much of it before as after.
pub(super) fn logged(session: &mut Session<'_>, lengths: Lengths) -> Result<(), Stop> {
    let start = session.region().start;
    for round in 0..LOGS {
        // Each content follows each other one.
        for arm in [0, 1, 2].map(|i| ARMS[(i + round as usize) % 3]) {
            session.step(PARAMETER, &logged_name(arm, round), |io| {
                if io.log().and_then(|log| log.media_bytes_written).is_none() {
                    return Ok(());
                }
                io.payload(arm.payload);
                if lengths.lead > 0 {
                    io.write(start + lengths.logged, lengths.lead)?;
                }
                io.flush()?;
                io.log();
                io.write(start, lengths.logged)?;
                io.flush()?;
                io.log();
                io.payload(Payload::Unique);
                io.fill_sequential(start..start + lengths.logged + lengths.lead)
            })?;
        }
    }
    Ok(())
}
