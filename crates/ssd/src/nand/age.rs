//! The age of data and the wear of blocks, which make a read more likely to be repeated (`[faults]`).
//!
//! The raw bit error rate of flash grows with the program and erase cycles of a block and with the time since its data was
//! programmed (Cai et al., "Error characterization, mitigation, and recovery in flash-memory-based solid-state drives",
//! Proceedings of the IEEE 105(9), 2017, sections III.A and III.D). The controller repeats a read with other thresholds until
//! the errors can be corrected (section IV.D there). The temperature speeds both up (Luo et al., "HeatWatch", HPCA 2018);
//! that is not modelled. The probability of each repetition is linear in both, `read_retry + cycles / 1000 *
//! read_retry_per_1000_cycles + days * read_retry_per_day`, at most 1: simple, monotonic, and enough to tell an old and worn
//! drive from a new one. The time of a whole clustered block is that of its first program since its last erase.

use crate::geometry::Geometry;
use crate::spec::Faults;
use fathom_base::Time;

const DAY_NS: f64 = 86_400.0 * 1e9;

#[derive(Clone, Debug)]
pub(crate) struct Age {
    repeats: bool,
    always: f64,
    per_cycle: f64,
    per_day: f64,
    cycles_at_start: f64,
    days_at_start: f64,
    cpages_per_cblock: u32,
    /// Erases of each clustered block; empty if its wear does not matter.
    erases: Vec<u32>,
    /// Day of the first program of each clustered block since its last erase, infinite for an erased block; empty if the age
    /// of data does not matter.
    born: Vec<f64>,
}

impl Age {
    pub(super) fn new(faults: &Faults, g: &Geometry) -> Self {
        let blocks = |counts: bool| if counts { g.cblocks() as usize } else { 0 };
        Self {
            repeats: faults.repeat_reads(),
            always: faults.read_retry,
            per_cycle: faults.read_retry_per_1000_cycles / 1000.0,
            per_day: faults.read_retry_per_day,
            cycles_at_start: f64::from(faults.age_cycles),
            days_at_start: faults.age_days,
            cpages_per_cblock: g.cpages_per_cblock,
            erases: vec![0; blocks(faults.read_retry_per_1000_cycles > 0.0)],
            born: vec![f64::INFINITY; blocks(faults.read_retry_per_day > 0.0)],
        }
    }

    /// Returns true if reads of different places differ.
    #[inline]
    pub(crate) fn matters(&self) -> bool {
        !(self.erases.is_empty() && self.born.is_empty())
    }

    /// Returns true if a read may be repeated.
    pub(super) fn repeats(&self) -> bool {
        self.repeats
    }

    /// Returns the probability that a read of a clustered page must be repeated.
    #[inline]
    pub(super) fn retry(&self, cpage: u32, now: Time) -> f64 {
        if !self.matters() {
            return self.always;
        }
        let cblock = (cpage / self.cpages_per_cblock) as usize;
        let erases = self.erases.get(cblock).copied().unwrap_or(0);
        let cycles = self.cycles_at_start + f64::from(erases);
        let born = self.born.get(cblock).copied().unwrap_or(f64::INFINITY);
        let days = (now.0 as f64 / DAY_NS - born).max(0.0);
        (self.always + self.per_cycle * cycles + self.per_day * days).min(1.0)
    }

    /// Notes an erase of a clustered block.
    pub(crate) fn erased(&mut self, cblock: u32) {
        if let Some(erases) = self.erases.get_mut(cblock as usize) {
            *erases += 1;
        }
        if let Some(born) = self.born.get_mut(cblock as usize) {
            *born = f64::INFINITY;
        }
    }

    /// Notes a program into a clustered block.
    #[inline]
    pub(crate) fn programmed(&mut self, cblock: u32, now: Time) {
        if let Some(born) = self.born.get_mut(cblock as usize) {
            *born = born.min(now.0 as f64 / DAY_NS);
        }
    }

    /// Notes that a clustered block was filled before the drive's time began.
    pub(crate) fn filled(&mut self, cblock: u32) {
        if let Some(born) = self.born.get_mut(cblock as usize) {
            *born = -self.days_at_start;
        }
    }
}
