//! Preparation of a drive before a run, so that it behaves like a drive in use.

use fathom_base::{BadValue, Bytes, Dur, Rng, Time};
use fathom_block::{IoError, Op, Request, Subject};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The state of a drive at the start of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Precondition {
    /// Unchanged: a real drive, or a model that holds data from the start.
    AsIs,
    /// New, without data.
    Fresh,
    /// Written once from beginning to end; a zoned drive zone by zone, each as far as it holds data.
    Filled,
    /// Filled, then overwritten at random in pieces of `bytes` until `times` times the capacity has been written.
    Random {
        /// Multiple of the capacity.
        times: f64,
        /// Length of a write.
        bytes: Bytes,
    },
}

/// Parses `as-is`, `fresh`, `filled`, or `random:TIMES` in pieces of 4 KiB.
impl std::str::FromStr for Precondition {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let wrong = || {
            let allowed = "write as-is, fresh, filled, or random:TIMES such as random:1.5";
            BadValue::new("precondition", text, allowed)
        };
        match text.split_once(':') {
            None if text == "as-is" => Ok(Self::AsIs),
            None if text == "fresh" => Ok(Self::Fresh),
            None if text == "filled" => Ok(Self::Filled),
            Some(("random", times)) => {
                let times: f64 = times.parse().map_err(|_| wrong())?;
                let sane = (0.0..=1000.0).contains(&times);
                let bytes = Bytes::kib(4);
                sane.then_some(Self::Random { times, bytes })
                    .ok_or_else(wrong)
            }
            _ => Err(wrong()),
        }
    }
}

impl Precondition {
    /// Returns true if the writes that bring a drive into this state are drawn from the seed.
    pub fn depends_on_seed(self) -> bool {
        match self {
            Self::AsIs | Self::Fresh | Self::Filled => false,
            Self::Random { .. } => true,
        }
    }

    /// Returns the state a run begins in: `given`, or `filled` for a drive that starts empty, because no drive in use
    /// answers reads from erased flash. A drive that does not start empty cannot be fresh and is taken as it is.
    pub fn of(given: Option<Self>, starts_empty: bool) -> Self {
        match (given, starts_empty) {
            (None, true) => Self::Filled,
            (None | Some(Self::Fresh), false) => Self::AsIs,
            (Some(Self::AsIs), true) => Self::Fresh,
            (Some(given), _) => given,
        }
    }
}

/// Number of requests in flight during the preparation.
const DEPTH: usize = 32;
/// Length of a sequential write, in bytes.
const FILL_BYTES: u64 = 1 << 20;
/// Idle time of the drive at the end.
const REST: Dur = Dur(1_000_000_000);

/// Brings a drive into a state and lets it come to rest.
///
/// # Errors
/// The error of the first write that fails.
pub fn prepare(drive: &mut dyn Subject, state: Precondition, seed: u64) -> Result<(), IoError> {
    prepare_watched(drive, state, seed, &mut |_| {})
}

/// As [`prepare`], and reports the number of bytes written so far after each write.
///
/// # Errors
/// The error of the first write that fails.
pub fn prepare_watched(
    drive: &mut dyn Subject,
    state: Precondition,
    seed: u64,
    watcher: &mut dyn FnMut(u64),
) -> Result<(), IoError> {
    let info = drive.info();
    let (capacity, max) = (info.capacity_bytes, info.max_request_bytes);
    let block = u64::from(info.logical_block_bytes);
    let (zone, holds) = match &info.zoned {
        Some(zoned) => (zoned.zone_bytes.max(block), zoned.zone_capacity_bytes),
        None => (capacity.max(block), capacity),
    };
    if matches!(state, Precondition::AsIs | Precondition::Fresh) {
        return Ok(());
    }
    let piece = FILL_BYTES.min(max).max(block);
    let filled = drive.fill();
    let zones = (0..capacity.div_ceil(zone)).map(|i| i * zone);
    let pieces = zones.flat_map(|from| in_order(from..from + holds.min(capacity - from), piece));
    let pieces = pieces
        .filter(|piece| piece.end > filled)
        .map(|piece| (piece.start.max(filled), piece.end));
    let mut written = filled;
    let mut count = |bytes: u64| {
        written += bytes;
        watcher(written);
    };
    let pieces = pieces.map(|(from, to)| (from, to - from));
    write_all(drive, pieces, &mut count)?;
    if let Precondition::Random { times, bytes } = state {
        let bytes = bytes.0.next_multiple_of(block).min(max).max(block);
        let mut rng = Rng::new(seed, u64::MAX);
        let writes = (capacity as f64 * times / bytes as f64) as u64;
        let places = capacity / bytes;
        let writes = (0..writes).map(|_| (rng.below(places) * bytes, bytes));
        write_all(drive, writes, &mut count)?;
    }
    let until = drive.now() + REST;
    let mut done = Vec::new();
    while drive.now() < until {
        drive.wait(until, &mut done);
    }
    Ok(())
}

/// Divides a range, which begins at a multiple of `piece` unless it is a zone, into pieces.
fn in_order(range: Range<u64>, piece: u64) -> impl Iterator<Item = Range<u64>> {
    let count = (range.end - range.start).div_ceil(piece);
    (0..count).map(move |i| {
        let from = range.start + i * piece;
        from..(from + piece).min(range.end)
    })
}

fn write_all(
    drive: &mut dyn Subject,
    writes: impl Iterator<Item = (u64, u64)>,
    count: &mut dyn FnMut(u64),
) -> Result<(), IoError> {
    let mut done = Vec::new();
    let mut in_flight = 0;
    let mut settle = |drive: &mut dyn Subject, in_flight: &mut usize| {
        drive.wait(Time::MAX, &mut done);
        *in_flight -= done.len();
        done.drain(..).try_for_each(|completion| completion.result)
    };
    for (id, (at, len)) in writes.enumerate() {
        let mut request = Request::new(id as u64, Op::Write, at, len);
        while in_flight >= DEPTH {
            settle(drive, &mut in_flight)?;
        }
        while let Err(busy) = drive.submit(request) {
            request = busy.0;
            settle(drive, &mut in_flight)?;
        }
        in_flight += 1;
        count(len);
    }
    while in_flight > 0 {
        settle(drive, &mut in_flight)?;
    }
    Ok(())
}
