//! Compares the `...-like` generators with the figures that they cite, and these figures with the traces.
//!
//! Tolerances: five standard deviations of a binomial, as in `generate_statistics.rs`. For measured figures that are
//! given with a number of digits: half a unit of the last digit.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says why")]

use fathom_block::Access;
use fathom_block::Op;
use fathom_workload::generate::{Config, Load, Name, Pacing, Pattern, Side};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Read;
use std::path::PathBuf;

/// A request of a trace: operation, unit, offset and length in bytes, time in seconds.
struct Row {
    op: Op,
    unit: u32,
    offset: u64,
    len: u64,
    at: f64,
}

/// Compares the generated share of writes and mean lengths with the published figures and with the load's own lengths.
#[test]
fn published_figures_come_out() {
    // Accesses of the whole trace and the share of writes, from the tables cited in the sources of the loads. For
    // TPC-C, the first 6,999 requests.
    let published: [(Name, Option<u64>, f64); 4] = [
        (
            Name::Financial1Like,
            Some(5_334_987),
            4_099_354.0 / 5_334_987.0,
        ),
        (
            Name::Financial2Like,
            Some(3_699_194),
            653_082.0 / 3_699_194.0,
        ),
        (Name::WebSearchLike, Some(1_055_448), 212.0 / 1_055_448.0),
        (Name::TpccLike, None, 2_618.0 / 6_999.0),
    ];
    for (name, accesses, write_share) in published {
        let load = name.load();
        assert!(accesses.is_none_or(|accesses| load.accesses == accesses));
        let mut config = Config::of(name);
        config.accesses = Some(500_000);
        let (mut n, mut sums) = ([0.0f64; 2], [[0.0f64; 2]; 2]);
        for access in config.generator(1).unwrap() {
            let (side, len) = (usize::from(access.op == Op::Write), access.len as f64);
            n[side] += 1.0;
            sums[side] = [sums[side][0] + len, sums[side][1] + len * len];
        }
        let sigma = (write_share * (1.0 - write_share) / 500_000.0).sqrt();
        let found = n[1] / 500_000.0;
        assert!(
            (found - write_share).abs() <= 5.0 * sigma,
            "{name:?}: {found}, not {write_share}"
        );
        for (side, of) in [&load.reads, &load.writes].into_iter().enumerate() {
            let mean = sums[side][0] / n[side];
            let sigma = ((sums[side][1] / n[side] - mean * mean).max(0.0) / n[side]).sqrt();
            assert!(
                (mean - of.sizes.mean()).abs() <= 5.0 * sigma + 1e-6,
                "{name:?}: {mean}"
            );
        }
    }
    // `epo` IV.A: the mean write of TPC-C is longer than 10 KB, Financial1 has more than 60 % writes, and Financial2
    // more than 80 % reads.
    assert!(Name::TpccLike.load().writes.sizes.mean() > 10_240.0);
    assert!(Name::Financial1Like.load().read_percent < 40.0);
    assert!(Name::Financial2Like.load().read_percent > 80.0);
}

fn text(file: &str) -> Option<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/traces")
        .join(file);
    let Ok(file) = std::fs::File::open(&path) else {
        eprintln!("skipped: {} is not there", path.display());
        return None;
    };
    let mut text = String::new();
    ruzstd::decoding::StreamingDecoder::new(file)
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    Some(text)
}

/// Parses lines of `unit?, sector, bytes, op, seconds`.
fn spc(text: &str) -> Vec<Row> {
    let row = |line: &str| {
        let mut fields: Vec<&str> = line.split(',').collect();
        if fields.len() == 4 {
            fields.insert(0, "0");
        }
        Row {
            op: if fields[3].eq_ignore_ascii_case("w") {
                Op::Write
            } else {
                Op::Read
            },
            unit: fields[0].parse().unwrap(),
            offset: fields[1].parse::<u64>().unwrap() * 512,
            len: fields[2].parse().unwrap(),
            at: fields[4].trim().parse().unwrap(),
        }
    };
    text.lines().map(row).collect()
}

/// Parses lines of `ns unit sector sectors op`; `op` is 0 for a write.
fn mqsim(text: &str) -> Vec<Row> {
    let row = |line: &str| {
        let fields: Vec<u64> = line
            .split_whitespace()
            .map(|field| field.parse().unwrap())
            .collect();
        Row {
            op: if fields[4] == 0 { Op::Write } else { Op::Read },
            unit: fields[1] as u32,
            offset: fields[2] * 512,
            len: fields[3] * 512,
            at: fields[0] as f64 * 1e-9,
        }
    };
    text.lines().map(row).collect()
}

/// Counts of a side: requests that repeat one of the last 1024 starts, requests that continue one of the last 64 of the
/// same side and unit, and all requests.
#[derive(Clone, Copy, Default)]
struct Ways {
    repeats: f64,
    goes_on: f64,
    all: f64,
}

/// Adds the counts of a trace to those of the reads and the writes.
fn count_ways(rows: &[Row], ways: &mut [Ways; 2]) {
    let mut last = BTreeMap::new();
    let mut ends = [VecDeque::new(), VecDeque::new()];
    for (index, row) in rows.iter().enumerate() {
        let side = usize::from(row.op == Op::Write);
        let start = (row.unit, row.offset);
        ways[side].all += 1.0;
        if last
            .insert(start, index)
            .is_some_and(|earlier| index - earlier <= 1024)
        {
            ways[side].repeats += 1.0;
        } else if ends[side].contains(&start) {
            ways[side].goes_on += 1.0;
        }
        ends[side].push_back((row.unit, row.offset + row.len));
        if ends[side].len() > 64 {
            ends[side].pop_front();
        }
    }
}

/// Asserts that the lengths with a share of at least `share` are those of the load, with their counts as weights.
fn assert_lengths(rows: &[Row], op: Op, side: &Side, share: f64) {
    let mut counts = BTreeMap::new();
    for row in rows.iter().filter(|row| row.op == op) {
        *counts.entry(row.len).or_insert(0.0) += 1.0;
    }
    let all: f64 = counts.values().sum();
    counts.retain(|_, count| *count >= share * all);
    let given = side
        .sizes
        .list()
        .iter()
        .map(|size| (size.bytes.0, size.weight))
        .collect();
    assert_eq!(counts, given);
}

/// Asserts that the percentages of a trace are those of the load, to half a unit of the last digit.
fn assert_ways(what: &str, ways: Ways, side: &Side, digit: f64) {
    let percent = |part: f64| 100.0 * part / ways.all;
    for (found, given) in [
        (percent(ways.repeats), side.repeat_percent),
        (percent(ways.goes_on), side.sequential_percent),
    ] {
        assert!(
            (found - given).abs() <= digit / 2.0,
            "{what}: {found} %, not {given} %"
        );
    }
}

/// Returns the sum of the ends of all units, in bytes.
fn span(rows: &[Row]) -> u64 {
    let mut ends = BTreeMap::new();
    for row in rows {
        let end = ends.entry(row.unit).or_insert(0);
        *end = row.offset.saturating_add(row.len).max(*end);
    }
    ends.values().sum()
}

/// Returns the requests per second, and the squared coefficient of variation of the intervals.
fn rate(rows: &[Row]) -> (f64, f64) {
    let gaps: Vec<f64> = rows
        .windows(2)
        .map(|pair| pair[1].at - pair[0].at)
        .collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    (1.0 / mean, variance / mean.powi(2))
}

fn sides(load: &Load) -> [&Side; 2] {
    [&load.reads, &load.writes]
}

/// Returns an upper bound on the probability that two draws from Zipf's law are equal, which is the sum of the squared
/// probabilities. Both sums are bounded by their integrals, the numerator from above and the denominator from below.
fn same_by_chance(pattern: Pattern, places: f64) -> f64 {
    let Pattern::Zipf { theta, .. } = pattern else {
        return 1.0 / places;
    };
    let squares = 1.0 + 1.0 / (2.0 * theta - 1.0);
    let all = ((places + 1.0).powf(1.0 - theta) - 1.0) / (1.0 - theta);
    squares / all.powi(2)
}

/// Generated accesses, measured like the traces, have the parameters that were put in. The tolerance is five standard
/// deviations, plus the chance that a new place equals one of the last 1024.
#[test]
fn what_comes_out_measures_as_what_went_in() {
    for name in [
        Name::Financial1Like,
        Name::Financial2Like,
        Name::TpccLike,
        Name::WebSearchLike,
    ] {
        let mut config = Config::of(name);
        config.accesses = Some(200_000);
        let load = config.load().unwrap();
        let row = |access: Access| Row {
            op: access.op,
            unit: access.disk,
            offset: access.offset,
            len: access.len,
            at: access.at.0 as f64 * 1e-9,
        };
        let rows: Vec<Row> = config.generator(5).unwrap().map(row).collect();
        let mut ways = [Ways::default(); 2];
        count_ways(&rows, &mut ways);
        let places = load.range.len.0 as f64 / load.align.0 as f64;
        let chance = 1024.0 * same_by_chance(load.pattern, places);
        for (ways, side) in ways.into_iter().zip(sides(&load)) {
            for (found, percent) in [
                (ways.repeats, side.repeat_percent),
                (ways.goes_on, side.sequential_percent),
            ] {
                let share = percent / 100.0;
                let sigma = (share * (1.0 - share) / ways.all).sqrt();
                let off = found / ways.all - share;
                assert!(
                    (-5.0 * sigma - chance..=5.0 * sigma + chance).contains(&off),
                    "{name:?}: {} of {} and not {percent} %",
                    found,
                    ways.all
                );
            }
        }
    }
}

#[test]
fn financial1_like_says_what_its_first_10000_say() {
    let Some(text) = text("Financial1_first10k.spc.zst") else {
        return;
    };
    let (rows, load) = (spc(&text), Name::Financial1Like.load());
    assert_lengths(&rows, Op::Read, &load.reads, 0.01);
    assert_lengths(&rows, Op::Write, &load.writes, 0.01);
    let mut ways = [Ways::default(); 2];
    count_ways(&rows, &mut ways);
    for (ways, side) in ways.into_iter().zip(sides(&load)) {
        assert_ways("first 10,000", ways, side, 0.1);
    }
    assert_eq!(span(&rows).next_multiple_of(1 << 20), load.range.len.0);
    let (rate, variation) = rate(&rows);
    assert!(
        (rate - 38.5).abs() <= 0.05 && (variation - 10.3).abs() <= 0.05,
        "{rate}, {variation}"
    );
}

#[test]
fn financial2_like_says_what_its_fragments_say() {
    let names = [
        "Financial2_frag1_750.csv.zst",
        "Financial2_frag2_751.csv.zst",
    ];
    let [Some(one), Some(other)] = names.map(text) else {
        return;
    };
    let load = Name::Financial2Like.load();
    let (one, other) = (spc(&one), spc(&other));
    let mut ways = [Ways::default(); 2];
    count_ways(&one, &mut ways);
    count_ways(&other, &mut ways);
    for (ways, side) in ways.into_iter().zip(sides(&load)) {
        assert_ways("fragments", ways, side, 0.1);
    }
    let Pacing::Poisson { per_second } = load.pacing else {
        panic!()
    };
    assert!(((rate(&one).0 + rate(&other).0) / 2.0 - per_second).abs() <= 0.05);
    let rows: Vec<Row> = one.into_iter().chain(other).collect();
    assert_lengths(&rows, Op::Read, &load.reads, 0.01);
    assert_lengths(&rows, Op::Write, &load.writes, 0.01);
    assert_eq!(span(&rows).next_multiple_of(1 << 20), load.range.len.0);
}

#[test]
fn websearch_like_says_what_its_first_24783_say() {
    let Some(text) = text("WebSearch1_first24783.mqsim.trace.zst") else {
        return;
    };
    let (rows, load) = (mqsim(&text), Name::WebSearchLike.load());
    assert_lengths(&rows, Op::Read, &load.reads, 0.01);
    let writes: BTreeSet<u64> = rows
        .iter()
        .filter(|row| row.op == Op::Write)
        .map(|row| row.len)
        .collect();
    assert_eq!(writes.into_iter().collect::<Vec<_>>(), [8192]);
    let mut ways = [Ways::default(); 2];
    count_ways(&rows, &mut ways);
    assert_ways("first 24,783", ways[0], &load.reads, 0.1);
    assert!(rows.iter().all(|row| row.offset.is_multiple_of(4096)));
    assert_eq!(span(&rows).next_multiple_of(1 << 30), load.range.len.0);
    let Pacing::Poisson { per_second } = load.pacing else {
        panic!()
    };
    let (rate, variation) = rate(&rows);
    assert!(
        (rate - per_second).abs() <= 0.05 && (variation - 1.8).abs() <= 0.05,
        "{rate}, {variation}"
    );
}

#[test]
fn tpcc_like_says_what_its_first_6999_say() {
    let Some(text) = text("tpcc-small.mqsim.trace.zst") else {
        return;
    };
    let (rows, load) = (mqsim(&text), Name::TpccLike.load());
    assert_lengths(&rows, Op::Read, &load.reads, 0.001);
    // All lengths but the last, which stands for the remaining writes.
    let (mut known, rest) = (load.writes.clone(), load.writes.sizes.list()[2]);
    known.sizes =
        fathom_workload::generate::Sizes::Weighted(load.writes.sizes.list()[..2].to_vec());
    assert_lengths(&rows, Op::Write, &known, 0.03);
    let writes = rows.iter().filter(|row| row.op == Op::Write);
    let longest = writes.clone().map(|row| row.len).max();
    assert_eq!(longest, Some(rest.bytes.0));
    let sum: f64 = load
        .writes
        .sizes
        .list()
        .iter()
        .map(|size| size.weight)
        .sum();
    assert_eq!(sum, writes.count() as f64);
    let mut ways = [Ways::default(); 2];
    count_ways(&rows, &mut ways);
    assert_ways("reads", ways[0], &load.reads, 0.01);
    assert_ways("writes", ways[1], &load.writes, 0.1);
    assert_eq!(span(&rows).next_multiple_of(1 << 30), load.range.len.0);
    let Pacing::Poisson { per_second } = load.pacing else {
        panic!()
    };
    let (rate, variation) = rate(&rows);
    assert!(
        (rate - per_second).abs() <= 0.5 && (variation - 1.14).abs() <= 0.005,
        "{rate}, {variation}"
    );
}
