//! The plan of a run: which parameters are measured in which order, in which part of the region, and for how many bytes. It
//! is made before the first byte is written, from what is known by then.
//!
//! Without a budget the order is that of [`Parameter::ALL`], and all parameters share the whole region.
//!
//! Under a budget the cheapest parameter comes first, and only the part of the region that a parameter needs is prepared for
//! it. Order and parts do not depend on the size of the budget. A run with a larger budget therefore does the same to the
//! drive and goes on where the one with the smaller budget ends, so it answers at least as much. For the same reason nothing
//! is measured after the first parameter that the budget does not cover, even if a later one would cost less than is left.

use crate::config::RunConfig;
use crate::reach::Needed;
use crate::watch::Watch;
use crate::{Method, Parameter, Probe, Space, look};
use fathom_block::DeviceInfo;
use std::ops::Range;

/// One parameter of a plan. The written bytes exclude the preparation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The parameter to measure.
    pub parameter: Parameter,
    /// The part of the drive that it uses, in bytes.
    pub region: Range<u64>,
    /// The bytes of the region that it prepares in addition to the parts before it.
    pub prepares_bytes: u64,
    /// The bytes of budget that must be left for it to begin.
    pub least_bytes: u64,
    /// The bytes that it is expected to write on a drive that gives an answer.
    pub expected_bytes: u64,
    /// The bytes that it is expected to write on a drive that gives none.
    pub fruitless_bytes: u64,
    /// The most bytes that it writes.
    pub bound_bytes: u64,
}

/// All parts, in the order in which they are measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The parts, in the order in which they are measured.
    pub parts: Vec<Part>,
    /// The most bytes that the first look at the drive writes.
    pub(crate) look_bytes: u64,
    /// The bytes that all references write.
    watch_bytes: u64,
    /// The user's budget, in bytes; `None` without a limit.
    budget_bytes: Option<u64>,
}

/// The bytes that a run is going to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Announcement {
    /// A rough estimate: the larger of the sums for a drive that gives answers and for one that gives none; at most the
    /// bound.
    pub expected_bytes: u64,
    /// The most that the run writes.
    pub bound_bytes: u64,
}

impl Plan {
    /// Makes the plan for a drive.
    pub fn of(config: &RunConfig, info: &DeviceInfo) -> Self {
        let space = Space {
            region: config.region.clone().unwrap_or(0..info.capacity_bytes),
            block_bytes: u64::from(info.logical_block_bytes).max(1),
            thin: config.thin.max(1),
            level: config.level,
        };
        let writes = !(config.read_only || info.read_only);
        let of = |parameter| Asked::of(parameter, config.method);
        let mut asked: Vec<Asked> = wanted(config).into_iter().filter_map(of).collect();
        if config.cheapest_first() {
            asked = cheapest_first(asked, &space);
        }
        let mut done = 0;
        let parts = asked.into_iter().map(|asked| {
            // The region is restricted to save writes. A run that does not write may use all of it.
            let space = match config.cheapest_first() && writes {
                true => asked.within(&space),
                false => space.clone(),
            };
            let mut part = Part::new(&asked, &space, writes);
            part.prepares_bytes = part.prepares_bytes.saturating_sub(done);
            done += part.prepares_bytes;
            part
        });
        let parts: Vec<Part> = parts.collect();
        let watch = Watch::of(config, info, parts.len());
        Self {
            watch_bytes: watch.bytes().saturating_mul(parts.len() as u64 + 1),
            parts,
            look_bytes: match config.fitting && writes {
                true => look::bound(&space),
                false => 0,
            },
            budget_bytes: config.budget_bytes,
        }
    }

    /// Returns the parts that the budget is expected to cover.
    pub fn reached(&self) -> &[Part] {
        let most = self.budget_bytes.unwrap_or(u64::MAX);
        let mut before = 0u64;
        let beyond = self.parts.iter().position(|part| {
            let begins = before.saturating_add(part.needs().least) <= most;
            before = before.saturating_add(part.needs().expected);
            !begins
        });
        &self.parts[..beyond.unwrap_or(self.parts.len())]
    }

    /// Returns the parameters that the budget is expected not to cover, and a budget in bytes that is expected to cover all.
    pub fn beyond(&self) -> (Vec<Parameter>, u64) {
        let beyond = &self.parts[self.reached().len()..];
        let all = self.parts.iter().map(|part| part.needs().expected);
        (
            beyond.iter().map(|part| part.parameter).collect(),
            all.fold(0, u64::saturating_add),
        )
    }

    /// Returns the announcement that is shown before the first byte is written.
    pub fn announcement(&self) -> Announcement {
        let most = self.budget_bytes.unwrap_or(u64::MAX);
        let sum = |parts: &[Part], bytes: &dyn Fn(&Part) -> u64| {
            let each = parts.iter().map(bytes);
            each.fold(0, u64::saturating_add).min(most)
        };
        let fruitless = sum(self.reached(), &|part| {
            part.prepares_bytes.saturating_add(part.fruitless_bytes)
        });
        Announcement {
            expected_bytes: sum(self.reached(), &|part| part.needs().expected)
                .max(fruitless)
                .saturating_add(self.look_bytes)
                .saturating_add(self.watch_bytes)
                .min(most),
            bound_bytes: sum(&self.parts, &|part| {
                part.prepares_bytes.saturating_add(part.bound_bytes)
            })
            .saturating_add(self.look_bytes)
            .saturating_add(self.watch_bytes)
            .min(most),
        }
    }
}

impl Part {
    fn new(asked: &Asked, space: &Space, writes: bool) -> Self {
        let bytes = |bytes: u64| if writes { bytes } else { 0 };
        let probe = asked.probe;
        Self {
            parameter: asked.parameter,
            region: space.region.clone(),
            prepares_bytes: bytes(asked.prepared(space)),
            least_bytes: bytes(probe.least(space)),
            expected_bytes: bytes(probe.expected(space)),
            fruitless_bytes: bytes(probe.fruitless(space)),
            bound_bytes: bytes(probe.bound(space)),
        }
    }

    /// Returns the bytes that it needs, including its planned preparation.
    pub(crate) fn needs(&self) -> Needed {
        self.needs_after(self.prepares_bytes)
    }

    /// Returns the bytes that it needs, including `prepares_bytes` of preparation.
    pub(crate) fn needs_after(&self, prepares_bytes: u64) -> Needed {
        Needed {
            least: self.least_bytes.saturating_add(prepares_bytes),
            expected: self.expected_bytes.saturating_add(prepares_bytes),
        }
    }
}

/// Returns the parameters that were asked for and those that they need, in the order of [`Parameter::ALL`].
pub(crate) fn wanted(config: &RunConfig) -> Vec<Parameter> {
    let asked = config.parameters.iter().copied();
    let probes = asked.clone().filter_map(|p| p.about().probe(config.method));
    let needed = probes.filter_map(|probe| probe.after());
    in_order(&asked.chain(needed).collect::<Vec<_>>())
}

/// Sorts parameters into the order of [`Parameter::ALL`], without duplicates.
pub(crate) fn in_order(parameters: &[Parameter]) -> Vec<Parameter> {
    let mut all = Parameter::ALL.to_vec();
    all.retain(|parameter| parameters.contains(parameter));
    all
}

/// Returns the part of the region that a probe needs under a budget, in bytes.
pub(crate) fn region(probe: &dyn Probe, space: &Space) -> Range<u64> {
    let start = space.region.start;
    let bytes = probe.reach(space).next_multiple_of(space.block_bytes);
    start..start + bytes.min(space.bytes())
}

/// Returns how many bytes must be written once before any probe of a method measures. The probes share this preparation.
pub(crate) fn prepared(method: Method, space: &Space) -> u64 {
    match method {
        Method::Robust => space.span(),
        _ => 0,
    }
}

/// A parameter to measure, with the probe of the method.
#[derive(Clone, Copy)]
struct Asked {
    parameter: Parameter,
    method: Method,
    probe: &'static dyn Probe,
}

impl Asked {
    /// Returns `None` if the method has no probe for the parameter.
    fn of(parameter: Parameter, method: Method) -> Option<Self> {
        let probe = parameter.about().probe(method)?;
        Some(Self {
            parameter,
            method,
            probe,
        })
    }

    /// Returns the part of a space that it needs under a budget.
    fn within(&self, space: &Space) -> Space {
        space.within(region(self.probe, space))
    }

    fn prepared(&self, space: &Space) -> u64 {
        prepared(self.method, space)
    }

    /// Returns true if it must be measured after `other`.
    fn follows(&self, other: &Asked) -> bool {
        let looks_at = self.parameter.about().looks_at;
        looks_at.contains(&other.parameter) || self.probe.after() == Some(other.parameter)
    }
}

/// Orders the parameters: the next one is always the one that needs the least to begin, among those whose prerequisites are
/// already ordered. The expected bytes are no good criterion: they are far higher on the few drives that show nothing than
/// on most others.
fn cheapest_first(mut asked: Vec<Asked>, space: &Space) -> Vec<Asked> {
    let mut ordered = Vec::new();
    let mut done = 0;
    while !asked.is_empty() {
        let adds = |asked: &Asked| {
            let space = asked.within(space);
            let prepares = asked.prepared(&space).saturating_sub(done);
            prepares.saturating_add(asked.probe.least(&space))
        };
        let waits = |one: &Asked| asked.iter().any(|other| one.follows(other));
        let free = (0..asked.len()).filter(|i| !waits(&asked[*i]));
        let next = free.min_by_key(|i| adds(&asked[*i])).unwrap_or(0);
        let next = asked.remove(next);
        done = done.max(next.prepared(&next.within(space)));
        ordered.push(next);
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::Plan;
    use crate::config::RunConfig;
    use crate::parameters::Parameter::{self, *};
    use fathom_block::DeviceInfo;

    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;

    fn info() -> DeviceInfo {
        DeviceInfo {
            capacity_bytes: 64 * GIB,
            queue_depth: 32,
            ..DeviceInfo::default()
        }
    }

    fn plan(budget_bytes: Option<u64>) -> Plan {
        let config = RunConfig {
            budget_bytes,
            ..RunConfig::default()
        };
        Plan::of(&config, &info())
    }

    fn order(plan: &Plan) -> Vec<Parameter> {
        plan.parts.iter().map(|part| part.parameter).collect()
    }

    #[test]
    fn without_a_budget_all_share_one_preparation_in_the_usual_order() {
        let plan = plan(None);
        assert_eq!(order(&plan), Parameter::PAPERS);
        assert!(plan.parts.iter().all(|part| part.region == (0..64 * GIB)));
        let prepared: Vec<u64> = plan.parts.iter().map(|p| p.prepares_bytes).collect();
        assert_eq!(prepared, [2 * GIB, 0, 0, 0, 0, 0, 0]);
        assert_eq!(plan.reached().len(), 7);
    }

    #[test]
    fn the_cheapest_comes_first_in_what_it_needs() {
        let plan = plan(Some(0));
        let cheapest = [
            Prefetch,
            ClusteredPage,
            WriteBuffer,
            WritePolicy,
            ReadBuffer,
            ClusteredBlock,
            LogicalBlock,
        ];
        assert_eq!(order(&plan), cheapest);
        let prepared = plan.parts.iter().map(|p| p.prepares_bytes / MIB);
        assert_eq!(prepared.collect::<Vec<_>>(), [192, 64, 0, 128, 1664, 0, 0]);
        // A probe's region reaches at least as far as the regions of the probes whose answers it uses.
        let ends: Vec<u64> = plan.parts.iter().map(|p| p.region.end).collect();
        assert!(ends.is_sorted(), "{ends:?}");
    }

    #[test]
    fn order_and_parts_are_the_same_for_every_budget() {
        let small = plan(Some(1));
        for budget in (0..40).map(|i| i * 512 * MIB) {
            let plan = plan(Some(budget));
            assert_eq!(plan.parts, small.parts);
            let announced = plan.announcement();
            assert!(announced.expected_bytes <= announced.bound_bytes);
            assert!(announced.bound_bytes <= budget);
        }
        let reached = |budget| plan(Some(budget)).reached().len();
        assert_eq!([0, 192 * MIB, 272 * MIB].map(reached), [0, 1, 2]);
        let all = plan(Some(0)).beyond();
        assert_eq!((all.0.len(), reached(all.1)), (7, 7));
    }

    #[test]
    fn what_is_needed_is_prepared_for_what_is_asked_for_only() {
        let config = RunConfig {
            parameters: vec![ReadBuffer, LogicalBlock],
            budget_bytes: Some(GIB),
            ..RunConfig::default()
        };
        let asked = Plan::of(&config, &info());
        assert_eq!(order(&asked), [ReadBuffer, ClusteredBlock, LogicalBlock]);
        let read_only = RunConfig {
            read_only: true,
            ..config
        };
        let read_only = Plan::of(&read_only, &info());
        assert_eq!(read_only.announcement().bound_bytes, 0);
        assert!(read_only.parts.iter().all(|p| p.region == (0..64 * GIB)));
    }
}
