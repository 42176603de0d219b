//! Tests of the verification: what a job reads back, and the errors that it finds.

use super::harness::{Drive, Played, info, jobs, of};
use fathom_block::Access;
use fathom_block::Op;
use fathom_workload::program::fio::{Found, JobError, Jobs, parse};
use std::collections::{BTreeMap, BTreeSet};

const MIB: u64 = 1 << 20;
type Sectors = BTreeMap<u64, [u8; 512]>;

fn drive(spoil: fn(&Access, &mut Sectors)) -> Drive {
    Drive {
        bytes: Some(BTreeMap::new()),
        spoil,
        ..Drive::new(MIB)
    }
}

fn found(text: &str, spoil: fn(&Access, &mut Sectors)) -> (u64, Found) {
    match drive(spoil).play(&mut jobs(text, MIB, 1)) {
        Err(JobError::Differs { offset, found, .. }) => (offset, found),
        Err(other) => panic!("{other}"),
        Ok(played) => panic!("nothing is found in {} accesses", played.len()),
    }
}

/// Returns the accesses of a job, in the order in which they are issued.
fn asked(text: &str) -> Vec<(Op, u64, u64)> {
    let text = format!("[a]\nverify=crc32c\n{text}");
    let mut played = drive(|_, _| {}).play(&mut jobs(&text, MIB, 1)).unwrap();
    played.sort_by_key(|one| one.asked);
    let what = |one: &Played| (one.access.op, one.access.offset, one.access.len);
    played.iter().map(what).collect()
}

#[test]
fn everything_that_was_written_is_read_back() {
    for (text, passes, blocks) in [
        ("rw=write", 1, 256),
        ("rw=randwrite\nioengine=libaio\niodepth=16", 1, 256),
        ("rw=write\nsize=64k\nloops=3", 3, 48),
        ("rw=randwrite\nsize=64k\ntime_based\nruntime=12ms", 4, 64),
        ("rw=write\nruntime=3ms", 1, 30),
    ] {
        let asked = asked(text);
        let groups: Vec<_> = asked.chunk_by(|one, two| one.0 == two.0).collect();
        assert_eq!(
            (groups.len(), asked.len()),
            (2 * passes, 2 * blocks),
            "{text}"
        );
        for pass in groups.chunks(2) {
            let places = |group: &[(Op, u64, u64)]| {
                group.iter().map(|one| (one.1, one.2)).collect::<Vec<_>>()
            };
            assert_eq!((pass[0][0].0, pass[1][0].0), (Op::Write, Op::Read));
            assert_eq!(places(pass[0]), places(pass[1]), "{text}");
        }
    }
    // A mixed job reads first, and then reads back only what it wrote.
    for text in [
        "rw=rw",
        "rw=randrw\nbssplit=512/10:4k/60:64k/30\nioengine=io_uring\niodepth=4",
    ] {
        let asked = asked(text);
        let of = |op| {
            asked
                .iter()
                .filter(move |one| one.0 == op)
                .map(|one| (one.1, one.2))
                .collect::<Vec<_>>()
        };
        let (reads, writes) = (of(Op::Read), of(Op::Write));
        assert!(!writes.is_empty() && reads.ends_with(&writes), "{text}");
        // The reads of the job and its writes together make one pass.
        assert_eq!(reads.iter().map(|one| one.1).sum::<u64>(), MIB);
    }
    // Without a map, writes overlap. Only blocks that are still whole are read back, each once.
    let text = "[a]\nverify=crc32c\nrw=randwrite\nnorandommap\nbssplit=4k/50:16k/50\nio_size=4m";
    let played = drive(|_, _| {}).play(&mut jobs(text, MIB, 1)).unwrap();
    let reads = of(&played, Op::Read);
    let distinct: BTreeSet<_> = reads.iter().map(|one| one.access.offset).collect();
    assert_eq!(distinct.len(), reads.len());
    assert!((30..256).contains(&reads.len()), "{}", reads.len());
    // `do_verify=0` skips the verification.
    let text = "[a]\nverify=crc32c\nrw=write\ndo_verify=0";
    let played = drive(|_, _| {}).play(&mut jobs(text, MIB, 1)).unwrap();
    assert!(played.iter().all(|one| one.access.op == Op::Write));
}

#[test]
fn a_byte_that_has_changed_is_found() {
    for text in [
        "rw=write",
        "rw=randwrite\nioengine=libaio\niodepth=8",
        "rw=randwrite\nnorandommap\nio_size=16m",
    ] {
        let text = format!("[a]\nverify=crc32c\nbs=4k\n{text}");
        let flip = |access: &Access, sectors: &mut Sectors| {
            if access.offset == 40 << 10 {
                sectors.get_mut(&(access.end() / 512 - 1)).unwrap()[511] ^= 1;
            }
        };
        let (offset, found) = found(&text, flip);
        assert_eq!(offset, 40 << 10);
        assert!(matches!(found, Found::Checksum { stored, computed } if stored != computed));
    }
}

#[test]
fn a_header_that_has_changed_is_found() {
    // A change of the generation, and of the checksum itself.
    for at in [16, 38] {
        let change: fn(&Access, &mut Sectors) = match at {
            16 => |access, sectors| sectors.get_mut(&(access.offset / 512)).unwrap()[16] ^= 1,
            _ => |access, sectors| sectors.get_mut(&(access.offset / 512)).unwrap()[38] ^= 1,
        };
        let (_, found) = found("[a]\nverify=crc32c\nrw=write", change);
        assert!(matches!(found, Found::Checksum { .. }), "{found:?}");
    }
}

#[test]
fn a_write_that_was_lost_is_found() {
    // The write was lost, so its place is empty.
    let lose = |access: &Access, sectors: &mut Sectors| {
        if access.offset == 8192 {
            sectors.retain(|at, _| !(16..24).contains(at));
        }
    };
    let text = "[a]\nverify=crc32c\nrw=write\nsize=64k";
    assert_eq!(found(text, lose), (8192, Found::Magic([0; 8])));
}

#[test]
fn a_write_that_went_elsewhere_is_found() {
    // The previous block was written over it.
    let stray = |access: &Access, sectors: &mut Sectors| {
        if access.offset == 8192 {
            for at in 16..24 {
                let before = sectors[&(at - 8)];
                sectors.insert(at, before);
            }
        }
    };
    let (offset, found) = found("[a]\nverify=crc32c\nrw=write\nsize=64k", stray);
    assert_eq!(offset, 8192);
    assert!(
        matches!(
            found,
            Found::Other {
                offset: 4096,
                generation: 2,
                ..
            }
        ),
        "{found:?}"
    );
}

#[test]
fn what_was_there_before_is_found() {
    // If a write of the second pass is lost, the verification finds the block of the first pass.
    thread_local!(static WRITES: std::cell::Cell<u32> = const { std::cell::Cell::new(0) });
    thread_local!(static OLD: std::cell::RefCell<Sectors> = const { std::cell::RefCell::new(BTreeMap::new()) });
    let lose = |_: &Access, sectors: &mut Sectors| {
        WRITES.set(WRITES.get() + 1);
        match WRITES.get() {
            16 => OLD.set(sectors.clone()),
            20 => *sectors = OLD.take(),
            _ => {}
        }
    };
    let (offset, found) = found("[a]\nverify=crc32c\nrw=write\nsize=64k\nloops=2", lose);
    assert_eq!(offset, 0);
    assert!(
        matches!(
            found,
            Found::Other {
                offset: 0,
                generation: 1,
                ..
            }
        ),
        "{found:?}"
    );
}

#[test]
fn the_error_says_where_and_what() {
    let flip = |access: &Access, sectors: &mut Sectors| {
        sectors.get_mut(&(access.offset / 512)).unwrap()[100] ^= 1;
    };
    let mut jobs = jobs(
        "[first]\nsize=4k\n[second]\nverify=crc32c\nrw=write\noffset=512k",
        MIB,
        1,
    );
    let error = drive(flip).play(&mut jobs).unwrap_err().to_string();
    for words in [
        "job `second`, process 1",
        "4096 bytes at 524288",
        "write 1 of this process",
        "CRC-32C",
    ] {
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_drive_that_keeps_no_bytes_cannot_be_verified() {
    let mut jobs = jobs("[a]\nverify=crc32c\nrw=write", MIB, 1);
    let error = Drive::new(MIB).play(&mut jobs).unwrap_err();
    assert_eq!(error, JobError::NoData { job: "a".into() });
}

#[test]
fn nobody_writes_what_another_one_verifies() {
    let refused = |text: &str| {
        let file = parse(text).unwrap();
        Jobs::new(&file.jobs, &info(MIB), 1)
            .err()
            .map(|error| error.to_string())
    };
    let two = "[a]\nverify=crc32c\nrw=randwrite\nsize=512k\nnumjobs=2\n";
    let error = refused(two).unwrap();
    assert!(error.contains("offset_increment"), "{error}");
    assert_eq!(refused(&format!("{two}offset_increment=512k")), None);
    let other = "[a]\nverify=crc32c\nrw=write\n[b]\nverify=0\n";
    assert!(refused(&format!("{other}rw=randwrite")).is_some());
    assert_eq!(refused(&format!("{other}rw=randread")), None);
    assert_eq!(refused(&format!("{other}rw=randwrite\nstonewall")), None);
}
