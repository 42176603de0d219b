//! Recovery of planted periods, and silence where nothing is planted.

use super::super::synthetic::{self, KIB, Noise, latency_ns, sweep};
use super::*;
use fathom_base::Rng;
use std::collections::BTreeMap;
use synthetic::Shape as Planted;

const STEP: u64 = 4 * KIB;

fn answer(points: &[Point]) -> CombAnswer {
    solve(points, &candidates(points), &Options::default()).unwrap()
}

fn exact(shape: Planted, step: u64, count: u64) -> Vec<Point> {
    let mut rng = Rng::new(1, 1);
    let quiet = Noise {
        sigma: 0.0,
        spikes: 0.0,
    };
    sweep(shape, step, (count, 1), quiet, &mut rng)
}

/// Answers by label: right period, wrong period, staircase, none, undecided.
fn tally(
    seed: u64,
    runs: u32,
    size: (u64, u32),
    sigma: f64,
    mut plant: impl FnMut(&mut Rng) -> (Planted, Choice),
) -> BTreeMap<&'static str, u32> {
    let mut rng = Rng::new(seed, 0);
    let mut counts = BTreeMap::new();
    for _ in 0..runs {
        let (shape, truth) = plant(&mut rng);
        let points = sweep(shape, STEP, size, Noise::of(sigma), &mut rng);
        let label = match (answer(&points).choice, truth) {
            (found, truth) if found == truth => "right",
            (Choice::Comb(_), Choice::Comb(_)) => "other period",
            (Choice::Comb(_), _) => "false comb",
            (Choice::Staircase(_), _) => "staircase",
            (Choice::None, _) => "none",
            (Choice::Undecided, _) => "undecided",
        };
        *counts.entry(label).or_insert(0) += 1;
    }
    println!("seed {seed}, {size:?} sizes and repetitions, noise {sigma}: {counts:?}");
    counts
}

fn of(counts: &BTreeMap<&'static str, u32>, label: &str) -> u32 {
    counts.get(label).copied().unwrap_or(0)
}

fn any_comb(rng: &mut Rng, share: f64) -> (Planted, Choice) {
    let period = STEP * [3, 4, 5, 6, 8][rng.below(5) as usize];
    let shape = if rng.chance(0.5) {
        Planted::Comb { period, share }
    } else {
        Planted::Flat { period, share }
    };
    (shape, Choice::Comb(period))
}

#[test]
fn grid_and_teeth_by_hand() {
    let points: Vec<Point> = (1..=8)
        .map(|i| Point {
            x_bytes: i * 2048,
            y_ns: 1.0,
        })
        .collect();
    assert_eq!(candidates(&points), [4096, 6144, 8192]);
    assert_eq!(candidates(&[]), [0u64; 0]);
    // 6 over units of 4: offsets 0, 6 mod 4 = 2 touch 2 and 2 units; 6/4 + 1 - 2/4 = 2.
    assert!((tooth(Shape::Divisor, 6, 4) - 0.5).abs() < 1e-12);
    assert_eq!(tooth(Shape::Divisor, 8, 4), 0.0);
    assert_eq!(tooth(Shape::Indicator, 6, 4), 1.0);
    assert_eq!(tooth(Shape::Indicator, 8, 4), 0.0);
}

#[test]
fn touched_units_are_as_the_header_says() {
    for (x, unit) in [(3u64, 4u64), (6, 4), (10, 4), (5, 8), (12, 8), (16, 8)] {
        let touched: u64 = (0..unit)
            .map(|i| ((i + 1) * x).div_ceil(unit) - i * x / unit)
            .sum();
        let formula = x as f64 / unit as f64 + tooth(Shape::Divisor, x, unit);
        assert!(
            (touched as f64 / unit as f64 - formula).abs() < 1e-12,
            "{x} {unit}"
        );
    }
}

#[test]
fn without_noise_every_period_is_found_and_no_multiple_or_divisor() {
    for k in [2, 3, 4, 6, 7, 8, 12, 16, 24] {
        let period = k * STEP;
        let furthest = 1.0 - 1.0 / k as f64;
        for (shape, drop) in [
            (Planted::Comb { period, share: 0.3 }, 0.3 * furthest),
            (Planted::Flat { period, share: 0.3 }, 0.3),
        ] {
            let found = answer(&exact(shape, STEP, 64));
            assert_eq!(found.choice, Choice::Comb(period), "{k}: {found:?}");
            let high = found.amplitude.unwrap();
            let planted = drop * 550_000.0;
            assert!(
                (high.drop_ns - planted).abs() < 0.05 * planted,
                "{k}: {high:?}"
            );
        }
        let stairs = Planted::Staircase { period, share: 0.1 };
        let found = answer(&exact(stairs, STEP, 64));
        assert_eq!(found.choice, Choice::Staircase(period), "{k}: {found:?}");
    }
    assert_eq!(answer(&exact(Planted::Line, STEP, 64)).choice, Choice::None);
    assert_eq!(answer(&exact(Planted::Bent, STEP, 64)).choice, Choice::None);
}

#[test]
fn a_unit_no_larger_than_the_step_is_not_seen() {
    let shape = Planted::Comb {
        period: STEP,
        share: 0.5,
    };
    assert_eq!(answer(&exact(shape, STEP, 64)).choice, Choice::None);
    // A unit of 1.5 steps: the least common multiple, 3 steps.
    let shape = Planted::Flat {
        period: STEP * 3 / 2,
        share: 0.5,
    };
    assert_eq!(
        answer(&exact(shape, STEP, 64)).choice,
        Choice::Comb(3 * STEP)
    );
}

#[test]
fn sizes_that_begin_above_the_unit_show_it_by_its_multiples() {
    let shape = Planted::Comb {
        period: 4 * STEP,
        share: 0.2,
    };
    let points: Vec<Point> = (20..80)
        .map(|i| Point {
            x_bytes: i * STEP,
            y_ns: latency_ns(shape, i * STEP, 80 * STEP),
        })
        .collect();
    assert_eq!(answer(&points).choice, Choice::Comb(4 * STEP));
}

#[test]
fn a_comb_on_a_wider_stripe_is_told_from_the_stripe() {
    let shape = Planted::Both {
        comb: 4 * STEP,
        share: 0.15,
        stair: 16 * STEP,
    };
    let found = answer(&exact(shape, STEP, 64));
    assert_eq!(found.choice, Choice::Comb(4 * STEP), "{found:?}");
    assert_eq!(found.amplitude.unwrap().stair_bytes, Some(16 * STEP));
}

#[test]
fn combs_of_a_tenth_are_found_at_twelve_percent_noise() {
    let counts = tally(101, 200, (128, 8), 0.12, |rng| any_comb(rng, 0.10));
    assert!(of(&counts, "right") >= 194, "{counts:?}");
    assert!(of(&counts, "other period") <= 2, "{counts:?}");
}

#[test]
fn taller_combs_are_found_without_repetitions() {
    let counts = tally(102, 200, (128, 1), 0.12, |rng| any_comb(rng, 0.30));
    assert!(of(&counts, "right") >= 194, "{counts:?}");
    let counts = tally(103, 200, (64, 1), 0.01, |rng| any_comb(rng, 0.10));
    assert!(of(&counts, "right") >= 194, "{counts:?}");
}

#[test]
fn too_much_noise_is_undecided_and_not_wrong() {
    let counts = tally(104, 200, (64, 1), 0.25, |rng| any_comb(rng, 0.10));
    assert!(
        of(&counts, "right") + of(&counts, "undecided") >= 198,
        "{counts:?}"
    );
    assert!(of(&counts, "undecided") >= 100, "{counts:?}");
}

#[test]
fn smooth_drives_have_no_comb() {
    for (seed, sigma) in [(105, 0.01), (106, 0.12), (107, 0.25)] {
        let counts = tally(seed, 300, (64, 1), sigma, |rng| {
            let bent = rng.chance(0.5);
            (
                if bent { Planted::Bent } else { Planted::Line },
                Choice::None,
            )
        });
        assert!(of(&counts, "false comb") <= 1, "{counts:?}");
        assert!(of(&counts, "staircase") <= 1, "{counts:?}");
    }
}

#[test]
fn staircases_have_no_comb() {
    for (seed, sigma, reps) in [(108, 0.01, 1), (109, 0.12, 4)] {
        let counts = tally(seed, 200, (64, reps), sigma, |rng| {
            let period = STEP * [3, 4, 5, 6, 8, 16][rng.below(6) as usize];
            let share = 0.02 * (period / STEP) as f64;
            (
                Planted::Staircase { period, share },
                Choice::Staircase(period),
            )
        });
        assert!(of(&counts, "false comb") <= 1, "{counts:?}");
    }
}

#[test]
fn staircases_of_two_widths_or_past_the_sweep_have_no_comb() {
    for (seed, sigma) in [(111, 0.002), (112, 0.03)] {
        let counts = tally(seed, 200, (64, 1), sigma, |rng| {
            let narrow = STEP * (2 + rng.below(6));
            let wide = narrow * (2 + rng.below(8));
            (Planted::Stairs { narrow, wide }, Choice::Undecided)
        });
        assert!(of(&counts, "false comb") <= 1, "{counts:?}");
    }
}

#[test]
fn absence_is_said_when_the_data_allow_it() {
    let counts = tally(113, 100, (64, 16), 0.12, |_| (Planted::Line, Choice::None));
    assert!(of(&counts, "right") >= 95, "{counts:?}");
}

#[test]
fn the_interval_of_the_penalty_covers_it() {
    let seed = 110;
    let mut rng = Rng::new(seed, 0);
    let shape = Planted::Comb {
        period: 4 * STEP,
        share: 0.3,
    };
    let runs = 200;
    let covered = (0..runs)
        .filter(|_| {
            let points = sweep(shape, STEP, (64, 4), Noise::of(0.05), &mut rng);
            let high = answer(&points).amplitude.unwrap();
            high.interval_ns.contains(0.3 * 0.75 * 550_000.0)
        })
        .count();
    println!("seed {seed}: covered {covered} of {runs}");
    assert!((176..=199).contains(&covered), "{covered}");
}

#[test]
fn too_little_is_an_error() {
    let points = exact(Planted::Line, STEP, 11);
    let found = solve(&points, &candidates(&points), &Options::default());
    assert_eq!(
        found,
        Err(CombError::TooFewSizes {
            found: 11,
            needed: 12
        })
    );
    let points = exact(Planted::Line, STEP, 12);
    let found = solve(&points, &[STEP, 100 * STEP, 0], &Options::default());
    assert_eq!(found, Err(CombError::NoCandidate));
}
