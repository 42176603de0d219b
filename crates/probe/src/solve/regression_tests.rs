//! The regression against exact data, spikes and hand-computed densities.

use super::*;
use fathom_base::Rng;

fn line(xs: &[f64]) -> Design {
    Design::ones(xs.len()).with(xs.iter().copied())
}

fn problem<'a>(design: &'a Design, y: &'a [f64], weights: &'a [f64], link: Link) -> Problem<'a> {
    Problem {
        design,
        y,
        weights,
        link,
        scale_min: 1e-6,
    }
}

#[test]
fn exact_data_give_exact_coefficients() {
    let xs: Vec<f64> = (0..20).map(f64::from).collect();
    let ones = vec![1.0; 20];
    let design = line(&xs);
    let y: Vec<f64> = xs.iter().map(|x| 3.0 + 2.0 * x).collect();
    let found = fit(&problem(&design, &y, &ones, Link::Identity), None).unwrap();
    assert!((found.coefficients[0] - 3.0).abs() < 1e-6, "{found:?}");
    assert!((found.coefficients[1] - 2.0).abs() < 1e-7, "{found:?}");
    let logs: Vec<f64> = y.iter().map(|v| v.ln()).collect();
    let found = fit(&problem(&design, &logs, &ones, Link::Log), None).unwrap();
    assert!((found.coefficients[0] - 3.0).abs() < 1e-6, "{found:?}");
    assert!((found.coefficients[1] - 2.0).abs() < 1e-7, "{found:?}");
}

#[test]
fn spikes_do_not_move_the_line_and_errors_have_their_size() {
    let seed = 5;
    let mut rng = Rng::new(seed, 0);
    let xs: Vec<f64> = (0..400).map(|i| f64::from(i) / 400.0).collect();
    let (design, ones) = (line(&xs), vec![1.0; 400]);
    let runs = 200;
    let mut covered = 0;
    for _ in 0..runs {
        let y: Vec<f64> = xs
            .iter()
            .map(|x| {
                let spike = if rng.chance(0.03) { 20.0 } else { 1.0 };
                ((1.0 + 2.0 * x) * spike).ln() + 0.1 * rng.normal()
            })
            .collect();
        let found = fit(&problem(&design, &y, &ones, Link::Log), None).unwrap();
        let off = (found.coefficients[1] - 2.0).abs();
        assert!(off < 0.25, "seed {seed}: {found:?}");
        covered += u32::from(off < 1.96 * found.standard_errors[1]);
    }
    println!("seed {seed}: slope covered {covered} of {runs}");
    assert!((180..=199).contains(&covered), "{covered}");
}

#[test]
fn a_weight_of_two_is_the_row_twice() {
    let y = [1.0, 2.5, 2.7, 4.4];
    let twice = [1.0, 2.5, 2.5, 2.7, 4.4];
    let design = line(&[0.0, 1.0, 2.0, 3.0]);
    let long = line(&[0.0, 1.0, 1.0, 2.0, 3.0]);
    let ones = [1.0; 5];
    let a = least_squares_start(&problem(&design, &y, &[1.0, 2.0, 1.0, 1.0], Link::Identity));
    let b = least_squares_start(&problem(&long, &twice, &ones, Link::Identity));
    let (a, b) = (a.unwrap(), b.unwrap());
    assert!(
        (a[0] - b[0]).abs() < 1e-12 && (a[1] - b[1]).abs() < 1e-12,
        "{a:?} {b:?}"
    );
}

#[test]
fn collinear_columns_and_wrong_lengths_are_refused() {
    let xs: Vec<f64> = (0..9).map(f64::from).collect();
    let ones = [1.0; 9];
    let twin = line(&xs).with(xs.iter().map(|x| 2.0 * x + 1.0));
    assert_eq!(fit(&problem(&twin, &xs, &ones, Link::Identity), None), None);
    assert_eq!(
        fit(&problem(&line(&xs), &xs[1..], &ones, Link::Identity), None),
        None
    );
    assert_eq!(line(&xs).with([1.0].into_iter()).columns(), 2);
}

#[test]
fn the_likelihood_is_that_of_the_t_density() {
    // One column, residuals 0 and scale at its floor: n ln(3/8 / 0.1).
    let y = [1.0; 5];
    let design = Design::ones(5);
    let p = Problem {
        scale_min: 0.1,
        ..problem(&design, &y, &[1.0; 5], Link::Identity)
    };
    let found = fit(&p, None).unwrap();
    assert!(
        (found.log_likelihood - 5.0 * 3.75f64.ln()).abs() < 1e-12,
        "{found:?}"
    );
}
