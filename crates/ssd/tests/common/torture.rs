//! A drive and its shadow: sends requests, cuts the power, and compares every result with the expected one.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use super::shadow::{Shadow, bytes_of};
use fathom_base::{Rng, SECTOR_BYTES, Time};
use fathom_block::{Completion, Device, IoErrorKind, Op, Request};
use fathom_ssd::spec::MappingKind;
use fathom_ssd::{Spec, Ssd};

/// The outcome of a part of a run: success, or a description of the failure.
pub(crate) type Outcome = Result<(), String>;

/// Length in sectors of a request that reads the drive back, if the drive accepts such long ones.
const BACK_SECTORS: u64 = 64;
/// Number of requests between two checks of the drive's own tables, which examine every unit.
const CHECK_EVERY: u64 = 64;

/// Counts of the work done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Requests, without those that only read the drive back.
    pub(crate) operations: u64,
    /// Requests that read the drive back.
    pub(crate) read_back: u64,
    /// Power cuts.
    pub(crate) cuts: u64,
    /// Flash operations.
    pub(crate) flash_ops: u64,
    /// Drives that wore out.
    pub(crate) worn_out: u64,
}

impl Done {
    pub(crate) fn add(&mut self, other: Done) {
        self.operations += other.operations;
        self.read_back += other.read_back;
        self.cuts += other.cuts;
        self.flash_ops += other.flash_ops;
        self.worn_out += other.worn_out;
    }
}

struct InFlight {
    id: u64,
    op: Op,
    first: u64,
    end: u64,
    version: u32,
    fua: bool,
    /// For a read, the expected version of each sector. For a flush, the last completed change of every sector.
    versions: Vec<u32>,
}

/// A drive and its shadow.
pub(crate) struct Torture {
    pub(crate) drive: Ssd,
    shadow: Shadow,
    in_flight: Vec<InFlight>,
    next_id: u64,
    durable_at_once: bool,
    /// A third of the requests write zeros, if they write.
    writes_zeros: bool,
    pub(crate) done: Done,
    completions: Vec<Completion>,
    /// Vectors of completed requests, for reuse.
    spare: Vec<Vec<u32>>,
    /// Length in sectors of a request that reads the drive back.
    back: u64,
    kind: MappingKind,
    /// Log blocks per group.
    logs: u32,
    /// Placement handles of the drive, and writes with one that it does not have.
    handles: u32,
    misplaced: u64,
}

impl Torture {
    pub(crate) fn new(spec: &Spec, seed: u64) -> Self {
        let drive = Ssd::new(spec, seed).unwrap().keep_data();
        let sectors = spec.capacity.0 / SECTOR_BYTES;
        let logs = spec.mapping.log_blocks.div_ceil(drive.geometry().groups);
        Self {
            drive,
            shadow: Shadow::new(sectors, spec.unit() / SECTOR_BYTES),
            in_flight: Vec::new(),
            next_id: 0,
            durable_at_once: spec.write_buffer.as_ref().is_none_or(|b| b.battery),
            writes_zeros: spec.compression.is_some(),
            done: Done::default(),
            completions: Vec::new(),
            spare: Vec::new(),
            back: BACK_SECTORS.min(spec.host.max_request.0 / SECTOR_BYTES),
            kind: spec.mapping.kind,
            // FAST has one log for sequential writes in addition to those for all others.
            logs: match spec.mapping.kind {
                MappingKind::Fast => logs.max(2),
                _ => logs,
            },
            handles: spec.mapping.placement_handles,
            misplaced: 0,
        }
    }

    /// Returns the number of sectors of the drive.
    pub(crate) fn sectors(&self) -> u64 {
        self.shadow.len()
    }

    /// Returns the number of requests in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Sends a request over `n` sectors from `first` on; both are ignored for a flush.
    pub(crate) fn submit(&mut self, op: Op, (first, n): (u64, u64), fua: bool) -> Outcome {
        self.done.operations += 1;
        if self.done.operations.is_multiple_of(CHECK_EVERY) {
            self.drive.check()?;
        }
        self.send(op, (first, n), fua)
    }

    fn send(&mut self, op: Op, (first, n): (u64, u64), fua: bool) -> Outcome {
        self.next_id += 1;
        let (offset, len) = match op {
            Op::Flush => (0, 0),
            _ => (first * SECTOR_BYTES, n * SECTOR_BYTES),
        };
        let mut request = Request::new(self.next_id, op, offset, len);
        request.tag.fua = fua;
        let mut sent = InFlight {
            id: self.next_id,
            op,
            first,
            end: first + n,
            version: 0,
            fua,
            versions: self.spare.pop().unwrap_or_default(),
        };
        match op {
            Op::Write => {
                if self.handles > 0 {
                    // In no order, and now and then one that does not exist.
                    let drawn = Rng::new(self.next_id, 0).below(u64::from(self.handles) + 1);
                    request.tag.placement = drawn as u16;
                    self.misplaced += u64::from(drawn >= u64::from(self.handles));
                }
                let zero = self.writes_zeros && self.next_id.is_multiple_of(3);
                sent.version = self.shadow.write(sent.first, sent.end, zero);
                request.data = Some(match zero {
                    true => vec![0; len as usize].into_boxed_slice(),
                    false => bytes_of(first, n, sent.version),
                });
            }
            Op::Trim => {
                (sent.first, sent.end, sent.version) = self.shadow.trim(sent.first, sent.end);
            }
            Op::Read => self.shadow.expected(first, sent.end, &mut sent.versions),
            Op::Flush => self.shadow.acknowledged(&mut sent.versions),
            Op::Append | Op::Zone(_) => return Err("zones have a suite of their own".into()),
        }
        self.in_flight.push(sent);
        self.drive.submit(request).map_err(|_| "busy".to_owned())
    }

    /// Waits for a completion.
    pub(crate) fn collect(&mut self) -> Outcome {
        self.drive.wait(Time::MAX, &mut self.completions);
        if self.completions.is_empty() {
            let stuck: Vec<String> = (self.in_flight.iter())
                .map(|r| format!("{} {}..{}", r.op, r.first, r.end))
                .collect();
            return Err(format!("never complete: {}", stuck.join(", ")));
        }
        self.settle()
    }

    /// Waits for `ns` nanoseconds, or until something completes.
    pub(crate) fn pass(&mut self, ns: u64) -> Outcome {
        let until = Time(self.drive.now().0 + ns);
        self.drive.wait(until, &mut self.completions);
        self.settle()
    }

    /// Waits for everything in flight.
    pub(crate) fn drain(&mut self) -> Outcome {
        while !self.in_flight.is_empty() && self.drive.is_powered() {
            self.collect()?;
        }
        Ok(())
    }

    fn settle(&mut self) -> Outcome {
        let mut completions = std::mem::take(&mut self.completions);
        let mut outcome = Ok(());
        if self.drive.is_worn_out() {
            // Changes in flight may fail, and a read that waited for one of them may be the first to show it.
            let changes = self.in_flight.iter().filter(|sent| sent.version > 0);
            changes.for_each(|sent| self.shadow.failed(sent.first, sent.end));
        }
        for completion in completions.drain(..) {
            outcome = outcome.and_then(|()| self.complete(&completion));
        }
        self.completions = completions;
        outcome
    }

    fn complete(&mut self, completion: &Completion) -> Outcome {
        let id = completion.id.0;
        let index = self.in_flight.iter().position(|sent| sent.id == id);
        let index = index.ok_or_else(|| format!("request {id} completes twice"))?;
        let sent = self.in_flight.swap_remove(index);
        let outcome = match completion.result {
            Ok(()) => self.acknowledge(&sent, completion),
            Err(error) if error.kind == IoErrorKind::Gone && !self.drive.is_powered() => Ok(()),
            Err(error) if self.drive.is_worn_out() && may_fail(&sent, error.kind) => {
                self.shadow
                    .failed(sent.first, sent.end.min(self.shadow.len()));
                Ok(())
            }
            Err(error) => Err(error.to_string()),
        };
        self.spare.push(sent.versions);
        outcome
    }

    fn acknowledge(&mut self, sent: &InFlight, completion: &Completion) -> Outcome {
        match sent.op {
            Op::Write => {
                let durable = sent.fua || self.durable_at_once;
                self.shadow
                    .written(sent.first, sent.end, sent.version, durable);
                Ok(())
            }
            Op::Flush => {
                self.shadow.flushed(&sent.versions);
                Ok(())
            }
            Op::Append | Op::Zone(_) => Err("zones have a suite of their own".into()),
            Op::Trim => {
                self.shadow.forgotten(sent.first, sent.end, sent.version);
                Ok(())
            }
            Op::Read => {
                let data = completion.data.as_deref().ok_or("a read without data")?;
                let alone = self.in_flight.is_empty();
                self.shadow
                    .check_read((sent.first, &sent.versions), data, alone)
            }
        }
    }

    /// Collects the requests that the power cut failed, turns the power on, and checks every sector. Cuts the power again
    /// after `cut_again_after` flash operations, unless that is 0.
    pub(crate) fn recover(&mut self, cut_again_after: u64) -> Outcome {
        self.done.cuts += 1;
        self.drive.wait(self.drive.now(), &mut self.completions);
        self.settle()?;
        if !self.in_flight.is_empty() {
            return Err("requests are in flight after a power cut".into());
        }
        let ops = self.drive.counters().flash_ops;
        self.drive.cut_power_after(match cut_again_after {
            0 => u64::MAX,
            after => ops + after,
        });
        self.drive.power_on();
        self.drive.check()?;
        self.look()
    }

    /// Reads every sector, and records its contents as the expected ones.
    fn look(&mut self) -> Outcome {
        let mut first = 0;
        while first < self.sectors() {
            let n = self.back.min(self.sectors() - first);
            self.next_id += 1;
            self.done.read_back += 1;
            let (offset, len) = (first * SECTOR_BYTES, n * SECTOR_BYTES);
            let read = Request::new(self.next_id, Op::Read, offset, len);
            self.drive.submit(read).map_err(|_| "busy".to_owned())?;
            self.drive.wait(Time::MAX, &mut self.completions);
            let [completion] = &std::mem::take(&mut self.completions)[..] else {
                return Err("a read after a power cut never completes".into());
            };
            match completion.result {
                Err(_) if !self.drive.is_powered() => return Ok(()),
                result => result.map_err(|error| format!("after a power cut: {error}"))?,
            }
            let data = completion.data.as_deref().ok_or("a read without data")?;
            self.shadow.restart(first, data)?;
            first += n;
        }
        Ok(())
    }

    /// Reads everything and compares it with the last writes.
    pub(crate) fn verify(&mut self) -> Outcome {
        self.drain()?;
        let mut first = 0;
        while first < self.sectors() && self.drive.is_powered() {
            let n = self.back.min(self.sectors() - first);
            self.done.read_back += 1;
            self.send(Op::Read, (first, n), false)?;
            self.drain()?;
            first += n;
        }
        let counted = self.drive.misplaced_writes();
        if self.done.cuts == 0 && self.handles > 0 && counted != self.misplaced {
            return Err(format!(
                "{counted} writes with an unknown handle, of {}",
                self.misplaced
            ));
        }
        self.drive.check()
    }

    /// Checks that a read-only drive is really worn out: blocks have gone bad, and no more than it needs are left.
    ///
    /// # Errors
    /// Returns the number of blocks left.
    pub(crate) fn check_worn_out(&self) -> Outcome {
        if !self.drive.is_worn_out() {
            return Ok(());
        }
        let g = self.drive.geometry();
        let full = g.cblocks_per_group - g.bad_cblocks_per_group;
        let left = |group| g.cblocks_per_group - self.drive.bad_blocks_of(group) as u32;
        let left: Vec<u32> = (0..g.groups).map(left).collect();
        let least = left.iter().min().copied().unwrap_or(0);
        let is_spent = match self.kind {
            // A power cut loses the room of blocks that were being filled, or brings back data of blocks that were being
            // erased.
            _ if self.done.cuts > 0 => least < full,
            MappingKind::Page | MappingKind::Dftl => {
                let units = g.units_per_cblock - g.units_lost_per_cblock;
                let room = |left: u32| left.saturating_sub(g.reserve_cblocks) * units;
                let all: u32 = left.iter().map(|&left| room(left)).sum();
                // Static striping distributes pages of data and map in turn. A failing erase may be that of the last
                // block that could be erased.
                let pages = (g.logical_units + g.map_units).div_ceil(g.units_per_cpage);
                let share = pages.div_ceil(g.groups) * g.units_per_cpage;
                room(least) < share.max(g.data_cblocks_per_group() * g.units_per_cblock)
                    || least + 2 <= full
                    || all < g.logical_units + g.map_units
            }
            _ => least < g.data_cblocks_per_group() + self.logs + g.reserve_cblocks,
        };
        if is_spent {
            return Ok(());
        }
        Err(format!(
            "worn out, with {left:?} of {full} blocks left in its groups"
        ))
    }

    /// Returns the counts, at the end of a run.
    pub(crate) fn counts(&self) -> Done {
        Done {
            flash_ops: self.drive.counters().flash_ops,
            worn_out: u64::from(self.drive.is_worn_out()),
            ..self.done
        }
    }
}

/// Returns true if a read-only drive may fail this request: it accepts no write and no TRIM, and makes nothing durable.
fn may_fail(sent: &InFlight, kind: IoErrorKind) -> bool {
    sent.op != Op::Read && matches!(kind, IoErrorKind::ReadOnly | IoErrorKind::Medium)
}
