//! The machine that all generators are.

use super::pacing::Clock;
use super::places::{Ends, Places, Starts};
use super::sizes::SizeTable;
use super::{Load, Side};
use fathom_base::BadValue;
use fathom_base::Rng;
use fathom_block::Access;
use fathom_block::Op;

/// What each stream of random numbers is for: fixed, so that a change of one setting leaves the others' draws.
#[derive(Clone, Copy)]
enum Stream {
    Op = 0,
    Size = 1,
    Way = 2,
    Place = 3,
    Time = 4,
    Keys = 5,
}

/// Reads or writes, at work.
#[derive(Clone, Debug)]
struct SideAtWork {
    op: Op,
    sizes: SizeTable,
    /// Shares, not percentages.
    repeat: f64,
    repeat_or_go_on: f64,
    ends: Ends,
}

/// Accesses of a load, one after the other.
#[derive(Clone, Debug)]
pub struct Generator {
    left: u64,
    read_share: f64,
    reads: SideAtWork,
    writes: SideAtWork,
    places: Places,
    starts: Starts,
    clock: Clock,
    /// Whether anything is ever repeated, or gone on with.
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
    /// The accesses of `load` under `seed`, from the first.
    ///
    /// # Errors
    /// The first key of the load whose value cannot be.
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

/// A start for an access that may repeat or go on: by its share, and where what it would go back to is there and
/// leaves room; otherwise from the pattern.
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
    // Behind a start that is repeated something has gone on already, or could have.
    let repeats = back.is_some() && repeated.is_some();
    side.ends
        .push((!repeats).then(|| places.aligned(start + len)));
    starts.push(start);
    start
}

impl Iterator for Generator {
    type Item = Access;

    #[inline]
    fn next(&mut self) -> Option<Access> {
        self.left = self.left.checked_sub(1)?;
        let side = if self.op.chance(self.read_share) {
            &mut self.reads
        } else {
            &mut self.writes
        };
        let (op, len) = (side.op, side.sizes.draw(&mut self.size));
        let offset = if self.looks_back {
            let (places, starts) = (&mut self.places, &mut self.starts);
            look_back(side, places, starts, &mut self.way, &mut self.place, len)
        } else {
            self.places.draw(len, &mut self.place)
        };
        Some(Access {
            at: self.clock.next(&mut self.time),
            op,
            offset,
            len,
            disk: 0,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match usize::try_from(self.left) {
            Ok(left) => (left, Some(left)),
            Err(_) => (usize::MAX, None),
        }
    }
}
