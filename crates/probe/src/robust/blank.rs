//! Reads of places that hold nothing: what a read costs beside the flash.
//!
//! A drive answers a read of a trimmed place without its flash. The difference to a read of data is the time of the flash;
//! no other pair of accesses shows it without an assumption.

use super::pace::Pace;
use crate::{Ask, Io, Series, Stop};
use fathom_base::Dur;
use std::ops::Range;

/// A read of a place that holds nothing.
pub(crate) const NOTHING: Series = Series::new("nothing");
/// Two such reads at once, until both are served.
pub(crate) const NOTHING_PAIR: Series = Series::new("nothing_pair");

/// The time in which a drive ends what it does after writes.
pub(crate) const SETTLE: Dur = Dur::ms(2000);

/// The length of the area that is trimmed and written again, at most.
const AREA_MAX: u64 = 8 << 20;

/// Returns the area that is trimmed, at the start of a region; at most a sixteenth of it.
pub(crate) fn area(region: &Range<u64>, block_bytes: u64) -> Range<u64> {
    let bytes = AREA_MAX.min((region.end - region.start) / 16) / block_bytes * block_bytes;
    region.start..region.start + bytes
}

/// Trims the area, reads `count` places of it alone and in pairs, and writes the area again. Each place is read once before,
/// so that its entry of the map is in memory. Takes no samples on a drive without TRIM.
pub(crate) fn measure(
    io: &mut Io<'_>,
    area: Range<u64>,
    read: u64,
    count: u32,
    pace: Pace,
) -> Result<(), Stop> {
    if !io.info().trim {
        return Ok(());
    }
    io.trim(area.start, area.end - area.start)?;
    let slots = ((area.end - area.start) / read).max(1);
    for rep in 0..count {
        let [a, b] = [0; 2].map(|_| area.start + io.rng.below(slots) * read);
        pace.wait(io, 2)?;
        io.read(a, read)?;
        io.read(b, read)?;
        pace.wait(io, 1)?;
        if let Some(one) = io.serve(&[Ask::read(a, read)], 1)?.first() {
            io.sample_served(NOTHING, read, rep, one);
        }
        pace.wait(io, 2)?;
        pair(io, [a, b], read, NOTHING_PAIR, read, rep)?;
    }
    io.fill_sequential(area)
}

/// Reads two places at once, and records the time until both are served.
pub(crate) fn pair(
    io: &mut Io<'_>,
    places: [u64; 2],
    read: u64,
    series: Series,
    x: u64,
    rep: u32,
) -> Result<(), Stop> {
    io.read_queued(&places.map(|at| (at, read)), 2)?;
    io.sample(series, x, rep);
    Ok(())
}
