//! Tests of compressed traces: they read like plain ones, and a truncated or damaged file is always detected.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers")]

use fathom_block::Access;
use fathom_trace::{Compression, ErrorKind, Options, Place, Trace, TraceError};
use std::io::{Cursor, Read, Write};

fn open(bytes: &[u8], options: &Options) -> Result<Trace, TraceError> {
    fathom_trace::open(Box::new(Cursor::new(bytes.to_vec())), options)
}

/// Returns the accesses before the first error, and the error.
fn until_error(trace: Trace) -> (Vec<Access>, TraceError) {
    let mut accesses = Vec::new();
    let mut trace = trace;
    loop {
        match trace.next() {
            Some(Ok(access)) => accesses.push(access),
            Some(Err(error)) => {
                assert!(trace.next().is_none(), "nothing comes after an error");
                return (accesses, error);
            }
            None => panic!("no error"),
        }
    }
}

fn spc_lines(count: u64) -> String {
    (0..count)
        .map(|i| {
            format!(
                "{},{},4096,{},{}.5\n",
                i % 3,
                i * 7919 % 100_003,
                ["r", "w"][i as usize % 2],
                i
            )
        })
        .collect()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::read::GzEncoder::new(bytes, flate2::Compression::default());
    let mut out = Vec::new();
    encoder.read_to_end(&mut out).unwrap();
    out
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(6);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

type Pack = fn(&[u8]) -> Vec<u8>;
const PACKINGS: [(Compression, Pack); 3] = [
    (Compression::Zstd, zstd),
    (Compression::Gzip, gzip),
    (Compression::Xz, xz),
];

#[test]
fn compressed_traces_read_as_plain_ones() {
    let text = spc_lines(20_000);
    let plain: Vec<Access> = open(text.as_bytes(), &Options::default())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(plain.len(), 20_000);
    let (first, second) = text.as_bytes().split_at(text.len() / 3);
    for (compression, pack) in PACKINGS {
        // As one stream, and as two streams one after another.
        for packed in [pack(text.as_bytes()), [pack(first), pack(second)].concat()] {
            let trace = open(&packed, &Options::default()).unwrap();
            assert_eq!(trace.compression(), compression);
            let read: Vec<Access> = trace.map(Result::unwrap).collect();
            assert_eq!(read, plain, "{compression}");
        }
    }
}

/// Returns the options of a lenient reader.
fn lenient() -> Options {
    Options {
        lenient: true,
        ..Options::default()
    }
}

/// Zeros that fill up a block of a tape or a device are padding, as for `gzip -d`.
#[test]
fn zeros_behind_and_between_the_parts_are_padding() {
    let text = spc_lines(2_000);
    let (first, second) = text.as_bytes().split_at(text.len() / 3);
    for (compression, pack) in PACKINGS {
        for zeros in [1, 512, 100_000] {
            let padding = vec![0; zeros];
            let parts = [pack(first), padding.clone(), pack(second), padding];
            let trace = open(&parts.concat(), &Options::default()).unwrap();
            let count = trace.map(Result::unwrap).count();
            assert_eq!(count, 2_000, "{compression}: {zeros} zeros");
        }
    }
}

/// Bytes behind the data are counted, with the zeros before them. A lenient reader ignores them, and keeps a last line
/// without an end.
#[test]
fn bytes_behind_the_compressed_data_are_no_damage() {
    let text = spc_lines(2_000);
    for (compression, pack) in PACKINGS {
        for (garbage, text) in [
            (&b"x"[..], &*text),
            (b"\0\0more than a header", text.trim_end()),
        ] {
            let packed = [&pack(text.as_bytes()), garbage].concat();
            let (before, error) = until_error(open(&packed, &Options::default()).unwrap());
            assert!(before.len() >= 1_999, "{compression}");
            assert!(
                matches!(&*error.kind, ErrorKind::Trailing { bytes, .. } if *bytes == garbage.len() as u64),
                "{compression}: {error:?}"
            );
            let said = format!(
                "{} bytes after the end of the compressed data",
                garbage.len()
            );
            assert!(error.to_string().contains(&said), "{error}");
            assert!(error.help().contains("--lenient"), "{}", error.help());
            let mut trace = open(&packed, &lenient()).unwrap();
            assert_eq!(trace.by_ref().map(Result::unwrap).count(), 2_000);
            let skipped = trace.skipped();
            assert_eq!(skipped.trailing_bytes, garbage.len() as u64);
            assert_eq!((skipped.left_out(), skipped.unconfirmed), (0, 0));
        }
    }
}

/// A lenient reader says how many lines it took from a part whose checksum it did not reach.
#[test]
fn lines_that_no_checksum_confirms_are_counted() {
    let text = spc_lines(60_000);
    let (first, second) = text.as_bytes().split_at(text.len() / 2);
    let first_lines = first.iter().filter(|byte| **byte == b'\n').count() as u64;
    for (compression, pack) in PACKINGS {
        let (first, second) = (pack(first), pack(second));
        let whole = [&first[..], &second].concat();
        let mut trace = open(&whole, &lenient()).unwrap();
        assert_eq!(trace.by_ref().map(Result::unwrap).count(), 60_000);
        // The encoder of the tests writes zstd frames without a checksum.
        if compression == Compression::Zstd {
            continue;
        }
        assert_eq!(trace.skipped().unconfirmed, 0, "{compression}");
        let mut trace = open(&whole[..whole.len() - 20], &lenient()).unwrap();
        let read = trace.by_ref().map(Result::unwrap).count() as u64;
        assert_eq!(trace.skipped().cut, 1);
        assert_eq!(
            trace.skipped().unconfirmed,
            read - first_lines,
            "{compression}"
        );
        // A strict reader refuses such a trace at its end.
        let mut trace = open(&whole, &Options::default()).unwrap();
        assert!(trace.next().is_some_and(|first| first.is_ok()));
        assert_eq!(trace.skipped().unconfirmed, 0);
    }
}

/// What a lenient reader refuses too comes without the advice to read leniently.
#[test]
fn a_lenient_reader_is_not_advised_to_be_lenient() {
    let cut = &gzip(spc_lines(2_000).as_bytes())[..20];
    for (options, advised) in [(Options::default(), true), (lenient(), false)] {
        let help = open(cut, &options).unwrap_err().help();
        assert_eq!(help.contains("lenient"), advised, "{help}");
    }
}

/// A stream that is cut anywhere causes no panic and is never taken for whole. All accesses before the cut are correct,
/// and the error names the line.
#[test]
fn a_truncated_stream_is_named_with_the_line_it_reached() {
    let text = spc_lines(20_000);
    let plain: Vec<Access> = open(text.as_bytes(), &Options::default())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for (compression, pack) in PACKINGS {
        let packed = pack(text.as_bytes());
        for percent in [1, 10, 50, 90, 99] {
            let cut = packed.len() * percent / 100;
            let opened = open(&packed[..cut], &Options::default());
            let (before, error) = match opened {
                Ok(trace) => until_error(trace),
                Err(error) => (Vec::new(), error),
            };
            assert!(
                matches!(&*error.kind, ErrorKind::Truncated { compression: c, .. } if *c == compression),
                "{compression} at {cut}: {error:?}"
            );
            assert_eq!(before, plain[..before.len()]);
            assert_eq!(error.place, Place::Line(before.len() as u64 + 1), "{error}");
            if percent > 80 {
                assert!(before.len() > 5_000, "{compression}: {}", before.len());
                // A lenient reader takes the part before the cut for the trace.
                let mut trace = open(&packed[..cut], &lenient()).unwrap();
                let read: Vec<Access> = trace.by_ref().map(Result::unwrap).collect();
                assert_eq!(read, before);
                assert_eq!((trace.skipped().cut, trace.skipped().left_out()), (1, 0));
            }
        }
    }
}

/// The zstd decoder holds back a window of output. A frame of known length, as the program `zstd` writes it, is one
/// window.
#[test]
fn what_stood_before_the_cut_of_one_zstd_frame_is_given() {
    let (_, written) = WRITTEN[0];
    let plain = open(written, &Options::default()).unwrap();
    let plain: Vec<Access> = plain.map(Result::unwrap).collect();
    // The second frame starts at the last magic number (RFC 8878, 3.1.1).
    let magic = 0xFD2F_B528_u32.to_le_bytes();
    let second = written.windows(4).rposition(|four| four == magic).unwrap();
    // The frames have 200 and 400 lines. Two bytes are missing, of the skippable frame or of a checksum.
    for (end, lines) in [(second - 2, 200), (written.len() - 2, 600)] {
        let (before, error) = match open(&written[..end], &Options::default()) {
            Ok(trace) => until_error(trace),
            Err(error) => (Vec::new(), error),
        };
        assert!(
            matches!(&*error.kind, ErrorKind::Truncated { .. }),
            "{error:?}"
        );
        assert_eq!(before, plain[..lines]);
    }
}

/// A window of 256 MiB (RFC 8878, 3.1.1.1.2) is refused, but not reported as damage.
#[test]
fn a_window_that_is_too_large_is_no_damage() {
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 18 << 3, 1, 0, 0];
    let error = open(&frame, &Options::default()).unwrap_err();
    let compression = Compression::Zstd;
    assert!(
        matches!(&*error.kind, ErrorKind::Window { compression: c } if *c == compression),
        "{error:?}"
    );
}

#[test]
fn a_damaged_stream_is_named() {
    let text = spc_lines(20_000);
    for (compression, pack) in PACKINGS {
        let mut packed = pack(text.as_bytes());
        let middle = packed.len() / 2;
        for byte in &mut packed[middle..middle + 64] {
            *byte ^= 0x5a;
        }
        let (before, error) = match open(&packed, &Options::default()) {
            Ok(trace) => until_error(trace),
            Err(error) => (Vec::new(), error),
        };
        // With the checksum at the end, damaged data may first be read as other lines.
        assert!(before.len() < 20_000, "{compression}");
        assert!(!error.to_string().is_empty());
    }
}

/// Files written by the programs `zstd` and `xz`. The first has two frames with a skippable frame between them; only
/// the first states its length. The second has a stream with SHA-256, padding, and a stream of four blocks with CRC32
/// and a delta filter.
const WRITTEN: [(Compression, &[u8]); 2] = [
    (Compression::Zstd, include_bytes!("data/600.spc.zst")),
    (Compression::Xz, include_bytes!("data/600.spc.xz")),
];

#[test]
fn what_the_programs_wrote_is_read_and_no_damaged_byte_passes() {
    let text = spc_lines(600);
    let trace = open(text.as_bytes(), &Options::default()).unwrap();
    let plain: Vec<Access> = trace.map(Result::unwrap).collect();
    for (compression, written) in WRITTEN {
        let trace = open(written, &Options::default()).unwrap();
        assert_eq!(trace.compression(), compression);
        assert!(trace.map(Result::unwrap).eq(plain.iter().copied()));
        for at in 0..written.len() {
            let mut damaged = written.to_vec();
            damaged[at] ^= 0x10;
            let read = open(&damaged, &Options::default())
                .and_then(|trace| trace.collect::<Result<Vec<_>, _>>());
            // The content of a skippable frame is ignored, so damage there is harmless.
            assert!(
                read.is_err() || read.is_ok_and(|read| read == plain),
                "{compression}: {at}"
            );
        }
    }
}
