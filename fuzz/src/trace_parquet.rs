//! Fathom's own trace files: any accesses survive being written and read, and a file that was changed is found.
//!
//! The times of a trace count from its first access, in the file and when it is read; those of the input need not.
//! The input is taken as accesses, and its first bytes as changes to their file. A file that carries a forged checksum
//! is not tried: the checksums find damage and keep nobody out.

use bytes::Bytes;
use fathom_base::Time;
use fathom_block::Access;
use fathom_block::Op;
use fathom_trace::{Options, ParquetWriter, TraceError};

/// Tries one input.
pub fn try_one(bytes: &[u8]) {
    let _ = read(bytes.to_vec());
    let Some((change, rest)) = bytes.split_first_chunk::<5>() else {
        return;
    };
    let written = accesses(rest);
    let file = write(&written);
    let read_back = read(file.clone()).expect("what is written is read");
    assert_eq!(read_back, from_the_first(written));

    let mut damaged = file;
    let at = u32::from_le_bytes([change[0], change[1], change[2], 0]) as usize % damaged.len();
    match change[3] % 3 {
        0 => damaged[at] ^= change[4].max(1),
        1 => damaged.truncate(at),
        _ => damaged.insert(at, change[4]),
    }
    assert!(read(damaged).is_err());
}

fn accesses(bytes: &[u8]) -> Vec<Access> {
    let mut at = 0_u64;
    bytes
        .chunks_exact(12)
        .map(|c| {
            at += u64::from(c[0]) << (c[1] % 40);
            let op = [Op::Read, Op::Write, Op::Flush, Op::Trim][usize::from(c[2] % 4)];
            let number = u64::from_le_bytes([c[3], c[4], c[5], c[6], c[7], c[8], c[9], 0]);
            let (offset, len) = match op {
                Op::Flush => (0, 0),
                _ => (number, 1 + (u64::from(c[10]) << (c[11] % 32))),
            };
            Access {
                at: Time(at),
                op,
                offset,
                len,
                disk: u32::from(c[11]) << (c[10] % 25),
                process: 0,
            }
        })
        .collect()
}

fn from_the_first(mut accesses: Vec<Access>) -> Vec<Access> {
    let first = accesses.first().map_or(Time::ZERO, |access| access.at);
    for access in &mut accesses {
        access.at = Time(access.at.since(first).0);
    }
    accesses
}

fn write(accesses: &[Access]) -> Vec<u8> {
    let mut writer = ParquetWriter::new(Vec::new()).expect("memory takes everything");
    for access in accesses {
        writer.write(access).expect("in order and not empty");
    }
    writer.finish().expect("memory takes everything")
}

fn read(file: Vec<u8>) -> Result<Vec<Access>, TraceError> {
    fathom_trace::open_parquet(Bytes::from(file), &Options::default())?.collect()
}
