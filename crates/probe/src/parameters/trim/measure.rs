//! The steps that take the samples of the TRIM. Each fills again what it has trimmed.

use super::{DURING, INTO_TRIMMED, INTO_WRITTEN, QUIET, TRIM, TRIMMED, TRIMMED_LATER, WRITTEN};
use crate::record::{Level, Timed};
use crate::session::Ask;
use crate::{Io, Parameter, Series, Session, Space, Stop};
use fathom_base::Dur;
use fathom_block::{Contents, Op};

pub(super) const PARAMETER: Parameter = Parameter::Trim;
/// The length of a small request, in bytes, if the logical block is not longer.
const SMALL: u64 = 4096;
/// The lengths of a TRIM, and the longest one at the quick level.
const LENGTHS: [u64; 5] = [SMALL, 64 << 10, 1 << 20, 4 << 20, 16 << 20];
const QUICK_MAX: u64 = 4 << 20;
/// The length that the value is about.
const TYPICAL: u64 = 1 << 20;
/// The rounds of lengths at each level.
const ROUNDS: [u64; 2] = [12, 24];
/// Pairs of reads of a trimmed and a written place, and the pause before they are read again.
const READS: u32 = 48;
const PAUSE: Dur = Dur::ms(1_000);
/// The places that the drive is asked about.
const ASKED: u32 = 8;
/// Rounds of reads with and without TRIMs; the reads of each, and after how many of them a TRIM comes.
const DURING_ROUNDS: u32 = 16;
const DURING_READS: u64 = 24;
const TRIM_EVERY: u64 = 4;
/// The length of such a TRIM.
const DURING_TRIM: u64 = 256 << 10;
/// Pairs of trimmed and written areas that are written again; the length of an area, and the writes.
const PAIRS: u32 = 12;
const AREA: u64 = 1 << 20;
/// The least region, in bytes.
const SPAN_MIN: u64 = 1 << 20;
const WRITES: u64 = 32;

/// The lengths and places of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) small: u64,
    pub(super) lengths: Vec<u64>,
    /// A slot has room for one TRIM of every length.
    slot: u64,
    slots: u64,
    start: u64,
    rounds: u64,
}

impl Layout {
    /// Returns the layout for a space, or `None` if that is too small.
    pub(super) fn of(space: &Space) -> Option<Self> {
        let (most, rounds) = match space.level {
            Level::Quick => (QUICK_MAX, ROUNDS[0]),
            Level::Full => (u64::MAX, ROUNDS[1]),
        };
        if space.span() < SPAN_MIN {
            return None;
        }
        let most = most.min(space.span() / 64);
        let mut lengths: Vec<u64> = LENGTHS.iter().map(|len| space.round_up(*len)).collect();
        lengths.retain(|len| *len <= most);
        lengths.dedup();
        let slot = 2 * *lengths.last()?;
        let slots = space.span() / slot;
        Some(Self {
            small: space.round_up(SMALL),
            lengths,
            slot,
            slots,
            start: space.region.start,
            rounds: rounds.min(slots),
        })
    }

    /// Returns the length that the value is about: 1 MiB, or the longest if that is shorter.
    pub(super) fn typical(&self) -> u64 {
        let last = self.lengths.iter().rev().find(|len| **len <= TYPICAL);
        last.copied().unwrap_or(self.small)
    }

    /// Returns the most that all steps write, in bytes.
    pub(super) fn bound(&self) -> u64 {
        let lengths = self.rounds * self.slot;
        let pairs = u64::from(PAIRS) * 2 * (self.area() + WRITES * self.small);
        lengths + 2 * self.slot + self.during_span() + pairs
    }

    fn area(&self) -> u64 {
        AREA.min(self.slot / 2) / self.small * self.small
    }

    /// The length of a TRIM among reads, and of all of them.
    fn during_trim(&self) -> u64 {
        let most =
            self.slot * self.slots / 4 / u64::from(DURING_ROUNDS) / (DURING_READS / TRIM_EVERY);
        (DURING_TRIM.min(most) / self.small).max(1) * self.small
    }

    fn during_span(&self) -> u64 {
        u64::from(DURING_ROUNDS) * DURING_READS / TRIM_EVERY * self.during_trim()
    }

    fn slot_at(&self, number: u64) -> u64 {
        self.start + number % self.slots * self.slot
    }
}

/// TRIMs of every length, in random order, each at a place that was written since it was trimmed last.
pub(super) fn lengths(session: &mut Session<'_>, layout: &Layout) -> Result<(), Stop> {
    session.step(PARAMETER, "lengths", |io| {
        let first = io.rng.below(layout.slots);
        let mut order: Vec<u64> = layout.lengths.clone();
        io.flush()?;
        for round in 0..layout.rounds {
            io.rng.shuffle(&mut order);
            let slot = layout.slot_at(first + round);
            for len in &order {
                // A length and the shorter ones fit below twice the length, so each is aligned to itself.
                io.trim(slot + len, *len)?;
                io.sample(TRIM, *len, round as u32);
            }
        }
        for round in 0..layout.rounds {
            let slot = layout.slot_at(first + round);
            io.fill_sequential(slot..slot + layout.slot)?;
        }
        Ok(())
    })
}

/// Reads of a trimmed and of a written place in turns, and what the drive says about the trimmed one.
pub(super) fn reads(session: &mut Session<'_>, layout: &Layout) -> Result<(), Stop> {
    session.step(PARAMETER, "reads", |io| {
        let first = io.rng.below(layout.slots.max(2) - 1);
        let (trimmed, written) = (layout.slot_at(first), layout.slot_at(first + 1));
        io.trim(trimmed, layout.slot)?;
        pairs(io, layout, [trimmed, written], TRIMMED)?;
        for rep in 0..ASKED {
            let at = any(io, layout, trimmed);
            let told = match io.contents(at, layout.small)? {
                Contents::Untold => continue,
                Contents::Hole => Series::HOLE,
                Contents::Blank => Series::BLANK,
                Contents::Data => Series::DATA,
            };
            io.sample(told, layout.small, rep);
        }
        io.idle(PAUSE)?;
        pairs(io, layout, [trimmed, written], TRIMMED_LATER)?;
        io.fill_sequential(trimmed..trimmed + layout.slot)
    })
}

fn pairs(io: &mut Io<'_>, layout: &Layout, places: [u64; 2], series: Series) -> Result<(), Stop> {
    for rep in 0..READS {
        let mut arms = [(places[0], series), (places[1], WRITTEN)];
        io.rng.shuffle(&mut arms);
        for (place, series) in arms {
            let at = any(io, layout, place);
            io.read(at, layout.small)?;
            io.sample(series, layout.small, rep);
        }
    }
    Ok(())
}

fn any(io: &mut Io<'_>, layout: &Layout, place: u64) -> u64 {
    place + io.rng.below(layout.slot / layout.small) * layout.small
}

/// Reads of the second half, two at a time, with and without TRIMs in the first quarter among them.
pub(super) fn during(session: &mut Session<'_>, layout: &Layout) -> Result<(), Stop> {
    session.step(PARAMETER, "during", |io| {
        let half = layout.slots / 2;
        let mut next = layout.start;
        for round in 0..DURING_ROUNDS {
            let mut arms = [QUIET, DURING];
            io.rng.shuffle(&mut arms);
            for series in arms {
                let mut asks = Vec::new();
                for i in 0..DURING_READS {
                    let slot = layout.slot_at(half + io.rng.below((layout.slots - half).max(1)));
                    asks.push(Ask::read(any(io, layout, slot), layout.small));
                    if series == DURING && i % TRIM_EVERY == 0 {
                        let op = Op::Trim;
                        asks.push(Ask {
                            op,
                            ..Ask::read(next, layout.during_trim())
                        });
                        next += layout.during_trim();
                    }
                }
                let served = io.serve(&asks, 2)?;
                let reads = served.iter().filter(|done| done.ask.op == Op::Read);
                for (i, read) in reads.enumerate() {
                    let rep = round * DURING_READS as u32 + i as u32;
                    io.sample_served(series, layout.small, rep, read);
                }
            }
        }
        io.fill_sequential(layout.start..next)
    })
}

/// Small random writes into pairs of neighbouring areas of which one was trimmed.
pub(super) fn rewrites(session: &mut Session<'_>, layout: &Layout) -> Result<(), Stop> {
    session.step(PARAMETER, "rewrites", |io| {
        for rep in 0..PAIRS {
            let slot = layout.slot_at(io.rng.below(layout.slots));
            let mut areas = [slot, slot + layout.slot / 2];
            io.rng.shuffle(&mut areas);
            io.trim(areas[0], layout.area())?;
            let mut arms = [(areas[0], INTO_TRIMMED), (areas[1], INTO_WRITTEN)];
            io.rng.shuffle(&mut arms);
            for (area, series) in arms {
                scatter(io, layout, area, (series, rep))?;
            }
            for area in areas {
                io.fill_sequential(area..area + layout.area())?;
            }
        }
        Ok(())
    })
}

fn scatter(io: &mut Io<'_>, layout: &Layout, area: u64, of: (Series, u32)) -> Result<(), Stop> {
    let (series, rep) = of;
    let mut places: Vec<u64> = (0..layout.area() / layout.small).collect();
    io.rng.shuffle(&mut places);
    io.flush()?;
    let mark = io.mark(area);
    for place in places.iter().take(WRITES as usize) {
        io.write(area + place * layout.small, layout.small)?;
    }
    io.flush()?;
    io.sample_since(&mark, Timed::WriteFlush, series, layout.area(), rep);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Layout;
    use crate::Space;
    use crate::record::Level;

    fn layout(bytes: u64, block_bytes: u64) -> Option<Layout> {
        Layout::of(&Space {
            region: 0..bytes,
            block_bytes,
            thin: 1,
            level: Level::Full,
        })
    }

    #[test]
    fn every_trim_lies_within_its_slot_and_meets_no_other() {
        for bytes in [1 << 20, 64 << 20, 1 << 30] {
            let layout = layout(bytes, 512).unwrap();
            let mut end = 0;
            for len in &layout.lengths {
                assert!(*len >= end, "a TRIM from {len} begins before {end}");
                end = 2 * len;
            }
            assert!(end <= layout.slot);
            assert!(layout.during_span() <= bytes / 2, "{layout:?}");
        }
    }

    #[test]
    fn the_length_of_the_value_is_a_mebibyte_if_it_fits() {
        assert_eq!(layout(1 << 30, 4096).unwrap().typical(), 1 << 20);
        assert_eq!(layout(32 << 20, 4096).unwrap().typical(), 64 << 10);
        assert_eq!(layout(512 << 10, 4096), None);
    }
}
