//! Compares the generators' draws with the closed forms of their distributions.
//!
//! Tolerances follow from the sample size: five standard deviations of an estimate (one false alarm in 1.7 million for
//! a new seed), and for a whole distribution a Kolmogorov-Smirnov distance of `2.5 / sqrt(n)` (one in 130,000).
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::{Bytes, Dur, Rng};
use fathom_block::Access;
use fathom_block::Op;
use fathom_workload::generate::{
    Config, Generator, Load, Name, Pacing, Pattern, Permutation, Range, Sizes, Zipf,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const N: u64 = 400_000;

fn load(name: Name) -> Load {
    Load {
        accesses: N,
        ..name.load()
    }
}

fn accesses(load: &Load, seed: u64) -> Vec<Access> {
    Generator::new(load, seed).unwrap().collect()
}

/// Asserts that `hits` of `n` is within five standard deviations of a binomial.
fn assert_share(what: &str, hits: u64, n: u64, share: f64) {
    let sigma = (share * (1.0 - share) / n as f64).sqrt();
    let found = hits as f64 / n as f64;
    assert!(
        (found - share).abs() <= 5.0 * sigma + 1e-12,
        "{what}: {found} of {n}, not {share} +- {sigma}"
    );
}

/// Asserts that counts follow probabilities: Pearson's chi-square is within five standard deviations of its mean. Cells
/// with an expected count below ten are combined.
fn assert_follows(what: &str, cells: &[(u64, f64)]) {
    let n: u64 = cells.iter().map(|cell| cell.0).sum();
    let (mut chi, mut degrees, mut rest) = (0.0, -1.0, (0.0, 0.0));
    let mut add = |count: f64, expected: f64| {
        chi += (count - expected).powi(2) / expected;
        degrees += 1.0;
    };
    for &(count, share) in cells {
        let expected = n as f64 * share;
        if expected >= 10.0 {
            add(count as f64, expected);
        } else {
            rest = (rest.0 + count as f64, rest.1 + expected);
        }
    }
    if rest.1 >= 10.0 {
        add(rest.0, rest.1);
    }
    let bound = 5.0 * (2.0f64 * degrees).sqrt();
    assert!(
        (chi - degrees).abs() <= bound,
        "{what}: chi-square {chi} with {degrees} degrees"
    );
}

/// Asserts that a sample follows a distribution function.
fn assert_distributed(what: &str, mut sample: Vec<f64>, cdf: impl Fn(f64) -> f64) {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let distance = sample.iter().enumerate().map(|(i, &x)| {
        let f = cdf(x);
        (f - i as f64 / n).abs().max((f - (i + 1) as f64 / n).abs())
    });
    let worst = distance.fold(0.0, f64::max);
    assert!(worst <= 2.5 / n.sqrt(), "{what}: {worst} with {n}");
}

fn gaps(accesses: &[Access]) -> Vec<f64> {
    let gap = |pair: &[Access]| pair[1].at.since(pair[0].at).0 as f64;
    accesses.windows(2).map(gap).collect()
}

#[test]
fn operations_and_lengths_come_in_their_shares() {
    for seed in 0..3 {
        let mut load = load(Name::Uniform);
        load.read_percent = 30.0;
        let shares = [(512, 0.05), (4096, 0.6), (8192, 0.25), (65536, 0.1)];
        load.reads.sizes = Sizes::weighted(&shares.map(|(bytes, share)| (bytes, share * 7.0)));
        load.writes.sizes = Sizes::One(Bytes(1024));
        let all = accesses(&load, seed);
        let reads: Vec<_> = all.iter().filter(|a| a.op == Op::Read).collect();
        assert_share("reads", reads.len() as u64, N, 0.3);
        let cells = shares.map(|(bytes, share)| {
            (
                reads.iter().filter(|a| a.len == bytes).count() as u64,
                share,
            )
        });
        assert_eq!(
            cells.iter().map(|cell| cell.0).sum::<u64>(),
            reads.len() as u64
        );
        assert_follows("lengths", &cells);
        assert!(all.iter().all(|a| a.op != Op::Write || a.len == 1024));
    }
}

#[test]
fn uniform_places_are_equally_likely() {
    let mut load = load(Name::Uniform);
    load.range = Range {
        start: Bytes::mib(8),
        len: Bytes::mib(4),
    };
    for seed in 0..3 {
        let mut counts = vec![0u64; 1024];
        for access in accesses(&load, seed) {
            counts[((access.offset - (8 << 20)) / 4096) as usize] += 1;
        }
        let cells: Vec<_> = counts.iter().map(|&count| (count, 1.0 / 1024.0)).collect();
        assert_follows("places", &cells);
    }
}

#[test]
fn sequential_goes_on_and_around() {
    let mut load = load(Name::Sequential);
    load.accesses = 8;
    load.range = Range {
        start: Bytes(40960),
        len: Bytes(20_000),
    };
    load.reads.sizes = Sizes::One(Bytes(5_000));
    load.writes.sizes = Sizes::One(Bytes(5_000));
    // 5,000 bytes end within the second page, so the next access starts at the third; two accesses fit in 20,000 bytes.
    let starts: Vec<_> = accesses(&load, 0)
        .iter()
        .map(|a| a.offset - 40960)
        .collect();
    assert_eq!(starts, [0, 8192, 0, 8192, 0, 8192, 0, 8192]);
}

#[test]
fn sequential_uses_the_range_to_its_last_byte() {
    let mut load = load(Name::Sequential);
    load.accesses = 6;
    load.range.len = Bytes::kib(16);
    let starts: Vec<_> = accesses(&load, 0).iter().map(|a| a.offset / 4096).collect();
    assert_eq!(starts, [0, 1, 2, 3, 0, 1]);
}

/// Returns the sum of `k^-theta` for `k` up to `n`; beyond 10,000 terms by the Euler-Maclaurin formula.
fn harmonic(n: u64, theta: f64) -> f64 {
    let head = n.min(10_000);
    let term = |k: u64| (k as f64).powf(-theta);
    let sum: f64 = (1..=head).rev().map(term).sum();
    if n == head {
        return sum;
    }
    let integral = |x: f64| {
        if theta == 1.0 {
            x.ln()
        } else {
            x.powf(1.0 - theta) / (1.0 - theta)
        }
    };
    // Further correction terms are below 1e-9 here.
    sum + integral(n as f64) - integral(head as f64) + (term(n) - term(head)) / 2.0
}

#[test]
fn zipf_follows_its_closed_form() {
    for theta in [0.0, 0.3, 0.65, 0.99, 1.0, 1.000_001, 1.5, 3.0] {
        for ranks in [1, 2, 10, 1000] {
            let (zipf, mut rng) = (Zipf::new(ranks, theta), Rng::new(ranks, 7));
            let mut counts = vec![0u64; ranks as usize];
            for _ in 0..N {
                counts[zipf.draw(&mut rng) as usize - 1] += 1;
            }
            let total = harmonic(ranks, theta);
            let share = |index: usize| ((index + 1) as f64).powf(-theta) / total;
            let cells: Vec<_> = counts
                .iter()
                .enumerate()
                .map(|(i, &count)| (count, share(i)))
                .collect();
            if ranks > 1 {
                assert_follows(&format!("theta {theta}, {ranks} ranks"), &cells);
            }
        }
    }
}

#[test]
fn zipf_needs_no_table_for_a_trillion_ranks() {
    let ranks = 1u64 << 40;
    for theta in [0.5, 0.99, 1.0, 1.2] {
        let (zipf, mut rng) = (Zipf::new(ranks, theta), Rng::new(3, 3));
        let drawn: Vec<u64> = (0..N).map(|_| zipf.draw(&mut rng)).collect();
        assert!(drawn.iter().all(|rank| (1..=ranks).contains(rank)));
        let total = harmonic(ranks, theta);
        for upto in [1, 2, 17, 1000, 1 << 20, 1 << 30, ranks / 10, ranks / 2] {
            let hits = drawn.iter().filter(|&&rank| rank <= upto).count() as u64;
            assert_share(
                &format!("theta {theta} up to {upto}"),
                hits,
                N,
                harmonic(upto, theta) / total,
            );
        }
    }
}

#[test]
fn zipf_places_are_ranked_or_dealt_over_the_range() {
    let mut load = load(Name::Zipf);
    let counts = |load: &Load| {
        let mut counts = BTreeMap::new();
        for access in accesses(load, 5) {
            *counts.entry(access.offset / 4096).or_insert(0u64) += 1;
        }
        counts
    };
    load.pattern = Pattern::Zipf {
        theta: 0.99,
        scatter: false,
    };
    let places = 1 << 18;
    let total = harmonic(places, 0.99);
    let ranked = counts(&load);
    for rank in 1..=20u64 {
        assert_share(
            "ranked",
            ranked[&(rank - 1)],
            N,
            (rank as f64).powf(-0.99) / total,
        );
    }
    load.pattern = Pattern::Zipf {
        theta: 0.99,
        scatter: true,
    };
    let mut dealt: Vec<(u64, u64)> = counts(&load)
        .iter()
        .map(|(&place, &count)| (count, place))
        .collect();
    dealt.sort_unstable_by(|a, b| b.cmp(a));
    assert_share("the most used, dealt", dealt[0].0, N, 1.0 / total);
    // If the 100 most used places are scattered randomly over 2^18, 100 * 99 / 2^18 = 0.04 adjacent pairs are expected.
    let top: BTreeSet<u64> = dealt[..100].iter().map(|cell| cell.1).collect();
    assert!(
        top.iter()
            .filter(|&&place| top.contains(&(place + 1)))
            .count()
            <= 2
    );
}

#[test]
fn hot_places_take_their_share() {
    let mut load = load(Name::HotCold);
    for (accesses_percent, space_percent) in
        [(80.0, 20.0), (90.0, 10.0), (50.0, 0.001), (30.0, 100.0)]
    {
        load.pattern = Pattern::HotCold {
            accesses_percent,
            space_percent,
            scatter: false,
        };
        // There are 2^18 places. At least one is hot; if all are hot, they receive all accesses.
        let hot = ((1u64 << 18) as f64 * space_percent / 100.0)
            .round()
            .max(1.0) as u64;
        let share = if space_percent == 100.0 {
            1.0
        } else {
            accesses_percent / 100.0
        };
        let all = accesses(&load, 11);
        let hits = all.iter().filter(|a| a.offset / 4096 < hot).count() as u64;
        assert_share("hot", hits, N, share);
        // Uniform within the hot part: half of its places receive half of its accesses.
        if hot > 1 {
            let half = all.iter().filter(|a| a.offset / 4096 < hot / 2).count() as u64;
            assert_share("half of hot", half, hits, (hot / 2) as f64 / hot as f64);
        }
    }
}

#[test]
fn hot_places_are_dealt_by_a_bijection() {
    let mut load = load(Name::HotCold);
    load.pattern = Pattern::HotCold {
        accesses_percent: 100.0,
        space_percent: 1.0,
        scatter: true,
    };
    load.range.len = Bytes::mib(400);
    let seen: BTreeSet<u64> = accesses(&load, 1).iter().map(|a| a.offset / 4096).collect();
    // 1024 of 102,400 places are hot. The probability that 400,000 draws miss one of them is e^-380.
    assert_eq!(seen.len(), 1024);
    // Uniform over the range: 512 +- 16 lie in its lower half.
    let low = seen.iter().filter(|&&place| place < 51_200).count() as u64;
    assert_share("dealt into the lower half", low, 1024, 0.5);
}

#[test]
fn pareto_is_self_similar() {
    let mut load = load(Name::Pareto);
    load.range.len = Bytes(4096 * 1_000_000);
    for h in [0.1, 0.2, 0.4] {
        load.pattern = Pattern::Pareto {
            space_percent: h * 100.0,
            scatter: false,
        };
        let all = accesses(&load, 2);
        for level in 1..=4 {
            let part = h.powi(level);
            let hits = all
                .iter()
                .filter(|a| ((a.offset / 4096) as f64) < part * 1e6)
                .count() as u64;
            assert_share(
                &format!("h {h}, level {level}"),
                hits,
                N,
                (1.0 - h).powi(level),
            );
        }
    }
}

#[test]
fn a_permutation_is_a_bijection() {
    let mut rng = Rng::new(1, 1);
    for items in (1..=130).chain([255, 256, 257, 4095, 4096, 10_007, 65_537]) {
        let permutation = Permutation::new(items, &mut rng);
        let image: BTreeSet<u64> = (0..items).map(|item| permutation.of(item)).collect();
        assert_eq!(image.len() as u64, items);
        assert!(image.iter().all(|&item| item < items));
    }
}

#[test]
fn a_permutation_parts_neighbours() {
    for (seed, items) in [(0, 10_007u64), (1, 1 << 20), (2, (1 << 40) + 1)] {
        let permutation = Permutation::new(items, &mut Rng::new(seed, 0));
        // The distance of two random points of [0, 1) has mean 1/3 and variance 1/18. Consecutive distances share a
        // point, which at most doubles the variance of their mean.
        let pairs = 10_000u64;
        let distance =
            |i: u64| permutation.of(i).abs_diff(permutation.of(i + 1)) as f64 / items as f64;
        let mean = (0..pairs).map(distance).sum::<f64>() / pairs as f64;
        let sigma = (2.0 / 18.0 / pairs as f64).sqrt();
        assert!((mean - 1.0 / 3.0).abs() <= 5.0 * sigma, "{items}: {mean}");
        // The first items are spread over both halves as well.
        let low = (0..pairs)
            .filter(|&i| permutation.of(i) < items / 2)
            .count() as u64;
        assert_share("lower half", low, pairs, 0.5);
    }
}

#[test]
fn a_permutation_keeps_no_differences() {
    let permutation = Permutation::new(1 << 20, &mut Rng::new(4, 0));
    let low_half = |difference: u64| difference & 1023;
    for bit in [1, 2, 16, 512] {
        let kept = (0..1u64 << 16)
            .filter(|&item| low_half(permutation.of(item) ^ permutation.of(item ^ bit)) == bit)
            .count() as u64;
        // The lower 10 bits of two different random items of 2^20 have a given difference with a probability of 2^-10.
        // Each pair is counted twice.
        assert_share("kept", kept / 2, 1 << 15, 1.0 / 1024.0);
    }
}

#[test]
fn runs_go_on_and_starts_repeat_in_their_shares() {
    let mut load = load(Name::Uniform);
    // The range is so large that two places are equal by chance with a probability of 400,000^2 / 2^50, below 2e-4.
    load.range.len = Bytes(1 << 62);
    (load.run_depth, load.repeat_depth) = (8, 32);
    (load.reads.sequential_percent, load.reads.repeat_percent) = (25.0, 10.0);
    (load.writes.sequential_percent, load.writes.repeat_percent) = (5.0, 40.0);
    for seed in 0..3 {
        let (mut starts, mut ends) = (VecDeque::new(), [VecDeque::new(), VecDeque::new()]);
        // Per side: all, continued, repeated.
        let mut counts = [[0u64; 3]; 2];
        for access in accesses(&load, seed) {
            let side = usize::from(access.op == Op::Write);
            counts[side][0] += 1;
            if starts.contains(&access.offset) {
                counts[side][2] += 1;
            } else if ends[side].contains(&access.offset) {
                counts[side][1] += 1;
            }
            ends[side].push_front(access.end());
            ends[side].truncate(8);
            starts.push_front(access.offset);
            starts.truncate(32);
        }
        let [reads, writes] = counts;
        // The first accesses have nothing to repeat or continue. These are fewer than 32 of 400,000, below the
        // tolerance.
        assert_share("reads go on", reads[1], reads[0], 0.25);
        assert_share("reads repeat", reads[2], reads[0], 0.10);
        assert_share("writes go on", writes[1], writes[0], 0.05);
        assert_share("writes repeat", writes[2], writes[0], 0.40);
    }
}

#[test]
fn distances_of_repeats_are_log_uniform() {
    let mut load = load(Name::Uniform);
    load.range.len = Bytes(1 << 62);
    load.accesses = 2 * N;
    load.repeat_depth = 100;
    (load.reads.repeat_percent, load.writes.repeat_percent) = (1.0, 1.0);
    let all = accesses(&load, 4);
    let (mut last, mut distances) = (BTreeMap::new(), Vec::new());
    for (index, access) in all.iter().enumerate() {
        if let Some(earlier) = last.insert(access.offset, index) {
            distances.push(index - earlier);
        }
    }
    let n = distances.len() as f64;
    for upto in [1usize, 3, 9, 30, 99] {
        let share = ((upto + 1) as f64).ln() / 101f64.ln();
        let found = distances.iter().filter(|&&d| d <= upto).count() as f64 / n;
        // A start that was repeated in between is found at the smaller distance; this affects at most one in a hundred.
        let sigma = (share * (1.0 - share) / n).sqrt();
        assert!(
            (found - share).abs() <= 5.0 * sigma + 0.01,
            "{upto}: {found}, not {share}"
        );
    }
    assert!(distances.iter().all(|&d| d <= 100));
}

#[test]
fn fixed_pacing_is_even_and_does_not_drift() {
    let mut load = load(Name::Uniform);
    load.pacing = Pacing::Fixed { per_second: 3.0 };
    let all = accesses(&load, 0);
    assert_eq!(
        [0, 1, 2, 3].map(|i| all[i].at.0),
        [0, 333_333_333, 666_666_667, 1_000_000_000]
    );
    assert_eq!(all[300_000].at.0, 100_000 * 1_000_000_000);
}

#[test]
fn poisson_gaps_are_exponential() {
    let mut load = load(Name::Uniform);
    load.pacing = Pacing::Poisson { per_second: 250.0 };
    for seed in 0..3 {
        let gaps = gaps(&accesses(&load, seed));
        assert_distributed("gaps", gaps, |ns| 1.0 - (-ns * 250.0 / 1e9).exp());
    }
}

/// Returns the distribution of the gaps of an interrupted Poisson process, which is hyperexponential (Kuczura 1973):
/// the weight and the rate of one branch, and the rate of the other. Rates are per nanosecond.
fn interrupted(per_second: f64, on: Dur, off: Dur) -> (f64, f64, f64) {
    let (rate, ends, begins) = (per_second / 1e9, 1.0 / on.0 as f64, 1.0 / off.0 as f64);
    let sum = rate + ends + begins;
    let root = (sum * sum - 4.0 * rate * begins).sqrt();
    let (fast, slow) = ((sum + root) / 2.0, (sum - root) / 2.0);
    ((rate - slow) / (fast - slow), fast, slow)
}

fn bursts_of_financial1() -> (f64, Dur, Dur) {
    match Name::Financial1Like.load().pacing {
        Pacing::Bursts {
            per_second,
            on,
            off,
        } => (per_second, on, off),
        other => panic!("{other:?}"),
    }
}

#[test]
fn bursts_are_an_interrupted_poisson_process() {
    let mut load = load(Name::Uniform);
    for (per_second, on, off) in [
        (2_000.0, Dur::ms(5), Dur::ms(20)),
        bursts_of_financial1(),
        (100.0, Dur::ms(1), Dur::us(10)),
    ] {
        load.pacing = Pacing::Bursts {
            per_second,
            on,
            off,
        };
        let (weight, fast, slow) = interrupted(per_second, on, off);
        let gaps = gaps(&accesses(&load, 9));
        assert_distributed("gaps", gaps, |ns| {
            1.0 - weight * (-fast * ns).exp() - (1.0 - weight) * (-slow * ns).exp()
        });
    }
}

#[test]
fn the_bursts_of_financial1_like_have_the_measured_rate_and_irregularity() {
    let (per_second, on, off) = bursts_of_financial1();
    let (weight, fast, slow) = interrupted(per_second, on, off);
    let mean = weight / fast + (1.0 - weight) / slow;
    let square = 2.0 * (weight / fast.powi(2) + (1.0 - weight) / slow.powi(2));
    // The first 10,000 requests of Financial1 have 38.5 per second and a squared coefficient of variation of 10.3.
    assert!((1e9 / mean - 38.5).abs() < 0.05, "{}", 1e9 / mean);
    assert!((square / mean.powi(2) - 1.0 - 10.3).abs() < 0.05);
    assert!((on.0 as f64 / (on.0 + off.0) as f64 - 0.25).abs() < 1e-3);
}

#[test]
fn a_change_of_pacing_leaves_everything_else() {
    let mut load = load(Name::Financial2Like);
    load.accesses = 10_000;
    let before = accesses(&load, 3);
    load.pacing = Pacing::Closed;
    let after = accesses(&load, 3);
    assert!(after.iter().all(|a| a.at.0 == 0));
    let what = |all: &[Access]| {
        all.iter()
            .map(|a| (a.op, a.offset, a.len))
            .collect::<Vec<_>>()
    };
    assert_eq!(what(&before), what(&after));
}

#[test]
fn a_seed_gives_the_same_accesses_again_and_another_seed_others() {
    for name in Name::ALL {
        let mut config = Config::of(name);
        config.accesses = Some(2_000);
        let draw = |seed| config.generator(seed).unwrap().collect::<Vec<_>>();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2), "{name:?}");
    }
}

#[test]
fn a_stream_has_no_end_that_memory_could_set() {
    for name in Name::ALL {
        let mut config = Config::of(name);
        config.accesses = Some(u64::MAX);
        let mut generator = config.generator(0).unwrap();
        assert_eq!(generator.by_ref().take(100_000).count(), 100_000);
        assert_eq!(generator.size_hint().0 as u64, u64::MAX - 100_000);
    }
}
