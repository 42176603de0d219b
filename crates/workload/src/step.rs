//! Steps: what is done to a workload before it reaches a drive, one small thing after the other.
//!
//! After `epo` IV.A, which filters reads out, takes the first accesses, shrinks the address space evenly and
//! rounds sizes to flash pages; and beyond it, with what else a study of a trace needs. A study file lists
//! steps, [`apply`] puts them over any iterator of accesses, and [`Shaped`] gives the accesses that come out and
//! counts, step by step, what was dropped and what was changed: nothing is skipped in silence.
//!
//! Everything streams in constant memory. Two steps need to know where the trace ends (`shrink` and
//! `concatenate`); they are told in the file, or by a first pass over the trace ([`resolve`]). No step reorders
//! accesses, makes them up, or knows a drive: a capacity is a number that is handed in.
//!
//! A flush has no address: the steps that change addresses let it pass as it is. A trim does: it is moved like a
//! write, but a step that rounds to whole pages takes the pages inside of a trim, never a byte more.

mod choose;
mod cut;
mod place;
mod round;
mod shaped;
mod survey;
mod time;

pub use choose::{Clip, Disk, First, PastEnd, ReadsOnly, WritesOnly};
pub use cut::Split;
pub use place::{Concatenate, Shrink, Span, Wrap};
pub use round::{Align, RoundToPages, Rounding};
pub use shaped::{Counts, Problem, ShapeError, Shaped, StepCounts, StepError, apply, plain};
pub use survey::{ResolveError, Survey, resolve, survey};
pub use time::{ScaleTime, TimeWindow};

use fathom_block::Access;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// What a step says to one access.
pub(crate) enum Verdict {
    /// It goes on, changed or not.
    Pass(Access),
    /// It goes no further.
    Drop,
    /// The step cannot take it.
    Fail(Problem),
}

/// A step at work.
pub(crate) trait Work {
    /// What becomes of an access.
    fn shape(&mut self, access: Access) -> Verdict;

    /// A further piece of the last access that passed.
    fn rest(&mut self) -> Option<Access> {
        None
    }

    /// Whether it takes no further access, so that none needs to be read.
    fn full(&self) -> bool {
        false
    }
}

/// The settings of a step.
pub(crate) trait Settings {
    /// What is wrong with them, if anything.
    fn check(&self) -> Result<(), &'static str>;

    /// The step, ready to work.
    fn work(&self) -> Box<dyn Work>;

    /// Whether a first pass has to say where the trace ends.
    fn needs_survey(&self) -> bool {
        false
    }

    /// Takes what the first pass found.
    fn learn(&mut self, _survey: &Survey) {}
}

/// A step whose settings cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {number} ({step}): {what}")]
pub struct BadStep {
    /// Which of the list, counted from 1.
    pub number: usize,
    /// Its name.
    pub step: &'static str,
    /// What is wrong and what to do.
    pub what: &'static str,
}

/// A step as it is listed.
#[derive(Clone, Copy, Debug)]
pub struct StepEntry {
    /// Its name in a study file.
    pub name: &'static str,
    /// What it does, in one line.
    pub help: &'static str,
    /// The step as `--step` takes it, with what it needs.
    pub example: &'static str,
}

macro_rules! steps {
    ($($variant:ident: $name:literal, $help:literal, $example:literal;)*) => {
        /// One step, as a study file lists it: `{ step = "first", accesses = 2_000_000 }`.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "step")]
        pub enum Step {
            $(
                #[doc = $help]
                #[serde(rename = $name)]
                $variant($variant),
            )*
        }

        impl Step {
            /// Its name in a study file.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Step::$variant(_) => $name,)*
                }
            }

            fn settings(&self) -> &dyn Settings {
                match self {
                    $(Step::$variant(settings) => settings,)*
                }
            }

            fn settings_mut(&mut self) -> &mut dyn Settings {
                match self {
                    $(Step::$variant(settings) => settings,)*
                }
            }
        }

        /// Every step, in the order in which they are listed.
        pub const STEPS: &[StepEntry] = &[$(StepEntry { name: $name, help: $help, example: $example }),*];
    };
}

steps! {
    WritesOnly: "writes-only", "keep the writes, drop everything else", "writes-only";
    ReadsOnly: "reads-only", "keep the reads, drop everything else", "reads-only";
    First: "first", "stop after a number of accesses", "first,accesses=100000";
    TimeWindow: "time-window", "keep the accesses between two times, and restart the clock there", "time-window,from=0s,until=60s";
    ScaleTime: "scale-time", "multiply every time by a factor", "scale-time,factor=0.5";
    Disk: "disk", "keep one disk of a trace of several", "disk,keep=0";
    Concatenate: "concatenate", "place the disks of a trace one after another", "concatenate";
    Shrink: "shrink", "scale the addresses down to fit a capacity", "shrink,capacity=2GiB";
    Wrap: "wrap", "take addresses modulo a capacity", "wrap,capacity=2GiB";
    RoundToPages: "round-to-pages", "round every access out to whole pages", "round-to-pages,page=4KiB";
    Align: "align", "round starts down to a multiple, keep lengths", "align,to=4KiB";
    Split: "split", "cut accesses longer than a number of bytes", "split,longest=256KiB";
    Clip: "clip", "refuse, or drop and count, accesses past the end of a drive", "clip,capacity=2GiB";
}

/// How accesses are handed to a drive: named here so that a study file can say it; the run loop does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Arrival {
    /// Each at its own time, whether or not those before it are done.
    Open,
    /// As soon as fewer than so many are outstanding, in order, whatever their times.
    Closed {
        /// Accesses in flight, at least 1.
        outstanding: NonZeroU32,
    },
    /// So many processes, each of which plays the workload with a seed of its own: as soon as fewer than so many of its
    /// own accesses are outstanding. It waits for all of them.
    Processes {
        /// How many, at least 1.
        processes: NonZeroU32,
        /// Accesses of each in flight, at least 1.
        outstanding: NonZeroU32,
    },
}
