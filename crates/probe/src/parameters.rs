//! The parameters of a drive. Each has a file in this directory, a `mod` line and a line in the list.
//!
//! The file holds the description of the parameter ([`crate::about::About`]); its methods are in submodules.

pub(crate) mod bandwidth_limit;
pub(crate) mod clustered_block;
pub(crate) mod clustered_page;
pub(crate) mod compression;
pub(crate) mod fast_cache;
pub(crate) mod flush;
pub(crate) mod indirection_unit;
pub(crate) mod logical_block;
pub(crate) mod map_reach;
pub(crate) mod over_provisioning;
pub(crate) mod parallelism;
pub(crate) mod prefetch;
pub(crate) mod queue_knee;
pub(crate) mod rate_limit;
pub(crate) mod read_buffer;
pub(crate) mod read_unit;
pub(crate) mod reclaim_unit;
pub(crate) mod stalls;
pub(crate) mod stripe_unit;
pub(crate) mod trim;
pub(crate) mod write_buffer;
pub(crate) mod write_policy;

use serde::{Deserialize, Serialize};
use std::fmt;

/// Passes the list of parameters to a macro. The order is that of measurement: later parameters use earlier answers.
#[macro_export]
macro_rules! for_each_parameter {
    ($use:ident) => {
        $use! {
            ClusteredPage clustered_page,
            ClusteredBlock clustered_block,
            LogicalBlock logical_block,
            ReadBuffer read_buffer,
            WriteBuffer write_buffer,
            Prefetch prefetch,
            WritePolicy write_policy,
            ReadUnit read_unit,
            Parallelism parallelism,
            StripeUnit stripe_unit,
            QueueKnee queue_knee,
            MapReach map_reach,
            RateLimit rate_limit,
            BandwidthLimit bandwidth_limit,
            Stalls stalls,
            Flush flush,
            Trim trim,
            Compression compression,
            IndirectionUnit indirection_unit,
            FastCache fast_cache,
            ReclaimUnit reclaim_unit,
            OverProvisioning over_provisioning,
        }
    };
}

macro_rules! parameter {
    ($($parameter:ident $name:ident,)*) => {
        /// A parameter: a property of a drive that is measured.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Parameter {
            $(#[doc = concat!("`docs/parameters/", stringify!($name), ".md`")] $parameter,)*
        }

        impl Parameter {
            /// All parameters, in the order in which they are measured.
            pub const ALL: [Parameter; [$(stringify!($name)),*].len()] = [$(Parameter::$parameter),*];

            /// Returns the name used in profiles, options and `--json`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Parameter::$parameter => stringify!($name),)*
        }
            }
        }
    };
}

for_each_parameter!(parameter);

impl Parameter {
    /// The parameters of the papers (`parameter-aware-io` 4, `greedy-space` IV.A).
    pub const PAPERS: [Parameter; 7] = [
        Parameter::ClusteredPage,
        Parameter::ClusteredBlock,
        Parameter::LogicalBlock,
        Parameter::ReadBuffer,
        Parameter::WriteBuffer,
        Parameter::Prefetch,
        Parameter::WritePolicy,
    ];

    /// Returns the parameter with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|p| p.name() == name)
    }

    /// Returns the name in words: `clustered page`.
    pub fn title(self) -> String {
        self.name().replace('_', " ")
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
