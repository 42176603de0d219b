//! Who watches fits, and what is told of one.

/// How far a fit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Far {
    /// What is fitted now.
    pub stage: &'static str,
    /// The number of this stage, from 1.
    pub number: usize,
    /// The stages.
    pub of: usize,
    /// The measurements of candidates so far.
    pub candidates: u64,
}

/// The observer of a fit or of a campaign, called from several threads.
pub trait Watcher: Sync {
    /// Called when a drive of a campaign is finished.
    fn drive_done(&self) {}

    /// Called for every candidate that is measured.
    fn fitting(&self, _far: Far) {}

    /// Called often; `true` ends the fit, or the campaign.
    fn interrupted(&self) -> bool {
        false
    }
}
