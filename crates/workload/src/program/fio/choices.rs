//! What options of a job choose from.

use fathom_block::Op;

/// One value for reads, one for writes, one for trims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Each<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For trims.
    pub trim: T,
}

impl<T> Each<T> {
    /// The same for all.
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

    /// Made from a function of the operation.
    pub fn from_fn(mut make: impl FnMut(Op) -> T) -> Self {
        Self {
            read: make(Op::Read),
            write: make(Op::Write),
            trim: make(Op::Trim),
        }
    }

    /// That of an operation; a flush counts as a write.
    pub fn of(&self, op: Op) -> &T {
        match op {
            Op::Read => &self.read,
            Op::Write | Op::Flush => &self.write,
            Op::Trim => &self.trim,
        }
    }

    /// That of an operation; a flush counts as a write.
    pub fn of_mut(&mut self, op: Op) -> &mut T {
        match op {
            Op::Read => &mut self.read,
            Op::Write | Op::Flush => &mut self.write,
            Op::Trim => &mut self.trim,
        }
    }
}

/// `rw`: what a job does and in which order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rw {
    /// Sequential reads.
    #[default]
    Read,
    /// Sequential writes.
    Write,
    /// Sequential trims.
    Trim,
    /// Sequential reads beside sequential writes.
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

impl Rw {
    /// Each with its name in fio.
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

    /// Whether places are drawn.
    pub(super) fn is_random(self) -> bool {
        matches!(
            self,
            Rw::RandRead | Rw::RandWrite | Rw::RandTrim | Rw::RandMixed
        )
    }

    /// The operations, one or two.
    pub fn ops(self) -> &'static [Op] {
        match self {
            Rw::Read | Rw::RandRead => &[Op::Read],
            Rw::Write | Rw::RandWrite => &[Op::Write],
            Rw::Trim | Rw::RandTrim => &[Op::Trim],
            Rw::Mixed | Rw::RandMixed => &[Op::Read, Op::Write],
        }
    }

    /// Whether it writes.
    pub fn writes(self) -> bool {
        self.ops().contains(&Op::Write)
    }

    /// Whether it changes what a drive holds: by writes or by trims.
    pub fn changes(self) -> bool {
        self.writes() || self.ops().contains(&Op::Trim)
    }
}

/// `ioengine`: whether a process may have more than one access in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// One at a time, whatever `iodepth` says: `psync`, fio's default on Linux, and its like.
    #[default]
    Sync,
    /// As many as `iodepth` says: `libaio`, `io_uring`, `posixaio`.
    Async,
}

/// `prioclass`: the class of the I/O priority of a process (ioprio_set(2)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrioClass {
    /// 1: before all others.
    RealTime,
    /// 2, and 0, which stands for none: "If no class is set, assume BE" (fio 3.33, os/os-linux.h).
    #[default]
    BestEffort,
    /// 3: after all others.
    Idle,
}

/// `rw_sequencer`: what random accesses between two new places do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sequencer {
    /// They go on behind the last one.
    #[default]
    Sequential,
    /// They come again to where the last one began.
    Identical,
}

/// `rate_process`: how the accesses of a rate lie in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// Evenly.
    #[default]
    Linear,
    /// As those of many who ask independently of each other: the times between them are exponential.
    Poisson,
}

/// Bytes, or a share of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// So many bytes.
    Bytes(u64),
    /// So many of a hundred, in 1..=100.
    Percent(u32),
}

/// `random_distribution`: which places random accesses go to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Distribution {
    /// All alike.
    #[default]
    Random,
    /// Zipf's law with this theta: finite, above 0 and not 1.
    Zipf(f64),
    /// Self-similar with this h: above 0 and below 1.
    Pareto(f64),
}
