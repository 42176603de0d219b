//! Settings that follow from what a drive reports and what was measured of it (`fathom tune`): plain data, the rules, and
//! the forms in which programs read them.
//!
//! A rule is a pure function from a [`Case`] to an [`Advice`] or to the reason why there is none. Advice rests on an
//! identified parameter alone. No rule turns off a protection of data: flushes, full-page writes and the kernel's view of
//! the write cache stay as they are.

mod advice;
mod applied;
mod case;
mod compare;
mod format;
mod headline;
mod measured;
#[cfg(test)]
mod rule_tests;
mod rules;
#[cfg(test)]
mod tests;
mod text;

pub use advice::{Advice, Open};
pub use applied::{Alone, Applied, Refused, Set, Undo, applied_text};
pub use case::Case;
pub use compare::{Compared, Relation};
pub use format::{FORMATS, Format};
pub(crate) use headline::compared;
pub(crate) use headline::headlines;
pub use measured::Measured;
pub use text::text;

use fathom_probe::{Profile, Reported};
use serde::{Deserialize, Serialize};

/// What `fathom tune` found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Version of Fathom.
    pub fathom: String,
    /// The measured drive, as its profile names it.
    pub profile: String,
    /// Identity of the measured drive.
    pub identity: String,
    /// The drive whose reports and settings were read.
    pub drive: Reported,
    /// What the drive reports beside what was measured.
    pub compared: Vec<Compared>,
    /// The settings that follow.
    pub advice: Vec<Advice>,
    /// The settings of which nothing follows.
    pub open: Vec<Open>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

impl Tuning {
    /// Returns what follows for a drive from its profile and its reports.
    pub fn of(profile: &Profile, drive: Reported) -> Self {
        let measured = Measured::of(profile);
        let case = Case {
            reported: &drive,
            measured: &measured,
        };
        let (advice, open) = rules::all(&case);
        Self {
            fathom: profile.fathom.clone(),
            profile: profile.target.name.clone(),
            identity: profile.target.identity.clone(),
            compared: compare::all(&case),
            advice,
            open,
            notes: Vec::new(),
            drive,
        }
    }
}
