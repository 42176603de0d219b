//! Arbitrary input never causes a panic, errors have a place, and a lenient reader reaches the end.
#![allow(clippy::unwrap_used, reason = "test helpers")]

use fathom_trace::{ErrorKind, Format, Options, Place, TraceError};
use lzma_rust2::{XzOptions, XzWriter};
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::{Cursor, Read, Write};

/// Returns small valid traces, one for each format that can be streamed.
fn valid() -> Vec<(Format, Vec<u8>)> {
    let text = |format, text: &str| (format, text.as_bytes().to_vec());
    let mut blktrace = Vec::new();
    for time in 1..20_u64 {
        blktrace.extend(0x6561_7407_u32.to_le_bytes());
        blktrace.extend([0; 4]);
        blktrace.extend(time.to_le_bytes());
        blktrace.extend((time * 8).to_le_bytes());
        blktrace.extend(4096_u32.to_le_bytes());
        blktrace.extend((65_u32 << 16 | 7).to_le_bytes());
        blktrace.extend([0; 14]);
        blktrace.extend(3_u16.to_le_bytes());
        blktrace.extend(b"pdu");
    }
    vec![
        text(
            Format::Spc,
            "0,303567,3584,w,0.000000\n1,55590,3072,r,0.026214\n0,1,512,W,1\n",
        ),
        text(
            Format::SpcFragment,
            "227695,3072,r,0\n999156,512,w,0.006553\n1093855,512,r,0.039321\n",
        ),
        text(
            Format::Msr,
            "128166385295514663,hm,0,Write,9056014336,2048,2833\n128166385295514878,hm,1,Read,512,512,26\n",
        ),
        text(
            Format::DiskSim,
            "0.000 5 174224064 16 1\n0.221 5 162947904 16 0\n0.594 5 174933616 16 1\n",
        ),
        text(
            Format::MqSim,
            "11413000 0 657728 16 1\n11565000 1 31244784 64 0\n11721000 1 218 16 1\n",
        ),
        text(
            Format::BlkparseText,
            "  8,16   3        5     0.000026421  3645  D   R 4938888 + 256 [java]\n  8,16   2        5     0.000020000  3645  D  FN [x]\nCPU0 (8,16):\n Reads Queued: 0\n",
        ),
        text(
            Format::FioIolog,
            "fio version 2 iolog\n/dev/sdb add\n/dev/sdb write 64757760 4096\n/dev/sdb wait 5 0\n/dev/sdb sync 0 0\n",
        ),
        text(
            Format::FioIolog,
            "fio version 3 iolog\n27 /tmp/f add\n221 /tmp/f read 0 4096\n20495 /tmp/f trim 45056 4096\n",
        ),
        text(
            Format::Blkreplay,
            "Copyright\nstart ; sector; length ; op\n0.000 ; 37766853 ; 64 ; W ; 0.0 ; 0.0\n0.449 ; 37 ; 14 ; R\n",
        ),
        text(
            Format::Alibaba,
            "0,R,126703644672,4096,1577808000000626\n1,W,512,4096,1577808000000627\n",
        ),
        text(
            Format::Tencent,
            "1538323200,12910952,128,0,1063\n1538323200,6338688,8,1,1627\n",
        ),
        text(
            Format::Systor,
            "1456135200.013118000,0.000806000,R,4,899056122368,131072\n1456135200.0135,,,4,4096,4096\n",
        ),
        text(
            Format::Csv,
            "Size,host,LBA,Type,time_us,disk\n512,a b,8,R,1000.5,3\n4096,,16,write,1001,4\n",
        ),
        (Format::Blktrace, blktrace),
    ]
}

fn options(format: Option<Format>, lenient: bool, reorder: Option<u32>) -> Options {
    Options {
        format,
        lenient,
        reorder,
        ..Options::default()
    }
}

/// Reads to the end or to the first error. Returns the number of accesses, and the error.
fn read(bytes: &[u8], options: &Options) -> (usize, Option<TraceError>) {
    let trace = match fathom_trace::open(Box::new(Cursor::new(bytes.to_vec())), options) {
        Ok(trace) => trace,
        Err(error) => return (0, Some(error)),
    };
    let mut count = 0;
    let mut last = fathom_base::Time::ZERO;
    for access in trace {
        match access {
            Ok(access) => {
                assert!(last <= access.at, "times are in order");
                assert!(access.offset.checked_add(access.len).is_some());
                last = access.at;
                count += 1;
            }
            Err(error) => return (count, Some(error)),
        }
    }
    (count, None)
}

fn check(bytes: &[u8], format: Option<Format>, reorder: Option<u32>) {
    let (strict, error) = read(bytes, &options(format, false, reorder));
    let (lenient, fatal) = read(bytes, &options(format, true, reorder));
    if let Some(error) = error {
        assert!(!error.to_string().is_empty() && !error.help().is_empty());
        // Errors of the compressed file have the whole input as their place.
        let packed = matches!(
            *error.kind,
            ErrorKind::Truncated { .. } | ErrorKind::Corrupt { .. } | ErrorKind::Trailing { .. }
        );
        if !packed && format.is_some_and(|f| f != Format::Parquet) {
            assert_ne!(error.place, Place::Input, "{error}");
        }
    }
    assert!(lenient >= strict, "a lenient reader gives no less");
    if let Some(fatal) = fatal {
        assert!(!fatal.is_skippable(), "{fatal}");
    }
}

#[derive(Clone, Debug)]
enum Change {
    Set(usize, u8),
    Insert(usize, u8),
    Remove(usize),
    Repeat(usize, usize),
    Cut(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let byte = prop_oneof![
        any::<u8>(),
        prop::sample::select(b"0123456789,; .+-\n\rrwRWDQF#".to_vec()),
    ];
    prop_oneof![
        (any::<usize>(), byte.clone()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (any::<usize>(), byte).prop_map(|(at, byte)| Change::Insert(at, byte)),
        any::<usize>().prop_map(Change::Remove),
        (any::<usize>(), 1..40_usize).prop_map(|(at, len)| Change::Repeat(at, len)),
        any::<usize>().prop_map(Change::Cut),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    let len = bytes.len();
    if len == 0 {
        return;
    }
    match *change {
        Change::Set(at, byte) => bytes[at % len] = byte,
        Change::Insert(at, byte) => bytes.insert(at % len, byte),
        Change::Remove(at) => drop(bytes.remove(at % len)),
        Change::Repeat(at, count) => {
            let start = at % len;
            let part = bytes[start..len.min(start + count)].to_vec();
            bytes.extend(part);
        }
        Change::Cut(at) => bytes.truncate(at % len),
    }
}

#[test]
fn valid_traces_are_told_and_read() {
    for (format, bytes) in valid() {
        let opened = fathom_trace::open(Box::new(Cursor::new(bytes.clone())), &Options::default());
        let trace = opened.unwrap();
        assert_eq!(trace.format(), format);
        assert!(trace.map(Result::unwrap).count() > 0, "{format}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn random_bytes_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        format in prop::option::of(prop::sample::select(Format::ALL.to_vec())),
    ) {
        check(&bytes, format, None);
    }

    #[test]
    fn changed_traces_never_panic(
        which in any::<usize>(),
        changes in prop::collection::vec(change(), 1..12),
        tell in any::<bool>(),
        reorder in prop::option::of(0..5_u32),
    ) {
        let valid = valid();
        let (format, mut bytes) = valid[which % valid.len()].clone();
        for change in &changes {
            apply(&mut bytes, change);
        }
        check(&bytes, (!tell).then_some(format), reorder);
    }

    #[test]
    fn changed_compressed_traces_never_panic(
        which in any::<usize>(),
        packing in 0..3_u8,
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let valid = valid();
        let (format, plain) = valid[which % valid.len()].clone();
        let mut bytes = Vec::new();
        match packing {
            0 => bytes = compress_to_vec(&plain[..], CompressionLevel::Fastest),
            1 => {
                let level = flate2::Compression::fast();
                flate2::read::GzEncoder::new(&plain[..], level).read_to_end(&mut bytes).unwrap();
            }
            _ => {
                let mut encoder = XzWriter::new(&mut bytes, XzOptions::with_preset(1)).unwrap();
                encoder.write_all(&plain).unwrap();
                encoder.finish().unwrap();
            }
        }
        for change in &changes {
            apply(&mut bytes, change);
        }
        check(&bytes, Some(format), None);
    }
}
