//! The papers' own decision rules, as written, for comparison with the robust ones.
//!
//! `parameter-aware-io` reads its plots by eye. There the rule here is our mechanical reading of what the text reports, and
//! its comment says so. No rule has a null model or an interval: each answers with what it finds first, noise included.

use std::collections::BTreeMap;

/// The share by which a latency must fall from one size to the next to count as a "sharp drop": our choice.
pub(crate) const DROP_SHARE: f64 = 0.05;
/// The share of the other latency below which one is "much shorter": our choice.
pub(crate) const BELOW_SHARE: f64 = 0.8;
/// Bytes in the MB of MB/s: the papers count sizes in powers of two.
pub(crate) const MB_BYTES: f64 = 1_048_576.0;

/// Returns the sizes at which the latency is lower than at the previous size by more than `share` of it. `points` are
/// (size in bytes, mean latency in nanoseconds), ascending.
fn drops(points: &[(u64, f64)], share: f64) -> Vec<u64> {
    points
        .windows(2)
        .filter(|pair| pair[1].1 < (1.0 - share) * pair[0].1)
        .map(|pair| pair[1].0)
        .collect()
}

/// Returns the clustered page by Procedure 1 (`parameter-aware-io` 4.2.3): "the latency drops sharply whenever the request
/// size is a multiple of 16 KB". Our mechanical reading: the most common distance between consecutive drops (size 0 counts
/// as a drop, because it is a multiple), and the smallest of equally common ones. Returns `None` without a drop. `points`
/// are (size in bytes, mean latency in nanoseconds), ascending; `share` is as [`DROP_SHARE`].
pub(crate) fn commonest_drop_distance(points: &[(u64, f64)], share: f64) -> Option<u64> {
    let mut counts = BTreeMap::new();
    let mut before = 0;
    for at in drops(points, share) {
        *counts.entry(at - before).or_insert(0u32) += 1;
        before = at;
    }
    let most = counts.values().copied().max()?;
    counts
        .into_iter()
        .find(|(_, count)| *count == most)
        .map(|(distance, _)| distance)
}

/// Throughputs at one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RatePair {
    /// Request size in bytes.
    pub(crate) x_bytes: u64,
    /// Sequential writes, in bytes per second.
    pub(crate) sequential_bytes_per_s: f64,
    /// Random writes, in bytes per second.
    pub(crate) random_bytes_per_s: f64,
}

/// Returns the first size at which "the whole numbers of the reported numbers are the same" (`greedy-space` IV.A), in MB/s.
/// The fraction is cut off, not rounded. `pairs` are in ascending order of size.
pub(crate) fn equal_whole_mb_per_s(pairs: &[RatePair]) -> Option<u64> {
    let whole = |rate: f64| (rate / MB_BYTES).floor();
    pairs
        .iter()
        .find(|p| whole(p.sequential_bytes_per_s) == whole(p.random_bytes_per_s))
        .map(|p| p.x_bytes)
}

/// Latencies at one size, with and without the help of a buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BufferPair {
    /// Request size in bytes.
    pub(crate) x_bytes: u64,
    /// "Buffer" of Figures 6 and 7, in nanoseconds.
    pub(crate) buffer_ns: f64,
    /// "NAND" of Figures 6 and 7, in nanoseconds.
    pub(crate) nand_ns: f64,
}

/// Returns the read buffer by Procedures 3 and 4, or the write buffer by Procedures 5 and 6 (`parameter-aware-io` 4.2.5,
/// 4.2.6): the size up to which "Buffer" is "much shorter" than "NAND". Our mechanical reading: below `share` of it (as
/// [`BELOW_SHARE`]) at that size and at every smaller one. `pairs` are in ascending order of size. Returns `None` if even
/// the smallest is not.
pub(crate) fn largest_buffered(pairs: &[BufferPair], share: f64) -> Option<u64> {
    pairs
        .iter()
        .take_while(|p| p.buffer_ns < share * p.nand_ns)
        .last()
        .map(|p| p.x_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_at_every_fourth_size_have_that_period() {
        // 100 + 10 i, less 40 at multiples of 4; a spike at 6 makes a false drop at 7.
        let mut points: Vec<(u64, f64)> = (1..=20)
            .map(|i| {
                (
                    i * 2048,
                    100.0 + 10.0 * i as f64 - if i % 4 == 0 { 40.0 } else { 0.0 },
                )
            })
            .collect();
        assert_eq!(commonest_drop_distance(&points, DROP_SHARE), Some(8192));
        points[1].1 = 900.0;
        assert_eq!(commonest_drop_distance(&points, DROP_SHARE), Some(8192));
        let rising: Vec<(u64, f64)> = (1..9).map(|i| (i, i as f64)).collect();
        assert_eq!(commonest_drop_distance(&rising, DROP_SHARE), None);
        assert_eq!(commonest_drop_distance(&[], DROP_SHARE), None);
    }

    #[test]
    fn a_drop_of_exactly_the_share_is_none() {
        assert_eq!(commonest_drop_distance(&[(1, 100.0), (2, 50.0)], 0.5), None);
        assert_eq!(
            commonest_drop_distance(&[(1, 100.0), (2, 49.9)], 0.5),
            Some(2)
        );
    }

    #[test]
    fn whole_numbers_are_cut_and_not_rounded() {
        let pair = |x_bytes, sequential: f64, random: f64| RatePair {
            x_bytes,
            sequential_bytes_per_s: sequential * MB_BYTES,
            random_bytes_per_s: random * MB_BYTES,
        };
        let near = [
            pair(8, 90.0, 20.0),
            pair(16, 90.1, 89.9),
            pair(32, 90.1, 90.9),
        ];
        assert_eq!(equal_whole_mb_per_s(&near), Some(32));
        assert_eq!(equal_whole_mb_per_s(&near[..2]), None);
    }

    #[test]
    fn the_buffer_ends_at_the_first_size_that_is_not_much_faster() {
        let pair = |x_bytes, buffer_ns| BufferPair {
            x_bytes,
            buffer_ns,
            nand_ns: 100.0,
        };
        let pairs = [pair(1, 10.0), pair(2, 79.0), pair(3, 80.0), pair(4, 10.0)];
        assert_eq!(largest_buffered(&pairs, BELOW_SHARE), Some(2));
        assert_eq!(largest_buffered(&pairs[2..], BELOW_SHARE), None);
        assert_eq!(largest_buffered(&[], BELOW_SHARE), None);
    }
}
