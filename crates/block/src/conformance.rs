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
mod content;
mod driver;
mod options;
mod random;
mod rules;
mod verdict;
mod zone_shadow;
mod zones;

pub use breach::{Breach, Violation};
pub use options::{Options, Report};

use crate::Device;
use driver::Driver;

/// One part of the suite.
type Rule<D> = fn(&mut Driver<'_, D>) -> Result<(), Breach>;

/// The devices that a rule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Devices {
    All,
    Ordinary,
    Zoned,
}

/// Checks whether `make` creates a conforming device. Every rule gets a device of its own; these may share one medium,
/// one after the other.
///
/// # Errors
/// Returns the first rule that is broken, with the request and the breach.
pub fn check<D: Device>(
    make: &mut dyn FnMut() -> D,
    options: &Options,
) -> Result<Report, Violation> {
    let rules: [(&'static str, Devices, Rule<D>); 11] = [
        ("clock", Devices::All, rules::clock),
        ("queue", Devices::All, rules::queue),
        ("refusals", Devices::All, rules::refusals),
        ("order", Devices::All, rules::order),
        ("bytes", Devices::Ordinary, rules::bytes),
        ("flush", Devices::All, rules::flush),
        ("trim", Devices::Ordinary, rules::trim),
        ("random", Devices::Ordinary, random::random),
        ("zones", Devices::Zoned, zones::states),
        ("zone limits", Devices::Zoned, zones::limits),
        ("random zones", Devices::Zoned, zones::random),
    ];
    let mut report = Report::default();
    for (part, (name, devices, rule)) in (1..).zip(rules) {
        let mut driver = Driver::new(make(), options, part, &mut report);
        let other = match driver.info.zoned {
            Some(_) => Devices::Ordinary,
            None => Devices::Zoned,
        };
        if devices == other {
            continue;
        }
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
