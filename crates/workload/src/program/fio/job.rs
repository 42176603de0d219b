//! A job as the file says it: plain data, sizes still as they stand there.

use super::lengths::{Lengths, Range, Split};
use fathom_base::Dur;
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
    pub fn is_random(self) -> bool {
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

    /// Whether it reads and writes.
    pub fn is_mixed(self) -> bool {
        self.ops().len() > 1
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

/// One section of a job file, with the defaults of fio for what it does not say.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// `name`, or that of the section.
    pub name: String,
    /// `rw`.
    pub rw: Rw,
    /// The number behind `rw=randread:`: accesses for each new place; 1 where there is none.
    pub rw_every: u64,
    /// The number behind `rw=read:`: bytes that a sequential job leaves out between two accesses.
    pub rw_skip: u64,
    /// `rw_sequencer`.
    pub rw_sequencer: Sequencer,
    /// `percentage_random`, each in 0..=100.
    pub percentage_random: Each<u32>,
    /// `bs`, in bytes, above 0.
    pub bs: Each<u64>,
    /// `bsrange`; goes before `bs`. `most` is a multiple of `least`.
    pub bsrange: Option<Each<Range>>,
    /// `bssplit`; goes before `bs` and `bsrange`. The percentages of each operation add up to 100.
    pub bssplit: Option<Each<Vec<Split>>>,
    /// `blockalign`, in bytes; 0 where it is not set, which means the smallest block.
    pub blockalign: Each<u64>,
    /// `ioengine`.
    pub ioengine: Engine,
    /// `iodepth`, at least 1, as the file says it; [`Job::depth`] is what counts.
    pub iodepth: u32,
    /// `numjobs`, in 1..=4096.
    pub numjobs: u32,
    /// `rwmixread`, in 0..=100.
    pub rwmixread: u32,
    /// `random_distribution`.
    pub random_distribution: Distribution,
    /// `norandommap`.
    pub norandommap: bool,
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
    /// `size`; `None` for all of the drive behind `offset`.
    pub size: Option<Amount>,
    /// `io_size`, in bytes; `None` for as much as `size`.
    pub io_size: Option<u64>,
    /// `offset`.
    pub offset: Amount,
    /// `offset_increment`.
    pub offset_increment: Amount,
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
    /// `verify=crc32c`.
    pub verify: bool,
    /// `do_verify`.
    pub do_verify: bool,
    /// `fsync`: a flush before the next access after so many writes; 0 for never.
    pub fsync: u64,
    /// `fdatasync`: the same.
    pub fdatasync: u64,
    /// `end_fsync`: a flush when a pass is over.
    pub end_fsync: bool,
    /// `sync`: every write is durable before it is done.
    pub sync: bool,
    /// `randseed`; `None` for the seed of the run.
    pub randseed: Option<u64>,
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
            rw_every: 1,
            rw_skip: 0,
            rw_sequencer: Sequencer::Sequential,
            percentage_random: Each::all(100),
            bs: Each::all(4096),
            bsrange: None,
            bssplit: None,
            blockalign: Each::all(0),
            ioengine: Engine::Sync,
            iodepth: 1,
            numjobs: 1,
            rwmixread: 50,
            random_distribution: Distribution::Random,
            norandommap: false,
            rate: Each::all(0),
            rate_iops: Each::all(0),
            rate_process: Pace::Linear,
            thinktime: Dur::ZERO,
            thinktime_blocks: 1,
            size: None,
            io_size: None,
            offset: Amount::Bytes(0),
            offset_increment: Amount::Bytes(0),
            number_ios: 0,
            ramp_time: Dur::ZERO,
            runtime: None,
            time_based: false,
            loops: 1,
            verify: false,
            do_verify: true,
            fsync: 0,
            fdatasync: 0,
            end_fsync: false,
            sync: false,
            randseed: None,
            startdelay: Dur::ZERO,
            stonewall: false,
            new_group: false,
            exitall: false,
            exit_all: false,
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
        match (&self.bssplit, &self.bsrange) {
            (Some(splits), _) => Lengths::Shares(splits.of(op).clone()),
            (None, Some(ranges)) if ranges.of(op).least > 0 => Lengths::Range(*ranges.of(op)),
            _ => Lengths::one(*self.bs.of(op)),
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
        match *self.blockalign.of(op) {
            align if align > 0 && self.rw.is_random() => align,
            _ => self.shortest(op),
        }
    }

    /// Whether every random access has a place that is drawn.
    pub fn is_drawn_throughout(&self) -> bool {
        let percent = |op: &Op| *self.percentage_random.of(*op) >= 100;
        self.rw_every <= 1 && self.rw.ops().iter().all(percent)
    }

    /// Whether random accesses cover every block before they come back to one.
    pub fn covers(&self) -> bool {
        let own = |op: &Op| self.align(*op) == self.shortest(*op);
        self.rw.is_random()
            && !self.norandommap
            && self.random_distribution == Distribution::Random
            && self.rw.ops().iter().all(own)
    }
}
