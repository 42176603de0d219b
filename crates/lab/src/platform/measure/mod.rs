//! Measures what an I/O costs this machine: random reads of devices or files, which are opened for reading only.
//!
//! Every figure comes from a load without tracing. The kernel's events, if they can be recorded, only say how it is divided;
//! what recording them costs is measured and subtracted. What cannot be measured here is left out and said.

mod bench;
mod copy;
mod cost;
mod error;
mod facts;
mod latency;
mod scaling;
mod traced;

use super::Sample;
use bench::{Bench, Way};
pub use error::MeasureError;
use fathom_base::{Bytes, Dur};
use fathom_hostio::HostError;
use fathom_hostio::load::ClockFacts;
use fathom_report::platform::{Missing, PlatformReport};
use std::path::PathBuf;

/// What is measured.
#[derive(Clone, Debug)]
pub struct MeasureOptions {
    /// Block devices and regular files. With several, the rate of all together is measured, too.
    pub targets: Vec<PathBuf>,
    /// Length of a read.
    pub block: Bytes,
    /// Time of each part of the measurement.
    pub time: Dur,
    /// Whether the kernel's events may be recorded.
    pub trace: bool,
    /// The seed of the places that are read.
    pub seed: u64,
    /// Called regularly; `true` ends the measurement.
    pub stop: fn() -> bool,
}

/// What was measured.
#[derive(Clone, Debug, Default)]
pub struct Measurement {
    /// The results.
    pub report: PlatformReport,
    /// The phases of the traced reads.
    pub samples: Vec<Sample>,
}

/// Measures this machine. `part` is called as each part begins.
///
/// # Errors
/// A target cannot be read or is unsuitable. Anything else that cannot be measured is [`PlatformReport::missing`].
pub fn measure(options: &MeasureOptions, part: &dyn Fn(&str)) -> Result<Measurement, MeasureError> {
    let clock = ClockFacts::measure();
    let bench = Bench::new(options, &clock)?;
    let mut samples = Vec::new();
    let mut report = PlatformReport {
        fathom: env!("CARGO_PKG_VERSION").to_owned(),
        subject: bench.subject(),
        measured: true,
        facts: facts::facts(&bench, &clock),
        clock_hz: bench.clock_hz(),
        block_bytes: options.block.0,
        missing: facts::missing(&bench, &clock),
        ..PlatformReport::default()
    };
    if let Some(missing) = bench.untraced() {
        report.missing.push(missing);
    }
    for way in Way::ALL {
        part(&format!("latency of one read at a time: {}", way.words()));
        let found = latency::latency(&bench, way, &mut samples);
        report
            .latency
            .extend(or_missing(found, way.words(), &mut report.missing)?);
        bench.go_on()?;
    }
    cost::costs(&bench, &mut report, part)?;
    part("copies");
    report.copy = or_missing(copy::copy(&bench), "copies", &mut report.missing)?.flatten();
    bench.go_on()?;
    scaling::scaling(&bench, &mut report, part)?;
    Ok(Measurement { report, samples })
}

/// A result, or else an entry of what is missing.
fn or_missing<T>(
    found: Result<T, MeasureError>,
    what: &str,
    missing: &mut Vec<Missing>,
) -> Result<Option<T>, MeasureError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(MeasureError::Host(error)) => {
            missing.push(self::missing(what, &error));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// What an error leaves out, and its advice, which follows a semicolon in the message.
fn missing(what: &str, error: &HostError) -> Missing {
    let said = error.to_string();
    let (why, help) = said.split_once("; ").unwrap_or((&said, ""));
    Missing {
        what: format!("{what}: {why}"),
        help: help.to_owned(),
    }
}
