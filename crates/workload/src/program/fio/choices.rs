//! The types of the options' values.

use fathom_block::Op;
use std::fmt;

/// A value for each of reads, writes and trims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Each<T> {
    /// The value for reads.
    pub read: T,
    /// The value for writes.
    pub write: T,
    /// The value for trims.
    pub trim: T,
}

impl<T> Each<T> {
    /// Makes a value that is the same for all operations.
    pub fn all(value: T) -> Self
    where
        T: Clone,
    {
        Self {
            read: value.clone(),
            write: value.clone(),
            trim: value,
        }
    }

    /// Makes the values with a function of the operation.
    pub fn from_fn(mut make: impl FnMut(Op) -> T) -> Self {
        Self {
            read: make(Op::Read),
            write: make(Op::Write),
            trim: make(Op::Trim),
        }
    }

    /// Returns the value for an operation; a flush counts as a write.
    pub fn of(&self, op: Op) -> &T {
        match op {
            Op::Read => &self.read,
            Op::Write | Op::Flush | Op::Append => &self.write,
            Op::Trim | Op::Zone(_) => &self.trim,
        }
    }

    /// Returns the value for an operation, mutable; a flush counts as a write.
    pub fn of_mut(&mut self, op: Op) -> &mut T {
        match op {
            Op::Read => &mut self.read,
            Op::Write | Op::Flush | Op::Append => &mut self.write,
            Op::Trim | Op::Zone(_) => &mut self.trim,
        }
    }
}

/// `rw`: the operations of a job and their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rw {
    /// Sequential reads.
    #[default]
    Read,
    /// Sequential writes.
    Write,
    /// Sequential trims.
    Trim,
    /// Sequential reads and sequential writes, each in their own sequence.
    Mixed,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Random trims.
    RandTrim,
    /// Random reads and writes.
    RandMixed,
}

impl fmt::Display for Rw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Rw::NAMES.iter().find(|(_, rw)| rw == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

impl Rw {
    /// The values with their names in fio.
    pub(super) const NAMES: [(&'static str, Rw); 9] = [
        ("read", Rw::Read),
        ("write", Rw::Write),
        ("trim", Rw::Trim),
        ("rw", Rw::Mixed),
        ("readwrite", Rw::Mixed),
        ("randread", Rw::RandRead),
        ("randwrite", Rw::RandWrite),
        ("randtrim", Rw::RandTrim),
        ("randrw", Rw::RandMixed),
    ];

    /// Returns true if the order is random.
    pub(super) fn is_random(self) -> bool {
        matches!(
            self,
            Rw::RandRead | Rw::RandWrite | Rw::RandTrim | Rw::RandMixed
        )
    }

    /// Returns the operations, one or two.
    pub fn ops(self) -> &'static [Op] {
        match self {
            Rw::Read | Rw::RandRead => &[Op::Read],
            Rw::Write | Rw::RandWrite => &[Op::Write],
            Rw::Trim | Rw::RandTrim => &[Op::Trim],
            Rw::Mixed | Rw::RandMixed => &[Op::Read, Op::Write],
        }
    }

    /// Returns true if the job writes.
    pub fn writes(self) -> bool {
        self.ops().contains(&Op::Write)
    }

    /// Returns true if the job changes the content of the drive, by writes or by trims.
    pub fn changes(self) -> bool {
        self.writes() || self.ops().contains(&Op::Trim)
    }
}

/// `ioengine`: whether a process may have more than one access in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// One access at a time, regardless of `iodepth`: `psync` (fio's default on Linux) and similar engines.
    #[default]
    Sync,
    /// Up to `iodepth` accesses in flight: `libaio`, `io_uring`, `posixaio`.
    Async,
}

/// `prioclass`: the class of a process's I/O priority (ioprio_set(2)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrioClass {
    /// 1: served before all other classes.
    RealTime,
    /// 2; also 0, no class: "If no class is set, assume BE" (fio 3.33, os/os-linux.h).
    #[default]
    BestEffort,
    /// 3: served after all other classes.
    Idle,
}

/// `rw_sequencer`: the offsets of random accesses between two new places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sequencer {
    /// Continue where the last access ended.
    #[default]
    Sequential,
    /// Repeat the start of the last access.
    Identical,
}

/// `rate_process`: the distribution of the accesses of a rate over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// Equal intervals.
    #[default]
    Linear,
    /// A Poisson process: exponential intervals, as from many independent sources.
    Poisson,
}

/// A number of bytes, a percentage of the drive, or a number of its zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Number of bytes.
    Bytes(u64),
    /// Percentage of the drive, in 1..=100.
    Percent(u32),
    /// Number of zones, which `zonemode=zbd` needs.
    Zones(u32),
}

/// `random_distribution`: the distribution of random offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Distribution {
    /// Uniform.
    #[default]
    Random,
    /// Zipf's law with this theta: finite, above 0 and not 1.
    Zipf(f64),
    /// Self-similar with this h: above 0 and below 1.
    Pareto(f64),
}
