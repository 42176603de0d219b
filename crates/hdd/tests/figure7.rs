//! `irbw` Figure 7 and the statements of the text about it, for both disks of Table 2.
//!
//! The text (section 3) says that sequential reads are almost 16 times faster than random ones and (4.1) that random
//! writes in bundles of the size of a cylinder group do not reach the sequential throughput. It gives no request size for
//! the factor of 16. The tests check the request size at which the model has it, and the reason for that size.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../examples/figure7/measure.rs"]
mod measure;

use crate::common::preset;
use fathom_hdd::Spec;
use measure::{Row, row, size_of_ratio};

/// 4 KiB to 8 MiB, the size of a cylinder group.
fn rows(name: &str) -> Vec<Row> {
    let spec = preset(name);
    let sizes = [4, 16, 64, 256, 1024, 4096, 8192];
    sizes.map(|kib| row(&spec, kib << 10, 3)).into()
}

/// Returns the seconds that a random read loses compared with a sequential one: a command, a seek and half a turn.
fn lost(spec: &Spec) -> f64 {
    spec.host.command_overhead.as_secs_f64()
        + spec.mechanics.seek_average.as_secs_f64()
        + 30.0 / f64::from(spec.mechanics.rpm)
}

/// Sequential reads are sixteen times faster at the predicted request size.
fn check_ratio(spec: &Spec, rows: &[Row]) {
    // The ratio is (lost + size / rate) / (size / rate).
    let rate = rows[3].sequential_read * 1e6;
    let expected = lost(spec) * rate / 15.0;
    let got = size_of_ratio(rows, 16.0).unwrap();
    assert!((got / expected - 1.0).abs() < 0.05, "{got} {expected}");
    // Common request sizes lie on both sides of it.
    assert!(rows[0].read_ratio() > 32.0 && rows[3].read_ratio() < 8.0);
}

/// Random throughput approaches sequential throughput and never reaches it.
fn check_approach(spec: &Spec, rows: &[Row]) {
    let below = |row: &Row| {
        [
            1.0 - row.random_read / row.sequential_read,
            1.0 - row.random_write / row.sequential_write,
        ]
    };
    for pair in rows.windows(2) {
        let (small, large) = (below(&pair[0]), below(&pair[1]));
        assert!(large[0] < small[0] && large[1] < small[1], "{pair:?}");
    }
    // Skips the smallest size: the command alone takes as long as its sequential read.
    for row in rows.iter().skip(1) {
        let transfer = row.size as f64 / (row.sequential_read * 1e6);
        let expected = lost(spec) / (lost(spec) + transfer);
        let [read, write] = below(row);
        assert!(
            (read / expected - 1.0).abs() < 0.15,
            "{read} {expected} {row:?}"
        );
        // The write cache sorts its contents, but that does not make them sequential.
        assert!(write > expected / 2.0, "{write} {expected} {row:?}");
    }
}

#[test]
fn the_hitachi_disk_behaves_as_in_figure_7() {
    let (spec, rows) = (preset("hitachi-7k160"), rows("hitachi-7k160"));
    check_ratio(&spec, &rows);
    check_approach(&spec, &rows);
}

#[test]
fn the_seagate_disk_behaves_as_in_figure_7() {
    let name = "seagate-barracuda-iv";
    let (spec, rows) = (preset(name), rows(name));
    check_ratio(&spec, &rows);
    check_approach(&spec, &rows);
}
