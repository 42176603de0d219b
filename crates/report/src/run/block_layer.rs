//! Charts of the block layer: waiting requests, throughput per process, sizes of dispatched requests.

use super::drawn::{Drawn, chart, line, over_run, through_points};
use super::stretch::rates;
use crate::chart::{Axis, Chart, Mode, Scale, Series, Unit};
use crate::words;
use fathom_iosched::QueueStats;
use std::collections::BTreeMap;

/// Requests not yet done; on a page of one run, also those at the drive.
pub(super) fn waiting(runs: &[Drawn<'_>]) -> Option<Chart> {
    let one = runs.len() == 1;
    let mut lines = through_points(runs, "not done", 0, |s| s.not_done());
    if one {
        lines.extend(through_points(runs, "at the drive", 1, |s| s.at_drive()));
    }
    let see = if one {
        "How many requests were not done, held by the block layer or at the drive, and how many the drive had. \
         Those at the drive are counted as it was given them, merged or split."
    } else {
        "How many requests were not done, held by the block layer or at the drive. A run without a block layer \
         has no line."
    };
    Some(chart(
        "waiting",
        "Requests waiting over the run",
        see,
        over_run("requests", Unit::Number),
        lines,
    ))
}

/// Requests at the drive, on a page of several runs. `None` if no drive ever had more than one request.
pub(super) fn at_drive(runs: &[Drawn<'_>]) -> Option<Chart> {
    let lines = through_points(runs, "", 0, |s| s.at_drive());
    let had = lines.iter().flat_map(|line| line.y.iter().flatten());
    let several = had.fold(0.0, |most: f64, &at| most.max(at)) > 1.0;
    (runs.len() > 1 && several).then(|| {
        chart(
            "at-drive",
            "Requests at the drive over the run",
            "How many requests the drive had, counted as it was given them, merged or split. What is not done and not \
             here was held by the block layer.",
            over_run("requests", Unit::Number),
            lines,
        )
    })
}

/// Throughput of each process, on a page of one run only.
pub(super) fn processes(runs: &[Drawn<'_>]) -> Option<Chart> {
    let [one] = runs else {
        return None;
    };
    let totals = &one.run.totals;
    let lines = totals.processes.iter().enumerate();
    let drawn = lines.filter(|(_, process)| !process.timeline.is_empty());
    let lines = drawn.map(|(number, process)| {
        let rates = rates(totals, process).into_iter();
        let points = rates.map(|(at, rate)| (at as f64, Some(rate)));
        line(runs, 0, &format!("process {number}"), number, points)
    });
    Some(chart(
        "processes",
        "Throughput of each process over the run",
        "Data read and written per second by each process, until it was done. Lines far apart are processes that did \
         not get the same.",
        over_run("throughput", Unit::Rate),
        lines.collect(),
    ))
}

/// Sizes of dispatched requests. One run has reads and writes in one figure; several runs have a figure for each.
pub(super) fn sizes(runs: &[Drawn<'_>]) -> [Option<Chart>; 3] {
    let reads = bars(runs, "reads", 0, |stats| Some(&stats.reads.by_len));
    let writes = bars(runs, "writes", 1, |stats| Some(&stats.writes.by_len));
    let see =
        "The share of bytes that came in requests of at most that size, and above half of it.";
    let bundles = sized(
        "bundles",
        "Sizes of bundles of writes",
        "The share of bytes that came in bundles of at most that size, and above half of it: writes into one logical \
         block that went in a row.",
        bars(runs, "bundles", 0, |stats| {
            Some(&stats.bundles.as_ref()?.by_bytes)
        }),
    );
    if runs.len() == 1 {
        let both = reads.into_iter().chain(writes).collect();
        let title = "Sizes of requests given to the drive";
        return [Some(sized("sizes", title, see, both)), None, Some(bundles)];
    }
    let title = |what: &str| format!("Sizes of {what} given to the drive");
    [
        Some(sized("sizes-reads", &title("reads"), see, reads)),
        Some(sized("sizes-writes", &title("writes"), see, writes)),
        Some(bundles),
    ]
}

/// Returns a chart of bars over every power of two between the smallest and the largest, including empty ones.
fn sized(id: &str, title: &str, see: &str, mut series: Vec<Series>) -> Chart {
    let powers = series.iter().flat_map(|line| line.x.iter().copied());
    let first = powers.clone().fold(f64::INFINITY, f64::min);
    let last = powers.fold(0.0, f64::max);
    let size = |power: f64| words::bytes(1u64 << (power as u32).min(63));
    let count = (last - first).max(-1.0) as usize;
    let names = (0..=count).map(|i| size(first + i as f64));
    for line in &mut series {
        line.x.iter_mut().for_each(|power| *power -= first);
    }
    let x = Axis::names("size, up to", names.collect());
    let y = Axis::new("share of bytes (%)", Unit::Number, Scale::Zero);
    chart(id, title, see, [x, y], series)
}

/// Returns a series of bars per run, over the logarithm of the sizes.
fn bars(
    runs: &[Drawn<'_>],
    name: &str,
    look: usize,
    of: impl Fn(&QueueStats) -> Option<&BTreeMap<u64, u64>>,
) -> Vec<Series> {
    let of_run = |(run, drawn): (usize, &Drawn<'_>)| {
        let sizes = drawn.run.queue.as_ref().and_then(&of);
        let shares = sizes.map(shares).unwrap_or_default().into_iter();
        let points = shares.map(|(size, share)| (size.log2(), Some(share)));
        Series {
            mode: Mode::Bars,
            ..line(runs, run, name, look, points)
        }
    };
    runs.iter().enumerate().map(of_run).collect()
}

/// Returns the percentage of bytes per size class: (size rounded up to a power of two, percentage).
fn shares(by_bytes: &BTreeMap<u64, u64>) -> Vec<(f64, f64)> {
    let mut bytes: BTreeMap<u64, f64> = BTreeMap::new();
    for (&size, &count) in by_bytes {
        let bin = size.checked_next_power_of_two().unwrap_or(1 << 63);
        *bytes.entry(bin).or_default() += size as f64 * count as f64;
    }
    let all: f64 = bytes.values().sum();
    let some = bytes.into_iter().filter(|(_, bytes)| *bytes > 0.0);
    some.map(|(bin, bytes)| (bin as f64, 100.0 * bytes / all))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_counts_with_its_bytes_under_the_power_of_two_that_it_does_not_exceed() {
        // Two classes: 12 KiB in requests up to 4 KiB; 12 and 8 KiB in requests up to 8 KiB.
        let by_bytes = BTreeMap::from([(4096, 3), (6144, 2), (8192, 1)]);
        assert_eq!(shares(&by_bytes), [(4096.0, 37.5), (8192.0, 62.5)]);
        assert_eq!(shares(&BTreeMap::new()), []);
        // A size above the largest power of two belongs to the last class.
        assert_eq!(
            shares(&BTreeMap::from([(u64::MAX, 1)])),
            [(9_223_372_036_854_775_808.0, 100.0)]
        );
        assert_eq!(shares(&BTreeMap::from([(0, 5)])), []);
    }
}
