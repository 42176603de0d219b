//! Where a search begins, and what it refuses before it begins.

use super::bounds::{CORES_MAX, DRIVES_MAX, ERROR, with_adapter};
use super::search::Search;
use super::setup::Setup;
use crate::platform::model::cores_for;
use crate::platform::stand::StandError;
use fathom_report::plan::Unreached;

/// I/Os in flight that show what one costs a processor.
const COST_IN_FLIGHT: u32 = 128;
/// Drives that are enough for these.
const COST_DRIVES: u32 = 8;

impl Search<'_> {
    /// The fewest drives that the ceilings allow, and about the processors that it takes.
    pub(super) fn beginning(&self) -> Result<Result<(u32, u32), Unreached>, StandError> {
        let block = self.stand.block.0;
        let (each, by_adapter) = with_adapter(self.alone, self.platform, block);
        let from = (self.wanted / (each * (1.0 + ERROR))).ceil().max(1.0);
        if from > f64::from(DRIVES_MAX) {
            return Ok(Err(match by_adapter {
                true => Unreached::adapters(each, from, DRIVES_MAX),
                false => Unreached::drives(each, from, DRIVES_MAX),
            }));
        }
        if let Some(unreached) = self.too_late() {
            return Ok(Err(unreached));
        }
        let from = from as u32;
        let cost = Setup {
            drives: from.min(COST_DRIVES),
            per_adapter: 1,
            cores: cores_for(self.platform.interface),
            in_flight: COST_IN_FLIGHT,
        };
        let clocks = self.read(cost)?.clocks;
        let hertz = self.platform.clock.hertz() as f64;
        let added = self.platform.clocks.contention as f64;
        // Of n processors that compute, each spends `added` clocks an I/O for each of the others.
        let rest = 1.0 - self.wanted * added / hertz;
        if rest <= 0.0 && clocks >= added {
            return Ok(Err(Unreached::contention(hertz / added)));
        }
        let needed = self.wanted * clocks / hertz / rest.max(0.05);
        if needed > 2.0 * f64::from(CORES_MAX) {
            let most = f64::from(CORES_MAX) * hertz / clocks;
            return Ok(Err(Unreached::cores(needed, CORES_MAX, most)));
        }
        let cores = (needed.ceil() as u32).max(cores_for(self.platform.interface));
        Ok(Ok((from, cores.min(CORES_MAX))))
    }

    /// Whether a limit of the latency excludes every machine.
    fn too_late(&self) -> Option<Unreached> {
        let most = self.latency_max?;
        let alone = self.alone.latency_ns;
        if alone > most.0 as f64 {
            return Some(Unreached::latency(most.0, alone as u64));
        }
        (self.deepest(1) == 0).then(|| Unreached::rate_of_latency(most.0))
    }
}
