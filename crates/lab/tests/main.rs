//! Integration tests of drives, runs, studies and campaigns.
//!
//! They are a single program, because separate programs would each have to be linked.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod ab;
mod accuracy;
mod asked;
mod bits;
mod blocks;
mod budget;
mod condition;
mod cost;
mod cut_short;
mod examples;
mod front;
mod fuzz;
mod host_wait;
mod in_front;
mod limits;
mod memories;
#[path = "oracle/main.rs"]
mod oracle;
mod play;
mod presets;
mod profiles;
mod read_only;
mod reads;
mod reclaim;
mod shared;
mod state;
mod store;
mod study;
mod tune;
mod twin;
mod units;
mod writes;

/// Returns the number of cases of a test: `few` in every run, `many` if the environment variable `FATHOM_LONG` is set.
pub(crate) fn cases(few: u64, many: u64) -> u64 {
    match std::env::var_os("FATHOM_LONG") {
        Some(_) => many,
        None => few,
    }
}
