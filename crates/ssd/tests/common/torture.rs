//! Random requests, power cuts, and a shadow that knows what each sector may hold afterwards.
//!
//! Every write has a version; every sector's bytes say which sector and which version it is. After a cut a
//! sector holds the last version that was durable, or a later one that was submitted. What was trimmed may come
//! back as any version that it ever had, or read as zero.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::{Rng, SECTOR_BYTES, Time};
use fathom_block::{Completion, Device, IoErrorKind, Op, Request};
use fathom_ssd::{Spec, Ssd};
use std::collections::BTreeMap;

/// What one sector may hold.
#[derive(Clone, Debug, Default)]
struct Sector {
    /// Every version that was submitted, and 0 where nothing may be there.
    versions: Vec<u64>,
    /// What a read gives now; `None` after a trim.
    now: Option<u64>,
    /// The last version whose write is complete.
    acknowledged: u64,
    /// The last version that a power cut may not take.
    durable: u64,
    /// The last version before the last trim.
    trimmed: u64,
}

struct InFlight {
    op: Op,
    first: u64,
    end: u64,
    version: u64,
    fua: bool,
    /// For a read: what each sector may hold. For a flush: what it makes durable.
    sectors: Vec<(u64, Vec<u64>)>,
}

/// A drive and its shadow.
pub(crate) struct Torture {
    pub(crate) drive: Ssd,
    shadow: Vec<Sector>,
    in_flight: BTreeMap<u64, InFlight>,
    next_id: u64,
    version: u64,
    sequential: u64,
    durable_at_once: bool,
    rng: Rng,
    done: Vec<Completion>,
}

type Outcome = Result<(), String>;

fn bytes_of(sector: u64, version: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < SECTOR_BYTES as usize {
        bytes.extend(sector.to_le_bytes());
        bytes.extend(version.to_le_bytes());
    }
    bytes
}

/// The version that a sector's bytes say, 0 for zeros.
fn version_of(sector: u64, bytes: &[u8]) -> Result<u64, String> {
    if bytes.iter().all(|&b| b == 0) {
        return Ok(0);
    }
    let version = u64::from_le_bytes(bytes[8..16].try_into().unwrap());
    if bytes != bytes_of(sector, version) {
        let other = u64::from_le_bytes(bytes[..8].try_into().unwrap());
        return Err(format!(
            "sector {sector} holds version {version} of {other}, or a mixture"
        ));
    }
    Ok(version)
}

impl Torture {
    pub(crate) fn new(spec: &Spec, seed: u64) -> Self {
        let drive = Ssd::new(spec, seed).unwrap().keep_data();
        let sectors = spec.capacity.0 / SECTOR_BYTES;
        let fresh = Sector {
            now: Some(0),
            ..Sector::default()
        };
        Self {
            drive,
            shadow: vec![fresh; sectors as usize],
            in_flight: BTreeMap::new(),
            next_id: 0,
            version: 0,
            sequential: 0,
            durable_at_once: spec.write_buffer.as_ref().is_none_or(|b| b.battery),
            rng: Rng::new(seed, 100),
            done: Vec::new(),
        }
    }

    fn sectors(&self) -> u64 {
        self.shadow.len() as u64
    }

    /// Sends up to `operations` random requests, up to `depth` at a time; stops early where the power is cut.
    pub(crate) fn work(&mut self, operations: u64, depth: usize) -> Outcome {
        for _ in 0..operations {
            while self.in_flight.len() >= depth && self.drive.is_powered() {
                self.collect()?;
            }
            if !self.drive.is_powered() {
                return Ok(());
            }
            let request = self.draw();
            self.submit(request)?;
            if self.rng.chance(0.05) {
                let until = Time(self.drive.now().0 + self.rng.below(3_000_000));
                self.drive.wait(until, &mut self.done);
                self.settle()?;
            }
        }
        Ok(())
    }

    /// Writes `pieces` of so many sectors each, none of them trimmed: every one of the drive in a random order, and
    /// then any.
    pub(crate) fn fill(&mut self, piece: u64, pieces: u64) -> Outcome {
        let all = self.sectors() / piece;
        let mut order: Vec<u64> = (0..all).collect();
        self.rng.shuffle(&mut order);
        for i in 0..pieces {
            let at = match order.get(i as usize) {
                Some(&at) => at,
                None => self.rng.below(all),
            };
            while self.in_flight.len() >= 8 {
                self.collect()?;
            }
            let (offset, len) = (at * piece * SECTOR_BYTES, piece * SECTOR_BYTES);
            self.submit(Request::new(0, Op::Write, offset, len))?;
        }
        self.drain()
    }

    /// Trims everything; then nothing may be left of it, in the buffer or in flash.
    pub(crate) fn trim_all(&mut self) -> Outcome {
        let len = self.sectors() * SECTOR_BYTES;
        self.submit(Request::new(0, Op::Trim, 0, len))?;
        self.drain()?;
        let later = Time(self.drive.now().0 + 1_000_000_000);
        self.drive.wait(later, &mut self.done);
        let before = self.drive.counters();
        let zero = Sector {
            now: Some(0),
            ..Sector::default()
        };
        self.shadow.fill(zero);
        self.verify()?;
        let after = self.drive.counters();
        // Of a map that lies in flash something may have to be read to know it.
        if after.flash_ops - before.flash_ops > after.map_reads - before.map_reads {
            return Err("what was trimmed is read from flash".into());
        }
        Ok(())
    }

    /// Waits for everything in flight.
    pub(crate) fn drain(&mut self) -> Outcome {
        while !self.in_flight.is_empty() {
            self.collect()?;
        }
        Ok(())
    }

    fn draw(&mut self) -> Request {
        let all = self.sectors();
        let mut longest = if self.rng.chance(0.1) { 64 } else { 9 };
        let mut first = self.rng.below(all);
        let op = match self.rng.below(100) {
            0..4 => return Request::new(0, Op::Flush, 0, 0),
            4..8 => {
                longest = all / 2;
                Op::Trim
            }
            8..25 => Op::Read,
            25..50 => {
                // A stream, most of it whole clustered pages.
                first = self.sequential % all;
                longest = 16;
                Op::Write
            }
            50..65 => {
                first = self.rng.below(all / 8);
                Op::Write
            }
            _ => Op::Write,
        };
        let mut n = 1 + self.rng.below(longest.min(all - first));
        if longest == 16 {
            n = 16.min(all - first);
            self.sequential = first + n;
        }
        let mut request = Request::new(0, op, first * SECTOR_BYTES, n * SECTOR_BYTES);
        request.tag.fua = op == Op::Write && self.rng.chance(0.05);
        request
    }

    fn submit(&mut self, mut request: Request) -> Outcome {
        self.next_id += 1;
        request.id.0 = self.next_id;
        let first = request.offset / SECTOR_BYTES;
        let end = first + request.len / SECTOR_BYTES;
        let mut sectors = Vec::new();
        match request.op {
            Op::Write => {
                self.version += 1;
                let bytes = (first..end).flat_map(|s| bytes_of(s, self.version));
                request.data = Some(bytes.collect());
                for sector in &mut self.shadow[first as usize..end as usize] {
                    sector.versions.push(self.version);
                    sector.now = Some(self.version);
                }
            }
            Op::Trim => {
                for sector in &mut self.shadow[first as usize..end as usize] {
                    (sector.now, sector.durable) = (None, 0);
                    sector.trimmed = self.version;
                }
            }
            Op::Read => {
                sectors.extend((first..end).map(|s| (s, self.shadow[s as usize].may_hold())));
            }
            Op::Flush => {
                let acknowledged = |(s, sector): (usize, &Sector)| {
                    (sector.acknowledged > sector.durable)
                        .then(|| (s as u64, vec![sector.acknowledged]))
                };
                sectors.extend(self.shadow.iter().enumerate().filter_map(acknowledged));
            }
        }
        let sent = InFlight {
            op: request.op,
            first,
            end,
            version: self.version,
            fua: request.tag.fua,
            sectors,
        };
        self.in_flight.insert(self.next_id, sent);
        self.drive.submit(request).map_err(|_| "busy".to_owned())
    }

    fn collect(&mut self) -> Outcome {
        self.drive.wait(Time::MAX, &mut self.done);
        if self.done.is_empty() {
            let stuck: Vec<String> = (self.in_flight.values())
                .map(|r| format!("{} {}..{}", r.op, r.first, r.end))
                .collect();
            return Err(format!("never complete: {}", stuck.join(", ")));
        }
        self.settle()
    }

    fn settle(&mut self) -> Outcome {
        for completion in std::mem::take(&mut self.done) {
            let id = completion.id.0;
            let sent = self
                .in_flight
                .remove(&id)
                .ok_or(format!("{id} twice or never sent"))?;
            match completion.result {
                Ok(()) => self.acknowledge(&sent, &completion)?,
                Err(error) if error.kind == IoErrorKind::Gone && !self.drive.is_powered() => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(())
    }

    fn acknowledge(&mut self, sent: &InFlight, completion: &Completion) -> Outcome {
        match sent.op {
            Op::Write => {
                for sector in &mut self.shadow[sent.first as usize..sent.end as usize] {
                    sector.acknowledged = sector.acknowledged.max(sent.version);
                    if sent.fua || self.durable_at_once {
                        sector.keep(sent.version);
                    }
                }
            }
            Op::Flush => {
                for (sector, versions) in &sent.sectors {
                    self.shadow[*sector as usize].keep(versions[0]);
                }
            }
            Op::Read => {
                let data = completion.data.as_deref().ok_or("a read without data")?;
                for ((sector, may), bytes) in sent.sectors.iter().zip(data.chunks(512)) {
                    let version = version_of(*sector, bytes)?;
                    if !may.contains(&version) {
                        return Err(format!(
                            "sector {sector} reads version {version}, not one of {may:?}"
                        ));
                    }
                }
            }
            Op::Trim => {}
        }
        Ok(())
    }

    /// Collects what was cut off, turns the power on, and looks at every sector.
    pub(crate) fn recover(&mut self) -> Outcome {
        self.drive.wait(self.drive.now(), &mut self.done);
        self.settle()?;
        if !self.in_flight.is_empty() {
            return Err("requests in flight after a power cut".into());
        }
        self.drive.power_on();
        self.drive.check()?;
        self.look()
    }

    /// Reads every sector, and takes what it holds for what it must hold from now on.
    fn look(&mut self) -> Outcome {
        let mut first = 0;
        while first < self.sectors() {
            let n = (1 + self.rng.below(40)).min(self.sectors() - first);
            self.next_id += 1;
            let read = Request::new(
                self.next_id,
                Op::Read,
                first * SECTOR_BYTES,
                n * SECTOR_BYTES,
            );
            self.drive.submit(read).map_err(|_| "busy".to_owned())?;
            self.drive.wait(Time::MAX, &mut self.done);
            let [completion] = &std::mem::take(&mut self.done)[..] else {
                return Err("a read after a power cut never completes".into());
            };
            if completion.result.is_err() && !self.drive.is_powered() {
                return Ok(());
            }
            let data = completion.data.as_deref().ok_or("a read without data")?;
            for (sector, bytes) in (first..).zip(data.chunks(512)) {
                let version = version_of(sector, bytes)?;
                let shadow = &mut self.shadow[sector as usize];
                shadow
                    .restart(version)
                    .map_err(|why| format!("sector {sector}: {why}"))?;
            }
            first += n;
        }
        Ok(())
    }

    /// Reads everything and compares it with what was written last.
    pub(crate) fn verify(&mut self) -> Outcome {
        self.drain()?;
        for first in (0..self.sectors()).step_by(8) {
            let n = 8.min(self.sectors() - first);
            self.submit(Request::new(
                0,
                Op::Read,
                first * SECTOR_BYTES,
                n * SECTOR_BYTES,
            ))?;
            self.drain()?;
        }
        self.drive.check()
    }
}

impl Sector {
    fn may_hold(&self) -> Vec<u64> {
        match self.now {
            Some(version) => vec![version],
            None => [0].into_iter().chain(self.versions.clone()).collect(),
        }
    }

    fn keep(&mut self, version: u64) {
        if version > self.trimmed {
            self.durable = self.durable.max(version);
        }
    }

    /// After a power cut the sector holds this.
    fn restart(&mut self, version: u64) -> Outcome {
        if version < self.durable {
            return Err(format!(
                "holds version {version}, and version {} was durable",
                self.durable
            ));
        }
        if version > 0 && !self.versions.contains(&version) {
            return Err(format!("version {version} was never written to it"));
        }
        if version > 0 || self.trimmed == 0 {
            self.versions.retain(|&v| v <= version);
        }
        (self.now, self.durable, self.acknowledged) = (Some(version), version, version);
        Ok(())
    }
}
