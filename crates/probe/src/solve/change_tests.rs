//! Planted changes, and silence where nothing changes.

use super::super::synthetic::Noise;
use super::*;

#[test]
fn running_deviations_by_hand() {
    // Medians 5, 3, 3, 3.5: distances 0, 4, 2 + 0 + 2, 2.5 + 0.5 + 1.5 + 0.5.
    let got = prefix_deviations([5.0, 1.0, 3.0, 4.0].into_iter());
    assert_eq!(got, [0.0, 4.0, 4.0, 5.0]);
}

#[test]
fn an_exact_step_is_found_where_it_is() {
    let values: Vec<f64> = (0..30).map(|i| if i < 11 { 1.0 } else { 2.0 }).collect();
    let found = level_change(&values).unwrap();
    assert_eq!((found.at, found.range.clone()), (11, 11..=11));
    assert_eq!((found.before, found.after), (1.0, 2.0));
    assert!(found.is_clear());
    assert!(!level_change(&[1.0; 30]).unwrap().is_clear());
    assert_eq!(level_change(&[1.0; 7]), None);
}

fn series(n: usize, at: usize, ratio: f64, rng: &mut Rng) -> Vec<f64> {
    let noise = Noise::of(0.12);
    (0..n)
        .map(|i| (noise.factor(rng) * if i < at { 1.0 } else { ratio }).ln())
        .collect()
}

#[test]
fn cliffs_are_found_and_none_is_made_up() {
    let seed = 21;
    let mut rng = Rng::new(seed, 0);
    let (runs, mut clear, mut within, mut made_up) = (300, 0, 0, 0);
    for _ in 0..runs {
        let at = 20 + rng.below(60) as usize;
        let found = level_change(&series(100, at, 0.7, &mut rng)).unwrap();
        clear += u32::from(found.is_clear());
        within += u32::from(found.range.contains(&at));
        let quiet = level_change(&series(100, 0, 1.0, &mut rng)).unwrap();
        made_up += u32::from(quiet.is_clear());
    }
    println!("seed {seed}: clear {clear}, within {within}, made up {made_up} of {runs}");
    assert!(clear >= 297 && within >= 276 && made_up <= 6);
}

#[test]
fn a_trend_that_breaks_is_told_from_one_that_does_not() {
    let seed = 22;
    let mut rng = Rng::new(seed, 0);
    let x: Vec<f64> = (0..60).map(f64::from).collect();
    let (runs, mut clear, mut within, mut made_up) = (200, 0, 0, 0);
    for _ in 0..runs {
        let noise = series(60, 0, 1.0, &mut rng);
        let straight: Vec<f64> = x.iter().zip(&noise).map(|(x, e)| 0.02 * x + e).collect();
        made_up += u32::from(trend_change(&x, &straight).unwrap().is_clear());
        let broken: Vec<f64> = x
            .iter()
            .zip(&straight)
            .map(|(x, y)| {
                y + if *x < 35.0 {
                    0.0
                } else {
                    0.5 + 0.03 * (x - 35.0)
                }
            })
            .collect();
        let found = trend_change(&x, &broken).unwrap();
        clear += u32::from(found.is_clear());
        within += u32::from(found.range.contains(&35));
    }
    println!("seed {seed}: clear {clear}, within {within}, made up {made_up} of {runs}");
    assert!(clear >= 198 && within >= 184 && made_up <= 2);
}

#[test]
fn permutation_p_by_hand() {
    let mut rng = Rng::new(3, 0);
    // The first value is the largest in 1 of 4 orders.
    let first = |v: &[f64]| v.first().copied();
    let p = permutation_p(&[4.0, 1.0, 2.0, 3.0], first, 9999, &mut rng);
    assert!((p - 0.25).abs() < 0.02, "{p}");
    assert_eq!(permutation_p(&[], first, 9, &mut rng), 1.0);
}

#[test]
fn a_step_lies_between_fast_and_slow() {
    let at = |fast_max, slow_min, misplaced| {
        Some(StepLocation {
            fast_max,
            slow_min,
            misplaced,
        })
    };
    let clean = [(1, false), (2, false), (4, true), (8, true)];
    assert_eq!(step_location(&clean, 0.0), at(2, 4, 0));
    // One stray slow among the fast.
    let stray = [
        (1, true),
        (2, false),
        (3, false),
        (4, true),
        (8, true),
        (2, false),
    ];
    assert_eq!(step_location(&stray, 0.2), at(3, 4, 1));
    assert_eq!(step_location(&stray, 0.1), None);
    // fast slow fast slow: after the first and after the third do equally well.
    let mixed = [(1, false), (2, true), (3, false), (4, true)];
    assert_eq!(step_location(&mixed, 0.5), at(1, 4, 1));
    assert_eq!(step_location(&[(1, false), (2, false)], 0.5), None);
    assert_eq!(step_location(&[], 0.5), None);
}
