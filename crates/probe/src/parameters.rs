//! The parameters: what is asked of a drive. Each is one file of this directory, a `mod` line and a line in the list.
//!
//! A file says everything of its parameter ([`crate::about::About`]) and has its methods beside it.

pub(crate) mod clustered_block;
pub(crate) mod clustered_page;
pub(crate) mod logical_block;
pub(crate) mod prefetch;
pub(crate) mod read_buffer;
pub(crate) mod write_buffer;
pub(crate) mod write_policy;

use serde::{Deserialize, Serialize};
use std::fmt;

/// Hands the list to a macro. Its order is that in which the parameters are measured: later ones use earlier answers.
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
        }
    };
}

macro_rules! parameter {
    ($($parameter:ident $name:ident,)*) => {
        /// What is asked of a drive.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Parameter {
            $(#[doc = concat!("`docs/parameters/", stringify!($name), ".md`")] $parameter,)*
        }

        impl Parameter {
            /// All of them, in the order in which they are measured.
            pub const ALL: [Parameter; [$(stringify!($name)),*].len()] = [$(Parameter::$parameter),*];

            /// The name in profiles, options and `--json`.
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
    /// The parameter of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|p| p.name() == name)
    }

    /// The name for people: `clustered page`.
    pub fn title(self) -> String {
        self.name().replace('_', " ")
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
