//! The reference: the same few reads and writes at the beginning of a run and after each parameter, so that a drive that
//! becomes slow meanwhile is noticed ([`crate::condition`]).
//!
//! Each reference states its own state: it writes its area once in order and flushes, and reads at the same random places of
//! it, first untimed and then timed. Nothing else is written there but by the parameters in between. Where nothing may be
//! written, it reads at the same places of the whole region.

use crate::config::RunConfig;
use crate::record::{Cost, Reference};
use crate::session::{Io, Session, Stop};
use crate::{Method, Parameter};
use fathom_block::DeviceInfo;
use std::ops::Range;

/// The area, at the end of the region, in bytes, and a write of it.
const AREA: u64 = 4 << 20;
const WRITE: u64 = 64 << 10;
/// The length of a read, in bytes, if the logical block is not longer.
const READ: u64 = 4 << 10;
const READS: u64 = 64;
/// The area is at most one part in this many of the region, and all references write at most one in this many of the
/// budget; otherwise there are none.
const SHARE: u64 = 16;

/// Where references are taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Watch {
    /// The area; `None` if there are no references.
    area: Option<Range<u64>>,
    writes: bool,
    read_bytes: u64,
}

impl Watch {
    /// Returns where references are taken in a run that measures `parameters` parameters; nowhere unless it asks for them.
    pub(crate) fn of(config: &RunConfig, info: &DeviceInfo, parameters: usize) -> Self {
        let region = config.region.clone().unwrap_or(0..info.capacity_bytes);
        let block = u64::from(info.logical_block_bytes).max(1);
        let writes = !(config.read_only || info.read_only);
        let all = AREA.saturating_mul(parameters as u64 + 1);
        let budget = config.budget_bytes.unwrap_or(u64::MAX);
        let fits = region.end.saturating_sub(region.start) / SHARE >= AREA
            && WRITE.is_multiple_of(block)
            && (!writes || all <= budget / SHARE);
        if !config.references || config.method != Method::Robust || !fits {
            return Self::default();
        }
        let end = region.end / WRITE * WRITE;
        Self {
            area: Some(match writes {
                true => end - AREA..end,
                false => region,
            }),
            writes,
            read_bytes: READ.next_multiple_of(block),
        }
    }

    /// Returns the bytes that a reference writes.
    pub(crate) fn bytes(&self) -> u64 {
        if self.area.is_some() && self.writes {
            AREA
        } else {
            0
        }
    }

    /// Takes a reference, unless the run that this one resumes has it already. One that the budget does not allow is left out.
    ///
    /// # Errors
    /// A [`Stop`] that ends the run.
    pub(crate) fn refer(
        &self,
        session: &mut Session<'_>,
        after: Option<Parameter>,
    ) -> Result<(), Stop> {
        let Some(area) = &self.area else {
            return Ok(());
        };
        let taken = &session.record().meta.references;
        if taken.iter().any(|one| one.after == after) {
            return Ok(());
        }
        let mut reference = Reference {
            after,
            at_ns: 0,
            read_ns: Vec::new(),
            write_ns: Vec::new(),
            cost: Cost::default(),
        };
        // The name is the same each time, and so are the places.
        let cost = session.aside("reference", self.bytes(), |io| {
            reference.at_ns = io.now().0;
            self.take(io, area, &mut reference)
        });
        match cost {
            Ok(cost) => session.refer(Reference { cost, ..reference }),
            Err(stop) if stop.ends_run() => return Err(stop),
            Err(_) => {}
        }
        Ok(())
    }

    fn take(&self, io: &mut Io<'_>, area: &Range<u64>, into: &mut Reference) -> Result<(), Stop> {
        if self.writes {
            for at in area.clone().step_by(WRITE as usize) {
                into.write_ns.push(io.write(at, WRITE)?.0);
            }
            io.flush()?;
        }
        let slots = (area.end - area.start) / self.read_bytes;
        let places: Vec<u64> = (0..READS)
            .map(|_| area.start + io.rng.below(slots) * self.read_bytes)
            .collect();
        for &at in &places {
            io.read(at, self.read_bytes)?;
        }
        for &at in &places {
            into.read_ns.push(io.read(at, self.read_bytes)?.0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info() -> DeviceInfo {
        DeviceInfo {
            capacity_bytes: 1 << 30,
            logical_block_bytes: 512,
            ..DeviceInfo::default()
        }
    }

    fn of(change: impl Fn(&mut RunConfig)) -> Watch {
        let mut config = RunConfig {
            references: true,
            ..RunConfig::default()
        };
        change(&mut config);
        Watch::of(&config, &info(), 7)
    }

    #[test]
    fn references_are_few_bytes_of_the_region_and_of_the_budget() {
        let end = 1 << 30;
        assert_eq!(of(|_| {}).area, Some(end - AREA..end));
        assert_eq!(of(|_| {}).bytes(), AREA);
        assert_eq!(of(|c| c.region = Some(0..32 << 20)).area, None);
        assert_eq!(of(|c| c.budget_bytes = Some(256 << 20)).area, None);
        assert!(of(|c| c.budget_bytes = Some(1 << 30)).area.is_some());
        assert_eq!(of(|c| c.references = false).bytes(), 0);
        assert_eq!(of(|c| c.method = Method::Paper).area, None);
    }

    #[test]
    fn a_read_only_run_reads_the_whole_region_and_writes_nothing() {
        let watch = of(|c| c.read_only = true);
        assert_eq!((watch.area.clone(), watch.bytes()), (Some(0..1 << 30), 0));
    }
}
