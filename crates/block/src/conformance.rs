//! The conformance suite: whether something is a [`Device`], in the words of the contract's header.
//!
//! One function for modelled and real devices and for every layer. It sends right and wrong requests, keeps a shadow of
//! what every block must hold, and looks at every completion. It assumes nothing about how long anything takes; what
//! holds for simulated time only is asked of devices that say [`DeviceInfo::modelled`](crate::DeviceInfo::modelled).
//!
//! It **writes to the device**, within [`Options::region`] only: a request that leaves the region is a read, or lies
//! wholly past the device's end. It cannot see durability (that takes a power cut), nor an order that never shows, and
//! a `wait` that never comes back hangs the suite too.

mod breach;
mod driver;
mod random;
mod rules;
mod verdict;

pub use breach::{Breach, Violation};

use crate::Device;
use driver::Driver;
use fathom_base::Dur;
use std::collections::BTreeMap;
use std::ops::Range;

/// What to ask of a device, and what it may be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Fixes every random choice.
    pub seed: u64,
    /// Random requests to send, beside a few hundred fixed ones; also the deepest queue that is filled to the brim.
    pub operations: u64,
    /// The bytes of the device that may be read and written: at least sixteen logical blocks.
    pub region: Range<u64>,
    /// Whether a read must bring what was written.
    pub keeps_bytes: bool,
    /// Whether what was trimmed must read as zero; otherwise it may read as anything.
    pub trim_zeroes: bool,
    /// Whether right requests may fail, as under a layer that injects errors. What a failed write leaves is unknown.
    pub may_fail: bool,
    /// The longest, on the device's clock, that may pass without a completion while requests are in flight.
    pub patience: Dur,
}

impl Default for Options {
    /// A thousand operations in the first mebibyte of a device that keeps bytes and does not fail; ten seconds of
    /// patience.
    fn default() -> Self {
        Self {
            seed: 1,
            operations: 1000,
            region: 0..1 << 20,
            keeps_bytes: true,
            trim_zeroes: false,
            may_fail: false,
            patience: Dur::ms(10_000),
        }
    }
}

/// What was asked of a device that conforms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Requests that completed.
    pub requests: u64,
    /// Bytes that were read and compared with what they must be.
    pub bytes_compared: u64,
    /// Rules that were not looked at, and why.
    pub skipped: BTreeMap<&'static str, &'static str>,
}

/// One part of the suite.
type Rule<D> = fn(&mut Driver<'_, D>) -> Result<(), Breach>;

/// Whether what `make` makes is a device. Every rule gets one of its own; they may stand for the same medium, one after
/// the other.
///
/// # Errors
/// The first rule that is broken, by which request and how.
pub fn check<D: Device>(
    make: &mut dyn FnMut() -> D,
    options: &Options,
) -> Result<Report, Violation> {
    let rules: [(&'static str, Rule<D>); 8] = [
        ("clock", rules::clock),
        ("queue", rules::queue),
        ("refusals", rules::refusals),
        ("order", rules::order),
        ("bytes", rules::bytes),
        ("flush", rules::flush),
        ("trim", rules::trim),
        ("random", random::random),
    ];
    let mut report = Report::default();
    for (part, (name, rule)) in (1..).zip(rules) {
        let mut driver = Driver::new(make(), options, part, &mut report);
        let outcome = driver
            .check_region()
            .and_then(|()| rule(&mut driver))
            .and_then(|()| driver.settle());
        if let Err(breach) = outcome {
            return Err(Violation {
                device: driver.device.info().name.clone(),
                rule: name,
                seed: options.seed,
                request: driver.sent(),
                breach,
            });
        }
    }
    Ok(report)
}
