//! What is timed of a drive.

use std::collections::BTreeMap;

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::twin) enum What {
    /// A read of one logical block, alone.
    One,
    /// A read of two logical blocks, alone.
    Two,
    /// A small read and a very long one, alone.
    Small,
    Piece,
    /// A read of a place that holds nothing, and two of them at once.
    Nothing,
    NothingPair,
    /// Two reads at once.
    Pair,
    /// Small reads with `x` in flight, as a rate.
    Closed,
    /// Small reads with as many in flight as the knee.
    Knee,
    /// Long reads, as a rate.
    Long,
    /// A small write into memory, one with forced unit access, and a flush of nothing.
    Write,
    Fua,
    Clean,
    /// A flush after a write of `x` bytes.
    Dirty,
    /// Long writes in order with a flush after each piece, as a rate: into native blocks, and into the fast cache.
    Fill,
    FastFill,
    /// Overwrites of a part of the drive that merges blocks, at random and in order in turns, as rates.
    Random,
    Ordered,
    /// Random overwrites of a part of `x` bytes of such a drive, which is not much longer than its blocks, as rates.
    Near,
    /// Reads and writes of a full drive with `x` in flight together: the rate of both, and the times of either.
    Load,
    LoadRead,
    LoadWrite,
    /// Reads while something writes: the typical one, and the slowest ones.
    Typical,
    Slowest,
    /// Slow reads while something writes: the one that `x` of ten thousand exceed.
    Tail,
    /// When slow ones were due after the last write, as a share of the time between two writes. It is no figure.
    TailPhase,
    /// Slow reads while nothing else goes on, after a write: their times, and how many there are of one write, with a tenth
    /// more.
    After,
    AfterCount,
    /// When they began after the write, in nanoseconds. It is no figure.
    AfterAt,
    /// When the slowest ones were due after the last write, as a share of the time between two writes. It is no figure.
    Phase,
}

/// The first batches of overwrites, which are figures: log blocks fill differently from batch to batch.
pub(in crate::twin) const OVERWRITES: u32 = 6;

/// Times in nanoseconds, or rates in bytes per second, by what was timed and its `x`.
pub(in crate::twin) type Samples = BTreeMap<(What, u64), Vec<f64>>;

impl What {
    /// Returns true for a rate in bytes per second.
    pub(in crate::twin) const fn is_rate(self) -> bool {
        matches!(
            self,
            What::Closed
                | What::Long
                | What::Fill
                | What::FastFill
                | What::Random
                | What::Ordered
                | What::Near
                | What::Load
        )
    }

    /// Returns true for what is measured on a drive that nothing writes to.
    pub(in crate::twin) const fn reads(self) -> bool {
        !self.writes() && !self.mixed() && !self.merges() && !self.load()
    }

    /// Returns true for what is measured with writes alone.
    pub(in crate::twin) const fn writes(self) -> bool {
        matches!(
            self,
            What::Write | What::Fua | What::Clean | What::Dirty | What::Fill | What::FastFill
        )
    }

    /// Returns true for what is measured with overwrites.
    pub(in crate::twin) const fn merges(self) -> bool {
        matches!(self, What::Random | What::Ordered | What::Near)
    }

    /// Returns true for what is measured with reads and writes in closed loops.
    pub(in crate::twin) const fn load(self) -> bool {
        matches!(self, What::Load | What::LoadRead | What::LoadWrite)
    }

    /// Returns true for what is measured with reads at even intervals while something writes, and after writes.
    pub(in crate::twin) const fn mixed(self) -> bool {
        matches!(
            self,
            What::Typical
                | What::Slowest
                | What::Phase
                | What::Tail
                | What::TailPhase
                | What::After
                | What::AfterCount
                | What::AfterAt
        )
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            What::One => "read of a block",
            What::Two => "read of two blocks",
            What::Small => "small read",
            What::Piece => "read of 1 MiB",
            What::Nothing => "read of nothing",
            What::NothingPair => "two reads of nothing",
            What::Pair => "two reads at once",
            What::Closed => "small reads in flight:",
            What::Knee => "small reads at the knee",
            What::Long => "long reads",
            What::Write => "small write",
            What::Fua => "write with FUA",
            What::Clean => "flush of nothing",
            What::Dirty => "flush after bytes:",
            What::Fill => "fill in order",
            What::FastFill => "fill of the fast cache",
            What::Random => "random overwrites",
            What::Ordered => "overwrites in order",
            What::Near => "random overwrites of bytes:",
            What::Load => "reads and writes in flight:",
            What::LoadRead => "a read of these",
            What::LoadWrite => "a write of these",
            What::Typical => "read during writes",
            What::Slowest => "slowest during writes",
            What::Tail => "during writes, exceeded by one in",
            What::TailPhase => "when slow ones were due",
            What::Phase => "when they were due",
            What::After => "slow read after a write",
            What::AfterCount => "slow reads after each write",
            What::AfterAt => "when they began",
        }
    }
}
