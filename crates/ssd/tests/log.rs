//! The drive's own log against the work that was done.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{base, run};
use fathom_base::{Bytes, SECTOR_BYTES};
use fathom_block::{Device, DriveLog, Op, Request};
use fathom_ssd::spec::{Log, Protocol, Thermal};
use fathom_ssd::{Spec, Ssd};

fn logging(log: Log, protocol: Protocol) -> Spec {
    let mut spec = base();
    (spec.host.log, spec.host.protocol) = (log, protocol);
    spec.capacity = Bytes::mib(1);
    spec
}

fn write(drive: &mut Ssd, sectors: u64) {
    let at = |n: u64| n % 100 * SECTOR_BYTES;
    run(
        drive,
        8,
        (0..sectors).map(|n| Request::new(n, Op::Write, at(n), SECTOR_BYTES)),
    );
}

#[test]
fn a_drive_without_a_log_reports_nothing() {
    let mut drive = Ssd::new(&base(), 1).unwrap();
    write(&mut drive, 10);
    assert_eq!(drive.log(), None);
}

/// NVM Express Base Specification, SMART / Health Information: thousands of 512 bytes, rounded up. ATA attributes 241 and
/// 242: sectors.
#[test]
fn host_bytes_are_counted_in_the_unit_of_the_protocol() {
    for (protocol, steps) in [
        // Sectors written so far, and the bytes reported.
        (
            Protocol::Nvme,
            [(0, 0), (1, 512_000), (1000, 512_000), (1001, 1_024_000)],
        ),
        (
            Protocol::Sata,
            [(0, 0), (1, 512), (1000, 512_000), (1001, 512_512)],
        ),
    ] {
        let mut drive = Ssd::new(&logging(Log::Host, protocol), 1).unwrap();
        let mut written = 0;
        for (sectors, bytes) in steps {
            write(&mut drive, sectors - written);
            written = sectors;
            let want = DriveLog {
                host_bytes_written: Some(bytes),
                host_bytes_read: Some(0),
                ..DriveLog::default()
            };
            assert_eq!(drive.log(), Some(want), "{protocol:?} {sectors}");
        }
        run(&mut drive, 1, [Request::new(0, Op::Read, 0, 4 * 512)]);
        let read = [512_000, 4 * 512][usize::from(protocol == Protocol::Sata)];
        assert_eq!(drive.log().unwrap().host_bytes_read, Some(read));
    }
}

#[test]
fn the_media_are_written_with_what_the_drive_moves() {
    let mut drive = Ssd::new(&logging(Log::Media, Protocol::Nvme), 1).unwrap();
    write(&mut drive, 100);
    let log = drive.log().unwrap();
    // Each sector is a read, modified and written page of 4 KiB, without a buffer.
    assert_eq!(log.media_bytes_written, Some(100 * 4096));
    assert_eq!(log.spare_percent, Some(100));
    assert_eq!(log.used_percent, None, "the model knows no endurance");
    write(&mut drive, 10_000);
    let (log, counters) = (drive.log().unwrap(), drive.counters());
    assert!(counters.erases > 0);
    let media = counters.flash_sectors_programmed * SECTOR_BYTES;
    assert_eq!(log.media_bytes_written, Some(media));
}

#[test]
fn spare_blocks_are_those_that_did_not_fail() {
    let mut spec = logging(Log::Media, Protocol::Nvme);
    spec.mapping.over_provisioning_percent = 100.0;
    spec.faults.factory_bad_percent = 10.0;
    spec.faults.erase_fail = 0.01;
    let mut drive = Ssd::new(&spec, 1).unwrap();
    let (bad_at_first, g) = (drive.bad_blocks() as u64, drive.geometry().clone());
    let blocks = u64::from(g.groups * g.cblocks_per_group);
    let spare = blocks - bad_at_first - spec.capacity.0 / spec.flash.clustered_block.0;
    assert!(bad_at_first > 0 && drive.log().unwrap().spare_percent == Some(100));
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..8 {
        write(&mut drive, 1000);
        let failed = drive.bad_blocks() as u64 - bad_at_first;
        let percent = (spare - failed) * 100 / spare;
        assert_eq!(drive.log().unwrap().spare_percent, Some(percent as u8));
        seen.insert(percent);
    }
    assert!(seen.len() > 3, "{seen:?}");
}

/// A stage of thermal management begins once, and the drive warns from its temperature on.
#[test]
fn heat_is_counted_in_the_log() {
    let mut spec = logging(Log::Host, Protocol::Nvme);
    let mut drive = Ssd::new(&spec, 1).unwrap();
    write(&mut drive, 100);
    let log = drive.log().unwrap();
    assert_eq!((log.warning_celsius, log.throttles), (None, None));
    for (degrees, throttles) in [(1e-9, 0), (1e6, 2)] {
        spec.thermal = Some(Thermal {
            degrees_per_gib_programmed: degrees,
            ..Thermal::default()
        });
        let mut drive = Ssd::new(&spec, 1).unwrap();
        write(&mut drive, 1000);
        let log = drive.log().unwrap();
        assert_eq!(log.warning_celsius, Some(70));
        assert_eq!(log.throttles, Some(throttles), "{log:?}");
    }
}
