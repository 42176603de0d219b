//! The drain rate of a write buffer: as fast as the flash array.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common;
use crate::common::run;
use fathom_base::{Bytes, Rng};
use fathom_block::{Device, Op, Request};
use fathom_ssd::spec::{MappingKind, Noise, ProgramMode, WriteBuffer, WritePolicy};
use fathom_ssd::{Spec, Ssd, presets};

const KIB: u64 = 1024;

/// The NVMe preset without noise, on 2 GiB.
fn nvme() -> Spec {
    let preset = presets::PRESETS.iter().find(|p| p.name == "nvme").unwrap();
    let mut spec = Spec::from_toml(preset.text).unwrap();
    (spec.noise, spec.capacity) = (Noise::default(), Bytes::mib(2048));
    spec
}

/// Returns the maximum program rate of the array of a page-mapped drive, in bytes per second: each die receives a
/// clustered page over its bus and then programs it, one after the other.
fn array_rate(spec: &Spec) -> f64 {
    let flash = &spec.flash;
    let dies = flash.channels * flash.packages_per_channel * flash.dies_per_package;
    let page = flash.clustered_page.0 as f64;
    let transfer_ns = page / flash.bus.bytes_per_second() as f64 * 1e9;
    f64::from(dies) * page / (transfer_ns + flash.program.0 as f64) * 1e9
}

/// Returns the rate of writes of `len` at queue depth 64 over the second half of `total` bytes, in bytes per second.
fn write_rate(spec: &Spec, len: u64, total: u64, sequential: bool) -> f64 {
    let (mut drive, mut rng) = (Ssd::new(spec, 1).unwrap(), Rng::new(7, 0));
    let mut request = |i: u64| {
        let at = match sequential {
            true => i * len,
            false => rng.below(spec.capacity.0 / len) * len,
        };
        Request::new(i, Op::Write, at, len)
    };
    let half = total / 2 / len;
    run(&mut drive, 64, (0..half).map(&mut request));
    let start = drive.now();
    run(&mut drive, 64, (half..2 * half).map(&mut request));
    (half * len) as f64 / drive.now().since(start).0 as f64 * 1e9
}

#[test]
fn a_cache_does_not_throttle_the_flash_array() {
    let spec = nvme();
    let array = array_rate(&spec);
    // 32 dies: 64 KiB takes 82 us over the bus and 700 us in the array.
    assert!((array - 2.68e9).abs() < 0.01e9, "{array}");
    for policy in WritePolicy::ALL {
        for capacity in [Bytes::mib(8), Bytes::mib(16), Bytes::mib(128)] {
            let mut spec = spec.clone();
            spec.write_buffer = (policy != WritePolicy::NoCache).then(|| {
                let buffer = spec.write_buffer.clone().unwrap();
                fathom_ssd::spec::WriteBuffer {
                    policy,
                    capacity,
                    ..buffer
                }
            });
            let rate = write_rate(&spec, 128 * KIB, 1 << 30, true);
            let share = rate / array;
            assert!(
                (0.97..=1.001).contains(&share),
                "{policy:?} {capacity}: {rate:.3e} of {array:.3e} bytes a second"
            );
        }
    }
}

/// A buffer must not reduce the throughput of a drive: 8 dies, 4 KiB pages, a buffer of 8 MiB.
fn eight_dies() -> Spec {
    let mut spec = common::base();
    let flash = &mut spec.flash;
    (flash.channels, flash.dies_per_package) = (4, 2);
    flash.pages_per_block = 64;
    (flash.page, flash.clustered_page) = (Bytes::kib(4), Bytes::kib(4));
    flash.clustered_block = Bytes::kib(256);
    (spec.capacity, spec.mapping.log_blocks) = (Bytes::mib(256), 64);
    spec.host.queue_depth = 256;
    spec
}

/// Returns the rate with each policy, relative to the rate without a buffer.
fn shares(mut spec: Spec, len: u64, sequential: bool) -> Vec<(WritePolicy, f64)> {
    spec.write_buffer = None;
    let without = write_rate(&spec, len, spec.capacity.0, sequential);
    let mut rate = |policy| {
        spec.write_buffer = Some(WriteBuffer::new(policy, Bytes::mib(8)));
        write_rate(&spec, len, spec.capacity.0, sequential) / without
    };
    let policies = WritePolicy::ALL.into_iter();
    policies
        .filter(|&policy| policy != WritePolicy::NoCache)
        .map(|policy| (policy, rate(policy)))
        .collect()
}

/// The reference is the drive without a buffer. If the block determines the die, adjacent blocks keep all dies busy; if
/// planes are programmed in step, a die takes as many pages as it has planes.
#[test]
fn a_cache_does_not_throttle_log_blocks_nor_planes() {
    for kind in [
        MappingKind::Block,
        MappingKind::Fast,
        MappingKind::Superblock,
        MappingKind::Hybrid,
    ] {
        let mut spec = eight_dies();
        spec.mapping.kind = kind;
        for (policy, share) in shares(spec, 64 * KIB, true) {
            assert!(share > 0.97, "{kind:?} {policy:?}: {share}");
        }
    }
    let mut spec = eight_dies();
    (spec.flash.planes_per_die, spec.flash.program_mode) = (4, ProgramMode::MultiPlane);
    for (policy, share) in shares(spec, 64 * KIB, true) {
        assert!(share > 0.97, "multi-plane {policy:?}: {share}");
    }
}
