//! The requests of the suite, and the content that every block must have after them.

use super::Breach;
use super::driver::{Content, Driver, Expect, pattern};
use crate::zoned::ZoneAction;
use crate::{Device, Op, Payload, Request, RequestId, Tag};

impl<D: Device> Driver<'_, D> {
    /// Creates a request for blocks of the region, truncated to the maximum length of a request. A write carries new
    /// bytes if the device keeps bytes.
    pub(super) fn request(&mut self, op: Op, block: u64, blocks: u64) -> Request {
        let blocks = match op {
            Op::Read | Op::Write | Op::Append => blocks.min(self.request_blocks_max()),
            Op::Flush | Op::Trim | Op::Zone(_) => blocks,
        };
        let (offset, len) = (self.offset(block), blocks * self.block_bytes());
        self.raw(op, offset, len)
    }

    /// Creates a request like [`Driver::request`], with any offset and length.
    pub(super) fn raw(&mut self, op: Op, offset: u64, len: u64) -> Request {
        self.written(op, offset, len, offset)
    }

    /// Creates a request like [`Driver::raw`], whose bytes are those of a write to `at`.
    pub(super) fn written(&mut self, op: Op, offset: u64, len: u64, at: u64) -> Request {
        let mut request = Request::new(self.offered + 1, op, offset, len);
        request.tag = Tag {
            process: self.offered as u32 % 3,
            sync: !op.is_write(),
            fua: false,
            direct: false,
            payload: Payload::Unique,
            // Also some that do not exist: those count as 0.
            placement: match self.info.placement_handles {
                0 => 0,
                handles => (self.offered % (u64::from(handles) + 2)) as u16,
            },
        };
        if op.is_write() && self.options.keeps_bytes {
            let (stamp, block) = (self.stamp(request.id), self.block_bytes());
            let mut data = Vec::new();
            for number in at / block..at.saturating_add(len).div_ceil(block) {
                data.extend(pattern(stamp, number, block as usize));
            }
            data.truncate(len as usize);
            request.data = Some(data.into());
        }
        request
    }

    fn stamp(&self, id: RequestId) -> Content {
        Content::Stamp(self.salt.wrapping_add(id.0))
    }

    /// Applies a request to the shadow. Returns the expected content for a read.
    pub(super) fn apply(&mut self, request: &Request, expect: Expect) -> Vec<Option<Content>> {
        if expect != Expect::Success || !self.options.keeps_bytes {
            return Vec::new();
        }
        let block = self.block_bytes();
        let at = self.zones.place(request).unwrap_or(request.offset);
        let mut blocks = at / block..(at + request.len) / block;
        let content = match request.op {
            Op::Flush => return Vec::new(),
            Op::Read => return blocks.map(|b| self.shadow.get(&b).copied()).collect(),
            Op::Write | Op::Append => Some(self.stamp(request.id)),
            // The shadow of the zones says which of them a reset empties.
            Op::Zone(ZoneAction::Reset) => {
                for zone in self.zones.emptied_by(request) {
                    blocks = zone.start / block..zone.end / block;
                    self.set(blocks, Some(Content::Zero));
                }
                return Vec::new();
            }
            Op::Zone(_) => return Vec::new(),
            Op::Trim => self.options.trim_zeroes.then_some(Content::Zero),
        };
        self.set(blocks, content);
        Vec::new()
    }

    pub(super) fn set(&mut self, blocks: std::ops::Range<u64>, content: Option<Content>) {
        for number in blocks {
            match content {
                Some(content) => self.shadow.insert(number, content),
                None => self.shadow.remove(&number),
            };
        }
    }

    /// Reads every block of the region with known content.
    pub(super) fn verify(&mut self) -> Result<(), Breach> {
        self.drain()?;
        let known: Vec<u64> = self.shadow.keys().copied().collect();
        let longest = self.request_blocks_max().min(64) as usize;
        let zone = self.info.zoned.map_or(u64::MAX, |zoned| zoned.zone_bytes);
        let zone = zone / self.block_bytes();
        for run in known.chunk_by(|a, b| a + 1 == *b && a / zone == b / zone) {
            for piece in run.chunks(longest.max(1)) {
                let block = piece[0] - self.first_block();
                let read = self.request(Op::Read, block, piece.len() as u64);
                self.run(read)?;
            }
        }
        Ok(())
    }

    /// Returns true if a request overlaps one in flight and at least one of them is a write or a trim.
    pub(super) fn conflicts(&self, request: &Request) -> bool {
        let changes = |op| !matches!(op, Op::Read | Op::Flush);
        self.in_flight.values().any(|sent| {
            (changes(sent.op) || changes(request.op))
                && sent.offset < request.end()
                && request.offset < sent.offset + sent.len
        })
    }
}
