//! Mappings whose logs serve several data blocks, with more logs than in the other suites, with blocks that are bad or go
//! bad, and until the drive is worn out.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::suite::life;
use crate::common::{SHAPES, drive};
use fathom_base::{Rng, Time};
use fathom_block::{Device, IoErrorKind, Op, Request};
use fathom_ssd::Ssd;
use fathom_ssd::spec::MappingKind;
use std::collections::BTreeMap;

const KINDS: [MappingKind; 3] = [
    MappingKind::Fast,
    MappingKind::Superblock,
    MappingKind::Hybrid,
];

#[test]
fn nothing_is_lost_with_more_logs() {
    let mut collected = 0;
    for kind in KINDS {
        for shape in SHAPES {
            for (logs, buffer) in [(3, "none"), (6, "lru"), (12, "fifo idle")] {
                let mut spec = drive(kind, shape, buffer);
                spec.mapping.log_blocks = logs;
                let drive = life(&spec, u64::from(logs), 4)
                    .unwrap_or_else(|why| panic!("{}: {why}", spec.name));
                collected += drive.merges().collected;
            }
        }
    }
    assert!(collected > 500, "{collected} second chances");
}

#[test]
fn nothing_is_lost_where_blocks_go_bad() {
    let mut fails = 0;
    for kind in KINDS {
        for shape in SHAPES {
            let mut spec = drive(kind, shape, "lru");
            spec.mapping.over_provisioning_percent = 1000.0;
            spec.faults.factory_bad_percent = 10.0;
            (spec.faults.program_fail, spec.faults.erase_fail) = (0.0005, 0.005);
            let drive = life(&spec, 1, 4).unwrap_or_else(|why| panic!("{}: {why}", spec.name));
            assert!(!drive.is_worn_out());
            fails += drive.counters().program_fails + drive.counters().erase_fails;
        }
    }
    assert!(fails > 50, "{fails} programs and erases failed");
}

/// Sends one request. Returns the bytes of a read.
fn one(drive: &mut Ssd, request: Request) -> Result<Option<Box<[u8]>>, IoErrorKind> {
    drive.submit(request).unwrap();
    let mut done = Vec::new();
    drive.wait(Time::MAX, &mut done);
    let completion = done.pop().unwrap();
    completion.result.map_err(|error| error.kind)?;
    Ok(completion.data)
}

#[test]
fn a_worn_out_drive_refuses_writes_and_still_holds_its_data() {
    for kind in KINDS {
        for (shape, page) in [("whole", 4096), ("lanes", 4096), ("tiny", 4096)] {
            let mut spec = drive(kind, shape, "none");
            spec.faults.erase_fail = 0.01;
            let mut drive = Ssd::new(&spec, 1).unwrap().keep_data();
            let pages = spec.capacity.0 / page;
            let (mut rng, mut held) = (Rng::new(2, 0), BTreeMap::new());
            let mut writes = 0;
            let last = loop {
                let (at, byte) = (rng.below(pages) * page, rng.below(255) as u8 + 1);
                let mut request = Request::new(1, Op::Write, at, page);
                request.data = Some(vec![byte; page as usize].into());
                if one(&mut drive, request).is_err() {
                    break at;
                }
                writes += 1;
                assert!(writes < 100_000, "{} never wears out", spec.name);
                held.insert(at, byte);
            };
            // The blocks that the reserve can spare have gone bad, plus one.
            assert!(
                drive.is_worn_out() && drive.bad_blocks() >= 3,
                "{}",
                spec.name
            );
            let refused = one(&mut drive, Request::new(1, Op::Write, 0, page));
            assert_eq!(refused, Err(IoErrorKind::ReadOnly));
            for (at, byte) in held.into_iter().filter(|&(at, _)| at != last) {
                let data = one(&mut drive, Request::new(1, Op::Read, at, page)).unwrap();
                assert_eq!(
                    data.unwrap()[..],
                    vec![byte; page as usize],
                    "{}",
                    spec.name
                );
            }
        }
    }
}
