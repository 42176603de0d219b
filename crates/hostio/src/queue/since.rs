//! What somebody else has set while a change was there.

/// An attribute that somebody else has set since it was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Since {
    /// Name of the attribute.
    pub attribute: String,
    /// The value before the change.
    pub old: String,
    /// The value that somebody else has set; `None` if the attribute went with the scheduler that somebody has switched.
    pub set: Option<String>,
    /// Its value after the others were restored; another one if the kernel did not keep it.
    pub now: Option<String>,
}
