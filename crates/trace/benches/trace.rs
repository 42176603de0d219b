//! Measures the speed of the trace readers: `cargo bench -p fathom-trace`.
//!
//! The input of each format is generated beforehand and read from memory. Items are lines, records or rows; of the
//! blkparse lines only half are accesses.
#![allow(clippy::unwrap_used, reason = "a benchmark stops at what is wrong")]

use divan::Bencher;
use divan::counter::ItemsCount;
use fathom_base::{Rng, Time};
use fathom_block::Access;
use fathom_block::Op;
use fathom_trace::{Format, Options, ParquetWriter};
use std::io::Cursor;
use std::process::Command;

const LINES: u64 = 500_000;

fn main() {
    divan::main();
}

/// A request: microseconds, start sector, number of sectors, true for a read, disk.
struct Request(u64, u64, u64, bool, u64);

fn requests() -> impl Iterator<Item = Request> {
    let mut rng = Rng::new(1, 0);
    let mut us = 0;
    (0..LINES).map(move |_| {
        us += rng.below(2_000);
        let (sector, sectors) = (rng.below(1 << 31), 1 + rng.below(256));
        Request(us, sector, sectors, rng.chance(0.5), rng.below(8))
    })
}

fn line(format: Format, Request(us, sector, sectors, read, disk): Request) -> String {
    let (s, us_rest) = (us / 1_000_000, us % 1_000_000);
    let (offset, len, bit) = (sector * 512, sectors * 512, u8::from(read));
    let letter = if read { 'R' } else { 'W' };
    match format {
        Format::Spc => format!("{disk},{sector},{len},{letter},{s}.{us_rest:06}\n"),
        Format::SpcFragment => format!("{sector},{len},{letter},{s}.{us_rest:06}\n"),
        Format::Msr => {
            let (ticks, op) = (
                128_166_372_003_061_629 + us * 10,
                if read { "Read" } else { "Write" },
            );
            format!("{ticks},hm,{disk},{op},{offset},{len},1234\n")
        }
        Format::DiskSim => format!(
            "{}.{:03} {disk} {sector} {sectors} {bit}\n",
            us / 1_000,
            us % 1_000
        ),
        Format::MqSim => format!("{us}000 {disk} {sector} {sectors} {bit}\n"),
        Format::BlkparseText => {
            let head = format!("  8,16   {disk}  12345 {s:5}.{us_rest:06}000  3645");
            let tail = format!("{letter} {sector} + {sectors} [java]\n");
            format!("{head}  D   {tail}{head}  C   {tail}")
        }
        Format::FioIolog => {
            let op = if read { "read" } else { "write" };
            format!("{us} /dev/sd{disk} {op} {offset} {len}\n")
        }
        Format::Blkreplay => {
            format!("{s:6}.{us_rest:06}000 ; {sector:12} ; {sectors:4} ; {letter} ; 0.0 ; 0.0\n")
        }
        Format::Alibaba => format!(
            "{disk},{letter},{offset},{len},{}\n",
            1_577_808_000_000_000 + us
        ),
        Format::Tencent => format!(
            "{},{sector},{sectors},{},{disk}\n",
            1_538_323_200 + s,
            1 - bit
        ),
        Format::Systor => {
            let at = 1_456_135_200 + s;
            format!("{at}.{us_rest:06}000,0.000806000,{letter},{disk},{offset},{len}\n")
        }
        Format::Csv => format!("{us},{letter},{offset},{len},{disk}\n"),
        Format::Blktrace | Format::Parquet => String::new(),
    }
}

fn text(format: Format) -> Vec<u8> {
    let first = match format {
        Format::FioIolog => "fio version 3 iolog\n",
        Format::Csv => "at_us,op,offset,len,disk\n",
        _ => "",
    };
    let lines = requests().map(|request| line(format, request));
    std::iter::once(first.to_owned())
        .chain(lines)
        .collect::<String>()
        .into_bytes()
}

const TEXTS: [Format; 12] = [
    Format::Spc,
    Format::SpcFragment,
    Format::Msr,
    Format::DiskSim,
    Format::MqSim,
    Format::BlkparseText,
    Format::FioIolog,
    Format::Blkreplay,
    Format::Alibaba,
    Format::Tencent,
    Format::Systor,
    Format::Csv,
];

fn read(bytes: &[u8], options: &Options) -> u64 {
    let input = Cursor::new(bytes.to_vec());
    let trace = fathom_trace::open(Box::new(input), options).unwrap();
    trace.map(|access| access.unwrap().len).sum()
}

#[divan::bench(args = TEXTS, sample_count = 5)]
fn lines(bencher: Bencher<'_, '_>, format: Format) {
    let bytes = text(format);
    let lines = bytes.iter().filter(|&&b| b == b'\n').count();
    let options = Options {
        format: Some(format),
        ..Options::default()
    };
    bencher
        .counter(ItemsCount::new(lines))
        .bench_local(|| read(&bytes, &options));
}

#[divan::bench(sample_count = 5)]
fn spc_in_zstd(bencher: Bencher<'_, '_>) {
    // Uses the program `zstd`, because the encoder of `ruzstd` writes streams that `zstd` never would.
    let file = std::env::temp_dir().join("fathom-bench.spc");
    std::fs::write(&file, text(Format::Spc)).unwrap();
    let zstd = Command::new("zstd").args(["-q", "-c"]).arg(&file).output();
    let bytes = zstd.unwrap().stdout;
    bencher
        .counter(ItemsCount::new(LINES))
        .bench_local(|| read(&bytes, &Options::default()));
}

#[divan::bench(sample_count = 5)]
fn blktrace_records(bencher: Bencher<'_, '_>) {
    let mut bytes = Vec::new();
    for Request(us, sector, sectors, read, _) in requests() {
        let action: u32 = if read { 65 << 16 | 7 } else { 66 << 16 | 7 };
        bytes.extend(0x6561_7407_u32.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend((us * 1_000).to_le_bytes());
        bytes.extend(sector.to_le_bytes());
        bytes.extend((sectors as u32 * 512).to_le_bytes());
        bytes.extend(action.to_le_bytes());
        bytes.extend([0; 16]);
    }
    bencher
        .counter(ItemsCount::new(LINES))
        .bench_local(|| read(&bytes, &Options::default()));
}

fn accesses() -> Vec<Access> {
    let access = |Request(us, sector, sectors, read, disk): Request| Access {
        at: Time(us * 1_000),
        op: if read { Op::Read } else { Op::Write },
        offset: sector * 512,
        len: sectors * 512,
        disk: disk as u32,
        process: 0,
    };
    requests().map(access).collect()
}

fn write(accesses: &[Access]) -> Vec<u8> {
    let mut writer = ParquetWriter::new(Vec::new()).unwrap();
    for access in accesses {
        writer.write(access).unwrap();
    }
    writer.finish().unwrap()
}

#[divan::bench(sample_count = 5)]
fn parquet_rows(bencher: Bencher<'_, '_>) {
    let bytes = bytes::Bytes::from(write(&accesses()));
    bencher.counter(ItemsCount::new(LINES)).bench_local(|| {
        let trace = fathom_trace::open_parquet(bytes.clone(), &Options::default()).unwrap();
        trace.map(|access| access.unwrap().len).sum::<u64>()
    });
}

#[divan::bench(sample_count = 5)]
fn parquet_write(bencher: Bencher<'_, '_>) {
    let accesses = accesses();
    bencher
        .counter(ItemsCount::new(LINES))
        .bench_local(|| write(&accesses).len());
}
