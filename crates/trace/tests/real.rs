//! Tests with real traces, by detection: requests, writes, bytes and time span as counted by another program from the
//! plain files.
//!
//! The traces are read from `../shared/traces` beside the repository, if that exists; the repository contains no part
//! of them.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "test helpers")]

use fathom_base::{Bytes, Time};
use fathom_block::Op;
use fathom_trace::{Format, Options, Place, Trace};
use std::fs::File;
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/traces")
        .join(format!("{name}.zst"))
}

fn open(name: &str, options: &Options) -> Option<Trace> {
    let Ok(file) = File::open(path(name)) else {
        eprintln!("skipped: {} is not there", path(name).display());
        return None;
    };
    Some(fathom_trace::open_file(file, options).unwrap())
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Figures {
    requests: u64,
    writes: u64,
    bytes: u64,
    span_ns: u64,
}

fn figures(trace: &mut Trace) -> Figures {
    let mut figures = Figures::default();
    let mut last = Time::ZERO;
    for access in trace {
        let access = access.unwrap();
        assert!(last <= access.at);
        last = access.at;
        figures.requests += 1;
        figures.writes += u64::from(access.op == Op::Write);
        figures.bytes += access.len;
    }
    figures.span_ns = last.0;
    figures
}

fn check(name: &str, format: Format, options: &Options, expected: (u64, u64, u64, u64)) {
    let Some(mut trace) = open(name, options) else {
        return;
    };
    assert_eq!(trace.format(), format, "{name}");
    let (requests, writes, bytes, span_ns) = expected;
    let expected = Figures {
        requests,
        writes,
        bytes,
        span_ns,
    };
    assert_eq!(figures(&mut trace), expected, "{name}");
    assert_eq!(trace.skipped().left_out(), 0, "{name}");
    assert_eq!(trace.skipped().backwards, 0, "{name}");
}

#[test]
fn spc() {
    let default = Options::default();
    let first_10k = (10_000, 5_923, 55_279_104, 259_601_196_000);
    check("Financial1_first10k.spc", Format::Spc, &default, first_10k);
    let first_949 = (949, 766, 2_570_752, 28_442_623_000);
    check("Financial1_first949.spc", Format::Spc, &default, first_949);
}

#[test]
fn spc_fragments() {
    let default = Options::default();
    let format = Format::SpcFragment;
    let first = (750, 75, 2_035_712, 11_763_711_000);
    check("Financial2_frag1_750.csv", format, &default, first);
    let second = (751, 92, 2_074_112, 12_111_052_000);
    check("Financial2_frag2_751.csv", format, &default, second);
}

#[test]
fn disksim() {
    let default = Options::default();
    let format = Format::DiskSim;
    let msnfs = (149_999, 19_516, 2_622_644_224, 143_068_077_000);
    check("MSNFS_150k.disksim.trace", format, &default, msnfs);
    let postmark = (62_257, 10_477, 14_173_224_960, 490_436_763_000);
    check("postmark.disksim.trace", format, &default, postmark);
}

/// The fourth column counts units of 4 KiB. The flag is 1 for reads, as in the format.
#[test]
fn disksim_in_pages() {
    let pages = Options {
        disksim_size_unit: Bytes::kib(4),
        ..Options::default()
    };
    let expected = (50_000, 20_801, 358_096_896, 853_403_229_000);
    let name = "Financial1_req3-50002.nosize.trace";
    check(name, Format::DiskSim, &pages, expected);
}

#[test]
fn mqsim() {
    let default = Options::default();
    let format = Format::MqSim;
    let search = (24_783, 4, 382_117_888, 60_055_212_000);
    check(
        "WebSearch1_first24783.mqsim.trace",
        format,
        &default,
        search,
    );
    let tpcc = (6_999, 2_618, 59_718_656, 136_489_000);
    check("tpcc-small.mqsim.trace", format, &default, tpcc);
}

#[test]
fn msr() {
    let default = Options::default();
    let prxy = (20_000, 19_664, 52_618_752, 938_831_764_500);
    check("prxy_20k.csv", Format::Msr, &default, prxy);
    let hm = (1_000, 492, 9_689_600, 127_233_494_100);
    check("hm_0_snia_sample1000.csv", Format::Msr, &default, hm);
}

/// One read is marked as read-ahead (`RA`); the other 80,793 requests have a single letter.
#[test]
fn blkreplay() {
    let expected = (80_794, 73_607, 1_184_387_072, 3_599_890_074_831);
    let default = Options::default();
    check("linux-mysql.load", Format::Blkreplay, &default, expected);
}

#[test]
fn blkparse() {
    let expected = (1_694, 0, 198_029_312, 679_514_075);
    let name = "ycsb_rocksdb_snia_sample10k.blkparse";
    check(name, Format::BlkparseText, &Options::default(), expected);
}

/// The last line before the summary has a time before the start. Only a reorder window over the whole trace sorts it.
#[test]
fn blkparse_with_an_event_from_before_the_start() {
    let name = "ext4_java.blkparse";
    // From -882,857 ns (written as 1266874889.708668759, which is 2^64 ns minus that, with the seconds in 32 bits) to
    // 810.379717232 s.
    let all = Options {
        reorder: Some(10_000),
        ..Options::default()
    };
    let last_ns = 810_379_717_232;
    let expected = (9_887, 848, 1_299_570_688, last_ns + 882_857);
    check(name, Format::BlkparseText, &all, expected);

    let lenient = Options {
        lenient: true,
        ..Options::default()
    };
    let Some(mut trace) = open(name, &lenient) else {
        return;
    };
    let expected = Figures {
        requests: 9_887,
        writes: 848,
        bytes: 1_299_570_688,
        // Here the first access is the earliest of the others, 26,421 ns after the start, and the late one is moved.
        span_ns: last_ns - 26_421,
    };
    assert_eq!(figures(&mut trace), expected);
    assert_eq!(trace.skipped().backwards, 1);
    assert_eq!(trace.skipped().left_out(), 0);

    let strict = open(name, &Options::default()).unwrap();
    let error = strict.last().unwrap().unwrap_err();
    let Place::Line(line) = error.place else {
        unreachable!("{error}")
    };
    let late = trace.first_skipped().unwrap();
    assert_eq!(late.place, Place::Line(line));
}

#[test]
fn fio() {
    let Some(mut trace) = open("fio_iolog_smr.log", &Options::default()) else {
        return;
    };
    assert_eq!(trace.format(), Format::FioIolog);
    let found = figures(&mut trace);
    assert_eq!(
        (found.requests, found.writes, found.span_ns),
        (9_441, 9_441, 0)
    );
}
