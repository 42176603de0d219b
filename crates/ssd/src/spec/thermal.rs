//! The part of a drive file for heat: how flash operations warm the drive, how it cools, and when it slows down.

use fathom_base::Dur;
use serde::{Deserialize, Serialize};

/// Heat and throttling. The temperature follows one resistance and one capacitance: each byte warms the drive, and the
/// difference to the surroundings decays exponentially.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Thermal {
    /// Temperature of the surroundings and of the drive at its start, in degrees Celsius.
    pub ambient_celsius: f64,
    /// Warming by 1 GiB programmed, in degrees. Copies count.
    pub degrees_per_gib_programmed: f64,
    /// Warming by 1 GiB read from the flash array, in degrees. Copies count.
    pub degrees_per_gib_read: f64,
    /// Time in which the difference to the surroundings falls to 1/e of it.
    pub time_constant: Dur,
    /// Temperature from which flash operations are slowed to `light_speed_percent` (NVMe: thermal management temperature 1).
    pub light_celsius: f64,
    /// Temperature from which flash operations are slowed to `heavy_speed_percent` (NVMe: thermal management temperature 2).
    pub heavy_celsius: f64,
    /// A stage ends this many degrees below the temperature at which it begins.
    pub hysteresis_celsius: f64,
    /// Speed of the flash array in the light stage, in percent of its full speed.
    pub light_speed_percent: f64,
    /// Speed of the flash array in the heavy stage, in percent of its full speed.
    pub heavy_speed_percent: f64,
}

impl Default for Thermal {
    fn default() -> Self {
        Self {
            ambient_celsius: 25.0,
            degrees_per_gib_programmed: 1.0,
            degrees_per_gib_read: 0.5,
            time_constant: Dur::ms(60_000),
            light_celsius: 70.0,
            heavy_celsius: 80.0,
            hysteresis_celsius: 5.0,
            light_speed_percent: 50.0,
            heavy_speed_percent: 10.0,
        }
    }
}
