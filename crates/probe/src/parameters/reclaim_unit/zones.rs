//! Zones: parts of the drive that are trimmed and written as wholes, in random order.
//!
//! A drive appends what comes to the units that it fills. If a zone is much larger than a unit, all data of a unit becomes
//! invalid together, and the unit is erased as it is. If it is smaller, a unit holds parts of several zones, and the data of
//! those that live on has to be moved first. Zones of every size begin with a drive that was filled in sequence.

use super::order::PARAMETER;
use super::series::ZONE;
use crate::record::Timed;
use crate::robust::samples::of_step;
use crate::{Io, Record, Session, Space, Stop};
use fathom_block::DriveLog;
use std::collections::BTreeMap;
use std::ops::Range;

/// The number of writes in flight.
const DEPTH: u32 = 32;
/// The bytes that are trimmed together, at least: as many zones as it takes are written one after the other.
const GROUP: u64 = 8 << 20;
/// The batches of a fill, those before the ones that count, and the ones that count.
const BATCHES: u64 = 16;
const WARM: u64 = 12;
const COUNTED: u64 = 4;
/// The parts of a unit that are tried as zones, the least of them in bytes, the largest power of two they may be a multiple of,
/// the parts of the drive that a batch writes, and the batches.
const PARTS: [u64; 6] = [2, 3, 5, 7, 11, 13];
const PART_MIN: u64 = 1 << 20;
const PART_SHIFT: u32 = 40;
const PART_BATCHES: u64 = 32;
const PART_WARM: u64 = 1;
const PART_COUNTED: u64 = 2;
const OF_PARTS: &str = "zones that are parts of it";
/// The least number of zones of a drive.
pub(super) const ZONES_MIN: u64 = 8;

/// The steady state of zones of one size.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Zoned {
    pub(super) bytes: u64,
    /// The times of a byte in the batches that count, in nanoseconds.
    pub(super) ns_per_byte: Vec<f64>,
    /// Bytes written to the media for each byte of the host, if the drive tells.
    pub(super) media: Option<f64>,
}

fn name(bytes: u64) -> String {
    format!("zones of {bytes}")
}

/// The most that is written for the parts of a unit, in bytes.
pub(super) fn bound_of_parts(space: &Space) -> u64 {
    let batch = space.bytes() / PART_BATCHES + space.bytes() / ZONES_MIN.max(GROUP / PART_MIN);
    PARTS.len() as u64 * (PART_WARM + PART_COUNTED) * batch
}

/// The most that is written for one size, in bytes.
pub(super) fn bound(space: &Space) -> u64 {
    space.bytes()
        + space.bytes() / BATCHES * (WARM + COUNTED)
        + (WARM + COUNTED) * space.bytes() / ZONES_MIN
}

/// Writes zones of one size until the speed is steady, and then with their times.
pub(super) fn measure(session: &mut Session<'_>, bytes: u64) -> Result<(), Stop> {
    let region = session.region();
    session.step(PARAMETER, &name(bytes), |io| {
        io.fill_sequential(region.clone())?;
        for batch in 0..WARM + COUNTED {
            if batch == WARM {
                io.log();
            }
            write(io, bytes, BATCHES, batch as u32)?;
        }
        io.log();
        Ok(())
    })
}

/// Writes a batch of zones at random, each trimmed before: one part of the drive of `parts`.
fn write(io: &mut Io<'_>, bytes: u64, parts: u64, batch: u32) -> Result<(), Stop> {
    let region = io.region();
    let zones = (region.end - region.start) / bytes;
    let block = u64::from(io.info().logical_block_bytes).max(1);
    let longest = (io.info().max_request_bytes / block * block)
        .max(block)
        .min(bytes);
    let group = GROUP.div_ceil(bytes);
    let mark = io.mark(region.start);
    for _ in 0..(zones * bytes / parts).div_ceil(group * bytes) {
        let chosen: Vec<u64> = (0..group)
            .map(|_| region.start + io.rng.below(zones) * bytes)
            .collect();
        for at in &chosen {
            io.trim(*at, bytes)?;
        }
        let list: Vec<(u64, u64)> = (chosen.iter())
            .flat_map(|at| {
                let places = (*at..at + bytes).step_by(longest as usize);
                places.map(move |place| (place, longest.min(at + bytes - place)))
            })
            .collect();
        io.write_queued(&list, DEPTH)?;
    }
    io.sample_since(&mark, Timed::Write, ZONE, bytes, batch);
    Ok(())
}

/// Returns the sizes that are a part of a unit of a size within `unit`, in bytes: of each, the multiple of the largest power of
/// two. Zones that begin in the middle of a block tell nothing of it, and blocks have such sizes.
fn parts(unit: Range<f64>, block: u64) -> impl Iterator<Item = u64> {
    let round = move |n: u64| {
        let [low, high] = [unit.start, unit.end].map(|bytes| bytes / n as f64);
        let multiple = |shift: u32| {
            let step = (1_u64 << shift) as f64;
            let nearest = ((low + high) / 2.0 / step).round() * step;
            (low..=high).contains(&nearest).then_some(nearest as u64)
        };
        (0..PART_SHIFT).rev().find_map(multiple)
    };
    let whole = move |part: &u64| part.is_multiple_of(block) && *part >= PART_MIN;
    PARTS.into_iter().filter_map(round).filter(whole)
}

/// Writes some zones of every part of a unit, to a drive that zones have brought into a steady state.
pub(super) fn measure_parts(session: &mut Session<'_>, unit: Range<f64>) -> Result<(), Stop> {
    let block = session.space().block_bytes;
    session.step(PARAMETER, OF_PARTS, |io| {
        for bytes in parts(unit, block) {
            for batch in 0..PART_WARM + PART_COUNTED {
                write(io, bytes, PART_BATCHES, batch as u32)?;
            }
        }
        Ok(())
    })
}

/// Returns the times of a byte in zones of every part of the unit, in nanoseconds.
pub(super) fn of_parts(record: &Record) -> BTreeMap<u64, Vec<f64>> {
    let mut all: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let samples = of_step(record, PARAMETER, OF_PARTS).into_iter().flatten();
    for sample in samples.filter(|s| u64::from(s.rep) >= PART_WARM) {
        let times = all.entry(sample.x).or_default();
        times.push(sample.ns as f64 / sample.bytes.max(1) as f64);
    }
    all
}

/// Returns the steady state of zones of one size, if it was measured.
pub(super) fn zoned(record: &Record, bytes: u64) -> Option<Zoned> {
    let samples = of_step(record, PARAMETER, &name(bytes))?;
    let counted = samples.filter(|s| u64::from(s.rep) >= WARM);
    let mut steps = record.steps.iter();
    let step = steps.find(|step| step.parameter == PARAMETER && step.name == name(bytes))?;
    Some(Zoned {
        bytes,
        ns_per_byte: counted
            .map(|s| s.ns as f64 / s.bytes.max(1) as f64)
            .collect(),
        media: step
            .logs
            .first()
            .zip(step.logs.last())
            .and_then(|(from, to)| media(from, to)),
    })
}

/// Returns the bytes written to the media for each byte of the host between two logs.
fn media(from: &DriveLog, to: &DriveLog) -> Option<f64> {
    let grown = |of: fn(&DriveLog) -> Option<u64>| Some(of(to)?.saturating_sub(of(from)?) as f64);
    let host = grown(|log| log.host_bytes_written)?;
    (host > 0.0).then_some(grown(|log| log.media_bytes_written)? / host)
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn parts_have_sizes_of_blocks() {
        // A third, a fifth and so on of 198 MiB, to what the interval leaves open.
        let mib = |bytes: f64| bytes * 1_048_576.0;
        let all: Vec<u64> = parts(mib(195.5)..mib(200.5), 512)
            .map(|part| part >> 20)
            .collect();
        assert_eq!(all, [100, 66, 40, 28, 18, 15]);
        assert!(parts(mib(0.9)..mib(1.1), 512).next().is_none());
    }
}
