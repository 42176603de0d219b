//! Tests of the rules in use elsewhere: that each finds what is planted in a drive where it works, and fails where it is
//! known to.

#![allow(clippy::unwrap_used)] // also in helpers outside of the test functions

use crate::fake::{Fake, KIB, MIB, Planted};
use fathom_base::Dur;
use fathom_block::{Device, Op};
use fathom_probe::run::{announce, run, solve};
use fathom_probe::{Estimate, Method, Parameter, RunConfig, Unobserved, Value, Verdict};

fn config(method: Method, parameter: Parameter, thin: u32) -> RunConfig {
    RunConfig {
        seed: 5,
        method,
        parameters: vec![parameter],
        thin,
        ..RunConfig::default()
    }
}

fn measure(planted: Planted, config: &RunConfig) -> (Estimate, Fake) {
    let mut device = Fake::new(64 * MIB, planted);
    device.info.trim = true;
    let record = run(&mut device, config, None, &mut Unobserved).unwrap();
    assert!(record.meta.complete);
    let bound = announce(config, &device.info).bound_bytes;
    assert!(device.bytes_written <= bound, "{bound}");
    let answer = solve(&record).parameters.into_values().next().unwrap();
    assert_eq!(answer.method, config.method);
    assert_eq!(answer.unit, config.parameters[0].about().unit);
    (answer, device)
}

fn bytes(estimate: &Estimate) -> Option<u64> {
    estimate.value.as_ref()?.bytes()
}

/// Where every write below the unit costs the same, the first pair of sizes is equal, and the rule stops there.
#[test]
fn iotune_finds_the_unit_only_where_the_first_pair_shows_it() {
    let config = config(Method::Iotune, Parameter::IndirectionUnit, 64);
    let of = |unit| Planted {
        unit,
        ..Planted::default()
    };
    let (answer, _) = measure(of(KIB), &config);
    assert_eq!(bytes(&answer), Some(KIB), "{answer:?}");
    let (answer, _) = measure(of(16 * KIB), &config);
    assert_eq!(answer.verdict, Verdict::Absent, "{answer:?}");
    assert_eq!(answer.evidence.figures["physical_block_bytes"], 512.0);
    let (answer, _) = measure(of(0), &config);
    assert_eq!(answer.verdict, Verdict::Absent, "{answer:?}");
}

#[test]
fn iotune_writes_whole_blocks_for_its_times() {
    let config = config(Method::Iotune, Parameter::IndirectionUnit, 16);
    let mut device = Fake::new(64 * MIB, Planted::default());
    device.info.logical_block_bytes = 4096;
    let record = run(&mut device, &config, None, &mut Unobserved).unwrap();
    assert!(device.log.iter().all(|(_, _, len)| len % 4096 == 0));
    let answer = &solve(&record).parameters[&Parameter::IndirectionUnit];
    assert_eq!(answer.verdict, Verdict::Absent, "{answer:?}");
    // Five sizes of (6 + 3) s / 16 each, or less if the share of the region is written before.
    assert!(device.now().since(fathom_base::Time::ZERO) < Dur::ms(5 * 9_000 / 16 + 3_000));
}

#[test]
fn iotune_gives_its_four_numbers_and_no_verdict() {
    let config = config(Method::Iotune, Parameter::BandwidthLimit, 64);
    let (answer, _) = measure(Planted::default(), &config);
    assert_eq!(answer.verdict, Verdict::Inconclusive);
    // The fake takes 1 us and 10 ns a byte for a read, one at a time.
    let read = answer.evidence.figures["read_iops"];
    assert!((read - 1e9 / (1_000.0 + 40_960.0)).abs() < 1.0, "{read}");
    // A write of 256 KiB, the longest request, takes 1 us and 22 ns a byte.
    let write = answer.evidence.figures["write_bandwidth_bytes_per_s"];
    let per_second = 262_144e9 / (1_000.0 + 22.0 * 262_144.0);
    assert!((write / per_second - 1.0).abs() < 1e-6, "{write}");
}

#[test]
fn the_first_window_below_70_percent_ends_the_cache() {
    let config = config(Method::Cliff70, Parameter::FastCache, 1);
    let planted = |fast_cache, stall_at| Planted {
        fast_cache,
        stall_at,
        ..Planted::default()
    };
    let (answer, device) = measure(planted(16 * MIB, None), &config);
    // Windows are a two-hundredth of 64 MiB.
    let found = bytes(&answer).unwrap();
    assert!((15 * MIB..=16 * MIB).contains(&found), "{answer:?}");
    assert!(device.bytes_written <= 64 * MIB);
    let (answer, _) = measure(planted(0, None), &config);
    assert_eq!(answer.verdict, Verdict::Absent);
    // A single stall on a flat line is a cliff for it.
    let (answer, _) = measure(planted(0, Some(30 * MIB)), &config);
    let found = bytes(&answer).unwrap();
    assert!((29 * MIB..30 * MIB).contains(&found), "{answer:?}");
}

/// A round is an eighth of the region: four are slow after the two of the cache. A cache of more than five rounds is steady.
#[test]
fn a_steady_state_before_the_cliff_hides_the_cache() {
    let planted = |fast_cache| Planted {
        fast_cache,
        ..Planted::default()
    };
    let config = config(Method::SniaPts, Parameter::FastCache, 1);
    let (answer, _) = measure(planted(16 * MIB), &config);
    assert_eq!(bytes(&answer), Some(16 * MIB), "{answer:?}");
    assert_eq!(answer.evidence.figures["rounds"], 7.0);
    for cache in [0, 44 * MIB] {
        let (answer, _) = measure(planted(cache), &config);
        assert_eq!(answer.verdict, Verdict::Absent, "{cache}: {answer:?}");
        assert_eq!(answer.evidence.figures["rounds"], 5.0);
    }
}

#[test]
fn the_depth_of_a_drive_that_serves_one_at_a_time_is_one() {
    let config = config(Method::Knee95, Parameter::QueueKnee, 64);
    let (answer, device) = measure(Planted::default(), &config);
    assert_eq!(answer.value, Some(Value::Count(1)), "{answer:?}");
    // Depths 1, 2 and 4, the fake's own.
    assert_eq!(device.in_flight_max, 4);
}

#[test]
fn the_modal_interval_is_the_buffer_unless_it_jitters() {
    let config = config(Method::Ssdcheck, Parameter::WriteBuffer, 4);
    let planted = |flush_after: &[u64]| Planted {
        flush_after: flush_after.to_vec(),
        // Writes are short, so that reads beside them wait for flushes only.
        write_buffer: u64::MAX,
        ..Planted::default()
    };
    let (answer, device) = measure(planted(&[64 * KIB]), &config);
    assert_eq!(bytes(&answer), Some(64 * KIB), "{answer:?}");
    assert_eq!(answer.evidence.figures["by_8_kib_bytes"], 65_536.0);
    // 5 s / 4, a write of 4 KiB each 5 ms; the same of 8 KiB.
    let paced = device.bytes_written - 64 * MIB;
    assert!((240..=252).contains(&(paced / (12 * KIB))), "{paced}");
    // 8 % of jitter around 64 KiB: 15, 16 and 17 writes; the right one is not the most common.
    let uneven: Vec<u64> = [15, 17, 15, 17, 16].map(|n| n * 4 * KIB).to_vec();
    let (answer, _) = measure(planted(&uneven), &config);
    assert_ne!(bytes(&answer), Some(64 * KIB), "{answer:?}");
    let (answer, _) = measure(planted(&[]), &config);
    assert_eq!(answer.verdict, Verdict::Inconclusive, "{answer:?}");
}

#[test]
fn boundaries_show_pages_and_bits_show_no_volumes_on_one_die() {
    let planted = Planted {
        read_page: 16 * KIB,
        ..Planted::default()
    };
    let flashbench = config(Method::Flashbench, Parameter::ReadUnit, 1);
    let (answer, _) = measure(planted, &flashbench);
    assert_eq!(bytes(&answer), Some(16 * KIB), "{answer:?}");
    let (answer, _) = measure(Planted::default(), &flashbench);
    assert_eq!(answer.verdict, Verdict::Inconclusive, "{answer:?}");
    let volumes = config(Method::Ssdcheck, Parameter::Parallelism, 64);
    let (answer, device) = measure(Planted::default(), &volumes);
    assert_eq!(answer.verdict, Verdict::Absent, "{answer:?}");
    // Bits 12 to 25 of 64 MiB.
    assert_eq!(answer.evidence.figures["bits_tried"], 14.0);
    let writes = device
        .log
        .iter()
        .filter(|(op, _, len)| *op == Op::Write && *len == 4 * KIB);
    let odd = writes.filter(|(_, offset, _)| offset / (4 * KIB) % 2 == 1);
    assert!(odd.count() > 0);
}

/// A drive may be as small as the run allows: no rule leaves the region or panics.
#[test]
fn small_drives_are_no_trouble() {
    for method in Method::ALL {
        for parameter in Parameter::ALL {
            if method == Method::Robust || parameter.about().probe(method).is_none() {
                continue;
            }
            for capacity in [64 * KIB, MIB + 512] {
                let config = config(method, parameter, 64);
                let mut device = Fake::new(capacity, Planted::default());
                let record = run(&mut device, &config, None, &mut Unobserved).unwrap();
                assert!(record.meta.complete, "{method:?} {parameter}");
                let bound = announce(&config, &device.info).bound_bytes;
                assert!(device.bytes_written <= bound, "{method:?} {parameter}");
            }
        }
    }
}
