//! The address space over several drives of equal size: one after the other (JBOD), or striped (RAID 0).
//!
//! Chunk `c` is on drive `c mod n`, where it is chunk `c / n`, as in the only zone of md's RAID 0 over equal drives (Linux,
//! `drivers/md/raid0.c`). What is no whole chunk at the end of a drive is not used. Drives one after the other are a RAID 0
//! whose chunk is a whole drive.
//!
//! A read or write is split at each end of a chunk, as the block layer does for md: pieces that are neighbours on a drive are
//! requests of their own, and merging them is left to the scheduler of the drive. A trim is one request for each drive, and
//! a flush goes to all.

use fathom_base::Bytes;
use fathom_block::Op;

/// A part of a request, on one drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) drive: usize,
    /// Offset on the drive.
    pub(super) offset: u64,
    /// Offset within the request; of a trim that of nothing.
    pub(super) within: u64,
    pub(super) len: u64,
}

/// Where the bytes of an address space are on its drives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Number of drives.
    drives: u64,
    /// Bytes of a chunk.
    chunk: u64,
    /// Bytes of a drive that are used: whole chunks.
    each: u64,
}

impl Layout {
    /// Lays chunks of `stripe` bytes over drives of `each` bytes; 0 is a whole drive.
    pub(super) fn new(stripe: Bytes, drives: usize, each: u64) -> Self {
        let chunk = match stripe.0 {
            0 => each.max(1),
            bytes => bytes,
        };
        Self {
            drives: drives.max(1) as u64,
            chunk,
            each: each / chunk * chunk,
        }
    }

    /// Bytes of the address space.
    pub(super) fn capacity(&self) -> u64 {
        self.each.saturating_mul(self.drives)
    }

    /// Number of [`Layout::pieces`] of a request within the address space.
    pub(super) fn count(&self, op: Op, offset: u64, len: u64) -> u32 {
        let on = offset % self.chunk;
        let chunks = match op {
            Op::Flush => self.drives,
            _ if on + len <= self.chunk => 1,
            Op::Trim => (on + len).div_ceil(self.chunk).min(self.drives),
            // No zoned drive is part of a host (`Charged::new`).
            Op::Read | Op::Write | Op::Append | Op::Zone(_) => (on + len).div_ceil(self.chunk),
        };
        u32::try_from(chunks).unwrap_or(u32::MAX)
    }

    /// Splits a request.
    pub(super) fn pieces(self, op: Op, offset: u64, len: u64) -> Pieces {
        Pieces {
            layout: self,
            op,
            offset,
            len,
            next: 0,
        }
    }

    /// The piece of a read or write from `within` on, to the end of its chunk.
    fn chunk_at(&self, offset: u64, len: u64, within: u64) -> Piece {
        let at = offset + within;
        let (chunk, on) = (at / self.chunk, at % self.chunk);
        Piece {
            drive: (chunk % self.drives) as usize,
            offset: chunk / self.drives * self.chunk + on,
            within,
            len: (len - within).min(self.chunk - on),
        }
    }

    /// What a drive has of a range.
    fn on_drive(&self, drive: u64, offset: u64, len: u64) -> Piece {
        let start = self.bytes_on(drive, offset);
        Piece {
            drive: drive as usize,
            offset: start,
            within: 0,
            len: self.bytes_on(drive, offset + len) - start,
        }
    }

    /// Number of the bytes below an address that a drive has.
    fn bytes_on(&self, drive: u64, below: u64) -> u64 {
        // More than all bytes: then the chunks are those of the first row.
        let stripe = self.chunk.saturating_mul(self.drives);
        let rest = (below % stripe).saturating_sub(drive.saturating_mul(self.chunk));
        below / stripe * self.chunk + rest.min(self.chunk)
    }
}

/// The pieces of a request, in order: of a read or write by address, of a trim or flush by drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pieces {
    layout: Layout,
    op: Op,
    offset: u64,
    len: u64,
    /// The next byte of a read or write, the next drive of a trim or flush.
    next: u64,
}

impl Iterator for Pieces {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let Self {
            layout,
            op,
            offset,
            len,
            ..
        } = *self;
        if matches!(op, Op::Read | Op::Write) {
            let piece = (self.next < len).then(|| layout.chunk_at(offset, len, self.next))?;
            self.next += piece.len;
            return Some(piece);
        }
        while self.next < layout.drives {
            let piece = layout.on_drive(self.next, offset, len);
            self.next += 1;
            if op == Op::Flush || piece.len > 0 {
                return Some(piece);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_base::Rng;

    const KIB: u64 = 1024;

    /// The drive and the offset on it of each 4 KiB, by dealing chunks to the drives in turn until one has no room.
    fn dealt(stripe: u64, drives: usize, each: u64) -> Vec<(usize, u64)> {
        let mut places = Vec::new();
        let mut used = vec![0; drives];
        loop {
            for (drive, used) in used.iter_mut().enumerate() {
                if *used + stripe > each {
                    return places;
                }
                places.extend((*used..*used + stripe).step_by(4096).map(|at| (drive, at)));
                *used += stripe;
            }
        }
    }

    fn piece(drive: usize, offset: u64, within: u64, len: u64) -> Piece {
        Piece {
            drive,
            offset: offset * KIB,
            within: within * KIB,
            len: len * KIB,
        }
    }

    #[test]
    fn every_byte_is_where_dealing_the_chunks_puts_it() {
        let mut rng = Rng::new(5, 1);
        for (stripe, drives, each) in [(4, 3, 64), (12, 5, 100), (64, 4, 1000), (64, 1, 640)] {
            let (stripe, each) = (stripe * KIB, each * KIB);
            let layout = Layout::new(Bytes(stripe), drives, each);
            let places = dealt(stripe, drives, each);
            let blocks = places.len() as u64;
            assert_eq!(layout.capacity(), blocks * 4096);
            for _ in 0..500 {
                let first = rng.below(blocks);
                let count = 1 + rng.below(blocks - first);
                let (offset, len) = (first * 4096, count * 4096);
                let pieces: Vec<Piece> = layout.pieces(Op::Read, offset, len).collect();
                assert_eq!(pieces.len() as u32, layout.count(Op::Read, offset, len));
                let mut at = offset;
                for piece in &pieces {
                    assert_eq!(
                        (piece.within, at % stripe == 0),
                        (at - offset, at != offset || offset % stripe == 0)
                    );
                    for on in (0..piece.len).step_by(4096) {
                        let place = (piece.drive, piece.offset + on);
                        assert_eq!(place, places[((at + on) / 4096) as usize]);
                    }
                    assert!(piece.offset % stripe + piece.len <= stripe, "{piece:?}");
                    at += piece.len;
                }
                assert_eq!(at, offset + len);
                trims_the_same(&layout, &places, first, count);
            }
        }
    }

    fn trims_the_same(layout: &Layout, places: &[(usize, u64)], first: u64, count: u64) {
        let pieces: Vec<Piece> = layout
            .pieces(Op::Trim, first * 4096, count * 4096)
            .collect();
        let expected = layout.count(Op::Trim, first * 4096, count * 4096);
        assert_eq!(pieces.len() as u32, expected);
        let of = |piece: &Piece| {
            let drive = piece.drive;
            let range = piece.offset..piece.offset + piece.len;
            range.step_by(4096).map(move |at| (drive, at))
        };
        let trimmed: Vec<(usize, u64)> = pieces.iter().flat_map(of).collect();
        let mut range = places[first as usize..(first + count) as usize].to_vec();
        range.sort_unstable();
        assert_eq!(trimmed, range);
    }

    #[test]
    fn a_request_is_split_at_the_ends_of_chunks() {
        let layout = Layout::new(Bytes(64 * KIB), 3, 1000 * KIB);
        assert_eq!(layout.capacity(), 3 * 960 * KIB);
        let of = |op, at, len| -> Vec<Piece> { layout.pieces(op, at * KIB, len * KIB).collect() };
        let read = of(Op::Read, 180, 140);
        let expected = [
            piece(2, 52, 0, 12),
            piece(0, 64, 12, 64),
            piece(1, 64, 76, 64),
        ];
        assert_eq!(read, expected);
        // Five chunks of three drives: neighbours on a drive are one trim, and two reads.
        let five = of(Op::Trim, 0, 320);
        assert_eq!(
            five,
            [piece(0, 0, 0, 128), piece(1, 0, 0, 128), piece(2, 0, 0, 64)]
        );
        assert_eq!(layout.count(Op::Write, 0, 320 * KIB), 5);
        let all = [piece(0, 0, 0, 0), piece(1, 0, 0, 0), piece(2, 0, 0, 0)];
        assert_eq!(of(Op::Flush, 0, 0), all);
        assert_eq!(layout.count(Op::Flush, 0, 0), 3);
        let alone = Layout::new(Bytes(0), 3, 1000 * KIB);
        assert_eq!(alone.capacity(), 3000 * KIB);
        let over = alone.pieces(Op::Read, 996 * KIB, 8 * KIB);
        let over: Vec<Piece> = over.collect();
        assert_eq!(over, [piece(0, 996, 0, 4), piece(1, 0, 4, 4)]);
    }
}
