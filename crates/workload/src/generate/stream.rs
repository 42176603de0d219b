//! The iterator that produces the accesses of every generator.

use super::pacing::Clock;
use super::places::{Ends, Places, Starts};
use super::sizes::SizeTable;
use super::{Load, Side};
use fathom_base::BadValue;
use fathom_base::Rng;
use fathom_block::Access;
use fathom_block::Op;

/// The random streams, one per purpose. The numbers are fixed: a change of one parameter leaves the draws of the others.
#[derive(Clone, Copy)]
enum Stream {
    Op = 0,
    Size = 1,
    Way = 2,
    Place = 3,
    Time = 4,
    Keys = 5,
}

/// The state of the reads, or of the writes.
#[derive(Clone, Debug)]
struct SideAtWork {
    op: Op,
    sizes: SizeTable,
    /// Probability of a repeat; the next field adds that of continuing. Shares, not percentages.
    repeat: f64,
    repeat_or_go_on: f64,
    ends: Ends,
}

/// An iterator over the accesses of a load.
#[derive(Clone, Debug)]
pub struct Generator {
    left: u64,
    read_share: f64,
    reads: SideAtWork,
    writes: SideAtWork,
    places: Places,
    starts: Starts,
    clock: Clock,
    /// True if any access may repeat or continue another.
    looks_back: bool,
    op: Rng,
    size: Rng,
    way: Rng,
    place: Rng,
    time: Rng,
}

impl SideAtWork {
    fn new(op: Op, side: &Side, run_depth: u32) -> Self {
        Self {
            op,
            sizes: SizeTable::new(&side.sizes),
            repeat: side.repeat_percent / 100.0,
            repeat_or_go_on: (side.repeat_percent + side.sequential_percent) / 100.0,
            ends: Ends::new(run_depth),
        }
    }
}

impl Generator {
    /// Makes the generator of `load` under `seed`, at its first access.
    ///
    /// # Errors
    /// The first key of the load with an invalid value.
    pub fn new(load: &Load, seed: u64) -> Result<Self, BadValue> {
        load.check()?;
        let rng = |stream: Stream| Rng::new(seed, stream as u64);
        let mut time = rng(Stream::Time);
        let reads = SideAtWork::new(Op::Read, &load.reads, load.run_depth);
        let writes = SideAtWork::new(Op::Write, &load.writes, load.run_depth);
        Ok(Self {
            left: load.accesses,
            read_share: load.read_percent / 100.0,
            looks_back: reads.repeat_or_go_on > 0.0 || writes.repeat_or_go_on > 0.0,
            reads,
            writes,
            places: Places::new(load, &mut rng(Stream::Keys)),
            starts: Starts::new(load.repeat_depth),
            clock: Clock::new(load.pacing, &mut time),
            op: rng(Stream::Op),
            size: rng(Stream::Size),
            way: rng(Stream::Way),
            place: rng(Stream::Place),
            time,
        })
    }
}

/// Returns the start of an access that may repeat or continue a recent one. Draws which it does; if there is no suitable
/// recent access, or the access would not fit in the range, the start comes from the pattern.
fn look_back(
    side: &mut SideAtWork,
    places: &mut Places,
    starts: &mut Starts,
    way: &mut Rng,
    place: &mut Rng,
    len: u64,
) -> u64 {
    let drawn = way.uniform();
    let repeated = (drawn < side.repeat).then(|| starts.pick(way)).flatten();
    let gone_on = (side.repeat..side.repeat_or_go_on)
        .contains(&drawn)
        .then(|| side.ends.take(way))
        .flatten();
    let back = repeated
        .or(gone_on)
        .filter(|&start| places.fits(start, len));
    let start = back.unwrap_or_else(|| places.draw(len, place));
    // Do not offer the end of a repeated access for continuation: the access it repeats already offered it.
    let repeats = back.is_some() && repeated.is_some();
    side.ends
        .push((!repeats).then(|| places.aligned(start + len)));
    starts.push(start);
    start
}

impl Iterator for Generator {
    type Item = Access;

    #[inline(always)]
    fn next(&mut self) -> Option<Access> {
        self.left = self.left.checked_sub(1)?;
        // Nothing else draws from this stream, and a share of 0 or 1 needs no draw.
        let drawn = self.read_share > 0.0 && self.read_share < 1.0;
        let reads = match drawn {
            true => self.op.chance(self.read_share),
            false => self.read_share >= 1.0,
        };
        let side = match reads {
            true => &mut self.reads,
            false => &mut self.writes,
        };
        let (op, len) = (side.op, side.sizes.draw(&mut self.size));
        let offset = if self.looks_back {
            let (places, starts) = (&mut self.places, &mut self.starts);
            look_back(side, places, starts, &mut self.way, &mut self.place, len)
        } else {
            self.places.draw(len, &mut self.place)
        };
        Some(Access::new(
            self.clock.next(&mut self.time),
            op,
            offset,
            len,
        ))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match usize::try_from(self.left) {
            Ok(left) => (left, Some(left)),
            Err(_) => (usize::MAX, None),
        }
    }
}
