//! Steps: small transformations of a workload before it reaches a drive, applied in sequence.
//!
//! The steps of `epo` IV.A drop the reads, keep the first accesses, shrink the address space evenly and round sizes to
//! flash pages. The others are useful for studies of traces in general. A study file lists steps. [`apply`] puts them
//! over any iterator of accesses. [`Shaped`] returns the resulting accesses and counts how many each step dropped and
//! changed, so that nothing is skipped silently.
//!
//! Everything streams in constant memory. Two steps, `shrink` and `concatenate`, need to know where the trace ends. The
//! study file gives this, or a first pass over the trace finds it ([`resolve`]). No step reorders or invents accesses.
//! No step knows the drive; a capacity is a parameter.
//!
//! A flush has no address, so the steps that change addresses pass it unchanged. A trim is moved like a write, but a
//! step that rounds to whole pages shrinks a trim to the pages inside it and never extends it.

mod choose;
mod cut;
mod place;
mod round;
mod shaped;
mod survey;
mod time;
mod work;

pub use choose::{Clip, Disk, First, PastEnd, ReadsOnly, WritesOnly};
pub use cut::Split;
pub use place::{Concatenate, Shrink, Span, Wrap};
pub use round::{Align, RoundToPages, Rounding};
pub use shaped::{Counts, ShapeError, Shaped, StepCounts, StepError, apply, plain};
pub use survey::{ResolveError, resolve};
pub use time::{ScaleTime, TimeWindow};
pub use work::Problem;
use work::Settings;

use fathom_base::registry::Text;
use fathom_base::{About, BadValue, Kind, names};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// Entry of the steps in the list of kinds.
const STEP: Kind = Kind {
    one: "step",
    list: "steps",
    summary: "Steps over a workload",
    prefix: "",
    option: "--step",
    text: Text::Prose,
};

names! {
    /// A step, as a study file lists it: `{ step = "first", accesses = 2_000_000 }`.
    pub enum Step by "step" of STEP in STEPS, macro each {
        WritesOnly(WritesOnly) = "writes-only", About::new("keep the writes, drop everything else");
        ReadsOnly(ReadsOnly) = "reads-only", About::new("keep the reads, drop everything else");
        First(First) = "first", About::new("stop after a number of accesses").example("first,accesses=100000");
        TimeWindow(TimeWindow) = "time-window", About::new("keep the accesses between two times, and restart the clock there").example("time-window,until=60s");
        ScaleTime(ScaleTime) = "scale-time", About::new("multiply every time by a factor").example("scale-time,factor=0.5");
        Disk(Disk) = "disk", About::new("keep one disk of a trace of several").example("disk,keep=0");
        Concatenate(Concatenate) = "concatenate", About::new("place the disks of a trace one after another");
        Shrink(Shrink) = "shrink", About::new("scale the addresses down to fit a capacity").example("shrink,capacity=2GiB");
        Wrap(Wrap) = "wrap", About::new("take addresses modulo a capacity").example("wrap,capacity=2GiB");
        RoundToPages(RoundToPages) = "round-to-pages", About::new("round every access out to whole pages");
        Align(Align) = "align", About::new("round starts down to a multiple, keep lengths").example("align,to=4KiB");
        Split(Split) = "split", About::new("cut accesses longer than a number of bytes").example("split,longest=256KiB");
        Clip(Clip) = "clip", About::new("refuse, or drop and count, accesses past the end of a drive").example("clip,capacity=2GiB");
    }
}

impl Step {
    fn settings(&self) -> &dyn Settings {
        each!(self, settings => settings)
    }

    fn settings_mut(&mut self) -> &mut dyn Settings {
        each!(self, settings => settings)
    }
}

/// How accesses are issued to a drive. It is defined here because study files name it; the run loop implements it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Arrival {
    /// Each access is issued at its own time, whether or not earlier ones have completed.
    Open,
    /// Keeps `outstanding` accesses in flight, in order, and ignores their times.
    Closed {
        /// Number of accesses in flight, at least 1.
        outstanding: NonZeroU32,
    },
    /// Several processes, each of which plays the workload with its own seed and keeps `outstanding` of its own
    /// accesses in flight. A process waits for reads and writes alike.
    Processes {
        /// Number of processes, at least 1.
        processes: NonZeroU32,
        /// Number of accesses in flight per process, at least 1.
        outstanding: NonZeroU32,
    },
}

/// The most processes, as many as a job of fio may have here (`numjobs`).
pub const PROCESSES_MAX: u32 = 4096;

/// Parses `open`, `closed:N`, `processes:P` or `processes:P:N`.
impl FromStr for Arrival {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        let wrong = || {
            let allowed =
                "write open, closed:N or processes:P:N with N from 1 on and P in 1..=4096";
            BadValue::new("arrival", text, allowed)
        };
        let many = |n: &str| n.parse().map_err(|_| wrong());
        let arrival = match text.split_once(':') {
            None if text == "open" => Ok(Self::Open),
            Some(("closed", n)) => Ok(Self::Closed {
                outstanding: many(n)?,
            }),
            Some(("processes", n)) => {
                let (processes, outstanding) = n.split_once(':').unwrap_or((n, "1"));
                Ok(Self::Processes {
                    processes: many(processes)?,
                    outstanding: many(outstanding)?,
                })
            }
            _ => Err(wrong()),
        };
        let arrival: Self = arrival?;
        arrival.check()?;
        Ok(arrival)
    }
}

impl Arrival {
    /// Checks the number of processes, each of which holds a workload of its own.
    ///
    /// # Errors
    /// More than [`PROCESSES_MAX`].
    pub fn check(&self) -> Result<(), BadValue> {
        match self {
            Self::Processes { processes, .. } if processes.get() > PROCESSES_MAX => {
                let problem = format!("must have at most {PROCESSES_MAX} processes");
                Err(BadValue::new("arrival", self, problem))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.write_str("open"),
            Self::Closed { outstanding } => write!(f, "closed:{outstanding}"),
            Self::Processes {
                processes,
                outstanding,
            } => write!(f, "processes:{processes}:{outstanding}"),
        }
    }
}
