//! Checks the submission queues of a drive.

use crate::spec::{Host, Protocol, QueueArbitration};
use fathom_base::{BadValue, want};

/// Most submission queues of a controller.
const QUEUES_MAX: u32 = 65_535;
/// Largest weight: an 8-bit field that counts from 0.
const WEIGHT_MAX: u32 = 256;
/// Largest burst that is limited: the field is a power of two of at most 6, and 7 for no limit.
const BURST_MAX: u32 = 64;

impl Host {
    /// Checks the keys of the submission queues.
    pub(super) fn check_queues(&self) -> Result<(), BadValue> {
        let several = self.queues > 1;
        let fits = match self.protocol {
            Protocol::Nvme => (1..=QUEUES_MAX).contains(&self.queues),
            Protocol::Sata => self.queues == 1,
        };
        want(fits, "host.queues", self.queues, || {
            format!("1 to {QUEUES_MAX} for nvme, 1 for sata")
        })?;
        let weighted = self.queue_arbitration == QueueArbitration::Weighted;
        want(
            several || !weighted,
            "host.queue_arbitration",
            "weighted",
            || "left out where host.queues is 1".into(),
        )?;
        let burst = self.arbitration_burst;
        let fits = burst == 0 || (burst.is_power_of_two() && burst <= BURST_MAX);
        want(fits, "host.arbitration_burst", burst, || {
            format!("0 for no limit, or a power of two from 1 to {BURST_MAX}")
        })?;
        let given = self.queue_priorities.len();
        let fits = given == 0 || (weighted && given == self.queues as usize);
        want(fits, "host.queue_priorities", given, || {
            format!(
                "one for each of the {} queues of weighted arbitration, or left out",
                self.queues
            )
        })?;
        let weights = &self.queue_weights;
        let in_range = weights.iter().all(|n| (1..=WEIGHT_MAX).contains(n));
        let fits = weights.is_empty() || (weighted && weights.len() == 3 && in_range);
        want(fits, "host.queue_weights", format!("{weights:?}"), || {
            format!(
                "three numbers from 1 to {WEIGHT_MAX} for weighted arbitration (high, medium, low), or left out"
            )
        })
    }
}
