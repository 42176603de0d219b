//! Accesses over their place, laid over one another: block upon block, or unit upon unit, where its size was found.

use fathom_probe::record::Series;
use fathom_probe::{Estimate, Sample};

/// Columns over the horizontal axis.
const COLUMNS: u64 = 128;

/// Whether a series is drawn over the place of its accesses.
pub(crate) fn by_place(series: &[Series]) -> bool {
    use Series::{Across, Around, Place, Within};
    let one_is = |one: &Series| matches!(one, Place | Around | Across | Within);
    series.iter().all(one_is)
}

/// The found block or unit, in bytes.
pub(crate) fn block(estimate: Option<&Estimate>) -> Option<u64> {
    let value = estimate?.value.as_ref()?;
    value.bytes().filter(|bytes| *bytes > 1)
}

/// The samples of a series, of scans those of the last step, with the column of their middle as `x`: the place in a block or
/// unit, whose beginning is at half of the axis, or on the drive.
pub(crate) fn folded(
    samples: &[&Sample],
    series: Series,
    estimate: Option<&Estimate>,
) -> Vec<Sample> {
    let of_series = samples.iter().filter(|s| s.series == series);
    let last = of_series.clone().map(|s| s.step).max();
    let scan = matches!(series, Series::Place | Series::Around);
    let chosen = of_series.filter(|s| !scan || Some(s.step) == last);
    let block = block(estimate);
    let place = |s: &Sample| {
        let middle = s.offset.saturating_add(s.bytes / 2);
        block.map_or(middle, |block| (middle % block + block / 2) % block)
    };
    let end = chosen.clone().map(|s| place(s)).max().unwrap_or(0);
    let column = (block.unwrap_or(end) / COLUMNS).max(1);
    chosen
        .map(|s| Sample {
            x: place(s) / column * column,
            ..**s
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_probe::record::Timed;
    use fathom_probe::{Method, Parameter, Value, Verdict};

    fn sample(step: u32, offset: u64, series: Series) -> Sample {
        Sample {
            step,
            parameter: Parameter::ClusteredBlock,
            series,
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
            sample(0, 0, Series::Place),
            sample(1, (3 << 20) - 512, Series::Place),
            sample(1, (3 << 20) + (256 << 10), Series::Place),
            sample(1, 0, Series::Around),
        ];
        let all: Vec<&Sample> = all.iter().collect();
        let parameter = Parameter::ClusteredBlock;
        let estimate = Estimate {
            value: Some(Value::Bytes(1 << 20)),
            ..Estimate::without_value(parameter, Method::Robust, Verdict::Identified, "found")
        };
        let x: Vec<u64> = folded(&all, Series::Place, Some(&estimate))
            .iter()
            .map(|s| s.x)
            .collect();
        assert_eq!(x, [512 << 10, 768 << 10]);
        let x: Vec<u64> = folded(&all, Series::Place, None)
            .iter()
            .map(|s| s.x)
            .collect();
        assert!(x[0].abs_diff(3 << 20) <= 64 << 10 && x[0] < x[1]);
    }
}
