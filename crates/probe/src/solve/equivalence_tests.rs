//! Error rates of the sequential test by simulation, and its locations by hand.

use super::super::synthetic::Noise;
use super::*;
use fathom_base::Rng;

const BATCHES: u32 = 40;
const RUNS: u32 = 400;

/// How often equivalent, different, undecided after at most 40 batches of 16.
fn outcomes(seed: u64, ratio: f64, noise: Noise, location: Location) -> [u32; 3] {
    let mut rng = Rng::new(seed, 0);
    let mut counts = [0; 3];
    for _ in 0..RUNS {
        let mut test = Sequential::new(Options {
            location,
            ..Options::default()
        });
        for _ in 0..BATCHES {
            let a: Vec<f64> = (0..16).map(|_| ratio * noise.factor(&mut rng)).collect();
            let b: Vec<f64> = (0..16).map(|_| noise.factor(&mut rng)).collect();
            if test.push(&a, &b) != Status::Undecided {
                break;
            }
        }
        counts[test.status() as usize] += 1;
    }
    println!(
        "seed {seed}, ratio {ratio}, noise {}: {counts:?}",
        noise.sigma
    );
    counts
}

fn plain(sigma: f64) -> Noise {
    Noise { sigma, spikes: 0.0 }
}

#[test]
fn what_is_equal_is_found_equivalent_at_twelve_percent() {
    let [same, apart, _] = outcomes(41, 1.0, Noise::of(0.12), Location::Trimmed);
    assert!(same >= 388 && apart <= 4, "{same} {apart}");
    // The median needs more samples; what it does not settle it leaves open.
    let [same, apart, _] = outcomes(51, 1.0, Noise::of(0.12), Location::Median);
    assert!(same >= 360 && apart <= 4, "{same} {apart}");
    let [same, apart, _] = outcomes(52, 1.0, plain(0.12), Location::Mean { group: 4 });
    assert!(same >= 388 && apart <= 4, "{same} {apart}");
}

#[test]
fn what_differs_by_a_seventh_or_more_is_found_different() {
    for (seed, ratio) in [(42, 1.15), (43, 0.85), (44, 2.0)] {
        for location in [Location::Trimmed, Location::Median] {
            let [same, apart, _] = outcomes(seed, ratio, Noise::of(0.12), location);
            assert!(apart >= 388 && same == 0, "{same} {apart}");
        }
    }
}

#[test]
fn at_the_margin_repeated_looks_keep_the_error() {
    for (seed, ratio) in [(45, 1.05), (46, 1.0 / 1.05)] {
        for location in [
            Location::Trimmed,
            Location::Median,
            Location::Mean { group: 4 },
        ] {
            let [same, apart, _] = outcomes(seed, ratio, plain(0.12), location);
            // 2 % of 400 and three standard errors.
            assert!(same <= 16 && apart <= 16, "{same} {apart}");
        }
    }
}

#[test]
fn too_much_noise_is_undecided_rather_than_wrong() {
    let [same, apart, open] = outcomes(47, 1.0, Noise::of(0.25), Location::Trimmed);
    assert!(apart <= 4 && same + open >= 396, "{same} {apart} {open}");
    let [same, ..] = outcomes(48, 1.08, Noise::of(0.25), Location::Trimmed);
    assert!(same <= 4, "{same}");
    // The mean of times with rare pauses of 5 to 50 times is far from known after 640 samples.
    let [same, apart, open] = outcomes(49, 1.0, Noise::of(0.12), Location::Mean { group: 8 });
    assert!(same + apart <= 12 && open >= 388, "{same} {apart} {open}");
}

#[test]
fn means_see_pauses_that_medians_do_not() {
    let seed = 50;
    let mut rng = Rng::new(seed, 0);
    let mut means = Sequential::new(Options {
        location: Location::Mean { group: 16 },
        ..Options::default()
    });
    let mut medians = Sequential::new(Options {
        location: Location::Median,
        ..Options::default()
    });
    for _ in 0..60 {
        let mut times = |pause: f64| -> Vec<f64> {
            (0..32)
                .map(|i| plain(0.05).factor(&mut rng) * if i % 8 == 0 { pause } else { 1.0 })
                .collect()
        };
        let (a, b) = (times(5.0), times(1.0));
        means.push(&a, &b);
        medians.push(&a, &b);
    }
    println!("seed {seed}: {:?} {:?}", means.last(), medians.last());
    assert_eq!(means.status(), Status::Different);
    // 1 + 4 / 8
    assert!(means.last().unwrap().interval.contains(1.5));
    assert_eq!(medians.status(), Status::Equivalent);
}

#[test]
fn equal_values_settle_at_the_first_look_and_stay() {
    let mut test = Sequential::new(Options::default());
    assert_eq!(test.push(&[2.0; 15], &[2.0; 16]), Status::Undecided);
    assert_eq!(test.last(), None);
    assert_eq!(test.push(&[2.0, -1.0, f64::NAN], &[]), Status::Equivalent);
    assert_eq!(test.push(&[9.0; 99], &[2.0; 99]), Status::Equivalent);
    let look = test.last().unwrap();
    assert_eq!((look.number, look.ratio), (1, 1.0));
}

#[test]
fn locations_by_hand() {
    // Groups (1, 3), (5, 7), the last value left over: means 2 and 6, mean 4, variance 8 / 2 / 16.
    let mean = log_mean(&[1.0, 3.0, 5.0, 7.0, 100.0], 2).unwrap();
    assert!((mean.value - 4f64.ln()).abs() < 1e-12 && (mean.variance - 0.25).abs() < 1e-12);
    assert_eq!(mean.degrees, 1.0);
    // Of 1..=5 (logs) the ends are cut: mean 3; winsorised 2 2 3 4 4, squares 4, over 3 times 2.
    let logs: Vec<f64> = (1..=5).map(|i| f64::from(i).exp()).collect();
    let trimmed = log_trimmed(&logs).unwrap();
    assert!((trimmed.value - 3.0).abs() < 1e-12, "{}", trimmed.value);
    assert!((trimmed.variance - 4.0 / 6.0).abs() < 1e-12 && trimmed.degrees == 2.0);
    // exp(1..=10): ranks 2 and 9, width 7.
    let values: Vec<f64> = (1..=10).map(|i| f64::from(i).exp()).collect();
    let median = log_median(&values).unwrap();
    let error = 7.0 / 2.0 / 1.959_963_985;
    assert!((median.value - 5.5).abs() < 1e-12, "{}", median.value);
    assert!((median.variance - error * error).abs() < 1e-6);
}
