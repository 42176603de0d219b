//! Write amplification of uniform random writes, compared with the closed forms and the mean field of the literature.
//!
//! `cargo run --release -p fathom-ssd --example gc_waf` prints the whole table (docs/validation-gc.md).

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::waf::{
    CASES, PAGES, d_choices, fifo, greedy, greedy_closed, lambert_w, measured, one_group,
};

#[test]
fn the_models_agree_with_each_other_and_with_published_figures() {
    for w in [-0.99, -0.5, -0.1] {
        let x = w * f64::exp(w);
        assert!((lambert_w(x) - w).abs() < 1e-9, "{w}");
    }
    // Xiang and Kurkoski, arXiv:1110.4245, abstract: 2.36 by the formula at 30 % over-provisioning, 2.35 as simulated
    // with greedy collection.
    assert!((fifo(1.0 / 1.3) - 2.36).abs() < 0.005);
    assert!((greedy(1.0 / 1.3, 256) / 2.35 - 1.0).abs() < 0.01);
    for over in [1.05, 1.15, 1.5] {
        let rho = 1.0 / over;
        // Two derivations of the same quantity.
        let (closed, field) = (greedy_closed(rho, PAGES), greedy(rho, PAGES));
        assert!(
            (closed / field - 1.0).abs() < 0.01,
            "{over}: {closed} {field}"
        );
        // With one choice, cleaning is random: a victim holds the mean, 1 / (1 - rho).
        let random = d_choices(rho, PAGES, 1.0);
        assert!(
            (random * (1.0 - rho) - 1.0).abs() < 1e-6,
            "{over}: {random}"
        );
        let some = d_choices(rho, PAGES, 10.0);
        assert!(field < some && some < d_choices(rho, PAGES, 2.0), "{over}");
        // The larger the block, the smaller the advantage of greedy over FIFO.
        let (small, large) = (greedy(rho, 8), greedy(rho, 1024));
        assert!(
            small < large && large < fifo(rho) && fifo(rho) / large < 1.03,
            "{over}"
        );
    }
}

#[test]
fn collection_moves_as_much_as_the_literature_says() {
    for case in &CASES {
        for over in [10.0, 50.0] {
            let spec = one_group(case, 512, over);
            let (waf, rho) = measured(&spec, 1, 2);
            let expected = case.expected(rho);
            let off = waf / expected - 1.0;
            assert!(
                off.abs() < 0.02,
                "{}, {over} %: {waf:.3}, not {expected:.3}",
                case.name
            );
        }
    }
}
