//! Why a rate is not reached.

use crate::words::{count, counted, duration};
use serde::{Deserialize, Serialize};

/// Why a rate is not reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Unreached {
    /// The reason, in a sentence.
    pub why: String,
    /// What to do.
    pub help: String,
    /// The highest rate that is known to be possible or that was reached, in I/Os per second; `None` if none is known.
    pub most_iops: Option<f64>,
}

const FASTER_DRIVE: &str = "ask for less, or name a faster drive: `fathom list drives`";

impl Unreached {
    /// The drives are too slow: each does so much, and the search ends at a number of them.
    pub fn drives(each: f64, least: f64, bound: u32) -> Self {
        Self {
            why: format!(
                "a drive does {} I/Os a second at most: it takes at least {} drives, and the search ends at {bound}",
                count(each as u64),
                count(least as u64),
            ),
            help: FASTER_DRIVE.to_owned(),
            most_iops: Some(each * f64::from(bound)),
        }
    }

    /// As [`Unreached::drives`], where the adapter of a drive is slower than the drive.
    pub fn adapters(each: f64, least: f64, bound: u32) -> Self {
        Self {
            why: format!(
                "an adapter passes {} a second at most: it takes at least {} adapters with a drive each, and the search ends at {bound}",
                counted(each as u64, "I/O"),
                count(least as u64),
            ),
            help: "ask for less, or raise `adapter.iops` or `adapter.rate`".to_owned(),
            most_iops: Some(each * f64::from(bound)),
        }
    }

    /// The processors are too slow.
    pub fn cores(least: f64, bound: u32, most_iops: f64) -> Self {
        Self {
            why: format!(
                "it takes about {} processors, and the search ends at {bound}",
                count(least as u64)
            ),
            help:
                "ask for less, or name a platform with fewer clocks an I/O: `fathom list platforms`"
                    .to_owned(),
            most_iops: Some(most_iops),
        }
    }

    /// Processors delay each other so much that no number of them is enough.
    pub fn contention(most_iops: f64) -> Self {
        Self {
            why: format!(
                "each processor that computes adds `clocks.contention` to the I/Os of every other: no number of processors passes {} I/Os a second",
                count(most_iops as u64)
            ),
            help: "ask for less, or lower `clocks.contention`: it is a line through few points, and far beyond them an extrapolation".to_owned(),
            most_iops: Some(most_iops),
        }
    }

    /// One I/O alone takes longer than the limit of the latency.
    pub fn latency(most_ns: u64, alone_ns: u64) -> Self {
        Self {
            why: format!(
                "one I/O at a time takes {} on the drive alone, and the latency may be {}",
                duration(alone_ns),
                duration(most_ns)
            ),
            help: "allow a longer latency, or name a faster drive: `fathom list drives`".to_owned(),
            most_iops: None,
        }
    }

    /// The limit of the latency allows less than one I/O in flight.
    pub fn rate_of_latency(most_ns: u64) -> Self {
        Self {
            why: format!(
                "at that rate a latency of {} is less than one I/O in flight",
                duration(most_ns)
            ),
            help: "leave `--latency-max` out, and see the latency of one at a time".to_owned(),
            most_iops: None,
        }
    }

    /// The search ended without the rate. `limited` if a limit of the latency bounded the I/Os in flight.
    pub fn searched(drives: u32, most_iops: f64, limited: bool) -> Self {
        let within = if limited { " within the latency" } else { "" };
        Self {
            why: format!(
                "{} reach {} I/Os a second{within}, and more drives or processors hardly help",
                counted(u64::from(drives), "drive"),
                count(most_iops as u64)
            ),
            help: match limited {
                true => "ask for less, or allow a longer latency".to_owned(),
                false => FASTER_DRIVE.to_owned(),
            },
            most_iops: Some(most_iops),
        }
    }
}
