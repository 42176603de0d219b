//! The configuration of a run, and the check that a drive can be measured with it.

use crate::error::{REGION_BLOCKS_MIN, REGION_BYTES_MIN, RunError};
use crate::record::{Level, Target};
use crate::{Method, Parameter, RecordMeta};
use fathom_base::{Dur, defaults};
use fathom_block::DeviceInfo;
use std::ops::Range;

defaults! {
    /// What to measure, how, and within which limits.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RunConfig {
        /// The seed of every random choice.
        pub seed: u64 = 0,
        /// The method.
        pub method: Method = Method::default(),
        /// The parameters to measure. Those that they need ([`crate::Probe::after`]) are added; [`crate::plan`] sets the order.
        pub parameters: Vec<Parameter> = Parameter::PAPERS.to_vec(),
        /// Whether a first look at the drive decides which of the parameters are measured.
        pub fitting: bool = false,
        /// How much time and how many bytes a probe may take.
        pub level: Level = Level::default(),
        /// Whether the run must write nothing.
        pub read_only: bool = false,
        /// The most bytes to write; no limit if absent.
        pub budget_bytes: Option<u64> = None,
        /// The longest time to take, on the drive's clock; no limit if absent.
        pub budget_time: Option<Dur> = None,
        /// The part of the drive to use, in bytes; the whole drive if absent.
        pub region: Option<Range<u64>> = None,
        /// By how much the papers' grids are thinned; 1 is as printed.
        pub thin: u32 = 1,
        /// The description of the drive for the record; [`target_of`](crate::run::target_of) the device if absent.
        pub target: Option<Target> = None,
        /// Whether the cheapest parameter comes first ([`crate::plan`]). If absent, it does under a budget. A run that resumes
        /// the record of a real drive uses the order of that record.
        pub cheapest_first: Option<bool> = None,
        /// Whether a reference is taken before and after each parameter ([`crate::condition`]).
        pub references: bool = false,
    }
}

impl RunConfig {
    /// Returns true if the cheapest parameter comes first.
    pub fn cheapest_first(&self) -> bool {
        let budget = self.budget_bytes.is_some() || self.budget_time.is_some();
        self.cheapest_first.unwrap_or(budget)
    }

    /// Adopts the order of `record` for a run that resumes it, if the drive is real: its samples were taken in that order.
    #[must_use]
    pub fn going_on_from(self, record: &RecordMeta) -> Self {
        match record.target.modelled {
            true => self,
            false => Self {
                cheapest_first: Some(record.cheapest_first),
                ..self
            },
        }
    }
}

/// Checks that a drive can be measured with this configuration. Writes nothing.
///
/// # Errors
/// [`RunError::Region`], [`RunError::Small`] and [`RunError::Zoned`].
pub fn check(config: &RunConfig, info: &DeviceInfo) -> Result<(), RunError> {
    if info.zoned.is_some() && !(config.read_only || info.read_only) {
        return Err(RunError::Zoned);
    }
    let capacity_bytes = info.capacity_bytes;
    let Range { start, end } = config.region.clone().unwrap_or(0..capacity_bytes);
    let block_bytes = u64::from(info.logical_block_bytes).max(1);
    let whole = start.is_multiple_of(block_bytes) && end.is_multiple_of(block_bytes);
    let long = end.saturating_sub(start) / block_bytes >= REGION_BLOCKS_MIN;
    let bytes = end.saturating_sub(start);
    if whole && long && end <= capacity_bytes {
        return match config.method == Method::Robust && bytes < REGION_BYTES_MIN {
            true => Err(RunError::Small { bytes }),
            false => Ok(()),
        };
    }
    Err(RunError::Region {
        start,
        end,
        block_bytes,
        capacity_bytes,
    })
}
