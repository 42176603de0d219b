//! A job as in the file: plain data, with sizes not yet resolved for a drive. Fields are named after their options.

use super::choices::{Amount, Distribution, Each, Engine, Pace, PrioClass, Rw, Sequencer};
use super::lengths::{Lengths, Range, Split};
use super::placement::Placement;
use super::zone_mode::ZoneMode;
use fathom_base::{Dur, defaults};
use fathom_block::Op;

defaults! {
    /// The order of a job's offsets.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Order {
        /// The number in `rw=randread:N`: a new place is drawn every N accesses; 1 if there is none.
        pub rw_every: u64 = 1,
        /// The number in `rw=read:N`: bytes that a sequential job skips between two accesses.
        pub rw_skip: u64 = 0,
        /// `rw_sequencer`.
        pub rw_sequencer: Sequencer = Sequencer::Sequential,
        /// `percentage_random`, each in 0..=100.
        pub percentage_random: Each<u32> = Each::all(100),
        /// `random_distribution`.
        pub random_distribution: Distribution = Distribution::Random,
        /// `norandommap`.
        pub norandommap: bool = false,
    }
}

defaults! {
    /// The lengths of accesses, and the alignment of their offsets.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Blocks {
        /// `bs`, in bytes, above 0.
        pub bs: Each<u64> = Each::all(4096),
        /// `bsrange`; takes precedence over `bs`. `most` is a multiple of `least`.
        pub bsrange: Option<Each<Range>> = None,
        /// `bssplit`; takes precedence over `bs` and `bsrange`. The percentages of each operation add up to 100.
        pub bssplit: Option<Each<Vec<Split>>> = None,
        /// `blockalign`, in bytes; 0 if not set, which means the smallest block.
        pub blockalign: Each<u64> = Each::all(0),
    }
}

defaults! {
    /// Rate limits and think times.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Pacing {
        /// `rate`, in bytes per second; 0 for no limit.
        pub rate: Each<u64> = Each::all(0),
        /// `rate_iops`, in accesses per second; 0 for no limit.
        pub rate_iops: Each<u64> = Each::all(0),
        /// `rate_process`.
        pub rate_process: Pace = Pace::Linear,
        /// `thinktime`; zero for none.
        pub thinktime: Dur = Dur::ZERO,
        /// `thinktime_blocks`, at least 1.
        pub thinktime_blocks: u64 = 1,
    }
}

defaults! {
    /// The part of the drive that the processes work on, and the amount of data.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Area {
        /// `size`; `None` for the rest of the drive after `offset`.
        pub size: Option<Amount> = None,
        /// `io_size`, in bytes; `None` for the same as `size`.
        pub io_size: Option<u64> = None,
        /// `offset`.
        pub offset: Amount = Amount::Bytes(0),
        /// `offset_increment`.
        pub offset_increment: Amount = Amount::Bytes(0),
    }
}

defaults! {
    /// When a process ends, and from what time its accesses count.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Ends {
        /// `number_ios`, accesses per loop; 0 for no limit.
        pub number_ios: u64 = 0,
        /// `ramp_time`: accesses that complete before its end are excluded from the statistics, and `runtime` starts after
        /// it.
        pub ramp_time: Dur = Dur::ZERO,
        /// `runtime`; `None` for no limit.
        pub runtime: Option<Dur> = None,
        /// `time_based`.
        pub time_based: bool = false,
        /// `loops`, at least 1.
        pub loops: u64 = 1,
    }
}

/// When a job flushes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flushes {
    /// `fsync`: flush before the next access after this number of writes; 0 for never.
    pub fsync: u64,
    /// `fdatasync`: the same as `fsync`.
    pub fdatasync: u64,
    /// `end_fsync`: flush at the end of each pass.
    pub end_fsync: bool,
    /// `sync`: every write is durable before it completes.
    pub sync: bool,
}

/// When a job starts, and which jobs its end terminates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// `startdelay`, from the start of the run.
    pub startdelay: Dur,
    /// `stonewall`.
    pub stonewall: bool,
    /// `new_group`: starts a new group, the unit that `exitall` terminates.
    pub new_group: bool,
    /// `exitall`.
    pub exitall: bool,
    /// `exit_what=all`.
    pub exit_all: bool,
}

defaults! {
    /// A section of a job file. Omitted options have fio's defaults.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Job {
        /// `name`, or the name of the section.
        pub name: String = String::new(),
        /// `rw`.
        pub rw: Rw = Rw::Read,
        /// The order of its offsets.
        pub order: Order = Order::default(),
        /// The lengths of accesses, and the alignment of their offsets.
        pub blocks: Blocks = Blocks::default(),
        /// `ioengine`.
        pub ioengine: Engine = Engine::Sync,
        /// `iodepth`, at least 1, as in the file; [`Job::depth`] is the effective value.
        pub iodepth: u32 = 1,
        /// `numjobs`, in 1..=4096.
        pub numjobs: u32 = 1,
        /// `rwmixread`, in 0..=100.
        pub rwmixread: u32 = 50,
        /// Rate limits and think times.
        pub pace: Pacing = Pacing::default(),
        /// The part of the drive that the processes work on, and the amount of data.
        pub area: Area = Area::default(),
        /// When a process ends, and from what time its accesses count.
        pub ends: Ends = Ends::default(),
        /// `verify=crc32c`.
        pub verify: bool = false,
        /// `do_verify`.
        pub do_verify: bool = true,
        /// When the job flushes.
        pub flushes: Flushes = Flushes::default(),
        /// `randseed`; `None` for the seed of the run.
        pub randseed: Option<u64> = None,
        /// When the job starts, and which jobs its end terminates.
        pub schedule: Schedule = Schedule::default(),
        /// `prio`, in 0..=7; 0 is the highest.
        pub prio: Option<u8> = None,
        /// `prioclass`.
        pub prioclass: Option<PrioClass> = None,
        /// The placement handles of its writes.
        pub placement: Placement = Placement::default(),
        /// How it uses the zones of a drive.
        pub zones: ZoneMode = ZoneMode::default(),
    }
}

impl Job {
    /// Returns the number of accesses that each process keeps in flight.
    pub fn depth(&self) -> u32 {
        match self.ioengine {
            Engine::Sync => 1,
            Engine::Async => self.iodepth,
        }
    }

    /// Returns the lengths of an operation.
    pub fn lengths(&self, op: Op) -> Lengths {
        match (&self.blocks.bssplit, &self.blocks.bsrange) {
            (Some(splits), _) => Lengths::Shares(splits.of(op).clone()),
            (None, Some(ranges)) if ranges.of(op).least > 0 => Lengths::Range(*ranges.of(op)),
            _ => Lengths::one(*self.blocks.bs.of(op)),
        }
    }

    /// Returns the shortest length of an operation, in bytes.
    pub fn shortest(&self, op: Op) -> u64 {
        self.lengths(op).shortest()
    }

    /// Returns the priority class and the level in it, from 0 (the highest) to 7, if the job sets either. The default
    /// level is the highest, and the default class is best effort (fio 3.33, backend.c; os/os-linux.h, `ioprio_value`).
    pub fn priority(&self) -> Option<(PrioClass, u8)> {
        let said = self.prio.is_some() || self.prioclass.is_some();
        said.then(|| (self.prioclass.unwrap_or_default(), self.prio.unwrap_or(0)))
    }

    /// Returns the alignment of an operation's offsets, in bytes, relative to the start of its region.
    pub fn align(&self, op: Op) -> u64 {
        match *self.blocks.blockalign.of(op) {
            align if align > 0 && self.rw.is_random() => align,
            _ => self.shortest(op),
        }
    }

    /// Returns true if the offset of every random access is drawn.
    pub(super) fn is_drawn_throughout(&self) -> bool {
        let percent = |op: &Op| *self.order.percentage_random.of(*op) >= 100;
        self.order.rw_every <= 1 && self.rw.ops().iter().all(percent)
    }

    /// Returns true if random accesses cover every block once before they repeat one.
    pub fn covers(&self) -> bool {
        let own = |op: &Op| self.align(*op) == self.shortest(*op);
        self.rw.is_random()
            && !self.order.norandommap
            && self.order.random_distribution == Distribution::Random
            && self.rw.ops().iter().all(own)
    }
}
