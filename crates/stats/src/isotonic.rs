//! Isotonic regression: the ascending values nearest to given ones, by pooling adjacent violators (Barlow, Bartholomew,
//! Bremner and Brunk, "Statistical inference under order restrictions", 1972, 1.2).

/// Returns the ascending values with the least weighted squares of deviation. A weight is positive; one that is missing
/// counts as 1.
pub fn ascending(values: &[f64], weights: &[f64]) -> Vec<f64> {
    // The mean, weight and length of each block.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for (index, value) in values.iter().enumerate() {
        blocks.push((*value, weights.get(index).copied().unwrap_or(1.0), 1));
        while let [.., before, last] = blocks[..] {
            if before.0 <= last.0 {
                break;
            }
            let weight = before.1 + last.1;
            let mean = (before.0 * before.1 + last.0 * last.1) / weight;
            blocks.truncate(blocks.len() - 2);
            blocks.push((mean, weight, before.2 + last.2));
        }
    }
    let spread = |(mean, _, count): (f64, f64, usize)| std::iter::repeat_n(mean, count);
    blocks.into_iter().flat_map(spread).collect()
}

#[cfg(test)]
mod tests {
    use super::ascending;

    #[test]
    fn by_hand() {
        assert_eq!(ascending(&[1.0, 3.0, 2.0, 4.0], &[]), [1.0, 2.5, 2.5, 4.0]);
        assert_eq!(ascending(&[3.0, 2.0, 1.0], &[1.0, 1.0, 1.0]), [2.0; 3]);
        // A weight of three counts as three values.
        assert_eq!(ascending(&[4.0, 0.0], &[3.0, 1.0]), [3.0, 3.0]);
        assert_eq!(ascending(&[], &[]), [0.0; 0]);
    }
}
