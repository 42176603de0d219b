//! The part of a drive that a process of a job works on.

use super::choices::Amount;
use super::error::{FioError, Problem};
use super::job::Job;
use super::lengths::Lengths;
use fathom_block::{DeviceInfo, Op};

/// The part of the drive that one process of a job works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Offset of its first byte.
    pub offset: u64,
    /// Its length, in bytes; a pass covers it once.
    pub size: u64,
    /// True if it is the whole drive.
    pub whole: bool,
    /// Number of bytes that the process transfers before it ends; `None` for no limit, if the job is `time_based`.
    pub io_bytes: Option<u64>,
}

impl Region {
    /// Returns the offset of the first byte after it.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}

/// Returns the amount in bytes; percentages are taken of the capacity and rounded down.
fn share(amount: Amount, drive: &DeviceInfo) -> u64 {
    match amount {
        Amount::Bytes(bytes) => bytes,
        Amount::Percent(percent) => {
            (u128::from(drive.capacity_bytes) * u128::from(percent) / 100) as u64
        }
        Amount::Zones(zones) => {
            let zone_bytes = drive.zoned.map_or(0, |zoned| zoned.zone_bytes);
            zone_bytes.saturating_mul(zones.into())
        }
    }
}

impl Job {
    /// Returns the regions of the job's processes on a drive.
    ///
    /// # Errors
    /// [`Problem::Target`] if the job does not fit the drive.
    pub fn resolve(&self, drive: &DeviceInfo) -> Result<Vec<Region>, FioError> {
        let logical_block = u64::from(drive.logical_block_bytes);
        let target = |what: String| FioError {
            line: None,
            job: Some(self.name.clone()),
            problem: Problem::Target { what },
        };
        self.check_blocks(logical_block).map_err(target)?;
        if self.zones.zbd {
            self.check_zones(drive).map_err(target)?;
        }
        (0..u64::from(self.numjobs))
            .map(|clone| {
                self.region(clone, drive)
                    .and_then(|region| self.check_region(region, drive))
                    .map_err(target)
            })
            .collect()
    }

    /// Checks that lengths and alignments are multiples of the logical block.
    fn check_blocks(&self, logical_block: u64) -> Result<(), String> {
        for &op in self.rw.ops() {
            let align = Lengths::one(self.align(op)).odd(logical_block);
            if let Some(bytes) = self.lengths(op).odd(logical_block).or(align) {
                return Err(format!(
                    "{op}s of {bytes} bytes, or at multiples of them, are no multiples of the drive's logical block, \
                     {logical_block} bytes"
                ));
            }
        }
        if !self.order.rw_skip.is_multiple_of(logical_block.max(1)) {
            return Err(format!(
                "`rw={}:{}` leaves out no multiple of the drive's logical block, {logical_block} bytes",
                self.rw, self.order.rw_skip
            ));
        }
        Ok(())
    }

    fn region(&self, clone: u64, drive: &DeviceInfo) -> Result<Region, String> {
        let capacity = drive.capacity_bytes;
        let ops = self.rw.ops();
        let smallest = ops.iter().map(|&op| self.shortest(op)).min().unwrap_or(1);
        // As in fio, offsets in percent are rounded up to a multiple of the smallest block.
        let place = |amount: Amount| {
            let bytes = share(amount, drive);
            match amount {
                Amount::Bytes(_) | Amount::Zones(_) => Some(bytes),
                Amount::Percent(_) => bytes.checked_next_multiple_of(smallest),
            }
        };
        let offset = place(self.area.offset_increment)
            .and_then(|step| step.checked_mul(clone))
            .and_then(|moved| moved.checked_add(place(self.area.offset)?))
            .filter(|&offset| offset < capacity)
            .ok_or_else(|| {
                format!("process {clone} would begin behind the end of the drive, {capacity} bytes: make `offset` or \
                         `offset_increment` smaller")
            })?;
        let room = capacity - offset;
        let size = match self.area.size {
            None => room,
            Some(Amount::Percent(percent)) => share(Amount::Percent(percent), drive).min(room),
            Some(size) => share(size, drive),
        };
        let asked = size;
        let size = match self.zones.zbd {
            true => size,
            false => size - size % smallest,
        };
        if size == 0 && asked > 0 {
            return Err(format!(
                "`size` is {asked} bytes, less than the smallest block, {smallest} bytes"
            ));
        }
        if size > room {
            return Err(format!(
                "process {clone} would end behind the end of the drive, {capacity} bytes: `size` is {size}, and from \
                 its `offset`, {offset}, there are {room}"
            ));
        }
        let (offset, size) = self.whole_zones(offset, size, drive)?;
        let per_loop = self.area.io_size.unwrap_or(size);
        let io_bytes = (!self.ends.time_based).then(|| per_loop.saturating_mul(self.ends.loops));
        Ok(Region {
            offset,
            size,
            whole: size == capacity,
            io_bytes,
        })
    }

    fn check_region(&self, region: Region, drive: &DeviceInfo) -> Result<Region, String> {
        let capacity = drive.capacity_bytes;
        let logical_block = u64::from(drive.logical_block_bytes);
        if !region.offset.is_multiple_of(logical_block.max(1)) {
            return Err(format!(
                "`offset` comes to {}, no multiple of the drive's logical block, {logical_block} bytes",
                region.offset
            ));
        }
        let longest = |op: &Op| self.lengths(*op).longest();
        for op in self.rw.ops() {
            if longest(op) > region.size {
                return Err(format!(
                    "{op}s of {} bytes do not fit into a `size` of {} bytes on a drive of {capacity} bytes",
                    longest(op),
                    region.size
                ));
            }
        }
        Ok(region)
    }
}
