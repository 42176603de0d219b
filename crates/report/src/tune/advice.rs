//! What a rule returns: a setting with its value and reason, or why no value follows.

use fathom_probe::Verdict;
use serde::{Deserialize, Serialize};

/// A setting that follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advice {
    /// The family of settings: the program or the part of the system that reads it, such as `queue` or `ext4`.
    pub family: String,
    /// The setting, as its program names it.
    pub setting: String,
    /// The value, as its program reads it.
    pub value: String,
    /// The value that is set now, where it can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// Why, in one sentence with the figures.
    pub reason: String,
    /// The parameter behind it, as a profile names it; the attribute of the drive where the drive's own report decides.
    pub parameter: String,
    /// The verdict on that parameter.
    pub verdict: Verdict,
}

impl Advice {
    /// Returns true if the value is set already.
    pub fn is_set(&self) -> bool {
        self.now.as_deref() == Some(&self.value)
    }
}

/// A setting of which nothing follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// The family of settings.
    pub family: String,
    /// The setting.
    pub setting: String,
    /// The parameter that would decide it.
    pub parameter: String,
    /// The verdict on that parameter; `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Why nothing follows, in one sentence.
    pub why: String,
}

/// The value that a rule decides on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decided {
    pub(super) value: String,
    pub(super) reason: String,
    pub(super) parameter: &'static str,
}

impl Decided {
    pub(super) fn new(
        value: impl ToString,
        parameter: &'static str,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            value: value.to_string(),
            reason: reason.into(),
            parameter,
        }
    }
}

/// Why a rule decides on no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Undecided {
    pub(super) parameter: &'static str,
    pub(super) verdict: Option<Verdict>,
    pub(super) why: String,
}

impl Undecided {
    /// Nothing follows from an identified parameter.
    pub(super) fn identified(parameter: &'static str, why: impl Into<String>) -> Self {
        Self {
            parameter,
            verdict: Some(Verdict::Identified),
            why: why.into(),
        }
    }
}

/// The result of a rule.
pub(super) type Decision = Result<Decided, Undecided>;
