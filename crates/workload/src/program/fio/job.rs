//! A job as the file says it: plain data, sizes still as they stand there. Fields are called as their options are.

use super::choices::{Amount, Distribution, Each, Engine, Pace, PrioClass, Rw, Sequencer};
use super::lengths::{Lengths, Range, Split};
use fathom_base::Dur;
use fathom_block::Op;

/// In which order places come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    /// The number behind `rw=randread:`: accesses for each new place; 1 where there is none.
    pub rw_every: u64,
    /// The number behind `rw=read:`: bytes that a sequential job leaves out between two accesses.
    pub rw_skip: u64,
    /// `rw_sequencer`.
    pub rw_sequencer: Sequencer,
    /// `percentage_random`, each in 0..=100.
    pub percentage_random: Each<u32>,
    /// `random_distribution`.
    pub random_distribution: Distribution,
    /// `norandommap`.
    pub norandommap: bool,
}

impl Default for Order {
    fn default() -> Self {
        Self {
            rw_every: 1,
            rw_skip: 0,
            rw_sequencer: Sequencer::Sequential,
            percentage_random: Each::all(100),
            random_distribution: Distribution::Random,
            norandommap: false,
        }
    }
}

/// How long accesses are, and where they may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// `bs`, in bytes, above 0.
    pub bs: Each<u64>,
    /// `bsrange`; goes before `bs`. `most` is a multiple of `least`.
    pub bsrange: Option<Each<Range>>,
    /// `bssplit`; goes before `bs` and `bsrange`. The percentages of each operation add up to 100.
    pub bssplit: Option<Each<Vec<Split>>>,
    /// `blockalign`, in bytes; 0 where it is not set, which means the smallest block.
    pub blockalign: Each<u64>,
}

impl Default for Blocks {
    fn default() -> Self {
        Self {
            bs: Each::all(4096),
            bsrange: None,
            bssplit: None,
            blockalign: Each::all(0),
        }
    }
}

/// How fast accesses follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// `rate`, in bytes per second; 0 for none.
    pub rate: Each<u64>,
    /// `rate_iops`, in accesses per second; 0 for none.
    pub rate_iops: Each<u64>,
    /// `rate_process`.
    pub rate_process: Pace,
    /// `thinktime`; zero for none.
    pub thinktime: Dur,
    /// `thinktime_blocks`, at least 1.
    pub thinktime_blocks: u64,
}

impl Default for Pacing {
    fn default() -> Self {
        Self {
            rate: Each::all(0),
            rate_iops: Each::all(0),
            rate_process: Pace::Linear,
            thinktime: Dur::ZERO,
            thinktime_blocks: 1,
        }
    }
}

/// Which part of the drive the processes work on, and how much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// `size`; `None` for all of the drive behind `offset`.
    pub size: Option<Amount>,
    /// `io_size`, in bytes; `None` for as much as `size`.
    pub io_size: Option<u64>,
    /// `offset`.
    pub offset: Amount,
    /// `offset_increment`.
    pub offset_increment: Amount,
}

impl Default for Area {
    fn default() -> Self {
        Self {
            size: None,
            io_size: None,
            offset: Amount::Bytes(0),
            offset_increment: Amount::Bytes(0),
        }
    }
}

/// When a process ends, and from when on it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// `number_ios`, accesses in each loop; 0 for no bound.
    pub number_ios: u64,
    /// `ramp_time`: what is done before it is over counts in no figure, and `runtime` begins behind it.
    pub ramp_time: Dur,
    /// `runtime`; `None` for no bound.
    pub runtime: Option<Dur>,
    /// `time_based`.
    pub time_based: bool,
    /// `loops`, at least 1.
    pub loops: u64,
}

impl Default for Ends {
    fn default() -> Self {
        Self {
            number_ios: 0,
            ramp_time: Dur::ZERO,
            runtime: None,
            time_based: false,
            loops: 1,
        }
    }
}

/// What is flushed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flushes {
    /// `fsync`: a flush before the next access after so many writes; 0 for never.
    pub fsync: u64,
    /// `fdatasync`: the same.
    pub fdatasync: u64,
    /// `end_fsync`: a flush when a pass is over.
    pub end_fsync: bool,
    /// `sync`: every write is durable before it is done.
    pub sync: bool,
}

/// When a job starts, and whose end is that of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// `startdelay`, from the start of the run.
    pub startdelay: Dur,
    /// `stonewall`.
    pub stonewall: bool,
    /// `new_group`: a group of its own begins, which is what `exitall` ends.
    pub new_group: bool,
    /// `exitall`.
    pub exitall: bool,
    /// `exit_what=all`.
    pub exit_all: bool,
}

/// One section of a job file, with the defaults of fio for what it does not say.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// `name`, or that of the section.
    pub name: String,
    /// `rw`.
    pub rw: Rw,
    /// In which order places come.
    pub order: Order,
    /// How long accesses are, and where they may begin.
    pub blocks: Blocks,
    /// `ioengine`.
    pub ioengine: Engine,
    /// `iodepth`, at least 1, as the file says it; [`Job::depth`] is what counts.
    pub iodepth: u32,
    /// `numjobs`, in 1..=4096.
    pub numjobs: u32,
    /// `rwmixread`, in 0..=100.
    pub rwmixread: u32,
    /// How fast accesses follow each other.
    pub pace: Pacing,
    /// Which part of the drive the processes work on, and how much of it.
    pub area: Area,
    /// When a process ends, and from when on it counts.
    pub ends: Ends,
    /// `verify=crc32c`.
    pub verify: bool,
    /// `do_verify`.
    pub do_verify: bool,
    /// What is flushed.
    pub flushes: Flushes,
    /// `randseed`; `None` for the seed of the run.
    pub randseed: Option<u64>,
    /// When a job starts, and whose end is that of others.
    pub schedule: Schedule,
    /// `prio`, in 0..=7, 0 the highest.
    pub prio: Option<u8>,
    /// `prioclass`.
    pub prioclass: Option<PrioClass>,
}

impl Default for Job {
    fn default() -> Self {
        Self {
            name: String::new(),
            rw: Rw::Read,
            order: Order::default(),
            blocks: Blocks::default(),
            ioengine: Engine::Sync,
            iodepth: 1,
            numjobs: 1,
            rwmixread: 50,
            pace: Pacing::default(),
            area: Area::default(),
            ends: Ends::default(),
            verify: false,
            do_verify: true,
            flushes: Flushes::default(),
            randseed: None,
            schedule: Schedule::default(),
            prio: None,
            prioclass: None,
        }
    }
}

impl Job {
    /// How many accesses each of its processes keeps in flight.
    pub fn depth(&self) -> u32 {
        match self.ioengine {
            Engine::Sync => 1,
            Engine::Async => self.iodepth,
        }
    }

    /// The lengths of an operation.
    pub fn lengths(&self, op: Op) -> Lengths {
        match (&self.blocks.bssplit, &self.blocks.bsrange) {
            (Some(splits), _) => Lengths::Shares(splits.of(op).clone()),
            (None, Some(ranges)) if ranges.of(op).least > 0 => Lengths::Range(*ranges.of(op)),
            _ => Lengths::one(*self.blocks.bs.of(op)),
        }
    }

    /// The shortest length of an operation, in bytes.
    pub fn shortest(&self, op: Op) -> u64 {
        self.lengths(op).shortest()
    }

    /// Its class and its priority in it, from 0, the highest, to 7, if it says one. A class without a number is the highest
    /// of it, and a number without a class is best effort (fio 3.33, backend.c; os/os-linux.h, `ioprio_value`).
    pub fn priority(&self) -> Option<(PrioClass, u8)> {
        let said = self.prio.is_some() || self.prioclass.is_some();
        said.then(|| (self.prioclass.unwrap_or_default(), self.prio.unwrap_or(0)))
    }

    /// What the places of an operation are multiples of, in bytes from the start of its region.
    pub fn align(&self, op: Op) -> u64 {
        match *self.blocks.blockalign.of(op) {
            align if align > 0 && self.rw.is_random() => align,
            _ => self.shortest(op),
        }
    }

    /// Whether every random access has a place that is drawn.
    pub(super) fn is_drawn_throughout(&self) -> bool {
        let percent = |op: &Op| *self.order.percentage_random.of(*op) >= 100;
        self.order.rw_every <= 1 && self.rw.ops().iter().all(percent)
    }

    /// Whether random accesses cover every block before they come back to one.
    pub fn covers(&self) -> bool {
        let own = |op: &Op| self.align(*op) == self.shortest(*op);
        self.rw.is_random()
            && !self.order.norandommap
            && self.order.random_distribution == Distribution::Random
            && self.rw.ops().iter().all(own)
    }
}
