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
