//! Tests that the papers' procedures find what is planted in a drive without noise.

#![allow(clippy::unwrap_used)] // also in helpers outside of the test functions

use crate::fake::{Fake, KIB, MIB, Planted};
use fathom_probe::run::{announce, run, solve};
use fathom_probe::{Estimate, Method, Parameter, RunConfig, Series, Unobserved, Value, Verdict};

fn measure(planted: Planted, parameters: &[Parameter], thin: u32) -> (Vec<Estimate>, Fake) {
    let config = RunConfig {
        seed: 3,
        method: Method::Paper,
        parameters: parameters.to_vec(),
        thin,
        ..RunConfig::default()
    };
    let mut device = Fake::new(64 * MIB, planted);
    // The fake charges a merge per request, so each write must be a single request.
    device.info.max_request_bytes = 64 * MIB;
    let record = run(&mut device, &config, None, &mut Unobserved).unwrap();
    assert!(record.meta.complete);
    assert!(device.bytes_written <= announce(&config, &device.info).bound_bytes);
    let answers = solve(&record).parameters.into_values().collect();
    (answers, device)
}

fn bytes(estimate: &Estimate) -> Option<u64> {
    estimate.value.as_ref()?.bytes()
}

#[test]
fn the_clustered_page_and_block_are_found() {
    let planted = Planted {
        page: 16 * KIB,
        block: 2 * MIB,
        ..Planted::default()
    };
    let parameters = [Parameter::ClusteredPage, Parameter::ClusteredBlock];
    let (answers, _) = measure(planted, &parameters, 1);
    assert_eq!(bytes(&answers[0]), Some(16 * KIB), "{:?}", answers[0]);
    assert_eq!(bytes(&answers[1]), Some(2 * MIB), "{:?}", answers[1]);
    let (answers, _) = measure(Planted::default(), &parameters[..1], 1);
    assert_eq!(answers[0].verdict, Verdict::Inconclusive);
}

#[test]
fn the_logical_block_ends_the_doubling() {
    let planted = Planted {
        block: MIB,
        ..Planted::default()
    };
    let (answers, device) = measure(planted, &[Parameter::LogicalBlock], 1);
    assert_eq!(bytes(&answers[0]), Some(MIB), "{:?}", answers[0]);
    // From 8 KiB to 1 MiB there are eight sizes, each written twice over the 64 MiB, and no more after the throughputs meet.
    assert_eq!(device.bytes_written, 8 * 2 * 64 * MIB);
    // Random writes do not overlap: both curves cover every byte once.
    let offsets: Vec<u64> = device.log.iter().map(|(_, offset, _)| *offset).collect();
    let (sequential, random) = offsets[offsets.len() - 2 * 64..].split_at(64);
    let mut random = random.to_vec();
    assert_ne!(random, sequential);
    random.sort_unstable();
    assert_eq!(random, sequential);
}

#[test]
fn the_buffers_are_found_or_absent() {
    let parameters = [Parameter::ReadBuffer, Parameter::WriteBuffer];
    let planted = Planted {
        read_buffer: 64 * KIB,
        write_buffer: 128 * KIB,
        ..Planted::default()
    };
    let (answers, device) = measure(planted, &parameters, 4);
    assert_eq!(bytes(&answers[0]), Some(64 * KIB), "{:?}", answers[0]);
    // "Much shorter" is below 80 %: for a write of s bytes, 20 (s - 128 KiB) against 20 s, plus 2 s for the link.
    let found = bytes(&answers[1]).unwrap();
    assert!(
        (128 * KIB..6 * 128 * KIB).contains(&found),
        "{:?}",
        answers[1]
    );
    assert_eq!(answers[0].evidence.figures["thin"], 4.0);
    assert_eq!(device.info.capacity_bytes, 64 * MIB);
    let (answers, _) = measure(Planted::default(), &parameters, 16);
    assert_eq!(answers[0].verdict, Verdict::Absent);
    assert_eq!(answers[1].verdict, Verdict::Inconclusive);
}

#[test]
fn read_ahead_and_the_write_policy_are_told() {
    let read_ahead = Planted {
        read_ahead: true,
        ..Planted::default()
    };
    let (answers, _) = measure(read_ahead, &[Parameter::Prefetch], 32);
    assert_eq!(answers[0].value, Some(Value::Word("read-ahead".to_owned())));
    let parameters = [Parameter::Prefetch, Parameter::WritePolicy];
    let (answers, _) = measure(Planted::default(), &parameters, 32);
    assert_eq!(answers[0].verdict, Verdict::Absent);
    // This drive never merges two writes.
    assert_eq!(
        answers[1].verdict,
        Verdict::Inconclusive,
        "{:?}",
        answers[1]
    );
}

#[test]
fn a_buffer_hits_at_once_only_and_a_cache_later_too() {
    for (within, policy) in [(0, "buffer"), (64 * KIB, "cache")] {
        let planted = Planted {
            rewrite_within: Some(within),
            write_buffer: 128 * KIB,
            ..Planted::default()
        };
        let (answers, _) = measure(planted, &[Parameter::WritePolicy], 16);
        let value = Some(Value::Word(policy.to_owned()));
        assert_eq!(answers[0].value, value, "{:?}", answers[0]);
    }
}

#[test]
fn procedure_1_prints_one_time_per_size() {
    let config = RunConfig {
        method: Method::Paper,
        parameters: vec![Parameter::ClusteredPage],
        ..RunConfig::default()
    };
    let mut device = Fake::new(64 * MIB, Planted::default());
    let record = run(&mut device, &config, None, &mut Unobserved).unwrap();
    let sizes: Vec<_> = record
        .series(Parameter::ClusteredPage, Series::SWEEP)
        .collect();
    assert_eq!(sizes.len(), 513);
    for (i, sample) in sizes.iter().enumerate() {
        let size = (i as u64 + 1) * 2 * KIB;
        assert_eq!(
            (sample.x, sample.bytes, sample.offset),
            (size, 64 * size, 0)
        );
    }
}

#[test]
fn procedure_2_doubles_before_it_writes_and_its_places_repeat() {
    let config = RunConfig {
        method: Method::Paper,
        parameters: vec![Parameter::ClusteredPage, Parameter::ClusteredBlock],
        thin: 2,
        ..RunConfig::default()
    };
    let planted = Planted {
        page: 16 * KIB,
        ..Planted::default()
    };
    let mut device = Fake::new(64 * MIB, planted);
    let record = run(&mut device, &config, None, &mut Unobserved).unwrap();
    let random: Vec<_> = record
        .series(Parameter::ClusteredBlock, Series::RANDOM)
        .collect();
    let sizes: Vec<u64> = random.iter().map(|s| s.x / KIB).collect();
    // From four pages to an eighth of the total, which is the region divided by the thinning.
    assert_eq!(sizes, [64, 128, 256, 512, 1024, 2048, 4096]);
    assert!(random.iter().all(|s| s.bytes == 32 * MIB));
    // The last curve: 8 writes of 4 MiB in requests of 256 KiB, each followed by a flush.
    let requests = &device.log[device.log.len() - 8 * 17..];
    let mut places: Vec<u64> = requests.chunks(17).map(|write| write[0].1).collect();
    assert!(
        places
            .iter()
            .all(|at| at.is_multiple_of(4 * MIB) && *at < 32 * MIB)
    );
    places.sort_unstable();
    places.dedup();
    assert!((2..8).contains(&places.len()), "{places:?}");
}
