//! The conformance suite: checks whether something is a [`Device`] according to the contract.
//!
//! One function serves modelled devices, real devices and all layers. It sends valid and invalid requests, keeps a shadow
//! copy of the expected content of every block, and checks every completion. It assumes nothing about latencies; rules
//! for simulated time apply only to devices with [`DeviceInfo::modelled`](crate::DeviceInfo::modelled).
//!
//! It **writes to the device**, within [`Options::region`] only: a request that leaves the region is a read, or lies
//! completely past the end of the device. It cannot check durability (that needs a power cut), nor an order that is never
//! observable. A `wait` that never returns hangs the suite too.

mod breach;
mod driver;
mod options;
mod random;
mod rules;
mod verdict;

pub use breach::{Breach, Violation};
pub use options::{Options, Report};

use crate::Device;
use driver::Driver;

/// One part of the suite.
type Rule<D> = fn(&mut Driver<'_, D>) -> Result<(), Breach>;

/// Checks whether `make` creates a conforming device. Every rule gets a device of its own; these may share one medium,
/// one after the other.
///
/// # Errors
/// Returns the first rule that is broken, with the request and the breach.
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
