//! Tests of the generated Iometer access specifications.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_block::Access;
use fathom_block::Op;
use fathom_workload::generate::{Config, Name};

/// The shares match the access specification within five standard deviations.
#[test]
fn the_file_server_of_iometer_has_the_sizes_that_it_names() {
    let mut config = Config::of(Name::IometerFileServer);
    config.accesses = Some(100_000);
    let all: Vec<Access> = config.generator(3).unwrap().collect();
    let near = |count: usize, percent: f64, of: usize| {
        let (share, of) = (percent / 100.0, of as f64);
        let sigma = (share * (1.0 - share) * of).sqrt();
        assert!(
            (count as f64 - share * of).abs() < 5.0 * sigma,
            "{count} of {of} and not {percent} %"
        );
    };
    let reads = all.iter().filter(|access| access.op == Op::Read);
    near(reads.clone().count(), 80.0, all.len());
    for (kib, percent) in [
        (0.5, 10.0),
        (1.0, 5.0),
        (2.0, 5.0),
        (4.0, 60.0),
        (8.0, 2.0),
        (16.0, 4.0),
        (32.0, 4.0),
        (64.0, 10.0),
    ] {
        let len = (kib * 1024.0) as u64;
        let has = |access: &&Access| access.len == len;
        near(all.iter().filter(has).count(), percent, all.len());
        near(
            reads.clone().filter(has).count(),
            percent,
            reads.clone().count(),
        );
    }
    // Offsets are random, so few accesses continue where the previous one ended.
    let goes_on = all
        .windows(2)
        .filter(|pair| pair[1].offset == pair[0].end());
    assert!(goes_on.count() < 10);
    assert!(
        all.iter()
            .all(|access| access.offset.is_multiple_of(512) && access.end() <= 1 << 30)
    );
}
