//! The times and rates of a drive that are fitted.

use crate::twin::draft::{dur, rate};
use fathom_ssd::Spec;
use fathom_ssd::spec::Arbitration;

/// A time or a rate of a drive that is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Knob {
    Link,
    Bus,
    Program,
    FastProgram,
    Suspend,
}

impl Knob {
    /// Returns the value, if the drive has such a part and the value is not zero.
    pub(super) fn get(self, spec: &Spec) -> Option<f64> {
        let value = match self {
            Knob::Link => spec.host.bandwidth.bytes_per_second() as f64,
            Knob::Bus => spec.flash.bus.bytes_per_second() as f64,
            Knob::Program => spec.flash.program.0 as f64,
            Knob::FastProgram => spec.fast_cache.as_ref()?.program.0 as f64,
            Knob::Suspend => spec.flash.suspend_latency.0 as f64,
        };
        (value > 0.0).then_some(value)
    }

    pub(super) fn set(self, spec: &mut Spec, value: f64) {
        match self {
            Knob::Link => spec.host.bandwidth = rate(value),
            Knob::Bus => spec.flash.bus = rate(value),
            Knob::Program => spec.flash.program = dur(value),
            Knob::FastProgram => {
                if let Some(cache) = &mut spec.fast_cache {
                    cache.program = dur(value);
                }
            }
            Knob::Suspend => suspend(spec, value),
        }
    }
}

/// Lets reads suspend programs. What resuming costs is taken to be as long as suspending.
pub(super) fn suspend(spec: &mut Spec, ns: f64) {
    spec.flash.arbitration = Arbitration::Suspend;
    spec.flash.suspend_latency = dur(ns);
    spec.flash.suspend_overhead = dur(ns);
}
