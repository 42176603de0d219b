//! What there is to find in a drive, from its drive file alone.
//!
//! Each parameter has a rule that follows from the mechanism; no answer of a probe enters one. A rule says what is there
//! and how large the largest difference is that it makes to the time of the same accesses, by the drive's own times
//! without noise: what makes a tenth or more is *identifiable*, what makes less is *faint*, and what makes none is
//! *hidden*. Noise hides nothing: it only takes more samples. In doubt a thing counts as identifiable.
//!
//! A rule is a file with the name of its parameter and a function `truth`, and has its reasons; docs/accuracy.md lists them. A
//! parameter without a rule does not compile.
//! `crates/lab/tests/oracle` holds them against accesses to the modelled drives themselves, with their noise taken out.

mod clustered_block;
mod clustered_page;
mod logical_block;
mod prefetch;
mod read_buffer;
mod right;
mod speeds;
mod write_buffer;
mod write_policy;

pub use clustered_page::{mapping_unit, read_unit};
pub use right::{Right, Sight, Truth};

use fathom_probe::Parameter;
use fathom_ssd::Spec;
use std::collections::BTreeMap;

macro_rules! rules {
    ($($parameter:ident $name:ident,)*) => {
        impl Truth {
            /// Of one parameter.
            pub fn of(spec: &Spec, parameter: Parameter) -> Truth {
                match parameter {
                    $(Parameter::$parameter => $name::truth(spec),)*
                }
            }
        }
    };
}

fathom_probe::for_each_parameter!(rules);

impl Truth {
    /// Of every parameter.
    pub fn all(spec: &Spec) -> BTreeMap<Parameter, Truth> {
        let of = |parameter| (parameter, Truth::of(spec, parameter));
        Parameter::ALL.into_iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests;
