//! Tests the rules of consistency on what drives really reported, and each rule at its border.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // A helper that fails is a failed test; a skipped one says why.

mod common;

use common::Loop;
use fathom_hostio::HostError;
use fathom_hostio::reported::{AtaReported, NvmeReported, Reported, inconsistencies, reported};
use std::path::Path;

const KIB: u64 = 1024;

/// A drive without a contradiction.
fn sound() -> Reported {
    let mut r = Reported::default();
    r.sizes.logical_block_bytes = Some(512);
    r.sizes.physical_block_bytes = Some(4096);
    r.sizes.io_min_bytes = Some(4096);
    r.sizes.io_opt_bytes = Some(128 * KIB);
    r.sizes.alignment_offset_bytes = Some(0);
    r.sizes.max_request_bytes = Some(128 * KIB);
    r.sizes.max_hw_request_bytes = Some(512 * KIB);
    r.discards.granularity_bytes = Some(4096);
    r.discards.max_bytes = Some(1 << 31);
    r.discards.max_hw_bytes = Some(1 << 31);
    r.discards.alignment_bytes = Some(0);
    r.limits.read_ahead_bytes = Some(256 * KIB);
    r.features.rotational = Some(false);
    r.features.write_cache = Some("write back".into());
    r
}

fn nvme(change: impl FnOnce(&mut NvmeReported)) -> Reported {
    let mut nvme = NvmeReported {
        npwg_bytes: Some(4096),
        npwa_bytes: Some(4096),
        npdg_bytes: Some(4096),
        npda_bytes: Some(4096),
        nows_bytes: Some(128 * KIB),
        max_transfer_bytes: Some(512 * KIB),
        volatile_cache: Some(true),
        ..NvmeReported::default()
    };
    change(&mut nvme);
    Reported {
        nvme: Some(nvme),
        ..sound()
    }
}

fn ata(change: impl FnOnce(&mut AtaReported)) -> Reported {
    let mut ata = AtaReported {
        logical_block_bytes: Some(512),
        physical_block_bytes: Some(4096),
        rotations_per_minute: Some(0),
        trim: Some(true),
        write_cache: Some(true),
        ..AtaReported::default()
    };
    change(&mut ata);
    Reported {
        ata: Some(ata),
        ..sound()
    }
}

fn with(mut reported: Reported, change: impl FnOnce(&mut Reported)) -> Reported {
    change(&mut reported);
    reported
}

fn rules(reported: &Reported) -> Vec<&'static str> {
    let found = inconsistencies(reported);
    for inconsistency in &found {
        assert!(!inconsistency.source.is_empty() && !inconsistency.text.is_empty());
    }
    found.into_iter().map(|found| found.rule).collect()
}

/// Asserts that each report breaks one rule alone.
fn each_breaks(cases: Vec<(&str, Reported)>) {
    for (rule, reported) in cases {
        assert_eq!(rules(&reported), [rule], "{reported:?}");
    }
}

#[test]
fn a_sound_report_has_no_inconsistency() {
    for sound in [sound(), nvme(|_| {}), ata(|_| {}), Reported::default()] {
        assert_eq!(rules(&sound), [""; 0]);
    }
}

#[test]
fn what_the_kernel_reports_is_checked() {
    let large = |r: &mut Reported| {
        let size = Some(256 * KIB);
        r.sizes.physical_block_bytes = size;
        (r.sizes.io_min_bytes, r.sizes.io_opt_bytes) = (size, size);
    };
    let min = |r: &mut Reported| r.sizes.io_min_bytes = Some(256 * KIB);
    let opt = |r: &mut Reported| r.sizes.io_opt_bytes = Some(10 * KIB);
    let granularity = |r: &mut Reported| r.discards.granularity_bytes = Some(0);
    let offset = |r: &mut Reported| r.sizes.alignment_offset_bytes = Some(3584);
    let discard_offset = |r: &mut Reported| r.discards.alignment_bytes = Some(512);
    let request = |r: &mut Reported| r.sizes.max_request_bytes = Some(1024 * KIB);
    each_breaks(vec![
        ("io-min-above-io-opt", with(sound(), min)),
        ("io-opt-is-no-multiple", with(sound(), opt)),
        ("large-physical-block", with(sound(), large)),
        ("discards-without-granularity", with(sound(), granularity)),
        ("first-block-is-not-aligned", with(sound(), offset)),
        ("first-block-is-not-aligned", with(sound(), discard_offset)),
        ("requests-above-the-hardware", with(sound(), request)),
    ]);
}

#[test]
fn what_a_drive_says_is_compared_with_the_kernel() {
    let through = |r: &mut Reported| r.features.write_cache = Some("write through".into());
    let rotates = |r: &mut Reported| r.features.rotational = Some(true);
    let no_discards = |r: &mut Reported| r.discards.max_hw_bytes = Some(0);
    let nows = "optimal-write-size-is-no-multiple";
    let alignment = "preferred-alignment-does-not-divide";
    let discards = "discard-granularity-below-the-drives";
    let transfer = "requests-above-the-hardware";
    let blocks = "bridge-changes-the-blocks";
    each_breaks(vec![
        (nows, nvme(|n| n.nows_bytes = Some(6 * KIB))),
        (nows, nvme(|n| n.nows_bytes = Some(1024 * KIB))),
        (alignment, nvme(|n| n.npwa_bytes = Some(3 * KIB))),
        (alignment, nvme(|n| n.npda_bytes = Some(3 * KIB))),
        (discards, nvme(|n| n.npdg_bytes = Some(64 * KIB))),
        (transfer, nvme(|n| n.max_transfer_bytes = Some(256 * KIB))),
        ("trim-is-not-passed-on", with(ata(|_| {}), no_discards)),
        ("trim-is-not-passed-on", ata(|a| a.trim = Some(false))),
        (blocks, ata(|a| a.physical_block_bytes = Some(512))),
        (blocks, ata(|a| a.logical_block_bytes = Some(4096))),
        ("flushes-are-switched-off", with(nvme(|_| {}), through)),
        ("flushes-are-switched-off", with(ata(|_| {}), through)),
        ("flash-is-said-to-rotate", with(nvme(|_| {}), rotates)),
        ("flash-is-said-to-rotate", with(ata(|_| {}), rotates)),
    ]);
}

#[test]
fn blocks_that_cannot_be_are_told() {
    let odd = with(sound(), |r| {
        r.sizes.physical_block_bytes = Some(12 * KIB);
        r.sizes.io_min_bytes = Some(12 * KIB);
        r.sizes.io_opt_bytes = Some(0);
    });
    assert_eq!(rules(&odd), ["block-is-no-power-of-two"]);
    let limit = |kib| {
        with(sound(), |r| {
            r.sizes.physical_block_bytes = Some(kib * KIB);
            r.sizes.io_min_bytes = Some(kib * KIB);
        })
    };
    assert_eq!(rules(&limit(16)), [""; 0]);
    assert_eq!(rules(&limit(32)), ["large-physical-block"]);
    let small = with(sound(), |r| r.sizes.physical_block_bytes = Some(256));
    assert_eq!(rules(&small), ["physical-below-logical"]);
}

/// util-linux#1221: "Sector size (logical/physical): 512 bytes / 512 bytes, I/O size (minimum/optimal): 512 bytes / 33553920
/// bytes". umbrel#2222 reports a read-ahead of 65520 KiB with it.
#[test]
fn the_usb_enclosures_of_the_reports_are_found() {
    let mut usb = Reported::default();
    usb.sizes.logical_block_bytes = Some(512);
    usb.sizes.physical_block_bytes = Some(512);
    usb.sizes.io_min_bytes = Some(512);
    usb.sizes.io_opt_bytes = Some(33_553_920);
    assert_eq!(rules(&usb), ["io-opt-of-a-bridge"]);
    usb.limits.read_ahead_bytes = Some(65_520 * KIB);
    assert_eq!(
        rules(&usb),
        ["io-opt-of-a-bridge", "read-ahead-from-io-opt"]
    );
    usb.sizes.physical_block_bytes = Some(4096);
    usb.sizes.io_min_bytes = Some(4096);
    assert!(rules(&usb).contains(&"io-opt-is-no-multiple"));
}

/// azure-vm-utils#99: NOWS is 65535 in blocks of 512 bytes, so the optimal request is 32 MiB and the read-ahead 64 MiB.
#[test]
fn the_virtual_drive_that_reads_64_mib_ahead_is_found() {
    let mut azure = nvme(|n| {
        *n = NvmeReported {
            nows_bytes: Some(32 << 20),
            ..NvmeReported::default()
        }
    });
    azure.sizes.io_opt_bytes = Some(32 << 20);
    azure.limits.read_ahead_bytes = Some(65_536 * KIB);
    let expected = [
        "optimal-write-size-is-a-placeholder",
        "read-ahead-from-io-opt",
    ];
    assert_eq!(rules(&azure), expected);
    azure.limits.read_ahead_bytes = Some(128 * KIB);
    assert_eq!(rules(&azure), expected[..1]);
}

/// nvme-cli#2173: NPWG and NPDG are 128 KiB, NAWUPF 4 KiB, and the physical block in sysfs is 4 KiB.
#[test]
fn the_drive_with_a_unit_above_its_physical_block_is_found() {
    let mut drive = nvme(|n| {
        n.npwg_bytes = Some(128 * KIB);
        n.npdg_bytes = Some(128 * KIB);
    });
    drive.sizes.io_min_bytes = Some(128 * KIB);
    drive.discards.granularity_bytes = Some(512);
    let expected = [
        "write-granularity-above-physical",
        "discard-granularity-below-the-drives",
    ];
    assert_eq!(rules(&drive), expected);
}

#[test]
fn real_devices_are_read_and_others_are_refused() {
    let disk = or_skip!(Loop::attach(1 << 20));
    let seen = reported(&disk.device).unwrap();
    assert_eq!(seen.drive.as_deref(), Some(disk.name()));
    assert_eq!(seen.sizes.logical_block_bytes, Some(512));
    assert!(seen.not_asked.unwrap().contains("loop device"));
    let error = reported(Path::new("/proc/self/status")).unwrap_err();
    assert!(matches!(error, HostError::Unsuitable { .. }), "{error}");
    let missing = reported(Path::new("/nonexistent/fathom")).unwrap_err();
    assert!(matches!(missing, HostError::NotFound { .. }), "{missing}");
}

#[test]
fn every_drive_of_this_machine_is_read() {
    for entry in std::fs::read_dir("/sys/block")
        .into_iter()
        .flatten()
        .flatten()
    {
        let path = Path::new("/dev").join(entry.file_name());
        if let Ok(seen) = reported(&path) {
            println!("{seen:?}");
            for found in inconsistencies(&seen) {
                println!("{}: {} ({})", found.rule, found.text, found.source);
            }
            assert!(seen.drive.is_some());
        }
    }
}
