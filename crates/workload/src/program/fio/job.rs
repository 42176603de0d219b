//! A job as the file says it: plain data, sizes still as they stand there.

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

/// A length of `bssplit` and how many of a hundred accesses have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// In bytes, above 0.
    pub bytes: u64,
    /// In 0..=100.
    pub percent: u32,
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
    /// `bs`, in bytes, above 0.
    pub bs: Each<u64>,
    /// `bssplit`; goes before `bs`. The percentages of each operation add up to 100.
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
    /// `randseed`; `None` for the seed of the run.
    pub randseed: Option<u64>,
    /// `startdelay`, from the start of the run.
    pub startdelay: Dur,
    /// `stonewall`.
    pub stonewall: bool,
    /// `prio`, in 0..=7, 0 the highest.
    pub prio: Option<u8>,
}

impl Default for Job {
    fn default() -> Self {
        Self {
            name: String::new(),
            rw: Rw::Read,
            bs: Each::all(4096),
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
            thinktime: Dur::ZERO,
            thinktime_blocks: 1,
            size: None,
            io_size: None,
            offset: Amount::Bytes(0),
            offset_increment: Amount::Bytes(0),
            runtime: None,
            time_based: false,
            loops: 1,
            verify: false,
            do_verify: true,
            fsync: 0,
            randseed: None,
            startdelay: Dur::ZERO,
            stonewall: false,
            prio: None,
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

    /// The lengths of an operation, with their percentages.
    pub fn sizes(&self, op: Op) -> Vec<Split> {
        match &self.bssplit {
            Some(splits) => splits.of(op).clone(),
            None => vec![Split {
                bytes: *self.bs.of(op),
                percent: 100,
            }],
        }
    }

    /// The shortest length of an operation, in bytes.
    pub fn shortest(&self, op: Op) -> u64 {
        let sizes = self.sizes(op);
        sizes.iter().map(|split| split.bytes).min().unwrap_or(1)
    }

    /// What the places of an operation are multiples of, in bytes from the start of its region.
    pub fn align(&self, op: Op) -> u64 {
        match *self.blockalign.of(op) {
            align if align > 0 && self.rw.is_random() => align,
            _ => self.shortest(op),
        }
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
