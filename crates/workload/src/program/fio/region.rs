//! What a process of a job works on, once the drive is known.

use super::choices::Amount;
use super::error::{FioError, Problem};
use super::job::Job;
use super::lengths::Lengths;
use fathom_block::Op;

/// The part of the drive that one process of a job works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its first byte.
    pub offset: u64,
    /// Its length, in bytes: what one pass covers.
    pub size: u64,
    /// Whether it is the whole drive.
    pub whole: bool,
    /// How many bytes the process moves before it ends; without a bound where the job is `time_based`.
    pub io_bytes: Option<u64>,
}

impl Region {
    /// The first byte behind it.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}

/// So much of a whole, rounded down.
fn share(amount: Amount, whole: u64) -> u64 {
    match amount {
        Amount::Bytes(bytes) => bytes,
        Amount::Percent(percent) => (u128::from(whole) * u128::from(percent) / 100) as u64,
    }
}

impl Job {
    /// The regions of its processes on a drive of `capacity` bytes whose logical block has `logical_block` bytes.
    ///
    /// # Errors
    /// [`Problem::Target`] where the job and the drive do not go together.
    pub fn resolve(&self, capacity: u64, logical_block: u64) -> Result<Vec<Region>, FioError> {
        let target = |what: String| FioError {
            line: None,
            job: Some(self.name.clone()),
            problem: Problem::Target { what },
        };
        self.check_blocks(logical_block).map_err(target)?;
        (0..u64::from(self.numjobs))
            .map(|clone| {
                self.region(clone, capacity)
                    .and_then(|region| self.check_region(region, capacity, logical_block))
                    .map_err(target)
            })
            .collect()
    }

    /// Blocks and their places must be whole logical blocks.
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

    fn region(&self, clone: u64, capacity: u64) -> Result<Region, String> {
        let ops = self.rw.ops();
        let smallest = ops.iter().map(|&op| self.shortest(op)).min().unwrap_or(1);
        // Percentages are rounded up to the next smallest block, as in fio.
        let place = |amount: Amount| {
            let bytes = share(amount, capacity);
            match amount {
                Amount::Bytes(_) => Some(bytes),
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
            Some(Amount::Bytes(size)) => size,
            Some(percent) => share(percent, capacity).min(room),
        };
        let size = size - size % smallest;
        if size > room {
            return Err(format!(
                "process {clone} would end behind the end of the drive, {capacity} bytes: `size` is {size}, and from \
                 its `offset`, {offset}, there are {room}"
            ));
        }
        let per_loop = self.area.io_size.unwrap_or(size);
        let io_bytes = (!self.ends.time_based).then(|| per_loop.saturating_mul(self.ends.loops));
        Ok(Region {
            offset,
            size,
            whole: size == capacity,
            io_bytes,
        })
    }

    fn check_region(
        &self,
        region: Region,
        capacity: u64,
        logical_block: u64,
    ) -> Result<Region, String> {
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
