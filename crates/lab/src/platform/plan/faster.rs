//! What more of one thing does to the saturated rate: of each resource, and of each input.
//!
//! The base is the machine that was found, with the I/Os in flight with which it does most.

use super::bounds::most_per_adapter;
use super::search::{Found, Search};
use super::setup::Setup;
use crate::platform::meter::Reading;
use crate::platform::stand::StandError;
use fathom_base::{Dur, Frequency, Rate};
use fathom_platform::Platform;
use fathom_report::plan::{Sensitivity, Used};
use fathom_report::platform::Limit;

/// A tenth more.
const MORE: f64 = 0.1;
/// Smaller changes of the rate are within the error of a run, in percent.
const EFFECT_MIN: f64 = 0.2;
/// A ceiling below this, in I/Os per second, cannot be made a tenth lower: it is a whole number.
const CEILING_MIN: u64 = 100;

impl Search<'_> {
    /// Shows how far each resource is used at the rate, and what a tenth more of it does to the saturated rate.
    ///
    /// # Errors
    /// A run failed.
    pub(super) fn used(&self, found: &Found) -> Result<Vec<Used>, StandError> {
        let Found { setup, reading, .. } = found;
        let drives = reading.iops / (self.alone.most * f64::from(setup.drives));
        let mut all = vec![Used {
            of: Limit::Drives,
            share: Some(drives.min(1.0)),
            rise_percent: self.faster_drives(found)?,
        }];
        if let Some(ceilings) = with_ceilings(self.platform, 1.0 + MORE) {
            all.push(Used {
                of: Limit::Adapters,
                share: self.of_adapters(setup, reading),
                rise_percent: Some(self.rise(found, &ceilings)?),
            });
        }
        if let Some(clock) = with_clock(self.platform, 1.0 + MORE) {
            all.push(Used {
                of: Limit::Cores,
                share: Some(reading.utilisation),
                rise_percent: Some(self.rise(found, &clock)?),
            });
        }
        let deeper = Setup {
            in_flight: more_than(found.deep.in_flight),
            ..found.deep
        };
        let rate = self.read(deeper)?.iops;
        all.push(Used {
            of: Limit::Threads,
            share: None,
            rise_percent: Some(percent(rate, found)),
        });
        Ok(all)
    }

    /// The share of the fullest adapter's ceiling that is used.
    fn of_adapters(&self, setup: &Setup, reading: &Reading) -> Option<f64> {
        let fullest = reading.iops * f64::from(setup.per_adapter) / f64::from(setup.drives);
        let by_count = self.platform.adapter.iops.map(|iops| iops as f64);
        let block = self.stand.block.0 as f64;
        let by_bytes = self.platform.adapter.rate;
        let by_bytes = by_bytes.map(|rate| rate.bytes_per_second() as f64 / block);
        let ceilings = by_count.into_iter().chain(by_bytes);
        let shares = ceilings.map(|ceiling| (fullest / ceiling).min(1.0));
        shares.reduce(f64::max)
    }

    /// The rise with drives that are a tenth faster: the same as a host that is so much slower, on a clock that is so much
    /// faster. `None` if a ceiling is too low for that.
    fn faster_drives(&self, found: &Found) -> Result<Option<f64>, StandError> {
        let slower = 1.0 / (1.0 + MORE);
        if self
            .platform
            .adapter
            .iops
            .is_some_and(|iops| iops < CEILING_MIN)
        {
            return Ok(None);
        }
        let Some(mut slow) = with_clock(self.platform, slower) else {
            return Ok(None);
        };
        if let Some(ceilings) = with_ceilings(&slow, slower) {
            slow = ceilings;
        }
        slow.adapter.latency = longer(slow.adapter.latency);
        slow.interrupts.time = longer(slow.interrupts.time);
        let rate = self.on(&slow).read(found.deep)?.iops * (1.0 + MORE);
        Ok(Some(percent(rate, found)))
    }

    /// The same question on another platform.
    fn on<'a>(&'a self, platform: &'a Platform) -> Search<'a> {
        Search { platform, ..*self }
    }

    fn rise(&self, found: &Found, changed: &Platform) -> Result<f64, StandError> {
        let rate = self.on(changed).read(found.deep)?.iops;
        Ok(percent(rate, found))
    }

    /// Shows how the saturated rate changes with one drive, adapter or processor more, and with a tenth more of every other
    /// input.
    ///
    /// # Errors
    /// A run failed.
    pub(super) fn sensitivity(
        &self,
        found: &Found,
        used: &[Used],
    ) -> Result<Vec<Sensitivity>, StandError> {
        let tenth = |input: &str, percent| Sensitivity {
            input: input.to_owned(),
            change: format!("+{:.0} %", 100.0 * MORE),
            percent,
        };
        let mut all = self.counts(found)?;
        let of = |limit| used.iter().find(|used| used.of == limit);
        let rise = |limit| of(limit).and_then(|used| used.rise_percent);
        if let Some(rise) = rise(Limit::Drives) {
            all.push(tenth("speed of the drive", rise));
        }
        if let Some(rise) = rise(Limit::Threads) {
            all.push(tenth("I/Os in flight", rise));
        }
        // Ten percent more of one layer costs less than a clock that is so much slower.
        let slower = with_clock(self.platform, 1.0 / (1.0 + MORE));
        let slower = slower.map(|slower| self.rise(found, &slower)).transpose()?;
        let no_clocks = slower.is_some_and(|percent| percent.abs() < EFFECT_MIN);
        for (input, changed) in self.inputs() {
            if no_clocks && input.starts_with("clocks.") {
                continue;
            }
            all.push(tenth(&input, self.rise(found, &changed)?));
        }
        all.retain(|one| one.percent.abs() >= EFFECT_MIN);
        all.sort_by(|a, b| b.percent.abs().total_cmp(&a.percent.abs()));
        Ok(all)
    }

    /// One drive, adapter or processor more.
    fn counts(&self, found: &Found) -> Result<Vec<Sensitivity>, StandError> {
        let deep = found.deep;
        let fewer_each = Setup {
            per_adapter: deep.per_adapter.saturating_sub(1).max(1),
            ..deep
        };
        // Where the adapters' ceilings have no place for it, it gets an adapter: two behind a full one are half as fast.
        let drives = deep.drives + 1;
        let even = drives.div_ceil(deep.adapters());
        let block = self.stand.block.0;
        let fits = even <= most_per_adapter(drives, found.saturated.iops, self.platform, block);
        let one_drive = Setup {
            drives,
            per_adapter: if fits { even } else { deep.per_adapter },
            ..deep
        };
        let one_core = Setup {
            cores: deep.cores + 1,
            ..deep
        };
        let all = [
            ("drives", deep.drives, one_drive.drives, one_drive),
            (
                "adapters",
                deep.adapters(),
                fewer_each.adapters(),
                fewer_each,
            ),
            ("processors", deep.cores, one_core.cores, one_core),
        ];
        let all = all.into_iter().filter(|(_, from, to, _)| from != to);
        let of = |(input, from, to, setup): (&str, u32, u32, Setup)| {
            Ok(Sensitivity {
                input: input.to_owned(),
                change: match setup.adapters() > deep.adapters() && input == "drives" {
                    true => format!("{from} to {to}, with an adapter"),
                    false => format!("{from} to {to}"),
                },
                percent: percent(self.read(setup)?.iops, found),
            })
        };
        all.map(of).collect()
    }

    /// Each input of the platform file with a tenth more.
    fn inputs(&self) -> Vec<(String, Platform)> {
        let mut all = self.platform.with_more(MORE);
        let mut also = |key: &str, changed: Platform| {
            if changed != *self.platform && all.iter().all(|(known, _)| known != key) {
                all.push((key.to_owned(), changed));
            }
        };
        let mut rate = self.platform.clone();
        rate.adapter.rate = rate.adapter.rate.and_then(|rate| scaled(rate, 1.0 + MORE));
        also("adapter.rate", rate);
        let mut latency = self.platform.clone();
        latency.adapter.latency = longer(latency.adapter.latency);
        also("adapter.latency", latency);
        let mut time = self.platform.clone();
        time.interrupts.time = longer(time.interrupts.time);
        also("interrupts.time", time);
        all
    }
}

fn longer(time: Dur) -> Dur {
    Dur((time.0 as f64 * (1.0 + MORE)).round() as u64)
}

fn percent(rate: f64, found: &Found) -> f64 {
    100.0 * (rate / found.saturated.iops - 1.0)
}

/// A tenth more, at least one.
fn more_than(count: u32) -> u32 {
    count + (count / 10).max(1)
}

fn scaled(rate: Rate, factor: f64) -> Option<Rate> {
    Rate::new((rate.bytes_per_second() as f64 * factor).round() as u64)
}

fn with_clock(platform: &Platform, factor: f64) -> Option<Platform> {
    let hertz = platform.clock.hertz() as f64 * factor;
    let clock = Frequency::new(hertz.round() as u64)?;
    Some(Platform {
        clock,
        ..platform.clone()
    })
}

/// The platform with other ceilings of its adapters; `None` if they have none.
fn with_ceilings(platform: &Platform, factor: f64) -> Option<Platform> {
    let mut changed = platform.clone();
    let iops = platform.adapter.iops;
    changed.adapter.iops = iops.map(|iops| ((iops as f64 * factor).round() as u64).max(1));
    changed.adapter.rate = platform.adapter.rate.and_then(|rate| scaled(rate, factor));
    (changed.adapter != platform.adapter).then_some(changed)
}
