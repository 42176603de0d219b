//! Where the pages of a file lie: pieces that are contiguous in the file and on the volume.

use crate::block::Extent;

/// A contiguous piece of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The first page of the file in this piece.
    pub(crate) page: u32,
    /// Its blocks.
    pub(crate) extent: Extent,
}

impl Piece {
    fn end(&self) -> u64 {
        u64::from(self.page) + self.extent.blocks
    }
}

/// The pieces of a file, in file order. Pages between them are holes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Map {
    pieces: Vec<Piece>,
}

impl Map {
    /// All pieces, in file order.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The block of a page and the number of pages from it on that are contiguous there; `None` for a hole.
    pub(crate) fn find(&self, page: u32) -> Option<(u64, u64)> {
        let piece = self.pieces.get(self.behind(page).checked_sub(1)?)?;
        let within = u64::from(page - piece.page);
        let left = piece.extent.blocks.checked_sub(within)?;
        (left > 0).then_some((piece.extent.start + within, left))
    }

    /// Index of the first piece that begins after a page.
    fn behind(&self, page: u32) -> usize {
        // Most look-ups are of the last piece.
        match self.pieces.last() {
            Some(last) if last.page <= page => self.pieces.len(),
            _ => self.pieces.partition_point(|piece| piece.page <= page),
        }
    }

    /// The block of the nearest page before this one that has one.
    pub(crate) fn before(&self, page: u32) -> Option<u64> {
        let piece = self.pieces.get(self.behind(page).checked_sub(1)?)?;
        let within = u64::from(page - piece.page).min(piece.extent.blocks);
        Some(piece.extent.start + within.saturating_sub(1))
    }

    /// Number of pages from `page` on that have no block, at most `most`.
    pub(crate) fn hole(&self, page: u32, most: u32) -> u32 {
        if self.find(page).is_some() {
            return 0;
        }
        let next = self.pieces.get(self.behind(page));
        next.map_or(most, |piece| most.min(piece.page - page))
    }

    /// The first pages from `page` on and before `end` that have no block, and their number; `None` if all have one.
    pub(crate) fn next_hole(&self, page: u32, end: u32) -> Option<(u32, u32)> {
        let mut at = page;
        while at < end {
            match self.find(at) {
                Some((_, run)) => at = at.saturating_add(run.min(u64::from(end - at)) as u32),
                None => return Some((at, self.hole(at, end - at))),
            }
        }
        None
    }

    /// The page after the last one that has a block.
    pub(crate) fn end(&self) -> u64 {
        self.pieces.last().map_or(0, Piece::end)
    }

    /// Gives pages from `page` on, which are a hole, the blocks of an extent.
    pub(crate) fn set(&mut self, page: u32, extent: Extent) {
        let mut at = self.behind(page);
        let joins =
            |piece: &Piece, page: u64, start| piece.end() == page && piece.extent.end() == start;
        match at.checked_sub(1).map(|before| &mut self.pieces[before]) {
            Some(before) if joins(before, u64::from(page), extent.start) => {
                before.extent.blocks += extent.blocks;
                at -= 1;
            }
            _ => self.pieces.insert(at, Piece { page, extent }),
        }
        if let Some(next) = self.pieces.get(at + 1).copied()
            && joins(&self.pieces[at], u64::from(next.page), next.extent.start)
        {
            self.pieces[at].extent.blocks += next.extent.blocks;
            self.pieces.remove(at + 1);
        }
    }

    /// Takes the blocks of pages out of the file. Returns their extents.
    pub(crate) fn remove(&mut self, page: u32, pages: u32) -> Vec<Extent> {
        let (end, mut at) = (page + pages, page);
        let mut removed = Vec::new();
        while at < end {
            let Some((block, run)) = self.find(at) else {
                at += self.hole(at, end - at);
                continue;
            };
            let run = run.min(u64::from(end - at));
            let index = self.behind(at) - 1;
            let piece = self.pieces[index];
            let before = u64::from(at - piece.page);
            let behind = piece.extent.blocks - before - run;
            let rest = Piece {
                page: at + run as u32,
                extent: Extent::new(block + run, behind),
            };
            self.pieces[index].extent.blocks = before;
            if behind > 0 {
                self.pieces.insert(index + 1, rest);
            }
            if before == 0 {
                self.pieces.remove(index);
            }
            removed.push(Extent::new(block, run));
            at += run as u32;
        }
        removed
    }

    /// Takes all blocks from `page` on out of the file. Returns their extents.
    pub(crate) fn cut(&mut self, page: u32) -> Vec<Extent> {
        let mut cut = Vec::new();
        let keep = self.behind(page);
        if let Some(piece) = keep.checked_sub(1).map(|last| &mut self.pieces[last])
            && piece.end() > u64::from(page)
        {
            let kept = u64::from(page - piece.page);
            cut.push(Extent::new(
                piece.extent.start + kept,
                piece.extent.blocks - kept,
            ));
            piece.extent.blocks = kept;
        }
        cut.extend(self.pieces.drain(keep..).map(|piece| piece.extent));
        self.pieces.retain(|piece| piece.extent.blocks > 0);
        cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_and_split() {
        let mut map = Map::default();
        map.set(0, Extent::new(100, 2));
        map.set(4, Extent::new(104, 2));
        assert_eq!((map.find(1), map.find(2)), (Some((101, 1)), None));
        assert_eq!((map.hole(2, 9), map.hole(6, 9), map.hole(0, 9)), (2, 9, 0));
        assert_eq!((map.before(3), map.before(0)), (Some(101), Some(100)));
        let holes = [(0, 9), (3, 9), (4, 6), (5, 9)].map(|(from, end)| map.next_hole(from, end));
        assert_eq!(holes, [Some((2, 2)), Some((3, 1)), None, Some((6, 3))]);
        map.set(2, Extent::new(102, 2));
        assert_eq!(map.pieces().len(), 1);
        assert_eq!(map.cut(5), [Extent::new(105, 1)]);
        assert_eq!(map.end(), 5);
        assert_eq!(map.remove(1, 2), [Extent::new(101, 2)]);
        assert_eq!((map.find(0), map.find(3)), (Some((100, 1)), Some((103, 2))));
        assert_eq!(map.remove(0, 4), [Extent::new(100, 1), Extent::new(103, 1)]);
        map.set(0, Extent::new(100, 4));
        assert_eq!(map.cut(0), [Extent::new(100, 5)]);
        assert!(map.pieces().is_empty());
    }
}
