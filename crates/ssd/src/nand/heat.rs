//! The temperature of the drive (`[thermal]`), and how much the controller slows the flash array down when it is hot.
//!
//! One resistance and one capacitance: an operation adds its heat when it ends, and the difference to the surroundings
//! decays with `time_constant`. Under a constant load of `p` degrees a second the temperature approaches
//! `ambient + p * time_constant`. The controller reads its sensor when an operation begins or ends, and has the two stages
//! of NVMe's host controlled thermal management (NVM Express Base Specification 2.0, 8.15), each with a hysteresis. In a
//! stage the array takes longer for each operation; the buses keep their rate. A time that is drawn before a change of
//! stage stays as it is. Not modelled: sensors of several parts, heat of the controller and of erases, and shutting down.

use super::job::{Job, Work};
use crate::spec::Thermal;
use fathom_base::{Dur, SECTOR_BYTES, Time};

const GIB: f64 = (1u64 << 30) as f64;

/// How much the controller slows the flash array down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    None,
    Light,
    Heavy,
}

#[derive(Clone, Debug)]
pub(super) struct Heat {
    settings: Option<Thermal>,
    /// Temperature at the time `at`.
    celsius: f64,
    at: Time,
    stage: Stage,
    /// How often a stage began.
    throttles: u32,
}

impl Heat {
    pub(super) fn new(settings: Option<&Thermal>) -> Self {
        Self {
            celsius: settings.map_or(0.0, |s| s.ambient_celsius),
            settings: settings.cloned(),
            at: Time::ZERO,
            stage: Stage::None,
            throttles: 0,
        }
    }

    /// Returns the temperature from which on the controller slows down, in degrees Celsius, and how often it began to.
    pub(super) fn throttling(&self) -> Option<(f64, u32)> {
        let settings = self.settings.as_ref()?;
        Some((settings.light_celsius, self.throttles))
    }

    /// Returns true if the drive can become too hot.
    pub(super) fn is_on(&self) -> bool {
        self.settings.is_some()
    }

    /// Returns the temperature at a time, in degrees Celsius; `None` if it is not modelled.
    pub(super) fn celsius(&self, now: Time) -> Option<f64> {
        let settings = self.settings.as_ref()?;
        let passed = now.0.saturating_sub(self.at.0) as f64 / settings.time_constant.0 as f64;
        let ambient = settings.ambient_celsius;
        Some(ambient + (self.celsius - ambient) * (-passed).exp())
    }

    /// Reads the sensor, and sets the stage.
    #[inline]
    pub(super) fn look(&mut self, now: Time) {
        if self.is_on() {
            self.warm(0.0, now);
        }
    }

    /// Adds the heat of an operation that has ended.
    #[inline]
    pub(super) fn add(&mut self, job: &Job, now: Time) {
        let Some(settings) = &self.settings else {
            return;
        };
        let (read, programmed) = (
            settings.degrees_per_gib_read,
            settings.degrees_per_gib_programmed,
        );
        let of_gib = match job.work {
            Work::Read | Work::Gather => read,
            Work::Program => programmed,
            Work::Copy => read + programmed,
            Work::Erase | Work::Busy(_) => 0.0,
        };
        let bytes = u64::from(job.place.sectors) * SECTOR_BYTES;
        self.warm(of_gib * bytes as f64 / GIB, now);
    }

    fn warm(&mut self, degrees: f64, now: Time) {
        let Some(celsius) = self.celsius(now) else {
            return;
        };
        (self.celsius, self.at) = (celsius + degrees, now);
        let next = self.next_stage();
        self.throttles += u32::from(next > self.stage);
        self.stage = next;
    }

    fn next_stage(&self) -> Stage {
        let Some(settings) = &self.settings else {
            return Stage::None;
        };
        // A stage that has begun ends only below its threshold less the hysteresis.
        let is_from = |threshold: f64, begun: bool| {
            let margin = if begun {
                settings.hysteresis_celsius
            } else {
                0.0
            };
            self.celsius >= threshold - margin
        };
        if is_from(settings.heavy_celsius, self.stage == Stage::Heavy) {
            Stage::Heavy
        } else if is_from(settings.light_celsius, self.stage != Stage::None) {
            Stage::Light
        } else {
            Stage::None
        }
    }

    /// Returns the time that the array takes for what takes `nominal` at full speed.
    #[inline]
    pub(super) fn stretch(&self, nominal: Dur) -> Dur {
        let Some(settings) = &self.settings else {
            return nominal;
        };
        let percent = match self.stage {
            Stage::None => return nominal,
            Stage::Light => settings.light_speed_percent,
            Stage::Heavy => settings.heavy_speed_percent,
        };
        Dur((nominal.0 as f64 * 100.0 / percent).round() as u64)
    }
}
