//! Ground truth of each parameter, from the drive file alone.
//!
//! Each parameter has a rule that follows from the mechanism; no rule uses an answer of a probe. A rule gives the value and
//! the largest relative difference that the parameter makes to the time of the same accesses, by the drive's own times
//! without noise. A difference of a tenth or more makes the parameter *identifiable*, a smaller one *faint*, and none
//! *hidden*. Noise does not make a parameter hidden: it only requires more samples. In case of doubt a parameter counts as
//! identifiable.
//!
//! Each rule is a file with the name of its parameter, a function `truth` and the reasons for it; docs/accuracy.md lists
//! the rules. A parameter without a rule does not compile. `crates/lab/tests/oracle` checks the rules against accesses to
//! the modelled drives themselves, without their noise.

mod bandwidth_limit;
mod clustered_block;
mod clustered_page;
mod compression;
mod fast_cache;
mod flush;
mod indirection_unit;
mod logical_block;
mod map_reach;
mod over_provisioning;
mod parallelism;
mod prefetch;
mod queue_knee;
mod rate_limit;
mod read_buffer;
mod read_unit;
mod reads;
mod reclaim_unit;
mod right;
mod speeds;
mod stalls;
mod stripe_unit;
mod trim;
mod write_buffer;
mod write_policy;

pub use clustered_page::{mapping_unit, read_unit};
pub use right::{Right, Sight, Truth};

use fathom_probe::Parameter;
use fathom_ssd::Spec;

macro_rules! rules {
    ($($parameter:ident $name:ident,)*) => {
        impl Truth {
            /// Returns the truth of one parameter.
            pub fn of(spec: &Spec, parameter: Parameter) -> Truth {
                match parameter {
                    $(Parameter::$parameter => $name::truth(spec),)*
                }
            }
        }
    };
}

fathom_probe::for_each_parameter!(rules);

#[cfg(test)]
mod tests;
