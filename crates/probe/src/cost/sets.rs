//! Sets of requests: their sectors in one or several logical blocks, their places, and the model's time for them.

use super::types::Fit;
use fathom_base::Rng;

/// The parts of the drive that sets are written to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space {
    pub(super) sector_bytes: u64,
    pub(super) block_bytes: u64,
    /// Whole logical blocks.
    pub(super) blocks: u64,
}

impl Space {
    pub(super) fn sectors_of_a_block(&self) -> u64 {
        self.block_bytes / self.sector_bytes
    }
}

/// A set: how many sectors it writes in each of how many logical blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) words: String,
    /// The sectors in each block that is touched.
    pub(super) pieces: Vec<u64>,
    /// True if the sectors of a block lie apart, each with a request of its own; otherwise they are one run.
    pub(super) apart: bool,
}

/// A write of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Write {
    pub(super) offset: u64,
    pub(super) len: u64,
}

impl Shape {
    /// A run of sectors in one block.
    pub(super) fn run(sectors: u64) -> Self {
        Self {
            words: format!("{sectors} sectors in one block"),
            pieces: vec![sectors],
            apart: false,
        }
    }

    pub(super) fn bytes(&self, space: &Space) -> u64 {
        self.pieces.iter().sum::<u64>() * space.sector_bytes
    }

    /// Draws the places of the set: different blocks, and a run anywhere in its block.
    pub(super) fn draw(&self, space: &Space, rng: &mut Rng) -> Vec<Write> {
        let room = space.sectors_of_a_block();
        let sector = space.sector_bytes;
        let mut writes = Vec::new();
        for (block, &sectors) in distinct(self.pieces.len() as u64, space.blocks, rng)
            .into_iter()
            .zip(&self.pieces)
        {
            let start = block * space.block_bytes;
            if self.apart {
                let places = distinct(sectors, room, rng).into_iter();
                writes.extend(places.map(|place| Write {
                    offset: start + place * sector,
                    len: sector,
                }));
            } else {
                writes.push(Write {
                    offset: start + rng.below(room - sectors + 1) * sector,
                    len: sectors * sector,
                });
            }
        }
        writes
    }

    /// Returns the model's time.
    pub(super) fn predicted_ns(&self, fit: &Fit, sector_bytes: u64) -> f64 {
        let bytes = self.pieces.iter().sum::<u64>() * sector_bytes;
        self.pieces.len() as f64 * fit.merge_ns.value + bytes as f64 * 1e9 / fit.bytes_per_s.value
    }
}

/// Draws `count` different numbers below `of`, or as many as there are (Floyd's algorithm).
fn distinct(count: u64, of: u64, rng: &mut Rng) -> Vec<u64> {
    let mut chosen: Vec<u64> = Vec::new();
    for last in of.saturating_sub(count)..of {
        let drawn = rng.below(last + 1);
        let next = if chosen.contains(&drawn) { last } else { drawn };
        chosen.push(next);
    }
    rng.shuffle(&mut chosen);
    chosen
}

/// Returns the sizes of the fit: doubling from one sector to a logical block.
pub(super) fn sizes(space: &Space) -> Vec<u64> {
    let most = space.sectors_of_a_block();
    let doubling = std::iter::successors(Some(1_u64), |n| n.checked_mul(2));
    let mut sizes: Vec<u64> = doubling.take_while(|n| *n < most).collect();
    sizes.push(most);
    sizes
}

/// Returns the sets that the model is tested on. None of them was fitted.
pub(super) fn tested(space: &Space) -> Vec<Shape> {
    let room = space.sectors_of_a_block();
    let many = 64.min(room / 2).max(1);
    let spread = 16.min(many);
    let shape = |words: String, pieces: Vec<u64>, apart| Shape {
        words,
        pieces,
        apart,
    };
    let mix: Vec<u64> = sizes(space)
        .into_iter()
        .filter(|n| *n <= room / 8)
        .collect();
    vec![
        shape(
            format!("1 sector in each of {spread} blocks"),
            vec![1; spread as usize],
            false,
        ),
        shape(
            format!("{many} sectors over {spread} blocks"),
            vec![many / spread; spread as usize],
            false,
        ),
        Shape::run(many),
        Shape::run((room * 3 / 8).max(1)),
        shape(
            format!("1, 2, 4 ... sectors in {} blocks", mix.len()),
            mix,
            false,
        ),
        shape(
            format!("{many} sectors apart in one block"),
            vec![many],
            true,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const SPACE: Space = Space {
        sector_bytes: 4096,
        block_bytes: 1 << 20,
        blocks: 40,
    };

    #[test]
    fn every_set_has_its_sectors_in_its_blocks() {
        let mut rng = Rng::new(1, 0);
        for shape in tested(&SPACE)
            .into_iter()
            .chain(sizes(&SPACE).into_iter().map(Shape::run))
        {
            for _ in 0..50 {
                let writes = shape.draw(&SPACE, &mut rng);
                let sectors: BTreeSet<u64> = writes
                    .iter()
                    .flat_map(|w| (w.offset..w.offset + w.len).step_by(4096))
                    .collect();
                let wanted: u64 = shape.pieces.iter().sum();
                assert_eq!(sectors.len() as u64, wanted, "{}", shape.words);
                let blocks: BTreeSet<u64> = sectors.iter().map(|at| at >> 20).collect();
                assert_eq!(blocks.len(), shape.pieces.len(), "{}", shape.words);
                assert!(blocks.iter().all(|block| *block < 40));
            }
        }
    }

    #[test]
    fn sizes_double_up_to_the_block() {
        assert_eq!(sizes(&SPACE), [1, 2, 4, 8, 16, 32, 64, 128, 256]);
        let odd = Space {
            block_bytes: 12 * 4096,
            ..SPACE
        };
        assert_eq!(sizes(&odd), [1, 2, 4, 8, 12]);
    }

    #[test]
    fn different_numbers_are_all_that_there_are() {
        let mut rng = Rng::new(2, 0);
        let mut all = distinct(9, 5, &mut rng);
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
        let mut seen = [0; 5];
        for _ in 0..5000 {
            distinct(2, 5, &mut rng)
                .iter()
                .for_each(|n| seen[*n as usize] += 1);
        }
        assert!(
            seen.iter().all(|count| (1850..2150).contains(count)),
            "{seen:?}"
        );
    }
}
