//! The parts of the budgets that a parameter may take at the quick level.

use super::Session;
use crate::{Level, Parameter, Quick};

/// From so many parameters on, each has its part of the budgets.
const MANY: usize = 8;

impl Session<'_> {
    /// Returns the parts of the budgets that a parameter may take, if it has some beside many others at the quick level.
    fn quick(&self, parameter: Parameter) -> Option<Quick> {
        let meta = &self.record.meta;
        let many = meta.level == Level::Quick && meta.parameters.len() >= MANY;
        let probe = parameter.about().probe(meta.method).filter(|_| many)?;
        Some(probe.quick())
    }

    /// Returns the time that a parameter has taken, and its part of the budget, in nanoseconds.
    pub(super) fn part_of_time(&self, parameter: Parameter) -> Option<(u64, u64)> {
        let budget = self.record.meta.budget_ns?;
        let percent = self.quick(parameter)?.time_percent;
        Some((
            self.spent.device_ns.saturating_sub(self.began_ns),
            budget / 100 * percent,
        ))
    }

    /// Returns the bytes that a parameter may write of the budget beside a shared preparation, and the budget.
    pub(super) fn part_of_bytes(&self, parameter: Parameter) -> Option<(u64, u64)> {
        let budget = self.record.meta.budget_bytes?;
        let percent = self.quick(parameter)?.bytes_percent;
        Some((budget / 100 * percent, budget))
    }
}
