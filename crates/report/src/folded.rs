//! Folds accesses over their offset: all blocks, or all units, on top of each other, if the size was found.

use fathom_probe::{Estimate, Sample};

/// Number of columns on the horizontal axis.
const COLUMNS: u64 = 128;

/// Returns the found size of a block or unit in bytes.
pub(crate) fn block(estimate: Option<&Estimate>) -> Option<u64> {
    estimate?.bytes().filter(|bytes| *bytes > 1)
}

/// Returns the samples with the column of their middle as `x`: the position within a block or unit, with the boundary drawn
/// at half of the axis, or the offset on the drive if no size was found. With `last`, only the samples of the last step.
pub(crate) fn folded(of_series: &[Sample], last: bool, estimate: Option<&Estimate>) -> Vec<Sample> {
    let last_step = of_series.iter().map(|s| s.step).max();
    let chosen = of_series
        .iter()
        .filter(|s| !last || Some(s.step) == last_step);
    let block = block(estimate);
    let place = |s: &Sample| {
        let middle = s.offset.saturating_add(s.bytes / 2);
        block.map_or(middle, |block| (middle % block + block / 2) % block)
    };
    let end = chosen.clone().map(place).max().unwrap_or(0);
    let column = (block.unwrap_or(end) / COLUMNS).max(1);
    chosen
        .map(|s| Sample {
            x: place(s) / column * column,
            ..*s
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_probe::record::Timed;
    use fathom_probe::{Parameter, Series, Value};

    fn sample(step: u32, offset: u64) -> Sample {
        Sample {
            step,
            parameter: Parameter::ClusteredBlock,
            series: Series::PLACE,
            x: 1024,
            rep: 0,
            timed: Timed::Read,
            offset,
            bytes: 1024,
            ns: 1,
            at_ns: 0,
        }
    }

    #[test]
    fn ends_of_blocks_lie_in_the_middle_and_only_the_last_step_counts() {
        let all = [
            sample(0, 0),
            sample(1, (3 << 20) - 512),
            sample(1, (3 << 20) + (256 << 10)),
        ];
        let found = Estimate::identified(Value::Bytes(1 << 20), "found");
        let x = |last, estimate| -> Vec<u64> {
            let folded = folded(&all, last, estimate);
            folded.iter().map(|s| s.x).collect()
        };
        assert_eq!(x(true, Some(&found)), [512 << 10, 768 << 10]);
        assert_eq!(x(false, Some(&found)).len(), 3);
        let x = x(true, None);
        assert!(x[0].abs_diff(3 << 20) <= 64 << 10 && x[0] < x[1]);
    }
}
