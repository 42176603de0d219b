//! What every sector of a drive may hold, from what was asked of it and what it acknowledged.
//!
//! Every write and every TRIM has a version, in order of submission; the bytes of a sector say which sector and which
//! version they are. A read gives exactly what was submitted last before it: TRIM forgets whole mapped units, which
//! read as zero, and leaves the rest as it is. After a power cut a sector holds the last version that was durable, or a
//! later one that was submitted. TRIM is kept in memory only, so that a sector that was trimmed may then hold any
//! version that it ever had, or read as zero. A write that failed leaves what was there or itself.

use fathom_base::SECTOR_BYTES;

const SECTOR: usize = SECTOR_BYTES as usize;

/// A write or a TRIM, in sectors.
#[derive(Clone, Copy, Debug)]
struct Change {
    first: u32,
    end: u32,
    trim: bool,
}

/// What one sector may hold, by version; 0 is that of a new drive, which reads as zero.
#[derive(Clone, Copy, Debug, Default)]
struct Sector {
    /// What a read gives.
    now: u32,
    /// The change before it failed: a read may give anything from `acknowledged` on.
    doubtful: bool,
    /// The last change that is complete.
    acknowledged: u32,
    /// The last write that a power cut may not take.
    durable: u32,
    /// Later versions than this may be found in its place.
    since: u32,
    /// The last TRIM.
    trimmed: u32,
}

/// The shadow of a drive.
#[derive(Clone, Debug)]
pub(crate) struct Shadow {
    sectors: Vec<Sector>,
    changes: Vec<Change>,
    sectors_per_unit: u64,
}

/// The bytes of sectors from `first` on, as `version` writes them.
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

/// The version that a sector's bytes say, 0 for zeros.
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

impl Shadow {
    /// The shadow of a new drive.
    pub(crate) fn new(sectors: u64, sectors_per_unit: u64) -> Self {
        Self {
            sectors: vec![Sector::default(); sectors as usize],
            changes: Vec::new(),
            sectors_per_unit,
        }
    }

    /// Sectors of the drive.
    pub(crate) fn len(&self) -> u64 {
        self.sectors.len() as u64
    }

    /// The last version.
    fn last(&self) -> u32 {
        self.changes.len() as u32
    }

    fn slice(&mut self, first: u64, end: u64) -> &mut [Sector] {
        &mut self.sectors[first as usize..end as usize]
    }

    /// A write is submitted: its version.
    pub(crate) fn write(&mut self, first: u64, end: u64) -> u32 {
        let (start, stop) = (first as u32, end as u32);
        self.changes.push(Change {
            first: start,
            end: stop,
            trim: false,
        });
        let version = self.last();
        for sector in self.slice(first, end) {
            (sector.now, sector.doubtful) = (version, false);
        }
        version
    }

    /// A TRIM is submitted: the whole units that it forgets, and its version.
    pub(crate) fn trim(&mut self, first: u64, end: u64) -> (u64, u64, u32) {
        let per_unit = self.sectors_per_unit;
        let first = first.div_ceil(per_unit) * per_unit;
        let end = (end / per_unit * per_unit).max(first);
        self.changes.push(Change {
            first: first as u32,
            end: end as u32,
            trim: true,
        });
        let version = self.last();
        for sector in self.slice(first, end.min(self.len())) {
            (sector.now, sector.doubtful, sector.trimmed) = (version, false, version);
        }
        (first, end, version)
    }

    /// What a read that is submitted now must give.
    pub(crate) fn expected(&self, first: u64, end: u64, into: &mut Vec<u32>) {
        let sectors = &self.sectors[first as usize..end as usize];
        into.clear();
        into.extend(sectors.iter().map(|sector| sector.now));
    }

    /// The last complete change of every sector: what a flush that is submitted now makes durable.
    pub(crate) fn acknowledged(&self, into: &mut Vec<u32>) {
        into.clear();
        into.extend(self.sectors.iter().map(|sector| sector.acknowledged));
    }

    /// A write is complete.
    pub(crate) fn written(&mut self, first: u64, end: u64, version: u32, durable: bool) {
        for sector in self.slice(first, end) {
            sector.acknowledged = sector.acknowledged.max(version);
            if durable {
                sector.keep(version);
            }
        }
    }

    /// A TRIM is complete.
    pub(crate) fn forgotten(&mut self, first: u64, end: u64, version: u32) {
        for sector in self.slice(first, end) {
            sector.acknowledged = sector.acknowledged.max(version);
        }
    }

    /// A flush is complete that was submitted when `acknowledged` was so.
    pub(crate) fn flushed(&mut self, acknowledged: &[u32]) {
        for (sector, &version) in self.sectors.iter_mut().zip(acknowledged) {
            if version > sector.durable && !self.changes[version as usize - 1].trim {
                sector.keep(version);
            }
        }
    }

    /// A write or a TRIM has failed; it may have been done in part.
    pub(crate) fn failed(&mut self, first: u64, end: u64) {
        for sector in self.slice(first, end) {
            sector.doubtful = true;
        }
    }

    /// What a version reads as.
    fn shown(&self, version: u32) -> u32 {
        match version.checked_sub(1) {
            Some(index) if !self.changes[index as usize].trim => version,
            _ => 0,
        }
    }

    /// Whether a version was ever written to a sector.
    fn was_written(&self, sector: u64, version: u32) -> bool {
        let change = version
            .checked_sub(1)
            .and_then(|index| self.changes.get(index as usize));
        change.is_some_and(|change| {
            !change.trim && (u64::from(change.first)..u64::from(change.end)).contains(&sector)
        })
    }

    /// Looks at what a read gave, of which `expected` was asked. One that was `alone` settles what was in doubt.
    ///
    /// # Errors
    /// The sector, and what it holds.
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
            // A TRIM that failed may have been done.
            let zeroed = found == 0 && sector.trimmed > sector.acknowledged;
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

    /// Looks at what the sectors from `first` on hold after a power cut; from now on they must hold that.
    ///
    /// # Errors
    /// The sector, and what it holds.
    pub(crate) fn restart(&mut self, first: u64, data: &[u8]) -> Result<(), String> {
        let last = self.last();
        for (number, bytes) in (first..).zip(data.chunks_exact(SECTOR)) {
            let found = version_of(number, bytes)?;
            let sector = self.sectors[number as usize];
            let durable = found == self.shown(sector.durable);
            let written = self.was_written(number, found);
            let later = written && found > sector.since;
            let trimmed = sector.trimmed > sector.durable && (found == 0 || written);
            if !(durable || later || trimmed) {
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
