//! Tests of Fathom's own trace files: round trips, and refusal of damaged and foreign files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers")]

use bytes::Bytes;
use fathom_base::{Rng, Time};
use fathom_block::Access;
use fathom_block::{Op, ZoneAction};
use fathom_trace::{ErrorKind, Format, Options, ParquetWriter, Place, Trace, TraceError};

fn accesses(count: u64) -> Vec<Access> {
    let mut rng = Rng::new(7, 0);
    let ops = [Op::Read, Op::Write, Op::Flush, Op::Trim];
    (0..count)
        .map(|i| {
            let op = ops[rng.below(4) as usize];
            let sectors = |n: u64| if op == Op::Flush { 0 } else { n * 512 };
            Access {
                at: Time(i * 1_000),
                op,
                offset: sectors(rng.below(1 << 40)),
                len: sectors(1 + rng.below(256)),
                disk: rng.below(5) as u32,
                process: 0,
            }
        })
        .collect()
}

fn write(accesses: &[Access]) -> Vec<u8> {
    let mut writer = ParquetWriter::new(Vec::new()).unwrap();
    for access in accesses {
        writer.write(access).unwrap();
    }
    writer.finish().unwrap()
}

fn open(bytes: Vec<u8>) -> Result<Trace, TraceError> {
    fathom_trace::open_parquet(Bytes::from(bytes), &Options::default())
}

/// No row, one row, and enough rows for three row groups.
#[test]
fn what_is_written_is_read() {
    for count in [0, 1, 300_000] {
        let written = accesses(count);
        let trace = open(write(&written)).unwrap();
        assert_eq!(trace.format(), Format::Parquet);
        let end = written.iter().map(Access::end).max().unwrap_or(0);
        assert_eq!(trace.capacity_hint(), end);
        let read: Vec<Access> = trace.map(Result::unwrap).collect();
        assert!(read == written, "{count}");
    }
}

/// A file of accesses with processes has one column more; one without has none of it, whatever its accesses say.
#[test]
fn processes_are_kept_if_they_are_asked_for() {
    let written: Vec<Access> = accesses(200_000)
        .into_iter()
        .zip((0..).map(|i: u32| i.wrapping_mul(0x9e37_79b1)))
        .map(|(access, process)| Access { process, ..access })
        .collect();
    let file = |processes| {
        let mut writer = ParquetWriter::with_processes(Vec::new(), processes).unwrap();
        for access in &written {
            writer.write(access).unwrap();
        }
        writer.finish().unwrap()
    };
    let trace = open(file(true)).unwrap();
    assert!(trace.has_processes());
    let read: Vec<Access> = trace.map(Result::unwrap).collect();
    assert!(read == written);
    let without = file(false);
    assert!(!open(without.clone()).unwrap().has_processes());
    let none = written.iter().map(|access| Access {
        process: 0,
        ..*access
    });
    assert!(write(&none.collect::<Vec<_>>()) == without);
}

#[test]
fn extremes_survive() {
    let access = |at, op, offset, len, disk| Access {
        at: Time(at),
        op,
        offset,
        len,
        disk,
        process: 0,
    };
    let written = [
        access(0, Op::Read, u64::MAX - 512, 512, u32::MAX),
        access(u64::MAX, Op::Write, 0, u64::MAX, 0),
    ];
    let read: Vec<Access> = open(write(&written)).unwrap().map(Result::unwrap).collect();
    assert_eq!(read, written);
}

#[test]
fn every_operation_is_read_as_it_was_written() {
    let zones = ZoneAction::ALL.map(Op::Zone);
    let ops = [Op::Read, Op::Write, Op::Flush, Op::Trim, Op::Append];
    let ops = ops.into_iter().chain(zones);
    let written: Vec<Access> = (0..)
        .zip(ops)
        .map(|(n, op)| Access::new(Time(n), op, n * 4096, 4096))
        .collect();
    let read: Vec<Access> = open(write(&written)).unwrap().map(Result::unwrap).collect();
    assert_eq!(read, written);
}

/// Times are nanoseconds since the first access, both in the column, for other tools, and in the accesses of the trace.
#[test]
fn times_count_from_the_first_access() {
    let from_zero = accesses(1_000);
    let later: Vec<Access> = from_zero
        .iter()
        .map(|access| Access {
            at: Time(access.at.0 + 77_777),
            ..*access
        })
        .collect();
    let bytes = write(&later);
    assert!(bytes == write(&from_zero));
    let read: Vec<Access> = open(bytes).unwrap().map(Result::unwrap).collect();
    assert!(read == from_zero);
}

#[test]
fn equal_accesses_give_equal_bytes() {
    let accesses = accesses(1_000);
    assert_eq!(write(&accesses), write(&accesses));
}

#[test]
fn a_file_is_opened_whatever_its_format() {
    let dir = std::env::temp_dir();
    let name = format!("fathom-trace-{}", std::process::id());
    let (binary, text) = (dir.join(format!("{name}.parquet")), dir.join(name));
    let written = accesses(10_000);
    std::fs::write(&binary, write(&written)).unwrap();
    std::fs::write(&text, "0,1,512,r,0\n").unwrap();
    let open = |path| {
        let file = std::fs::File::open(path).unwrap();
        fathom_trace::open_file(file, &Options::default()).unwrap()
    };
    let read: Vec<Access> = open(&binary).map(Result::unwrap).collect();
    let spc = open(&text);
    std::fs::remove_file(&binary).unwrap();
    std::fs::remove_file(&text).unwrap();
    assert!(read == written);
    assert_eq!(spc.format(), Format::Spc);
    assert_eq!(spc.count(), 1);
}

#[test]
fn a_writer_refuses_what_a_reader_would() {
    let mut writer = ParquetWriter::new(Vec::new()).unwrap();
    let good = accesses(2)[1];
    writer.write(&good).unwrap();
    let cases = [
        Access {
            at: Time(0),
            ..good
        },
        Access {
            op: Op::Read,
            len: 0,
            ..good
        },
        Access {
            op: Op::Read,
            offset: u64::MAX,
            len: 1,
            ..good
        },
    ];
    for wrong in cases {
        let error = writer.write(&wrong).unwrap_err();
        assert_eq!(error.place, Place::Row(2), "{error}");
    }
    assert_eq!(open(writer.finish().unwrap()).unwrap().count(), 1);
}

/// Checksums cover every byte: any changed byte is detected before a wrong access is returned.
#[test]
fn every_damaged_byte_is_found() {
    for bytes in [write(&[]), write(&accesses(500))] {
        every_byte_matters(&bytes);
    }
}

fn every_byte_matters(bytes: &[u8]) {
    for at in 0..bytes.len() {
        let mut damaged = bytes.to_vec();
        damaged[at] ^= 0x40;
        match open(damaged) {
            Err(_) => {}
            Ok(trace) => {
                let read: Result<Vec<Access>, TraceError> = trace.collect();
                assert!(read.is_err(), "byte {at} of {}", bytes.len());
            }
        }
    }
}

/// A file of the first version, with its CRC-32, is read and verified.
#[test]
fn a_file_of_the_first_version_is_read() {
    let bytes = include_bytes!("data/trace-version-1.parquet");
    let read: Vec<Access> = open(bytes.to_vec()).unwrap().map(Result::unwrap).collect();
    let access = |at_us: u64, op, sector: u64, len, disk| Access {
        at: Time(at_us * 1_000),
        op,
        offset: sector * 512,
        len,
        disk,
        process: 0,
    };
    let written = [
        access(0, Op::Write, 1_000, 4_096, 0),
        access(1, Op::Read, 2_000, 8_192, 1),
        access(1_500_000, Op::Write, 77_777, 512, 0),
        access(4_250_000, Op::Read, 4_096, 65_536, 2),
    ];
    assert_eq!(read, written);
    every_byte_matters(bytes);
}

#[test]
fn a_truncated_file_is_found() {
    let bytes = write(&accesses(500));
    for len in 0..bytes.len() {
        assert!(open(bytes[..len].to_vec()).is_err(), "{len}");
    }
}

/// A Parquet file of another program: like Fathom's, but without the checksum.
#[test]
fn a_foreign_file_is_refused() {
    let bytes = write(&accesses(10));
    let guard = bytes.windows(8).position(|w| w == b"FATHOMT2").unwrap();
    let foreign = [&bytes[..guard], &bytes[guard + 12..]].concat();
    let error = open(foreign).unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Foreign(_)), "{error}");
    let error = open(b"0,1,512,r,0\n".to_vec()).unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Foreign(_)), "{error}");
}

#[test]
fn memory_does_not_grow_with_the_rows() {
    let bytes = write(&accesses(400_000));
    let mut trace = open(bytes).unwrap();
    let mut most = 0;
    while let Some(access) = trace.next() {
        access.unwrap();
        most = most.max(trace.memory_bytes());
    }
    assert!(0 < most && most < 2 << 20, "{most}");
}
