//! A campaign that measures the accuracy of the probes: its counts as tables, and each target with its answers.

mod answers;
mod campaign;
mod tables;
mod tally;

pub use answers::{answered, target};
pub use campaign::{Answered, Drawn, Family, Outcome, Plan, Target};
pub use tables::{Campaign, text};
pub use tally::{MethodTally, Tally};
