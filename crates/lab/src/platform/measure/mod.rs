//! Measures what an I/O costs this machine: random reads of devices or files, which are opened for reading only.
//!
//! Latency and rates come from loads without tracing. Clocks are the sum of the traced layers where these can be recorded, and
//! the processor time of the load's threads otherwise;
//! what recording them costs is measured and subtracted. What cannot be measured here is left out and said.

mod background;
mod bench;
mod copy;
mod cost;
mod error;
mod facts;
mod latency;
mod layers;
mod options;
mod scaling;
mod traced;
mod used;

use super::Sample;
use bench::{Bench, Way};
pub use error::MeasureError;
use error::or_missing;
use fathom_hostio::load::ClockFacts;
use fathom_report::platform::PlatformReport;
pub use options::MeasureOptions;

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
    let mut bench = Bench::new(options, &clock)?;
    bench.reach_their_drives()?;
    let untraced = traced::obstacle(&bench);
    bench.traced = untraced.is_none();
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
    report.missing.extend(untraced);
    if bench.traced {
        report.missing.extend(traced::lacks(&bench)?);
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
    bench.unchanged()?;
    if report.latency.is_empty() && report.costs.is_empty() && report.scaling.is_empty() {
        // The last reason is that of reads; the first may be that of tracing.
        let last = report.missing.pop().unwrap_or_default();
        return Err(MeasureError::Nothing(last));
    }
    report.others = bench.others.others();
    Ok(Measurement { report, samples })
}
