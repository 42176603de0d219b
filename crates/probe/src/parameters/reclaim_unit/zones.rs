//! Zones: parts of the drive that are trimmed and written as wholes, in random order.
//!
//! A drive appends what comes to the units that it fills. If a zone is much larger than a unit, all data of a unit becomes
//! invalid together, and the unit is erased as it is. If it is smaller, a unit holds parts of several zones, and the data of
//! those that live on has to be moved first. Zones of every size begin with a drive that was filled in sequence.

use super::order::PARAMETER;
use super::series::ZONE;
use crate::robust::samples::of_step;
use crate::{Record, Session, Space, Stop};
use fathom_block::DriveLog;

/// The number of writes in flight.
const DEPTH: u32 = 32;
/// The bytes that are trimmed together, at least: as many zones as it takes are written one after the other.
const GROUP: u64 = 8 << 20;
/// The batches of a fill, those before the ones that count, and the ones that count.
const BATCHES: u64 = 16;
const WARM: u64 = 12;
const COUNTED: u64 = 4;
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
        let zones = (region.end - region.start) / bytes;
        let block = u64::from(io.info().logical_block_bytes).max(1);
        let longest = (io.info().max_request_bytes / block * block)
            .max(block)
            .min(bytes);
        let group = GROUP.div_ceil(bytes);
        let of_batch = (zones * bytes / BATCHES).div_ceil(group * bytes);
        io.fill_sequential(region.clone())?;
        for batch in 0..WARM + COUNTED {
            if batch == WARM {
                io.log();
            }
            let mark = io.mark(region.start);
            for _ in 0..of_batch {
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
            io.sample_since(
                &mark,
                crate::record::Timed::Write,
                ZONE,
                bytes,
                batch as u32,
            );
        }
        io.log();
        Ok(())
    })
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
