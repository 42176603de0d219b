//! Searches for the least hardware that reaches a rate.
//!
//! In order: the fewest drives, with any adapters, processors and I/Os in flight within the bounds; then with these the fewest
//! adapters; then the fewest processors; then the fewest I/Os in flight. So one of them less, with all that comes before it
//! unchanged, does not reach the rate.

use super::bounds::{Alone, CORES_MAX, DRIVES_MAX, ERROR, deepest, most_per_adapter};
use super::least::least;
use super::setup::Setup;
use crate::platform::meter::{Reading, steady};
use crate::platform::model::cores_for;
use crate::platform::stand::{Stand, StandError};
use fathom_base::Dur;
use fathom_platform::{Interface, Platform};
use fathom_report::plan::Unreached;

/// The rate is reached with this share more: runs of other lengths and seeds differ by as much.
const MARGIN: f64 = 0.002;
/// Above this utilisation more processors might help.
const FULL: f64 = 0.7;
/// More drives that raise the rate by less than this part of their share are no help.
const HELP_MIN: f64 = 0.1;

/// The question.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) stand: &'a Stand,
    pub(super) platform: &'a Platform,
    pub(super) alone: &'a Alone,
    /// Reads per second.
    pub(super) wanted: f64,
    /// The highest mean latency.
    pub(super) latency_max: Option<Dur>,
    /// How close the I/Os in flight come to the fewest, as a share.
    pub(super) near: f64,
}

/// The answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) setup: Setup,
    pub(super) reading: Reading,
    /// The same hardware with the I/Os in flight with which it does most.
    pub(super) deep: Setup,
    pub(super) saturated: Reading,
}

impl Search<'_> {
    /// Searches.
    ///
    /// # Errors
    /// A run failed.
    pub(super) fn find(&self) -> Result<Result<Found, Unreached>, StandError> {
        let (from, cores) = match self.beginning()? {
            Ok(beginning) => beginning,
            Err(unreached) => return Ok(Err(unreached)),
        };
        let (setup, reading) = match self.drives(from, cores)? {
            Ok(found) => found,
            Err(unreached) => return Ok(Err(unreached)),
        };
        let (setup, reading) = self.adapters(setup, reading)?;
        let (setup, reading) = self.cores(setup, reading)?;
        let (setup, reading) = self.in_flight(setup, reading)?;
        let (deep, saturated) = self.saturated(setup, reading)?;
        Ok(Ok(Found {
            setup,
            reading,
            deep,
            saturated,
        }))
    }

    /// What a setup reads.
    pub(super) fn read(&self, setup: Setup) -> Result<Reading, StandError> {
        let platform = setup.on(self.platform);
        let load = setup.load(self.platform);
        steady(self.stand, &platform, setup.drives, load)
    }

    /// Whether a steady rate is enough.
    pub(super) fn reaches(&self, reading: &Reading) -> bool {
        reading.iops >= self.wanted * (1.0 + MARGIN)
    }

    pub(super) fn deepest(&self, drives: u32) -> u32 {
        deepest(self.alone, drives, self.wanted, self.latency_max)
    }

    /// The fewest drives, each with an adapter of its own.
    fn drives(
        &self,
        from: u32,
        cores: u32,
    ) -> Result<Result<(Setup, Reading), Unreached>, StandError> {
        let mut drives = from;
        let mut fails: Option<(u32, f64)> = None;
        loop {
            let (setup, reading) = self.with_any_cores(self.wide(drives, cores))?;
            if self.reaches(&reading) {
                return self.fewer(fails.map_or(from, |(n, _)| n + 1), setup, reading);
            }
            let share = f64::from(drives) / fails.map_or(1.0, |(n, _)| f64::from(n)) - 1.0;
            let rise = fails.map(|(_, iops)| reading.iops / iops - 1.0);
            if rise.is_some_and(|rise| rise < HELP_MIN * share) || drives >= DRIVES_MAX {
                let most = fails.map_or(0.0, |(_, iops)| iops).max(reading.iops);
                let limited = self.latency_max.is_some();
                return Ok(Err(Unreached::searched(drives, most, limited)));
            }
            // At first what is missing by the rule of three; if that is not enough, twice as many.
            let aim = f64::from(drives) * self.wanted / reading.iops;
            let aim = if fails.is_none() {
                aim.ceil() as u32
            } else {
                2 * drives
            };
            fails = Some((drives, reading.iops));
            drives = aim.clamp(drives + 1, DRIVES_MAX);
        }
    }

    /// The fewest drives from a number to one that reaches the rate.
    fn fewer(
        &self,
        from: u32,
        setup: Setup,
        reading: Reading,
    ) -> Result<Result<(Setup, Reading), Unreached>, StandError> {
        let most = (setup, reading);
        let found = least((from, setup.drives), 0.0, setup.drives, |drives| {
            if drives == setup.drives {
                return Ok(Some(most));
            }
            let (setup, reading) = self.with_any_cores(self.wide(drives, setup.cores))?;
            Ok::<_, StandError>(self.reaches(&reading).then_some((setup, reading)))
        })?;
        Ok(Ok(found.map_or(most, |(_, found)| found)))
    }

    /// Drives with an adapter each, and as many I/Os in flight as the bounds allow.
    fn wide(&self, drives: u32, cores: u32) -> Setup {
        Setup {
            drives,
            per_adapter: 1,
            cores,
            in_flight: self.deepest(drives),
        }
    }

    /// Adds processors until the rate is reached or no longer rises: more of them wake more often and delay each other, so
    /// that too many can be worse. Returns the first that reach it, or else the best.
    fn with_any_cores(&self, setup: Setup) -> Result<(Setup, Reading), StandError> {
        let mut best = self.with_any_load(setup)?;
        let mut last = best;
        let mut without = 0;
        while !self.reaches(&best.1) && last.1.utilisation > FULL && without < 2 {
            if last.0.cores >= CORES_MAX {
                break;
            }
            let cores = last.0.cores + (last.0.cores / 4).max(1);
            last = self.with_any_load(Setup {
                cores: cores.min(CORES_MAX),
                in_flight: last.0.in_flight.saturating_mul(2).min(setup.in_flight),
                ..setup
            })?;
            without = match last.1.iops > best.1.iops * (1.0 + ERROR) {
                true => 0,
                false => without + 1,
            };
            if last.1.iops > best.1.iops {
                best = last;
            }
        }
        Ok(best)
    }

    /// Halves the I/Os in flight while that raises the rate: the batches of an asynchronous interface can be too large.
    /// Returns the first that reach it, or else the best.
    fn with_any_load(&self, setup: Setup) -> Result<(Setup, Reading), StandError> {
        let mut best = (setup, self.read(setup)?);
        while !self.reaches(&best.1)
            && self.platform.interface != Interface::Pread
            && best.0.in_flight > 1
        {
            let half = Setup {
                in_flight: best.0.in_flight / 2,
                ..best.0
            };
            let reading = self.read(half)?;
            if reading.iops < best.1.iops * (1.0 + ERROR) {
                break;
            }
            best = (half, reading);
        }
        Ok(best)
    }

    /// Doubles the I/Os in flight until the rate no longer rises. Returns those with the highest.
    fn saturated(&self, setup: Setup, reading: Reading) -> Result<(Setup, Reading), StandError> {
        let most = self.deepest(setup.drives);
        let mut best = (setup, reading);
        while best.0.in_flight < most {
            let in_flight = best.0.in_flight.saturating_mul(2).min(most);
            let deeper = Setup { in_flight, ..setup };
            let reading = self.read(deeper)?;
            let rises = reading.iops > best.1.iops * (1.0 + ERROR);
            if reading.iops > best.1.iops {
                best = (deeper, reading);
            }
            if !rises {
                break;
            }
        }
        Ok(best)
    }

    /// The fewest adapters of these drives: the most drives of each.
    fn adapters(&self, wide: Setup, reading: Reading) -> Result<(Setup, Reading), StandError> {
        let block = self.stand.block.0;
        let most = most_per_adapter(wide.drives, self.wanted, self.platform, block);
        // Counted from the most down: the more adapters, the higher the number.
        let found = least((1, most), 0.0, 1, |number| {
            // As many adapters as it takes with so many drives each, and the drives spread evenly over them.
            let adapters = wide.drives.div_ceil(most + 1 - number);
            let setup = Setup {
                per_adapter: wide.drives.div_ceil(adapters),
                ..wide
            };
            if setup == wide {
                return Ok(Some((wide, reading)));
            }
            let (setup, reading) = self.with_any_cores(setup)?;
            Ok::<_, StandError>(self.reaches(&reading).then_some((setup, reading)))
        })?;
        Ok(found.map_or((wide, reading), |(_, found)| found))
    }

    /// The fewest processors, with any I/Os in flight.
    fn cores(&self, plenty: Setup, reading: Reading) -> Result<(Setup, Reading), StandError> {
        let busy = reading.utilisation * f64::from(plenty.cores) * self.wanted / reading.iops;
        let range = (cores_for(self.platform.interface), plenty.cores);
        let found = least(range, 0.0, busy.ceil() as u32, |cores| {
            if cores == plenty.cores {
                return Ok(Some((plenty, reading)));
            }
            let (setup, reading) = self.with_any_load(Setup { cores, ..plenty })?;
            Ok::<_, StandError>(self.reaches(&reading).then_some((setup, reading)))
        })?;
        Ok(found.map_or((plenty, reading), |(_, found)| found))
    }

    /// The fewest I/Os in flight.
    fn in_flight(&self, enough: Setup, reading: Reading) -> Result<(Setup, Reading), StandError> {
        // The latency of one at a time is the least that any has.
        let from = (self.wanted * self.alone.latency_ns / 1e9 * (1.0 - ERROR)) as u32;
        let range = (from.clamp(1, enough.in_flight), enough.in_flight);
        let guess = self.wanted * reading.latency_ns.min(4.0 * self.alone.latency_ns) / 1e9;
        let found = least(range, self.near, guess as u32, |in_flight| {
            if in_flight == enough.in_flight {
                return Ok(Some((enough, reading)));
            }
            let setup = Setup {
                in_flight,
                ..enough
            };
            let reading = self.read(setup)?;
            Ok::<_, StandError>(self.reaches(&reading).then_some((setup, reading)))
        })?;
        Ok(found.map_or((enough, reading), |(_, found)| found))
    }
}
