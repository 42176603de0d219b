//! Sends requests to a device and checks all responses.

use super::zone_shadow::ZoneShadow;
use super::{Breach, Options, Report};
use crate::{Busy, Completion, Device, DeviceInfo, IoErrorKind, Op, Request, RequestId};
use fathom_base::{Dur, Rng, Time};
use std::collections::BTreeMap;

/// Number of logical blocks that the fixed requests need.
const REGION_BLOCKS_MIN: u64 = 16;

/// The expected result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expect {
    /// It succeeds.
    Success,
    /// It fails with this error.
    Error(IoErrorKind),
    /// It fails with any error.
    AnyError,
}

/// The content of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Zero,
    /// The bytes of the write with this stamp; every write of the suite has its own stamp.
    Stamp(u64),
}

/// A request in flight.
pub(super) struct Sent {
    pub(super) op: Op,
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) from: Time,
    pub(super) to: Time,
    pub(super) expect: Expect,
    /// Where an append must go; 0 for any other request.
    pub(super) placed: u64,
    /// Expected content of each block of a read; `None` if unknown.
    pub(super) holds: Vec<Option<Content>>,
}

/// A device under test.
pub(super) struct Driver<'a, D> {
    pub(super) device: D,
    pub(super) options: &'a Options,
    pub(super) info: DeviceInfo,
    pub(super) report: &'a mut Report,
    pub(super) in_flight: BTreeMap<RequestId, Sent>,
    pub(super) offered: u64,
    /// Added to a request's number to form the stamp of its bytes.
    pub(super) salt: u64,
    now: Time,
    pub(super) last_completed: Time,
    /// Expected content by logical block number; absent blocks are unknown.
    pub(super) shadow: BTreeMap<u64, Content>,
    /// Expected states of the zones.
    pub(super) zones: ZoneShadow,
}

/// Returns the bytes of one logical block.
pub(super) fn pattern(content: Content, block: u64, bytes: usize) -> Vec<u8> {
    let Content::Stamp(stamp) = content else {
        return vec![0; bytes];
    };
    let mut rng = Rng::new(stamp, block);
    let mut data = Vec::with_capacity(bytes + 8);
    while data.len() < bytes {
        data.extend(rng.next_u64().to_le_bytes());
    }
    data.truncate(bytes);
    data
}

impl<'a, D: Device> Driver<'a, D> {
    /// Creates a driver for the part number `part` of the suite. The parts write different bytes, so that data left on
    /// the medium by one part is not mistaken for data of the next.
    pub(super) fn new(
        mut device: D,
        options: &'a Options,
        part: u64,
        report: &'a mut Report,
    ) -> Self {
        let (info, now) = (device.info().clone(), device.now());
        let zones = device.zones(0, usize::MAX);
        Self {
            device,
            options,
            report,
            in_flight: BTreeMap::new(),
            offered: 0,
            salt: Rng::new(options.seed, part).next_u64(),
            now,
            last_completed: Time::ZERO,
            shadow: BTreeMap::new(),
            zones: ZoneShadow::new(&info, &zones),
            info,
        }
    }

    /// Returns the number of requests offered so far.
    pub(super) fn sent(&self) -> u64 {
        self.offered
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    pub(super) fn block_bytes(&self) -> u64 {
        u64::from(self.info.logical_block_bytes).max(1)
    }

    /// Returns the first block of the region.
    pub(super) fn first_block(&self) -> u64 {
        self.options.region.start.div_ceil(self.block_bytes())
    }

    /// Returns the number of whole blocks of the region.
    pub(super) fn region_blocks(&self) -> u64 {
        let end = self.options.region.end.min(self.info.capacity_bytes) / self.block_bytes();
        end.saturating_sub(self.first_block())
    }

    /// Returns the maximum number of blocks of one read or write in the region.
    pub(super) fn request_blocks_max(&self) -> u64 {
        (self.info.max_request_bytes / self.block_bytes()).min(self.region_blocks())
    }

    /// Returns the byte offset of a block, which is counted from the start of the region.
    pub(super) fn offset(&self, block: u64) -> u64 {
        (self.first_block() + block) * self.block_bytes()
    }

    /// Returns true if any block can be written at any time: neither is the device read-only, nor has it zones.
    pub(super) fn overwrites(&self) -> bool {
        !self.info.read_only && self.info.zoned.is_none()
    }

    pub(super) fn check_region(&self) -> Result<(), Breach> {
        let (have, need) = (self.region_blocks(), REGION_BLOCKS_MIN);
        if have < need {
            return Err(Breach::Region { have, need });
        }
        Ok(())
    }

    pub(super) fn skip(&mut self, rule: &'static str, why: &'static str) {
        self.report.skipped.insert(rule, why);
    }

    /// Reads the clock and checks that it does not go backwards.
    fn tick(&mut self) -> Result<Time, Breach> {
        let (from, to) = (self.now, self.device.now());
        if to < from {
            return Err(Breach::ClockBackwards { from, to });
        }
        self.now = to;
        Ok(to)
    }

    /// Returns the current time plus `by`.
    pub(super) fn after(&mut self, by: Dur) -> Result<Time, Breach> {
        Ok(self.tick()? + by)
    }

    fn unmoved(&self, during: &'static str, from: Time) -> Result<(), Breach> {
        if self.info.modelled && self.now != from {
            let to = self.now;
            return Err(Breach::ClockMoved { during, from, to });
        }
        Ok(())
    }

    /// Offers a request. Returns true if the device accepted it.
    pub(super) fn offer(&mut self, request: Request, expect: Expect) -> Result<bool, Breach> {
        self.offered += 1;
        let copy = request.clone();
        let depth = self.info.queue_depth;
        let in_flight = self.in_flight.len();
        let from = self.tick()?;
        let outcome = self.device.submit(request);
        let to = self.tick()?;
        self.unmoved("submit", from)?;
        if let Err(Busy(back)) = outcome {
            if back != copy {
                return Err(Breach::BusyChanged { id: copy.id });
            }
            if in_flight < depth as usize {
                return Err(Breach::BusyEarly { in_flight, depth });
            }
            return Ok(false);
        }
        if in_flight >= depth as usize {
            return Err(Breach::QueueOverrun { depth });
        }
        let holds = self.apply(&copy, expect);
        let placed = match (copy.op, expect) {
            (Op::Append, Expect::Success) => self.zones.place(&copy).unwrap_or_default(),
            _ => 0,
        };
        if expect == Expect::Success {
            self.zones.apply(&copy);
        }
        let sent = Sent {
            op: copy.op,
            offset: copy.offset,
            len: copy.len,
            from,
            to,
            expect,
            placed,
            holds,
        };
        self.in_flight.insert(copy.id, sent);
        Ok(true)
    }

    /// Returns true if `more` requests can be offered without exceeding the queue depth, or nothing is in flight.
    pub(super) fn has_room(&self, more: usize) -> bool {
        self.in_flight.is_empty() || self.in_flight.len() + more <= self.info.queue_depth as usize
    }

    /// Offers a valid request, and once more after a completion if the device is busy.
    pub(super) fn insist(&mut self, request: Request) -> Result<(), Breach> {
        if !self.offer(request.clone(), Expect::Success)? {
            self.wait_some()?;
            self.offer(request, Expect::Success)?;
        }
        Ok(())
    }

    /// Makes a request for blocks of the region, and runs it.
    pub(super) fn serve(&mut self, op: Op, block: u64, blocks: u64) -> Result<(), Breach> {
        let request = self.request(op, block, blocks);
        self.run(request)
    }

    /// Sends a valid request and waits until nothing is in flight.
    pub(super) fn run(&mut self, request: Request) -> Result<(), Breach> {
        self.offer(request, Expect::Success)?;
        self.drain()
    }

    /// Waits until nothing is in flight.
    pub(super) fn drain(&mut self) -> Result<(), Breach> {
        while !self.in_flight.is_empty() {
            self.wait_some()?;
        }
        Ok(())
    }

    /// Waits for the next completions.
    pub(super) fn wait_some(&mut self) -> Result<Vec<Completion>, Breach> {
        let patience = self.options.patience;
        let until = self.after(patience)?;
        let done = self.wait(until)?;
        match self.in_flight.keys().next() {
            Some(&id) if done.is_empty() => Err(Breach::Lost { id, patience }),
            _ => Ok(done),
        }
    }

    /// Waits until nothing is in flight, and a little longer to detect completions that must not come.
    pub(super) fn settle(&mut self) -> Result<(), Breach> {
        self.drain()?;
        let until = self.after(Dur::ms(1))?;
        self.wait(until)?;
        Ok(())
    }

    /// Calls [`Device::wait`] and checks all rules about it.
    pub(super) fn wait(&mut self, until: Time) -> Result<Vec<Completion>, Breach> {
        let before = self.tick()?;
        let done = self.collect(until)?;
        let now = self.tick()?;
        self.check_clock(before, until, done.is_empty())?;
        for completion in &done {
            self.finish(completion, now)?;
        }
        if self.info.modelled
            && !done.is_empty()
            && let Some(late) = self.collect(now)?.first()
        {
            return Err(match self.in_flight.contains_key(&late.id) {
                true => Breach::Apart { id: late.id },
                false => Breach::NotInFlight { id: late.id },
            });
        }
        Ok(done)
    }

    /// Calls `wait` with a list that is not empty.
    fn collect(&mut self, until: Time) -> Result<Vec<Completion>, Breach> {
        let there = Completion {
            id: RequestId(u64::MAX),
            op: Op::Flush,
            submitted: Time::ZERO,
            completed: Time::ZERO,
            result: Ok(()),
            placed: 0,
            data: None,
        };
        let mut done = vec![there.clone()];
        self.device.wait(until, &mut done);
        if done.first() != Some(&there) {
            return Err(Breach::ListChanged);
        }
        done.remove(0);
        Ok(done)
    }

    fn check_clock(&self, before: Time, until: Time, nothing: bool) -> Result<(), Breach> {
        let (now, idle) = (self.now, self.in_flight.is_empty());
        if until <= before {
            return self.unmoved("wait until now", before);
        }
        if self.info.modelled && now > until {
            return Err(Breach::Overshot { until, now });
        }
        if nothing && idle && until == Time::MAX {
            return self.unmoved("wait for ever with nothing in flight", before);
        }
        if nothing && now < until {
            return Err(Breach::EarlyReturn { until, now });
        }
        Ok(())
    }
}
