//! Reader of blktrace's binary output: records of 48 bytes (`struct blk_io_trace` of Linux's `blktrace_api.h`), each
//! followed by `pdu_len` bytes that are skipped.

use crate::Access;
use crate::buffer::Buffer;
use crate::error::{ErrorKind, Place, TraceError};
use crate::line::{BlockEvent, check};
use fathom_base::{About, SECTOR_BYTES, Time};
use fathom_block::Op;

pub(super) const ABOUT: About = About::new("blktrace binary, version 7, either byte order").text(
    "\
Records of `struct blk_io_trace`, version 7, in the byte order of the machine that wrote them.
Accesses are the issued requests (D of blkparse), or with `block_event = \"queue\"` the queued ones (Q). Other
events, messages and SCSI commands are skipped. Sectors have 512 bytes. The device becomes the disk, as major * 2^20
+ minor, and the pid the process. blktrace writes a file for each CPU: merge them with `blkparse -i NAME -d MERGED -O`. Up to 4096 accesses
are sorted by time.",
);

const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;
const RECORD_BYTES: usize = 48;

/// `__BLK_TA_QUEUE` and `__BLK_TA_ISSUE`. The flag `__BLK_TA_CGROUP` may be set in addition.
const QUEUE: u32 = 1;
const ISSUE: u32 = 7;
const CGROUP: u32 = 1 << 8;

/// `enum blktrace_cat`, in the upper half of the action.
const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const PASS_THROUGH: u32 = 1 << 25;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;

/// Returns true if the bytes start with the magic number in either byte order.
pub(crate) fn is_magic(head: &[u8]) -> bool {
    byte_order(head).is_some()
}

/// Returns true for big-endian and false for little-endian, or `None` if the bytes do not start with the magic number.
fn byte_order(head: &[u8]) -> Option<bool> {
    let first: [u8; 4] = head.get(..4)?.try_into().ok()?;
    let is = |magic: u32| magic & 0xffff_ff00 == MAGIC;
    match () {
        () if is(u32::from_le_bytes(first)) => Some(false),
        () if is(u32::from_be_bytes(first)) => Some(true),
        () => None,
    }
}

/// Reads the records of a stream.
pub(crate) struct Reader {
    buffer: Buffer,
    big_endian: bool,
    wanted: u32,
    records: u64,
    ended: bool,
}

/// The fields of a record that the reader uses.
struct Record {
    at_ns: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    device: u32,
    process: u32,
}

impl Reader {
    pub(crate) fn new(mut buffer: Buffer, event: BlockEvent) -> Self {
        buffer.fill(4);
        Self {
            big_endian: byte_order(buffer.rest()).unwrap_or(false),
            buffer,
            wanted: match event {
                BlockEvent::Dispatch => ISSUE,
                BlockEvent::Queue => QUEUE,
            },
            records: 0,
            ended: false,
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.buffer.memory_bytes()
    }

    pub(crate) fn unconfirmed(&self) -> u64 {
        self.buffer.unconfirmed()
    }

    /// Returns the next record's place, with its access or `None` if the record is not an access.
    pub(crate) fn next(&mut self) -> Option<Result<(Option<Access>, Place), TraceError>> {
        if self.ended {
            return None;
        }
        let place = Place::Record {
            number: self.records + 1,
            offset: self.buffer.offset(),
        };
        let record = match self.record(place) {
            Ok(record) => record?,
            Err(error) => {
                self.ended = true;
                return Some(Err(error));
            }
        };
        let access = self
            .access(&record)
            .map_err(|kind| TraceError::new(kind, place));
        Some(access.map(|access| (access, place)))
    }

    fn record(&mut self, place: Place) -> Result<Option<Record>, TraceError> {
        self.buffer.fill(RECORD_BYTES);
        let head = self.buffer.rest();
        if head.len() < RECORD_BYTES {
            let empty = head.is_empty();
            if let Some(error) = self.buffer.take_failure(place) {
                return Err(error);
            }
            let cut = || TraceError::new(ErrorKind::CutRecord, place);
            return if empty { Ok(None) } else { Err(cut()) };
        }
        let magic = u32::from_le_bytes(self.field(0));
        if magic & 0xffff_ff00 != MAGIC {
            return Err(TraceError::new(ErrorKind::BadMagic { found: magic }, place));
        }
        if magic & 0xff != VERSION {
            let found = magic & 0xff;
            return Err(TraceError::new(ErrorKind::Version { found }, place));
        }
        let record = Record {
            at_ns: u64::from_le_bytes(self.field(8)),
            sector: u64::from_le_bytes(self.field(16)),
            bytes: u32::from_le_bytes(self.field(24)),
            action: u32::from_le_bytes(self.field(28)),
            device: u32::from_le_bytes(self.field(36)),
            process: u32::from_le_bytes(self.field(32)),
        };
        let whole = RECORD_BYTES + usize::from(u16::from_le_bytes(self.field(46)));
        self.buffer.fill(whole);
        if self.buffer.rest().len() < whole {
            let cut = TraceError::new(ErrorKind::CutRecord, place);
            return Err(self.buffer.take_failure(place).unwrap_or(cut));
        }
        self.buffer.skip(whole);
        self.buffer.count_unconfirmed();
        self.records += 1;
        Ok(Some(record))
    }

    fn access(&self, record: &Record) -> Result<Option<Access>, ErrorKind> {
        let action = record.action;
        let passed_over = NOTIFY | PASS_THROUGH;
        if action & 0xffff & !CGROUP != self.wanted || action & passed_over != 0 {
            return Ok(None);
        }
        let len = u64::from(record.bytes);
        let op = match () {
            () if len == 0 && action & FLUSH != 0 => Op::Flush,
            () if action & DISCARD != 0 => Op::Trim,
            () if action & WRITE != 0 => Op::Write,
            () if action & READ != 0 => Op::Read,
            () => return Ok(None),
        };
        let offset = match op {
            Op::Flush => Some(0),
            _ => record.sector.checked_mul(SECTOR_BYTES),
        };
        let offset = offset.ok_or_else(|| ErrorKind::TooLarge {
            field: "sector",
            found: record.sector.to_string(),
        })?;
        check(op, offset, len).map_err(|fault| fault.kind())?;
        Ok(Some(Access {
            at: Time(record.at_ns),
            op,
            offset,
            len,
            disk: record.device,
            process: record.process,
        }))
    }

    /// Returns the bytes of a field in little-endian order, or zeros if the record is too short (the caller has checked that
    /// it is not).
    fn field<const N: usize>(&self, at: usize) -> [u8; N] {
        let bytes = self.buffer.rest().get(at..at + N);
        let mut bytes = bytes.and_then(|b| b.try_into().ok()).unwrap_or([0; N]);
        if self.big_endian {
            bytes.reverse();
        }
        bytes
    }
}
