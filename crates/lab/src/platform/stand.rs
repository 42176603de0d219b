//! A test stand: copies of a modelled drive behind a platform, under random reads.

use crate::replay::{Plan, RunError, Watch, prepared, run_model};
use crate::source::{Kind, Workload};
use crate::target::{TargetError, TargetName};
use fathom_base::Bytes;
use fathom_block::{Device as _, DeviceInfo};
use fathom_model::{Drive, Model};
use fathom_platform::{HostWork, Interface, Platform};
use fathom_run::{Precondition, RunRecord};
use fathom_workload::generate::{Config, Name, Range, Sizes};
use fathom_workload::step::Arrival;
use std::num::{NonZeroU32, NonZeroU64};

/// A larger solid state drive is made smaller: random reads of a part take as long, and many copies fit into memory.
const CAPACITY_MAX: Bytes = Bytes::gib(1);

/// A filled drive, and what it is read with.
pub(super) struct Stand {
    model: Model,
    /// One drive, filled.
    pub(super) drive: Drive,
    name: String,
    /// Length of a read.
    pub(super) block: Bytes,
    pub(super) seed: u64,
    pub(super) stop: fn() -> bool,
}

/// The load on a stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
    pub(super) threads: u32,
    /// Reads in flight of each thread; 1 with a synchronous interface.
    pub(super) depth: u32,
}

/// Random reads on a platform.
pub(super) struct Shown {
    pub(super) iops: f64,
    pub(super) work: HostWork,
}

impl Stand {
    /// Builds the drive of a platform and fills it.
    ///
    /// # Errors
    /// [`TargetError`] if there is no such modelled drive; [`RunError`] if it cannot be filled.
    pub(super) fn new(
        name: &str,
        block: Bytes,
        seed: u64,
        stop: fn() -> bool,
    ) -> Result<Self, StandError> {
        let target = TargetName::parse(name)?;
        let model = target.model(&[])?;
        let mut model = model.ok_or_else(|| TargetError::NoModel {
            target: name.to_owned(),
        })?;
        if let Model::Ssd(spec) = &model
            && spec.capacity > CAPACITY_MAX
        {
            let resized = model.resize(CAPACITY_MAX);
            resized.map_err(|error| StandError::Drive(error.to_string()))?;
        }
        let drive = model.build(seed);
        let drive = drive.map_err(|error| StandError::Drive(error.to_string()))?;
        check(drive.info(), block)?;
        let state = Precondition::of(None, model.starts_empty());
        Ok(Self {
            drive: prepared(drive, state, seed)?,
            model,
            name: name.to_owned(),
            block,
            seed,
            stop,
        })
    }

    /// The same with another length of a read.
    pub(super) fn with_block(&self, block: Bytes) -> Self {
        Self {
            model: self.model.clone(),
            drive: self.drive.clone(),
            name: self.name.clone(),
            block,
            ..*self
        }
    }

    /// Reads at random over all drives of a platform.
    ///
    /// # Errors
    /// [`RunError`].
    pub(super) fn show(
        &self,
        platform: &Platform,
        load: Load,
        reads: u64,
    ) -> Result<Shown, StandError> {
        let record = self.run(platform, load, reads)?;
        let work = record.host.unwrap_or_default();
        Ok(Shown {
            iops: record.totals.accesses_per_second(),
            work,
        })
    }

    fn run(&self, platform: &Platform, load: Load, reads: u64) -> Result<RunRecord, StandError> {
        let plan = Plan {
            target: self.name.clone(),
            workload: self.workload(platform, load, reads),
            arrival: arrival(platform.interface, load),
            precondition: Precondition::AsIs,
            seed: self.seed,
            queue: None,
            depth: None,
            platform: Some(platform.clone()),
        };
        let watch = Watch {
            stop: self.stop,
            seen: None,
        };
        Ok(run_model(
            &self.model,
            self.drive.clone(),
            &plan,
            None,
            watch,
        )?)
    }

    fn workload(&self, platform: &Platform, load: Load, reads: u64) -> Workload {
        let processes = match platform.interface {
            Interface::Pread => 1,
            _ => u64::from(load.threads),
        };
        let all = platform.capacity(self.drive.info().capacity_bytes);
        let each = NonZeroU64::new(reads / processes).unwrap_or(NonZeroU64::MIN);
        Workload {
            name: "random reads".into(),
            kind: Kind::Generator(Config {
                accesses: Some(each.get()),
                read_percent: Some(100.0),
                sizes: Some(Sizes::One(self.block)),
                align: Some(self.block),
                range: Some(Range {
                    start: Bytes(0),
                    len: Bytes(all / self.block.0 * self.block.0),
                }),
                ..Config::of(Name::Uniform)
            }),
            steps: Vec::new(),
            reshape: None,
        }
    }
}

/// Checks that a drive has no zones and takes reads of a length.
fn check(info: &DeviceInfo, block: Bytes) -> Result<(), StandError> {
    if info.zoned.is_some() {
        return Err(StandError::Zoned {
            drive: info.name.clone(),
        });
    }
    let longest = info.max_request_bytes.min(info.capacity_bytes);
    let unit = u64::from(info.logical_block_bytes);
    let fits = block.0 <= longest && block.0.is_multiple_of(unit);
    fits.then_some(()).ok_or_else(|| StandError::Block {
        block,
        drive: info.name.clone(),
        unit: Bytes(unit),
        longest: Bytes(longest),
    })
}

/// Synchronous threads are requests in flight; of asynchronous ones each is a process.
fn arrival(interface: Interface, load: Load) -> Arrival {
    let least = |n| NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN);
    match interface {
        Interface::Pread => Arrival::Closed {
            outstanding: least(load.threads),
        },
        _ => Arrival::Processes {
            processes: least(load.threads),
            outstanding: least(load.depth),
        },
    }
}

/// The reason why a platform shows nothing.
#[derive(Debug, thiserror::Error)]
pub enum StandError {
    /// There is no such drive.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The drive cannot be built.
    #[error("the drive cannot be built: {0}")]
    Drive(String),
    /// The drive is zoned.
    #[error("{drive} is a zoned drive, and the host's model has no file system for zones")]
    Zoned {
        /// The drive.
        drive: String,
    },
    /// The drive takes no reads of that length.
    #[error(
        "{drive} takes no read of {block}: it takes multiples of {unit}, up to {longest} at a time"
    )]
    Block {
        /// The length.
        block: Bytes,
        /// The drive.
        drive: String,
        /// Its logical block.
        unit: Bytes,
        /// The longest read.
        longest: Bytes,
    },
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
}
