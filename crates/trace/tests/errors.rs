//! Tests of invalid traces: the error message, its place, and the result of a lenient reader.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers")]

use fathom_base::{Bytes, Time};
use fathom_block::Access;
use fathom_trace::{ErrorKind, Format, Options, Place, Skipped, Trace, TraceError};
use std::io::{self, Cursor, Read};

fn lenient() -> Options {
    Options {
        lenient: true,
        ..Options::default()
    }
}

fn of(format: Format) -> Options {
    Options {
        format: Some(format),
        ..Options::default()
    }
}

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

fn message(text: &str, format: Format) -> String {
    until_error(open(text.as_bytes(), &of(format)).unwrap())
        .1
        .to_string()
}

/// A format, lines, and the error message.
const WRONG: [(Format, &str, &str); 28] = [
    (
        Format::Spc,
        "0,1,512,r,0\n0,abc,512,r,1\n",
        "line 2: field `LBA` is \"abc\", not a whole number",
    ),
    (
        Format::Spc,
        "0,1,512,r,0\n\n0,1,512\n",
        "line 3: field `opcode` is missing",
    ),
    (
        Format::Spc,
        "0,1,512,x,0\n",
        "line 1: field `opcode` is \"x\", and r and w are known",
    ),
    (
        Format::Spc,
        "0,1,512,r,-1\n",
        "line 1: field `timestamp` is \"-1\", not a time",
    ),
    (
        Format::Spc,
        "0,1,0,r,0\n",
        "line 1: a request of length zero",
    ),
    (
        Format::Spc,
        "4294967296,1,512,r,0\n",
        "line 1: field `ASU` is 4294967296, which is too large",
    ),
    (
        Format::Spc,
        "0,36028797018963968,512,r,0\n",
        "line 1: field `LBA` is 36028797018963968, which is too large",
    ),
    (
        Format::Spc,
        "0,36028797018963967,1024,r,0\n",
        "line 1: field `offset + length` is beyond 2^64, which is too large",
    ),
    (
        Format::Spc,
        "0,1,512,r,99999999999\n",
        "line 1: field `timestamp` is 99999999999, which is too large",
    ),
    (
        Format::Msr,
        "184467440737095517,h,0,Read,0,512,1\n",
        "line 1: field `Timestamp` is 184467440737095517, which is too large",
    ),
    (
        Format::Msr,
        "1,h,0,read,0,512,1\n",
        "line 1: field `Type` is \"read\", and Read and Write are known",
    ),
    (
        Format::Msr,
        "1,h,0,Read,0,512,1,2\n",
        "line 1: field `(after the last)` is \"2\", not the end of the line",
    ),
    (
        Format::DiskSim,
        "1.5 0 1 1 g\n",
        "line 1: field `flags` is \"g\", not a hexadecimal number of 32 bits",
    ),
    (
        Format::MqSim,
        "1.5 0 1 1 1\n",
        "line 1: field `arrival time` is \"1.5\", not a whole number",
    ),
    (
        Format::MqSim,
        "1 0 1 1 2\n",
        "line 1: field `operation` is \"2\", and 0 (write) and 1 (read) are known",
    ),
    (
        Format::BlkparseText,
        "8,16 0 1 0.1 1 D R 1 - 8 [x]\n",
        "line 1: field `+` is \"-\", not a + before the number of sectors",
    ),
    (
        Format::BlkparseText,
        "8.16 0 1 0.1 1 D R 1 + 8 [x]\n",
        "line 1: field `device` is \"8.16\", not major,minor",
    ),
    (
        Format::BlkparseText,
        "8,16 0 1 0.1 1 D X 1 + 8 [x]\n",
        "line 1: field `rwbs` is \"X\", and R, W, D, F and N are known",
    ),
    (
        Format::FioIolog,
        "fio version 3 iolog\n1 /f wait 5 0\n",
        "line 2: field `action` is \"wait\", and read, write, trim, sync, datasync, sync_file_range, wait (version 2), add, open and close are known",
    ),
    (
        Format::FioIolog,
        "fio version 9 iolog\n",
        "line 1: field `first line` is \"fio version 9 iolog\", not \"fio version 2 iolog\" or \"fio version 3 iolog\"",
    ),
    (
        Format::Alibaba,
        "0,R,1,2\n",
        "line 1: field `timestamp` is missing",
    ),
    (
        Format::Tencent,
        "1,1,1,2,1\n",
        "line 1: field `IOType` is \"2\", and 0 (read) and 1 (write) are known",
    ),
    (
        Format::Systor,
        "1.0,0.1,X,0,0,512\n",
        "line 1: field `IOType` is \"X\", and R, W and blank are known",
    ),
    (
        Format::Csv,
        "timestamp,op,offset,len\n1,R,0,512\n",
        "line 1: field `column of times (at_ns, at_us, at_ms or at_s)` is missing",
    ),
    (
        Format::Csv,
        "at_ns,op,offset,sector,len\n1,R,0,0,512\n",
        "line 1: field `column` is \"sector\", not one column for each thing",
    ),
    (
        Format::Csv,
        "1,R,0,512\n",
        "line 1: field `first line with the names of the columns` is missing",
    ),
    (
        Format::Csv,
        "at_ns,op,offset,len\n1,R,0\n",
        "line 2: field `length` is missing",
    ),
    (
        Format::Blkreplay,
        "0.0;1;1;R;0.0;0.0\n0.1;x;1;R\n",
        "line 2: field `sector` is \"x\", not a whole number",
    ),
];

#[test]
fn an_error_names_the_line_the_field_and_what_stood_there() {
    for (format, text, expected) in WRONG {
        assert_eq!(message(text, format), expected);
    }
}

#[test]
fn what_is_shown_is_short_and_printable() {
    let text = format!("0,\x1b[31m{},512,r,0\n", "9".repeat(500));
    let shown = message(&text, Format::Spc);
    assert!(!shown.contains('\x1b') && shown.len() < 150, "{shown}");
}

#[test]
fn a_strict_reader_stops_and_a_lenient_one_counts() {
    let text = "# a comment\nASU,LBA,size,op,time\n0,1,512,r,0\n0,x,512,r,1\n0,1,512,q,1\n0,1,0,w,1\n\
                0,99999999999999999999,512,r,1\n0,1,512\n0,2,512,w,2\n0,3,512,w,1.5\n0,4,512,w,3\n";
    let (before, error) = until_error(open(text.as_bytes(), &of(Format::Spc)).unwrap());
    assert_eq!(before.len(), 0);
    assert_eq!(
        error.place,
        Place::Line(2),
        "names are on the first line only"
    );
    let text = &text["# a comment\n".len()..];
    let (before, error) = until_error(open(text.as_bytes(), &of(Format::Spc)).unwrap());
    assert_eq!((before.len(), error.place), (1, Place::Line(3)));

    let options = Options {
        lenient: true,
        ..of(Format::Spc)
    };
    let mut trace = open(text.as_bytes(), &options).unwrap();
    let offsets: Vec<(u64, u64)> = trace
        .by_ref()
        .map(|a| a.map(|a| (a.offset / 512, a.at.0)).unwrap())
        .collect();
    let seconds = 1_000_000_000;
    assert_eq!(
        offsets,
        [(1, 0), (2, 2 * seconds), (3, 2 * seconds), (4, 3 * seconds)]
    );
    let expected = Skipped {
        malformed: 2,
        unknown_op: 1,
        too_large: 1,
        zero_length: 1,
        backwards: 1,
        other: 1,
        ..Skipped::default()
    };
    assert_eq!(trace.skipped(), expected);
    assert_eq!(trace.skipped().left_out(), 5);
    assert_eq!(trace.first_skipped().unwrap().place, Place::Line(3));
}

#[test]
fn time_runs_backwards_only_where_it_may() {
    let text = "0,1,512,r,2.0\n0,2,512,r,1.0\n";
    let (before, error) = until_error(open(text.as_bytes(), &Options::default()).unwrap());
    assert_eq!(before.len(), 1);
    assert_eq!(error.place, Place::Line(2));
    assert_eq!(
        error.to_string(),
        "line 2: time runs backwards: 1000000000 ns before the access before it"
    );
    assert!(error.help().contains("reorder"), "{}", error.help());

    let one = Options {
        reorder: Some(1),
        ..Options::default()
    };
    let found: Vec<(u64, Time)> = open(text.as_bytes(), &one)
        .unwrap()
        .map(|a| a.map(|a| (a.offset / 512, a.at)).unwrap())
        .collect();
    assert_eq!(found, [(2, Time(0)), (1, Time(1_000_000_000))]);
}

/// A reorder window of n corrects an access that is n places late, but not one that is n + 1 late.
#[test]
fn the_window_is_as_wide_as_it_says() {
    let mut text: String = (1..=5).map(|i| format!("0,{i},512,r,{i}\n")).collect();
    text.push_str("0,9,512,r,0\n");
    let with = |reorder| Options {
        reorder: Some(reorder),
        ..Options::default()
    };
    let found: Vec<u64> = open(text.as_bytes(), &with(5))
        .unwrap()
        .map(|a| a.map(|a| a.offset / 512).unwrap())
        .collect();
    assert_eq!(found, [9, 1, 2, 3, 4, 5]);
    let (before, error) = until_error(open(text.as_bytes(), &with(4)).unwrap());
    assert_eq!(before.len(), 1);
    assert_eq!(error.place, Place::Line(6));
}

#[test]
fn accesses_of_one_time_keep_their_order() {
    let text: String = (0..100).map(|i| format!("0,{i},512,r,1\n")).collect();
    let options = Options {
        reorder: Some(10),
        ..Options::default()
    };
    let found: Vec<u64> = open(text.as_bytes(), &options)
        .unwrap()
        .map(|a| a.map(|a| a.offset / 512).unwrap())
        .collect();
    assert_eq!(found, (0..100).collect::<Vec<u64>>());
}

#[test]
fn a_format_that_no_line_fits_is_told_with_reasons() {
    let error = open(b"hello\nworld\n", &Options::default()).unwrap_err();
    let ErrorKind::Unrecognised { tried } = &*error.kind else {
        panic!("{error}")
    };
    assert_eq!(
        tried.len(),
        Format::ALL.len() - 2,
        "all but the binary ones"
    );
    let text = error.to_string();
    assert!(
        text.contains("spc: field `ASU` is \"hello\", not a whole number"),
        "{text}"
    );
    assert!(error.help().contains("tencent"), "{}", error.help());
}

/// The values of these fit other formats by their position, where they would be something else.
#[test]
fn a_first_line_that_names_other_columns_is_no_first_line_of_a_format() {
    for (names, line) in [
        ("offset,size,op,time", "4096,4096,R,100"),
        ("cpu,offset,size,op,time", "0,4096,4096,R,100"),
        ("time_ms,offset,size,op,queue_depth", "10,4096,8,0,1"),
        ("time,op,offset,size,latency", "10,R,4096,4096,120"),
        ("\"at_ns\",\"op\",\"offset\",\"len\"", "0,R,4096,4096"),
    ] {
        let text = format!("{names}\n{}", format!("{line}\n").repeat(8));
        let error = open(text.as_bytes(), &Options::default()).unwrap_err();
        let ErrorKind::Unrecognised { tried } = &*error.kind else {
            panic!("{names}: {error}")
        };
        assert_eq!(tried[0].0, "csv", "{names}: {error}");
    }
    let own = "device_id,opcode,offset,length,timestamp\n0,R,4096,4096,100\n";
    assert_eq!(
        open(own.as_bytes(), &Options::default()).unwrap().count(),
        1
    );
}

#[test]
fn numbers_that_no_drive_has_are_not_taken_for_addresses() {
    for line in ["0,R,99999999999999999,512,1\n", "0,R,0,5000000000,1\n"] {
        let error = open(line.as_bytes(), &Options::default()).unwrap_err();
        let expected = "alibaba: an offset or a length that no drive has";
        assert!(error.to_string().contains(expected), "{error}");
        let given = open(line.as_bytes(), &of(Format::Alibaba)).unwrap();
        assert_eq!(given.map(Result::unwrap).count(), 1);
    }
}

#[test]
fn whole_milliseconds_and_nanoseconds_cannot_be_told_apart_when_close() {
    let close = "0 0 8 8 1\n1 0 16 8 0\n20 0 24 8 0\n";
    let error = open(close.as_bytes(), &Options::default()).unwrap_err();
    let ErrorKind::Ambiguous { formats } = &*error.kind else {
        panic!("{error}")
    };
    assert_eq!(*formats, ["disksim", "mqsim"]);
    let as_ms = open(close.as_bytes(), &of(Format::DiskSim)).unwrap();
    assert_eq!(as_ms.last().unwrap().unwrap().at, Time(20_000_000));
    let as_ns = open(close.as_bytes(), &of(Format::MqSim)).unwrap();
    assert_eq!(as_ns.last().unwrap().unwrap().at, Time(20));
}

/// One invalid line among the first does not prevent detection: the reader reports the line.
#[test]
fn a_wrong_line_at_the_start_is_named() {
    let text = "0,1,512,r,0\n0,1,512,r,1\n0,1,512,r,oops\n0,1,512,r,2\n0,1,512,r,3\n";
    let (before, error) = until_error(open(text.as_bytes(), &Options::default()).unwrap());
    assert_eq!((before.len(), error.place), (2, Place::Line(3)));
    let mut trace = open(text.as_bytes(), &lenient()).unwrap();
    assert_eq!(trace.by_ref().count(), 4);
    assert_eq!(trace.skipped().malformed, 1);
}

#[test]
fn what_is_no_trace_is_said_to_be_none() {
    let tar = {
        let mut bytes = vec![b'x'; 600];
        bytes[257..262].copy_from_slice(b"ustar");
        bytes
    };
    let cases: [(&[u8], &str); 6] = [
        (b"", "the input is empty"),
        (b"\n \n# only a comment", "no format fits"),
        (&tar, "the input is a tar archive"),
        (b"PK\x03\x04....", "the input is a zip archive"),
        (b"BZh91AY", "the input is compressed by bzip2"),
        (b"PAR1....", "Parquet is read from its end"),
    ];
    for (bytes, expected) in cases {
        let error = open(bytes, &Options::default()).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
        assert!(!error.help().is_empty());
    }
    let zero = Options {
        disksim_size_unit: Bytes(0),
        ..Options::default()
    };
    let error = open(b"0.5 0 1 1 1\n", &zero).unwrap_err();
    assert_eq!(error.to_string(), "option `disksim_size_unit` is 0B");
}

/// A line of `left` bytes without a line end.
struct Endless {
    left: usize,
}

impl Read for Endless {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = out.len().min(self.left);
        out[..len].fill(b'7');
        self.left -= len;
        Ok(len)
    }
}

#[test]
fn a_line_without_end_is_gone_past() {
    let lines = Cursor::new(&b"0,1,512,r,0\n"[..])
        .chain(Endless { left: 50 << 20 })
        .chain(Cursor::new(&b"\n0,2,512,r,1\n"[..]));
    let options = Options {
        lenient: true,
        ..of(Format::Spc)
    };
    let mut trace = fathom_trace::open(Box::new(lines), &options).unwrap();
    assert_eq!(trace.by_ref().count(), 2);
    assert_eq!(trace.skipped().malformed, 1);
    let error = trace.first_skipped().unwrap();
    assert_eq!(error.to_string(), "line 2: a line of more than 65536 bytes");
}

/// A reader that fails at the end of its data.
struct Failing(Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.0.read(out)? {
            0 => Err(io::Error::other("the disk is gone")),
            read => Ok(read),
        }
    }
}

#[test]
fn a_failing_input_is_told_after_what_could_be_read() {
    let text = b"0,1,512,r,0\n0,2,512,r,1\n0,3,5".to_vec();
    let trace = fathom_trace::open(Box::new(Failing(Cursor::new(text))), &lenient()).unwrap();
    let (before, error) = until_error(trace);
    assert_eq!(before.len(), 2);
    assert_eq!(error.place, Place::Line(3));
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), "the disk is gone");
    let nothing = Failing(Cursor::new(Vec::new()));
    let error = fathom_trace::open(Box::new(nothing), &lenient()).unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Io(_)), "{error}");
}

#[test]
fn binary_records_are_named_by_number_and_byte() {
    let record = |magic: u32, pdu_len: u16| {
        let mut bytes = vec![0; 48];
        bytes[..4].copy_from_slice(&magic.to_le_bytes());
        bytes[24..28].copy_from_slice(&512_u32.to_le_bytes());
        bytes[28..32].copy_from_slice(&(65_u32 << 16 | 7).to_le_bytes());
        bytes[46..].copy_from_slice(&pdu_len.to_le_bytes());
        bytes.resize(48 + usize::from(pdu_len), 0xee);
        bytes
    };
    let good = record(0x6561_7407, 10);
    let at = |number, offset| Place::Record { number, offset };

    let bytes = [&good[..], &good, &record(0x1234_5678, 0)].concat();
    let (before, error) = until_error(open(&bytes, &Options::default()).unwrap());
    assert_eq!((before.len(), error.place), (2, at(3, 116)));
    assert!(error.to_string().contains("0x12345678"), "{error}");

    let bytes = [&good[..], &record(0x6561_7408, 0)].concat();
    let (_, error) = until_error(open(&bytes, &Options::default()).unwrap());
    assert!(matches!(*error.kind, ErrorKind::Version { found: 8 }));

    // Offsets count from the start of the input, even beyond the reader's first window.
    let bytes = [good.repeat(10_000), record(0x1234_5678, 0)].concat();
    let (before, error) = until_error(open(&bytes, &Options::default()).unwrap());
    assert_eq!((before.len(), error.place), (10_000, at(10_001, 580_000)));

    // Cut within the data after the record's header, and within the header.
    for cut in [110, 70] {
        let bytes = [&good[..], &good].concat();
        let (before, error) = until_error(open(&bytes[..cut], &Options::default()).unwrap());
        assert_eq!((before.len(), error.place), (1, at(2, 58)));
        assert!(matches!(*error.kind, ErrorKind::CutRecord), "{error}");
        let mut trace = open(&bytes[..cut], &lenient()).unwrap();
        assert_eq!(trace.by_ref().count(), 1);
        assert_eq!(trace.skipped().malformed, 1);
    }
}

#[test]
fn options_are_read_with_defaults_and_without_strangers() {
    let parse = |text: &str| toml::from_str::<Options>(text);
    assert_eq!(parse("").unwrap(), Options::default());
    let read =
        parse("format = 'disksim'\ndisksim_size_unit = '4KiB'\nblock_event = 'queue'").unwrap();
    assert_eq!(read.format, Some(Format::DiskSim));
    assert_eq!(read.disksim_size_unit, Bytes(4096));
    assert_eq!(read.block_event, fathom_trace::BlockEvent::Queue);
    assert!(parse("formt = 'spc'").is_err());
    assert!(parse("format = 'nothing'").is_err());
}

/// Generates a million lines, one chunk at a time.
struct Generated {
    next: u64,
    count: u64,
    line: Vec<u8>,
}

impl Read for Generated {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.line.is_empty() {
            if self.next == self.count {
                return Ok(0);
            }
            self.line = format!("0,{},4096,r,{}\n", self.next, self.next).into_bytes();
            self.next += 1;
        }
        let len = out.len().min(self.line.len());
        out[..len].copy_from_slice(&self.line[..len]);
        self.line.drain(..len);
        Ok(len)
    }
}

#[test]
fn memory_does_not_grow_with_the_trace() {
    let generated = Generated {
        next: 0,
        count: 1_000_000,
        line: Vec::new(),
    };
    let options = Options {
        reorder: Some(4096),
        ..Options::default()
    };
    let mut trace = fathom_trace::open(Box::new(generated), &options).unwrap();
    let mut most = 0;
    let mut count = 0_u64;
    while let Some(access) = trace.next() {
        assert_eq!(access.unwrap().offset, count * 512);
        count += 1;
        most = most.max(trace.memory_bytes());
    }
    assert_eq!(count, 1_000_000);
    assert!(most < 2 << 20, "{most} bytes");
    assert_eq!(trace.capacity_hint(), 999_999 * 512 + 4096);
}
