//! Code that the rules in use elsewhere share: loops that run for a fixed time, as the tools' runs do.
//!
//! The times are the tools' own, on the drive's clock. Two things differ, so that small drives and campaigns are possible,
//! and every rule says so: `thin` divides the times, and no loop moves more bytes than its share of the region. The tools
//! are made for drives of hundreds of gigabytes, of which such a run touches a part.

use crate::record::Timed;
use crate::{Ask, Io, Series, Space, Stop};
use fathom_base::Dur;
use fathom_block::Op;
use std::ops::Range;

/// The most requests that are made in one call: so many that the queue seldom drains.
const CHUNK_MAX: u64 = 1 << 15;
/// The longest time between two looks at an interruption: the queue drains then.
const BREATH: Dur = Dur::ms(1_000);

/// A closed loop of requests of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub(crate) op: Op,
    /// The length of a request, in bytes.
    pub(crate) len: u64,
    pub(crate) depth: u32,
    /// The bytes that the requests are spread over.
    pub(crate) area: Range<u64>,
    /// The next offset in the area of requests in order; `None` for random ones.
    pub(crate) next: Option<u64>,
    /// An address bit, counted from the start of the area, and its value in every request.
    pub(crate) bit: Option<(u32, bool)>,
    pub(crate) time: Dur,
    /// The most bytes to move.
    pub(crate) bytes_max: u64,
}

impl Loop {
    /// Makes requests until the time is over, or until the bytes are spent. Returns the bytes moved and the time.
    pub(crate) fn run(&mut self, io: &mut Io<'_>) -> Result<(u64, Dur), Stop> {
        let (began, first) = (io.now(), self.next);
        let end = began + self.time;
        let most = (self.bytes_max / self.len.max(1)).max(1);
        let mut done = 0;
        loop {
            let asks: Vec<Ask> = (0..CHUNK_MAX.min(most - done))
                .map(|_| self.ask(io))
                .collect();
            let soon = end.min(io.now() + BREATH);
            done += io.serve_until(&asks, self.depth, soon)?.len() as u64;
            // Those that were not made are the next ones.
            self.next = first.map(|first| first + done * self.len);
            if io.now() >= end || done >= most {
                return Ok((done * self.len, io.now().since(began)));
            }
        }
    }

    /// Runs and takes one sample of it all.
    pub(crate) fn sample(
        &mut self,
        io: &mut Io<'_>,
        series: Series,
        x: u64,
        rep: u32,
    ) -> Result<(), Stop> {
        let mark = io.mark(self.area.start);
        self.run(io)?;
        let timed = match self.op {
            Op::Read => Timed::Read,
            _ => Timed::Write,
        };
        io.sample_since(&mark, timed, series, x, rep);
        Ok(())
    }

    fn ask(&mut self, io: &mut Io<'_>) -> Ask {
        let bytes = self.area.end - self.area.start;
        let slots = (bytes / self.len.max(1)).max(1);
        let mut at = match &mut self.next {
            Some(next) => {
                let at = *next / self.len % slots * self.len;
                *next = at + self.len;
                at
            }
            None => io.rng.below(slots) * self.len,
        };
        if let Some((bit, value)) = self.bit {
            at = at & !(1 << bit) | u64::from(value) << bit;
        }
        Ask {
            op: self.op,
            offset: self.area.start + at,
            len: self.len,
            due: None,
        }
    }
}

/// Returns a tool's time, thinned.
pub(crate) fn thinned(space: &Space, time: Dur) -> Dur {
    Dur(time.0 / u64::from(space.thin))
}

/// Returns a part of the region from its start, in whole blocks of `len` bytes, at least one.
pub(crate) fn part(space: &Space, bytes: u64, len: u64) -> Range<u64> {
    let whole = bytes.min(space.bytes()) / len * len;
    space.region.start..space.region.start + whole.max(len.min(space.bytes()))
}

/// Returns bytes per second.
pub(crate) fn per_second(bytes: u64, ns: u64) -> f64 {
    bytes as f64 * 1e9 / ns.max(1) as f64
}
