//! The allowed contents of every sector of a drive, derived from the requests and completions.
//!
//! Every write and every TRIM has a version, in order of submission. The bytes of a sector contain its number and the
//! version. A read returns exactly the last change submitted before it. TRIM unmaps whole mapped units, which then read
//! as zero, and leaves the rest unchanged. After a power cut a sector holds the last durable version or a later one that
//! was submitted. TRIM is kept in memory only, so a trimmed sector may then hold any version that it ever had, or zeros.
//! A write of zeros reads as zero, but is as durable as any other write. After a failed write the old content or the new one remains.

use fathom_base::SECTOR_BYTES;

const SECTOR: usize = SECTOR_BYTES as usize;

/// A write or a TRIM; range in sectors.
#[derive(Clone, Copy, Debug)]
struct Change {
    first: u32,
    end: u32,
    trim: bool,
    zero: bool,
}

/// The allowed versions of one sector; version 0 is the initial state, which reads as zero.
#[derive(Clone, Copy, Debug, Default)]
struct Sector {
    /// Version that a read returns.
    now: u32,
    /// True if the last change failed: a read may return any version from `acknowledged` on.
    doubtful: bool,
    /// The last completed change.
    acknowledged: u32,
    /// The last write that must survive a power cut.
    durable: u32,
    /// Later versions than this may be found in place of `durable`.
    since: u32,
    /// The last TRIM.
    trimmed: u32,
    /// The last write of zeros.
    zeroed: u32,
}

/// The shadow of a drive.
#[derive(Clone, Debug)]
pub(crate) struct Shadow {
    sectors: Vec<Sector>,
    changes: Vec<Change>,
    sectors_per_unit: u64,
}

/// Returns the bytes that `version` writes to sectors from `first` on.
pub(crate) fn bytes_of(first: u64, sectors: u64, version: u32) -> Box<[u8]> {
    let mut bytes = vec![0; sectors as usize * SECTOR];
    for (sector, chunk) in (first..).zip(bytes.chunks_exact_mut(SECTOR)) {
        let mut pattern = [0; 16];
        pattern[..8].copy_from_slice(&sector.to_le_bytes());
        pattern[8..].copy_from_slice(&u64::from(version).to_le_bytes());
        for part in chunk.chunks_exact_mut(16) {
            part.copy_from_slice(&pattern);
        }
    }
    bytes.into_boxed_slice()
}

/// Returns the version encoded in the bytes of a sector, 0 for zeros.
fn version_of(sector: u64, bytes: &[u8]) -> Result<u32, String> {
    let (head, rest) = bytes.split_at(16);
    let word = |at: usize| {
        head[at..at + 8]
            .iter()
            .rev()
            .fold(0, |n, &b| n << 8 | u64::from(b))
    };
    let (whose, version) = (word(0), word(8));
    let alike = rest == &bytes[..bytes.len() - 16];
    match (alike, whose, version) {
        (true, 0, 0) => Ok(0),
        (true, whose, version) if whose == sector && version > 0 => Ok(version as u32),
        _ => Err(format!(
            "sector {sector} holds version {version} of {whose}, or a mixture"
        )),
    }
}

impl Change {
    fn reads_as_zero(self) -> bool {
        self.trim || self.zero
    }
}

impl Shadow {
    /// Creates the shadow of a new drive.
    pub(crate) fn new(sectors: u64, sectors_per_unit: u64) -> Self {
        Self {
            sectors: vec![Sector::default(); sectors as usize],
            changes: Vec::new(),
            sectors_per_unit,
        }
    }

    /// Returns the number of sectors of the drive.
    pub(crate) fn len(&self) -> u64 {
        self.sectors.len() as u64
    }

    /// Returns the last version.
    fn last(&self) -> u32 {
        self.changes.len() as u32
    }

    fn slice(&mut self, first: u64, end: u64) -> &mut [Sector] {
        &mut self.sectors[first as usize..end as usize]
    }

    /// Records the submission of a write, of zeros if `zero`. Returns its version.
    pub(crate) fn write(&mut self, first: u64, end: u64, zero: bool) -> u32 {
        let (start, stop) = (first as u32, end as u32);
        self.changes.push(Change {
            first: start,
            end: stop,
            trim: false,
            zero,
        });
        let version = self.last();
        for sector in self.slice(first, end) {
            (sector.now, sector.doubtful) = (version, false);
            if zero {
                sector.zeroed = version;
            }
        }
        version
    }

    /// Records the submission of a TRIM. Returns the range of whole units that it unmaps, and its version.
    pub(crate) fn trim(&mut self, first: u64, end: u64) -> (u64, u64, u32) {
        let per_unit = self.sectors_per_unit;
        let first = first.div_ceil(per_unit) * per_unit;
        let end = (end / per_unit * per_unit).max(first);
        self.changes.push(Change {
            first: first as u32,
            end: end as u32,
            trim: true,
            zero: false,
        });
        let version = self.last();
        for sector in self.slice(first, end.min(self.len())) {
            (sector.now, sector.doubtful, sector.trimmed) = (version, false, version);
        }
        (first, end, version)
    }

    /// Returns the versions that a read submitted now must return.
    pub(crate) fn expected(&self, first: u64, end: u64, into: &mut Vec<u32>) {
        let sectors = &self.sectors[first as usize..end as usize];
        into.clear();
        into.extend(sectors.iter().map(|sector| sector.now));
    }

    /// Returns the last completed change of every sector: a flush submitted now makes these durable.
    pub(crate) fn acknowledged(&self, into: &mut Vec<u32>) {
        into.clear();
        into.extend(self.sectors.iter().map(|sector| sector.acknowledged));
    }

    /// Records the completion of a write.
    pub(crate) fn written(&mut self, first: u64, end: u64, version: u32, durable: bool) {
        for sector in self.slice(first, end) {
            sector.acknowledged = sector.acknowledged.max(version);
            if durable {
                sector.keep(version);
            }
        }
    }

    /// Records the completion of a TRIM.
    pub(crate) fn forgotten(&mut self, first: u64, end: u64, version: u32) {
        for sector in self.slice(first, end) {
            sector.acknowledged = sector.acknowledged.max(version);
        }
    }

    /// Records the completion of a flush that was submitted when `acknowledged` was current.
    pub(crate) fn flushed(&mut self, acknowledged: &[u32]) {
        for (sector, &version) in self.sectors.iter_mut().zip(acknowledged) {
            if version > sector.durable && !self.changes[version as usize - 1].trim {
                sector.keep(version);
            }
        }
    }

    /// Records the failure of a write or a TRIM, which may have been executed in part.
    pub(crate) fn failed(&mut self, first: u64, end: u64) {
        for sector in self.slice(first, end) {
            sector.doubtful = true;
        }
    }

    /// Returns the version as which a version reads: 0 for a TRIM and for zeros.
    fn shown(&self, version: u32) -> u32 {
        match version.checked_sub(1) {
            Some(index) if !self.changes[index as usize].reads_as_zero() => version,
            _ => 0,
        }
    }

    /// Returns true if a version was written to a sector.
    fn was_written(&self, sector: u64, version: u32) -> bool {
        let change = version
            .checked_sub(1)
            .and_then(|index| self.changes.get(index as usize));
        change.is_some_and(|change| {
            !change.reads_as_zero()
                && (u64::from(change.first)..u64::from(change.end)).contains(&sector)
        })
    }

    /// Checks the data of a read against the `expected` versions. A read that was `alone` resolves doubtful sectors.
    ///
    /// # Errors
    /// Returns the sector and its contents.
    pub(crate) fn check_read(
        &mut self,
        (first, expected): (u64, &[u32]),
        data: &[u8],
        alone: bool,
    ) -> Result<(), String> {
        for ((number, &version), bytes) in (first..).zip(expected).zip(data.chunks_exact(SECTOR)) {
            let found = version_of(number, bytes)?;
            let wanted = self.shown(version);
            if found == wanted {
                continue;
            }
            let sector = self.sectors[number as usize];
            let before = self.shown(sector.acknowledged);
            let later = found > sector.acknowledged && self.was_written(number, found);
            // A failed TRIM may have been executed, and so may a failed write of zeros.
            let zero = sector.trimmed.max(sector.zeroed);
            let zeroed = found == 0 && zero > sector.acknowledged;
            if !sector.doubtful || !(found == before || later || zeroed) {
                return Err(format!(
                    "sector {number} reads as version {found} and should as {wanted}"
                ));
            }
            if alone {
                let sector = &mut self.sectors[number as usize];
                (sector.now, sector.acknowledged, sector.doubtful) = (found, found, false);
            }
        }
        Ok(())
    }

    /// Checks the contents of the sectors from `first` on after a power cut. These are the expected contents from then
    /// on.
    ///
    /// # Errors
    /// Returns the sector and its contents.
    pub(crate) fn restart(&mut self, first: u64, data: &[u8]) -> Result<(), String> {
        let last = self.last();
        for (number, bytes) in (first..).zip(data.chunks_exact(SECTOR)) {
            let found = version_of(number, bytes)?;
            let sector = self.sectors[number as usize];
            let durable = found == self.shown(sector.durable);
            let written = self.was_written(number, found);
            let later = written && found > sector.since;
            let trimmed = sector.trimmed > sector.durable && (found == 0 || written);
            let zeroed = found == 0 && sector.zeroed > sector.since;
            if !(durable || later || trimmed || zeroed) {
                return Err(format!(
                    "sector {number} holds version {found}, and version {} was durable",
                    sector.durable
                ));
            }
            self.sectors[number as usize] = Sector {
                now: found,
                doubtful: false,
                acknowledged: found,
                durable: found,
                since: last,
                trimmed: 0,
                zeroed: 0,
            };
        }
        Ok(())
    }
}

impl Sector {
    fn keep(&mut self, version: u32) {
        if version > self.durable {
            self.durable = version;
            self.since = self.since.max(version);
        }
    }
}
