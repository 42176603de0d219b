//! Scans: accesses of one length at regular places. Lists them and makes them.

use crate::parameters::clustered_page::robust as clustered_page;
use crate::record::Target;
use crate::{Io, Parameter, Record, Series, Session, Space, Stop};

const PARAMETER: Parameter = Parameter::ClusteredBlock;

/// The smallest block (96 pages of 2 KiB) and the largest, in bytes.
const BLOCK: (u64, u64) = (192 << 10, 96 << 20);
/// The least number of multiples of a block that must be in the range.
pub(crate) const MULTIPLES_MIN: u64 = 4;

/// The lengths of reads, in bytes, longest first: short reads also show the clustered page, while a long one that shows a
/// block shows nothing smaller.
const READS: [u64; 7] = [
    1 << 20,
    512 << 10,
    256 << 10,
    128 << 10,
    64 << 10,
    32 << 10,
    16 << 10,
];
/// The number of places for each length, and the least and the most that they cover, in bytes.
const PLACES: u64 = 2048;
const COVERED: (u64, u64) = (32 << 20, 1 << 30);
/// The distance between reads as a share of their length. The numerator, and the pitches of writes, have large prime
/// factors, so that the multiples of a likely block do not all lie alike between the places.
const PITCH: (u64, u64) = (31, 64);
/// The number of small reads at a time, and their length in bytes.
const PIECES: u64 = 8;
const PIECE: u64 = 4 << 10;
/// The pitches of writes and the bytes that they cover. With a pitch below the clustered page, a log is full before its
/// block ends; such a block shows at the larger pitch, which is tried before.
const WRITES: [(u64, u64); 3] = [
    (1028 << 10, 2 << 30),
    (268 << 10, 2 << 30),
    (68 << 10, 512 << 20),
];
/// The most multiples that are looked at again, the reads around all of them, and the most around one.
const AGAIN: u64 = 256;
const READS_AGAIN: u64 = 2048;
const READS_AGAIN_EACH: u64 = 16;

/// How places are accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Reads in random order; neighbouring ranges overlap by half. Several small reads in flight are spread over the length;
    /// a drive that takes one request at a time reads the whole length.
    Reads,
    /// Writes in ascending order with long gaps, each flushed.
    Writes,
    /// Writes in ascending order with short gaps, each flushed.
    LongWrites,
}

/// Accesses of one length at regular places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scan {
    pub(crate) kind: Kind,
    /// The length of an access, and the distance from one place to the next, in bytes.
    pub(crate) len: u64,
    pub(crate) pitch: u64,
    /// The bytes covered, from the start of the region.
    pub(crate) covered: u64,
    /// The unit that a closer look writes as a whole, in bytes: with FAST the first unit of a block must be whole.
    pub(crate) unit: u64,
}

/// Returns all scans that may be tried, in order, on a drive whose unit has `unit` bytes.
pub(crate) fn all(space: &Space, target: &Target, unit: u64) -> Vec<Scan> {
    let block = space.block_bytes;
    let longest = match target.queue_depth {
        0 | 1 => target.max_request_bytes.max(block),
        _ => u64::MAX,
    };
    let reads = READS.into_iter().filter(|len| *len <= longest);
    let first = reads.clone().next();
    let reads = reads.map(move |len| {
        let covered = (len * PLACES).clamp(COVERED.0, COVERED.1);
        let covered = if Some(len) == first {
            COVERED.1
        } else {
            covered
        };
        (Kind::Reads, len, len * PITCH.0 / PITCH.1, covered)
    });
    let writes = [(Kind::Writes, 1), (Kind::LongWrites, 7)];
    let writes = writes.into_iter().flat_map(|(kind, eighths)| {
        WRITES.map(move |(pitch, covered)| (kind, pitch / 8 * eighths, pitch, covered))
    });
    let span = space.span();
    let scans = reads.chain(writes).map(|(kind, len, pitch, covered)| Scan {
        kind,
        len: len.next_multiple_of(block),
        pitch: pitch.next_multiple_of(block),
        covered: covered.min(span),
        unit: unit.next_multiple_of(block),
    });
    scans
        .filter(|scan| scan.sizes().0 <= scan.sizes().1)
        .collect()
}

impl Scan {
    /// Returns the name of the step. Writes are made once `before` the pass that counts.
    pub(crate) fn name(&self, before: bool) -> String {
        let Self { len, pitch, .. } = self;
        let kind = match self.kind {
            Kind::Reads => "reads",
            Kind::Writes | Kind::LongWrites => "writes",
        };
        let before = if before { " before" } else { "" };
        format!("{kind} of {len} every {pitch}{before}")
    }

    /// Returns the same writes with gaps of another length: an effect that repeats every so many writes then comes at other
    /// places.
    pub(crate) fn wider(self) -> Self {
        let pitch = self.pitch + (self.pitch / 4).next_multiple_of(4 << 10);
        Self { pitch, ..self }
    }

    /// Returns the name of the step that looks again.
    pub(crate) fn again_name(&self, period: u64) -> String {
        format!("{}{period}", self.again_begin())
    }

    /// Returns the prefix of that name.
    pub(crate) fn again_begin(&self) -> String {
        format!("{} around multiples of ", self.name(false))
    }

    /// The bytes that it writes for the first look.
    pub(crate) fn first_look(&self) -> u64 {
        match self.kind {
            Kind::Reads => 0,
            Kind::Writes | Kind::LongWrites => 2 * self.covered / self.pitch * self.len,
        }
    }

    /// The most that it writes, in bytes.
    pub(crate) fn bound(&self) -> u64 {
        let again = AGAIN * (4 * self.pitch + self.len) + self.covered / self.pitch * self.len;
        match self.kind {
            Kind::Reads => 0,
            Kind::Writes => self.first_look() + again,
            // It may show two sizes.
            Kind::LongWrites => self.first_look() + 2 * again,
        }
    }

    /// Returns the smallest and the largest size that it can show, in bytes.
    pub(crate) fn sizes(&self) -> (u64, u64) {
        let pitches = match self.kind {
            Kind::Reads => 8,
            Kind::Writes | Kind::LongWrites => 4,
        };
        let most = self.covered / (MULTIPLES_MIN + 1);
        (BLOCK.0.max(pitches * self.pitch), BLOCK.1.min(most))
    }

    /// Accesses all places.
    pub(crate) fn measure(&self, session: &mut Session<'_>, before: bool) -> Result<(), Stop> {
        let region = session.region();
        let start = region.start.next_multiple_of(self.pitch);
        let end = region.start + self.covered;
        let count = end.saturating_sub(start + self.len) / self.pitch;
        let mut places: Vec<u64> = (0..count).map(|i| start + i * self.pitch).collect();
        session.step(PARAMETER, &self.name(before), |io| {
            if self.kind == Kind::Reads {
                io.rng.shuffle(&mut places);
            }
            for place in places {
                self.access(io, place, self.len)?;
                io.sample(Series::PLACE, self.len, 0);
            }
            Ok(())
        })
    }

    /// Makes one access of `len` bytes at `place`.
    fn access(&self, io: &mut Io<'_>, place: u64, len: u64) -> Result<(), Stop> {
        let info = io.info();
        let (depth, longest) = (info.queue_depth, info.max_request_bytes);
        let block = u64::from(info.logical_block_bytes).max(1);
        match self.kind {
            Kind::Reads if depth > 1 => {
                let piece = PIECE.next_multiple_of(block).min(longest);
                // The first piece is at the beginning, the last one at the end.
                let apart = len.saturating_sub(piece) / (PIECES - 1);
                let pieces = (0..PIECES).map(|i| (place + i * apart / block * block, piece));
                io.read_queued(&pieces.collect::<Vec<_>>(), PIECES as u32)?
            }
            Kind::Reads => io.read(place, len)?,
            Kind::Writes | Kind::LongWrites => io.write_flush(place, len)?,
        };
        Ok(())
    }

    /// Returns the length and the pitch of the accesses around multiples, in bytes.
    pub(crate) fn again_len(&self, block: u64) -> (u64, u64) {
        let part = |n: u64| (self.pitch / n).next_multiple_of(block);
        match self.kind {
            Kind::Reads => (self.len, (self.len / 4).next_multiple_of(block)),
            Kind::Writes if 4 * self.unit <= self.pitch => {
                let whole = part(16).next_multiple_of(self.unit);
                (whole, whole)
            }
            Kind::Writes => (part(16), part(16)),
            Kind::LongWrites => (part(4), part(4)),
        }
    }

    /// Looks again, and more closely, around the multiples of a size. An effect that repeats every so many writes then comes
    /// at other places.
    pub(crate) fn measure_again(&self, session: &mut Session<'_>, period: u64) -> Result<(), Stop> {
        let region = session.region();
        let end = region.start + self.covered;
        let reach = self.reach(session.space().block_bytes);
        let first = (region.start + reach + period / 2).div_ceil(period);
        let last = end.saturating_sub(reach + self.len) / period;
        let each = last.saturating_sub(first) / AGAIN + 1;
        let from_last = (first..=last).rev().step_by(each as usize);
        let mut multiples: Vec<u64> = from_last.map(|k| k * period).collect();
        multiples.reverse();
        self.measure_around(session, &self.again_name(period), period, &multiples)
    }

    /// Accesses the places around some multiples of a size, in a step with this name.
    pub(crate) fn measure_around(
        &self,
        session: &mut Session<'_>,
        name: &str,
        period: u64,
        multiples: &[u64],
    ) -> Result<(), Stop> {
        session.step(PARAMETER, name, |io| match self.kind {
            Kind::Reads => self.read_around(io, multiples),
            Kind::Writes | Kind::LongWrites => self.write_around(io, multiples, period),
        })
    }

    /// Returns how far from a multiple the accesses around it begin, in bytes.
    pub(crate) fn reach(&self, block: u64) -> u64 {
        let (len, _) = self.again_len(block);
        2 * self.pitch.max(len)
    }

    /// Reads that begin anywhere around multiples, in random order. No place is read much more often than others, so a read
    /// buffer has the same effect on all.
    fn read_around(&self, io: &mut Io<'_>, multiples: &[u64]) -> Result<(), Stop> {
        let block = u64::from(io.info().logical_block_bytes).max(1);
        let reach = self.reach(block);
        let each = (READS_AGAIN / multiples.len().max(1) as u64).clamp(1, READS_AGAIN_EACH);
        let part = 2 * reach / each;
        let mut places = Vec::new();
        for &at in multiples {
            for i in 0..each {
                let away = (i * part + io.rng.below(part)) / block * block;
                places.push(at - reach - self.len / 2 / block * block + away);
            }
        }
        io.rng.shuffle(&mut places);
        for place in places {
            self.access(io, place, self.len)?;
            io.sample(Series::AROUND, self.len, 0);
        }
        Ok(())
    }

    /// Makes consecutive writes around multiples, each time after a write that opens the log of the block before.
    fn write_around(&self, io: &mut Io<'_>, multiples: &[u64], period: u64) -> Result<(), Stop> {
        let block = u64::from(io.info().logical_block_bytes).max(1);
        let (len, pitch) = self.again_len(block);
        let reach = self.reach(block);
        for at in multiples {
            self.access(io, (at - period / 2) / block * block, len)?;
            // One of them must begin at the multiple: with FAST only that one shows it. The number before a multiple varies,
            // because an effect that repeats every so many writes could otherwise come at the same place each time.
            let before = reach / pitch - io.rng.below(reach / pitch / 2 + 1);
            let from = at / block * block - before * pitch;
            for away in (0..before * pitch + reach).step_by(pitch as usize) {
                self.access(io, from + away, len)?;
                io.sample(Series::AROUND, len, 0);
            }
        }
        Ok(())
    }
}

/// The unit if it is not known, in bytes.
pub(crate) const UNIT: u64 = 4 << 10;

/// Returns the scans that may be tried on the drive of a record.
pub(crate) fn scans(record: &Record) -> Vec<Scan> {
    let unit = clustered_page::known(record).unwrap_or(UNIT);
    all(&Space::of(record), &record.meta.target, unit)
}
