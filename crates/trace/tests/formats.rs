//! Tests of each format: lines as in its documentation, with the expected accesses calculated by hand.
#![allow(clippy::unwrap_used, reason = "test helpers")]

use fathom_base::{Bytes, Time};
use fathom_block::Access;
use fathom_block::Op::{self, Flush, Read, Trim, Write};
use fathom_trace::{BlockEvent, Format, Options, Trace};
use std::io::Cursor;

fn open_with(bytes: &[u8], options: &Options) -> Trace {
    fathom_trace::open(Box::new(Cursor::new(bytes.to_vec())), options).unwrap()
}

fn read_with(bytes: &[u8], options: &Options) -> Vec<Access> {
    open_with(bytes, options).map(Result::unwrap).collect()
}

/// Reads a text with detection, and asserts that the result is the same with the format given.
fn read(text: &str, format: Format) -> Vec<Access> {
    let trace = open_with(text.as_bytes(), &Options::default());
    assert_eq!(trace.format(), format);
    let told: Vec<Access> = trace.map(Result::unwrap).collect();
    let given = Options {
        format: Some(format),
        ..Options::default()
    };
    assert_eq!(told, read_with(text.as_bytes(), &given));
    told
}

fn access(at_ns: u64, op: Op, offset: u64, len: u64, disk: u32) -> Access {
    Access {
        at: Time(at_ns),
        op,
        offset,
        len,
        disk,
        process: 0,
    }
}

/// The access, made by a process.
fn by(process: u32, access: Access) -> Access {
    Access { process, ..access }
}

#[test]
fn spc() {
    let text = "0,20941264,8192,W,0.551706\r\n0,20939840,8192,w,0.554041\n\
                1,3436288,15872,r,1.011732,optional,fields\n";
    let expected = [
        access(0, Write, 20_941_264 * 512, 8192, 0),
        access(2_335_000, Write, 20_939_840 * 512, 8192, 0),
        access(460_026_000, Read, 3_436_288 * 512, 15872, 1),
    ];
    assert_eq!(read(text, Format::Spc), expected);
}

#[test]
fn spc_fragment() {
    let text = "227695,3072,r,0\n999156,512,w,0.006553";
    let expected = [
        access(0, Read, 227_695 * 512, 3072, 0),
        access(6_553_000, Write, 999_156 * 512, 512, 0),
    ];
    assert_eq!(read(text, Format::SpcFragment), expected);
}

#[test]
fn msr_with_and_without_column_names() {
    let lines = "128166372003061629,hm,0,Read,383496192,32768,413\n\
                 128166372016382155,hm,1,Write,2822144,4096,703\n";
    let expected = [
        access(0, Read, 383_496_192, 32768, 0),
        // 13,320,526 ticks of 100 ns.
        access(1_332_052_600, Write, 2_822_144, 4096, 1),
    ];
    assert_eq!(read(lines, Format::Msr), expected);
    let named = format!("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n{lines}");
    assert_eq!(read(&named, Format::Msr), expected);
}

#[test]
fn disksim_counts_in_the_unit_of_the_option() {
    let text = "0.000 5 174224064 16 1\n0.221\t5  162947904\t16 0\n7.5 0 8 2 1e\n9 0 8 2 1f\n";
    let at_512 = [
        access(0, Read, 174_224_064 * 512, 8192, 5),
        access(221_000, Write, 162_947_904 * 512, 8192, 5),
        // Flags are hexadecimal: bit 0 is clear in 0x1e and set in 0x1f.
        access(7_500_000, Write, 4096, 1024, 0),
        access(9_000_000, Read, 4096, 1024, 0),
    ];
    assert_eq!(read(text, Format::DiskSim), at_512);
    let pages = Options {
        disksim_size_unit: Bytes::kib(4),
        ..Options::default()
    };
    let at_4096 = read_with(text.as_bytes(), &pages);
    assert_eq!(at_4096[0], access(0, Read, 174_224_064 * 512, 65_536, 5));
}

#[test]
fn mqsim() {
    let text = "11413000 0 657728 16 1\n11565000 1 31244784 64 0\n";
    let expected = [
        access(0, Read, 657_728 * 512, 8192, 0),
        access(152_000, Write, 31_244_784 * 512, 32768, 1),
    ];
    assert_eq!(read(text, Format::MqSim), expected);
}

#[test]
fn alibaba() {
    let text = "0,R,126703644672,4096,1577808000000626\n419,W,8589934592,16384,1577808000001000\n";
    let expected = [
        access(0, Read, 126_703_644_672, 4096, 0),
        access(374_000, Write, 8_589_934_592, 16384, 419),
    ];
    assert_eq!(read(text, Format::Alibaba), expected);
}

#[test]
fn tencent() {
    let text = "1538323200,12910952,128,0,1063\n1538323201,6338688,8,1,1627\n";
    let expected = [
        access(0, Read, 12_910_952 * 512, 65_536, 1063),
        access(1_000_000_000, Write, 6_338_688 * 512, 4096, 1627),
    ];
    assert_eq!(read(text, Format::Tencent), expected);
}

#[test]
fn systor_passes_over_what_had_no_response() {
    let text = "Timestamp,Response,IOType,LUN,Offset,Size\n\
                1456135200.013118000,0.000806000,R,4,899056122368,131072\n\
                1456135200.013500000,,,4,4096,4096\n\
                1456135201.000000000,0.001000000,W,6,8192,512\n";
    let expected = [
        access(0, Read, 899_056_122_368, 131_072, 4),
        access(986_882_000, Write, 8192, 512, 6),
    ];
    assert_eq!(read(text, Format::Systor), expected);
    let (_, lines) = text.split_once('\n').unwrap();
    assert_eq!(read(lines, Format::Systor), expected);
}

#[test]
fn csv_with_named_columns() {
    let text = "Size,host,LBA,Type,time_us,disk\n512,a b,8,R,1000.5,3\n4096,,16,write,1001,4\n0,c,0,Flush,1002,4\n";
    let expected = [
        access(0, Read, 4096, 512, 3),
        access(500, Write, 8192, 4096, 4),
        access(1_500, Flush, 0, 0, 4),
    ];
    assert_eq!(read(text, Format::Csv), expected);
    // Comments and blank lines before the column names are skipped as well.
    let commented = format!("# from a tool\n\n{text}");
    assert_eq!(read(&commented, Format::Csv), expected);
    // The columns of Alibaba's traces, with a unit. Named columns are used as named, not guessed from values.
    let named = "device,op,offset,length,at_ms\n0,R,126703644672,4096,1577808000626\n0,W,0,512,1577808000627\n";
    let expected = [
        access(0, Read, 126_703_644_672, 4096, 0),
        access(1_000_000, Write, 0, 512, 0),
    ];
    assert_eq!(read(named, Format::Csv), expected);
}

#[test]
fn csv_has_processes_if_a_column_names_them() {
    for name in ["process", "PID"] {
        let text = format!("at_ns,op,offset,len,{name}\n7,R,0,512,90\n8,W,512,512,4294967295\n");
        let expected = [
            by(90, access(0, Read, 0, 512, 0)),
            by(u32::MAX, access(1, Write, 512, 512, 0)),
        ];
        assert_eq!(read(&text, Format::Csv), expected);
        let mut trace = open_with(text.as_bytes(), &Options::default());
        trace.next();
        assert!(trace.has_processes());
    }
    let mut without = open_with(b"at_ns,op,offset,len\n7,R,0,512\n", &Options::default());
    without.next();
    assert!(!without.has_processes());
    let too_large = "at_ns,op,offset,len,pid\n7,R,0,512,4294967296\n";
    let options = Options {
        format: Some(Format::Csv),
        ..Options::default()
    };
    let error = open_with(too_large.as_bytes(), &options).next().unwrap();
    assert!(error.unwrap_err().to_string().contains("process"));
}

#[test]
fn blkreplay_after_its_text() {
    let text = "Copyright somebody, 2012\n\nPLEASE read; it is permitted; really\n###\n\
                start ; sector; length ; op ;  replay_delay=0 ; replay_duration=0\n\
                \x20     0.000085000 ;     37779096 ;   64 ; W ; 0.0 ; 0.0\n\
                \x20  3599.890074831 ;      7971176 ;    8 ; R ; 0.0 ; 0.0\n\
                \x20  3599.890074832 ;           16 ;    8 ;RA ; 0.0 ; 0.0\n";
    let expected = [
        access(0, Write, 37_779_096 * 512, 32768, 0),
        access(3_599_889_989_831, Read, 7_971_176 * 512, 4096, 0),
        access(3_599_889_989_832, Read, 8192, 4096, 0),
    ];
    assert_eq!(read(text, Format::Blkreplay), expected);
}

#[test]
fn fio_version_2_waits() {
    let text = "fio version 2 iolog\n/dev/sdb add\n/dev/sdc add\n/dev/sdb open\n/dev/sdc open\n\
                /dev/sdb write 64757760 4096\n/dev/sdb wait 1500 0\n/dev/sdc read 0 512\n/dev/sdc read 512 512\n\
                /dev/sdc wait 500 0\n/dev/sdb trim 8192 4096\n/dev/sdb sync 8192 0\n\
                /dev/sdb datasync 0 0\n/dev/sdb close\n";
    let expected = [
        access(0, Write, 64_757_760, 4096, 0),
        access(1_500_000, Read, 0, 512, 1),
        access(1_500_000, Read, 512, 512, 1),
        access(2_000_000, Trim, 8192, 4096, 0),
        access(2_000_000, Flush, 0, 0, 0),
        access(2_000_000, Flush, 0, 0, 0),
    ];
    assert_eq!(read(text, Format::FioIolog), expected);
}

/// Written by fio 3.33 with a think time of 20 ms, which shows that the timestamps are microseconds.
#[test]
fn fio_version_3_has_microseconds() {
    let text = "fio version 3 iolog\n27 /tmp/f add\n217 /tmp/f open\n221 /tmp/f read 0 4096\n\
                20495 /tmp/f read 45056 4096\n181494 /tmp/f sync 61440 0\n323672 /tmp/f close\n";
    let expected = [
        access(0, Read, 0, 4096, 0),
        access(20_274_000, Read, 45_056, 4096, 0),
        access(181_273_000, Flush, 0, 0, 0),
    ];
    assert_eq!(read(text, Format::FioIolog), expected);
}

const BLKPARSE: &str = "\
  8,16   3        4     0.000011950  3645  Q   R 4938888 + 256 [java]
  8,16   3        5     0.000026421  3645  D   R 4938888 + 256 [java]
  8,16   2        1     0.000020000  3645  D  WS 100 + 8 [java]
  8,16   3        7     0.001795683  3557  C   R 4938888 + 256 [0]
  8,16   3        8     0.002000000  3557  U   N [java] 1
  8,16   3        9     0.002000001  3557  m   N cfq3645 slice expired
  8,16   3       10     0.003000000     0  D  FN [kworker/3:1H]
  8,16   3       11     0.004000000     0  D  DS 2048 + 1024 [fstrim]
  8,16   3       12     0.005000000     0  D   R 36 (12 00 00 00 24 00 ..) [hald]
  8,17   3       13     0.006000000     0  D FWFS 4096 + 16 [jbd2/sdb-8]
  8,16   3       14     0.007000000     0  D   N 0 (35 00 ..) [smartctl]
CPU3 (8,16):
 Reads Queued:           0,        0KiB\t Writes Queued:           0,        0KiB
Total (8,16):
 Reads Queued:           0,        0KiB\t Writes Queued:           0,        0KiB

Throughput (R/W): 0KiB/s / 0KiB/s
Events (8,16): 29662 entries
Skips: 0 forward (0 -   0.0%)
";
/// Major 8, minor 16; minor 17 is the next number.
const SDB: u32 = (8 << 20) + 16;

#[test]
fn blkparse_dispatches_in_order_of_time() {
    let expected = [
        by(3645, access(0, Write, 51_200, 4096, SDB)),
        by(3645, access(6_421, Read, 4_938_888 * 512, 131_072, SDB)),
        access(2_980_000, Flush, 0, 0, SDB),
        access(3_980_000, Trim, 1_048_576, 524_288, SDB),
        access(5_980_000, Write, 2_097_152, 8192, SDB + 1),
    ];
    assert_eq!(read(BLKPARSE, Format::BlkparseText), expected);
}

#[test]
fn blkparse_queued_requests_by_option() {
    let queue = Options {
        block_event: BlockEvent::Queue,
        ..Options::default()
    };
    let expected = [by(3645, access(0, Read, 4_938_888 * 512, 131_072, SDB))];
    assert_eq!(read_with(BLKPARSE.as_bytes(), &queue), expected);
}

#[test]
fn blkparse_before_the_start_is_before_the_start() {
    let text = "\
  8,16   3        4     0.000011950  3645  D   R 8 + 8 [java]
  8,16   1        4 1266874889.708658509  3646  D   R 16 + 8 [java]
";
    // 2^64 ns minus 893,107 ns, with the seconds in 32 bits.
    let expected = [
        by(3646, access(0, Read, 8192, 4096, SDB)),
        by(3645, access(893_107 + 11_950, Read, 4096, 4096, SDB)),
    ];
    assert_eq!(read(text, Format::BlkparseText), expected);
}

/// A record of `struct blk_io_trace`, by its fields.
struct Event {
    time: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    pdu: &'static [u8],
}

impl Event {
    fn encode(&self, big: bool) -> Vec<u8> {
        let mut out = Vec::new();
        let mut put = |value: u64, bytes: usize| {
            let le = value.to_le_bytes();
            if big {
                out.extend(le[..bytes].iter().rev());
            } else {
                out.extend(&le[..bytes]);
            }
        };
        put(0x6561_7407, 4);
        put(1, 4);
        put(self.time, 8);
        put(self.sector, 8);
        put(self.bytes.into(), 4);
        put(self.action.into(), 4);
        put(4020, 4);
        put(SDB.into(), 4);
        put(3, 4);
        put(0, 2);
        put(self.pdu.len() as u64, 2);
        out.extend(self.pdu);
        out
    }
}

#[test]
fn blktrace_in_both_byte_orders() {
    let event = |time, sector, bytes, action, pdu| Event {
        time,
        sector,
        bytes,
        action,
        pdu,
    };
    // The upper half is the category: read 1, write 2, flush 4, queue 16, issue 64, complete 128, pass-through 512,
    // notify 1024, discard 8192. The lower half is the action: queue 1, issue 7, complete 8.
    let events = [
        event(9, 0, 0, 1024 << 16, &b"a process's name"[..]),
        event(50, 100, 4096, (1 + 16) << 16 | 1, b""),
        event(1_000_070, 100, 4096, (1 + 64) << 16 | 7, b"pdu"),
        event(1_000_060, 200, 8192, (2 + 64) << 16 | 7 | 1 << 8, b""),
        event(1_000_080, 100, 4096, (1 + 128) << 16 | 8, b""),
        event(1_000_090, 0, 0, (1 + 4 + 64) << 16 | 7, b""),
        event(1_000_091, 300, 512, (2 + 64 + 8192) << 16 | 7, b""),
        event(1_000_092, 0, 36, (1 + 64 + 512) << 16 | 7, b""),
    ];
    let expected = [
        access(0, Write, 102_400, 8192, SDB),
        access(10, Read, 51_200, 4096, SDB),
        access(30, Flush, 0, 0, SDB),
        access(31, Trim, 153_600, 512, SDB),
    ]
    .map(|access| by(4020, access));
    for big in [false, true] {
        let bytes: Vec<u8> = events.iter().flat_map(|e| e.encode(big)).collect();
        let trace = open_with(&bytes, &Options::default());
        assert_eq!(trace.format(), Format::Blktrace);
        let found: Vec<Access> = trace.map(Result::unwrap).collect();
        assert_eq!(found, expected, "big-endian: {big}");
        let queue = Options {
            block_event: BlockEvent::Queue,
            ..Options::default()
        };
        let queued = read_with(&bytes, &queue);
        assert_eq!(queued, [by(4020, access(0, Read, 51_200, 4096, SDB))]);
    }
}

#[test]
fn every_format_tells_its_name_and_explains_itself() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
        assert!(format.named().summary.len() < 80, "{format}");
        assert!(format.named().text.len() > 100, "{format}");
        assert!(!format.named().summary.contains('\n'), "{format}");
    }
    assert!("nothing".parse::<Format>().is_err());
}
