//! What to measure, how, and within which limits; and whether a drive can be measured so.

use crate::error::{REGION_BLOCKS_MIN, REGION_BYTES_MIN, RunError};
use crate::record::Target;
use crate::{Method, Parameter, RecordMeta};
use fathom_base::Dur;
use fathom_block::DeviceInfo;
use std::ops::Range;

/// What to measure, how, and within which limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunConfig {
    /// Of every random choice.
    pub seed: u64,
    /// How to measure.
    pub method: Method,
    /// What to measure, beside what that needs ([`crate::Probe::after`]); [`crate::plan`] says in which order.
    pub parameters: Vec<Parameter>,
    /// Write nothing.
    pub read_only: bool,
    /// The most to write, in bytes.
    pub budget_bytes: Option<u64>,
    /// The longest to take, on the drive's clock.
    pub budget_time: Option<Dur>,
    /// The part of the drive to use, in bytes; all of it where absent.
    pub region: Option<Range<u64>>,
    /// How much thinner than printed the papers' grids are; 1 is as printed.
    pub thin: u32,
    /// Which drive, for the record; [`target_of`](crate::run::target_of) the device where absent.
    pub target: Option<Target>,
    /// Whether the cheapest parameter comes first ([`crate::plan`]): as in the record of a real drive that the run goes on from,
    /// and else, where absent, under a budget.
    pub cheapest_first: Option<bool>,
}

impl RunConfig {
    /// Whether the cheapest parameter comes first.
    pub fn cheapest_first(&self) -> bool {
        let budget = self.budget_bytes.is_some() || self.budget_time.is_some();
        self.cheapest_first.unwrap_or(budget)
    }

    /// As far as a run that goes on from `record` has no choice: what was measured on a real drive was measured in that order.
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

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            seed: 0,
            method: Method::default(),
            parameters: Parameter::ALL.to_vec(),
            read_only: false,
            budget_bytes: None,
            budget_time: None,
            region: None,
            thin: 1,
            target: None,
            cheapest_first: None,
        }
    }
}

/// Whether a drive can be measured so, before anything is written to it.
///
/// # Errors
/// [`RunError::Region`] and [`RunError::Small`].
pub fn check(config: &RunConfig, info: &DeviceInfo) -> Result<(), RunError> {
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
