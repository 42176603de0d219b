//! The dirty sectors of each line, one bit for each sector.

/// One bit mask for every line, all of the same length.
#[derive(Clone, Debug)]
pub(super) struct Masks {
    words: usize,
    bits: Vec<u64>,
}

impl Masks {
    /// Creates masks for lines of `sectors_per_line` sectors.
    pub(super) fn new(sectors_per_line: u32) -> Self {
        Self {
            words: (sectors_per_line as usize).div_ceil(64),
            bits: Vec::new(),
        }
    }

    #[inline]
    fn of(&self, line: u32) -> &[u64] {
        &self.bits[line as usize * self.words..][..self.words]
    }

    #[inline]
    fn of_mut(&mut self, line: u32) -> &mut [u64] {
        &mut self.bits[line as usize * self.words..][..self.words]
    }

    /// Starts a line that has no dirty sectors.
    pub(super) fn open(&mut self, line: u32) {
        let end = (line as usize + 1) * self.words;
        if self.bits.len() < end {
            self.bits.resize(end, 0);
        }
        self.of_mut(line).fill(0);
    }

    /// Returns the number of dirty sectors in a range.
    pub(super) fn count(&self, line: u32, first: u32, sectors: u32) -> u32 {
        let words = self.of(line).iter().enumerate();
        words
            .map(|(w, bits)| (bits & span(w, first, sectors)).count_ones())
            .sum()
    }

    pub(super) fn set(&mut self, line: u32, first: u32, sectors: u32) {
        for (w, bits) in self.of_mut(line).iter_mut().enumerate() {
            *bits |= span(w, first, sectors);
        }
    }

    pub(super) fn clear(&mut self, line: u32, first: u32, sectors: u32) {
        for (w, bits) in self.of_mut(line).iter_mut().enumerate() {
            *bits &= !span(w, first, sectors);
        }
    }

    /// Returns true if a sector is dirty.
    #[inline]
    pub(super) fn holds(&self, line: u32, sector: u32) -> bool {
        self.of(line)[(sector / 64) as usize] >> (sector % 64) & 1 == 1
    }

    /// Copies the mask of a line.
    #[inline]
    pub(super) fn copy(&self, line: u32, into: &mut Vec<u64>) {
        into.clear();
        into.extend_from_slice(self.of(line));
    }

    /// Writes the mask that a line with only this range dirty would have.
    #[inline]
    pub(super) fn range(&self, first: u32, sectors: u32, into: &mut Vec<u64>) {
        into.clear();
        into.extend((0..self.words).map(|w| span(w, first, sectors)));
    }
}

/// Returns the bits of word `w` that lie in `first..first + sectors`.
#[inline]
fn span(w: usize, first: u32, sectors: u32) -> u64 {
    let base = w as u32 * 64;
    let (from, to) = (first.max(base), (first + sectors).min(base + 64));
    if from >= to {
        return 0;
    }
    let n = to - from;
    let ones = if n == 64 { u64::MAX } else { (1u64 << n) - 1 };
    ones << (from - base)
}
