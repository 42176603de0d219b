//! Compression: what shrinks is not programmed, and reads back without the flash array.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{base, run};
use fathom_base::{Bytes, Time};
use fathom_block::{Device, Op, Payload, Request};
use fathom_ssd::spec::{Compression, MappingKind, WriteBuffer, WritePolicy};
use fathom_ssd::{Spec, Ssd};

const PAGE: u64 = 4096;
/// Clustered pages of the base drive.
const PAGES: u64 = 64;

/// The base drive, which compresses, with mapped units of 2 KiB.
fn compressing(buffered: bool, zero_percent: f64, deduplicates: bool) -> Spec {
    let mut spec = base();
    spec.mapping.unit = Some(Bytes::kib(2));
    spec.write_buffer = buffered.then(|| WriteBuffer::new(WritePolicy::Fifo, Bytes::kib(16)));
    spec.compression = Some(Compression {
        zero_percent,
        deduplicates,
    });
    spec
}

fn write(page: u64, payload: Payload) -> Request {
    let mut request = Request::new(page, Op::Write, page * PAGE, PAGE);
    request.tag.payload = payload;
    request
}

fn flush() -> Request {
    Request::new(0, Op::Flush, 0, 0)
}

/// Writes every page `rounds` times with the payload that its number has. Returns the drive, with nothing in progress.
fn written(spec: &Spec, rounds: u64, payload: impl Fn(u64) -> Payload) -> Ssd {
    let mut drive = Ssd::new(spec, 1).unwrap();
    let writes = (0..rounds).flat_map(|_| (0..PAGES).map(|page| write(page, payload(page))));
    run(&mut drive, 4, writes.collect::<Vec<_>>());
    run(&mut drive, 1, [flush()]);
    let later = Time(drive.now().0 + 1_000_000_000);
    drive.wait(later, &mut Vec::new());
    drive.check().unwrap();
    drive
}

fn programmed_per_written(drive: &Ssd) -> f64 {
    let counters = drive.counters();
    counters.flash_sectors_programmed as f64 / counters.host_sectors_written as f64
}

#[test]
fn zeros_are_amplified_by_the_size_of_their_records() {
    for buffered in [false, true] {
        for percent in [0.0, 1.0, 12.5, 50.0] {
            let drive = written(&compressing(buffered, percent, false), 25, |_| {
                Payload::Zero
            });
            // 3200 units were written. Records are programmed by whole units, so 1 % are 32 of them.
            let amplified = programmed_per_written(&drive);
            assert_eq!(amplified, percent / 100.0, "{percent} % {buffered}");
            assert_eq!(drive.counters().erases, 0, "{percent} % {buffered}");
        }
    }
}

#[test]
fn only_what_shrinks_is_left_out() {
    // With one round no data is collected: each unit that does not shrink is programmed once.
    for buffered in [false, true] {
        let half = |page| {
            if page % 2 == 0 {
                Payload::Zero
            } else {
                Payload::Unique
            }
        };
        let drive = written(&compressing(buffered, 0.0, true), 1, half);
        assert_eq!(programmed_per_written(&drive), 0.5, "{buffered}");
        for (deduplicates, programmed) in [(false, 1.0), (true, 0.0)] {
            let spec = compressing(buffered, 0.0, deduplicates);
            let drive = written(&spec, 1, |_| Payload::Repeated);
            assert_eq!(programmed_per_written(&drive), programmed, "{buffered}");
        }
        let mut plain = compressing(buffered, 0.0, true);
        plain.compression = None;
        let drive = written(&plain, 1, |_| Payload::Zero);
        assert_eq!(programmed_per_written(&drive), 1.0, "{buffered}");
    }
}

#[test]
fn a_constant_unit_is_read_without_the_flash_array() {
    let odd = |page| {
        if page % 2 == 1 {
            Payload::Unique
        } else {
            Payload::Zero
        }
    };
    let mut drive = written(&compressing(true, 1.0, false), 3, odd);
    for page in 0..PAGES {
        let before = (drive.now(), drive.counters().flash_ops);
        run(
            &mut drive,
            1,
            [Request::new(0, Op::Read, page * PAGE, PAGE)],
        );
        let (took, ops) = (
            drive.now().0 - before.0.0,
            drive.counters().flash_ops - before.1,
        );
        // The command takes 1 us, the latency is 2 us, and the link carries 4 KiB in 4.096 us.
        let from_memory = 1_000 + 2_000 + 4_096;
        assert_eq!(
            (ops > 0, took == from_memory),
            (page % 2 == 1, page % 2 == 0),
            "{page}"
        );
    }
}

#[test]
fn a_unit_is_what_was_written_to_it_last() {
    // A zoned drive is not written again in place.
    let in_place = MappingKind::ALL
        .into_iter()
        .filter(|&kind| kind != MappingKind::Zoned);
    for kind in in_place {
        let mut spec = compressing(true, 1.0, false);
        (spec.mapping.kind, spec.mapping.log_blocks) = (kind, 4);
        spec.mapping.map_cache = (kind == MappingKind::Dftl).then_some(Bytes(64));
        let mut drive = Ssd::new(&spec, 1).unwrap().keep_data();
        let mut zeroed = 0;
        for round in 0..6u8 {
            for page in 0..PAGES {
                let mut request = Request::new(page, Op::Write, page * PAGE, PAGE);
                let byte = if (page + u64::from(round)) % 3 == 0 {
                    0
                } else {
                    1 + round
                };
                request.data = Some(vec![byte; PAGE as usize].into());
                run(&mut drive, 1, [request]);
            }
            run(&mut drive, 1, [flush()]);
            assert!(drive.cut_power(), "{kind:?}");
            drive.power_on();
            for page in 0..PAGES {
                let byte = if (page + u64::from(round)) % 3 == 0 {
                    0
                } else {
                    1 + round
                };
                let read = run(
                    &mut drive,
                    1,
                    [Request::new(0, Op::Read, page * PAGE, PAGE)],
                );
                let data = read[0].data.as_deref().unwrap();
                assert!(
                    data.iter().all(|&b| b == byte),
                    "{kind:?}, round {round}, page {page}"
                );
                zeroed += u32::from(byte == 0);
            }
        }
        drive.check().unwrap();
        assert!(zeroed > 100, "{kind:?}");
    }
}

#[test]
fn zeros_in_a_part_of_a_unit_do_not_shrink_unless_the_rest_was_never_written() {
    let mut spec = compressing(true, 0.0, false);
    spec.mapping.unit = None;
    let part = |payload| {
        let mut request = Request::new(0, Op::Write, 0, 2048);
        request.tag.payload = payload;
        request
    };
    let mut drive = Ssd::new(&spec, 1).unwrap();
    run(&mut drive, 1, [part(Payload::Zero), flush()]);
    assert_eq!(drive.counters().flash_sectors_programmed, 0);
    run(&mut drive, 1, [write(0, Payload::Unique), flush()]);
    assert_eq!(drive.counters().flash_sectors_programmed, 8);
    run(&mut drive, 1, [part(Payload::Zero), flush()]);
    assert_eq!(drive.counters().flash_sectors_programmed, 16);
}
