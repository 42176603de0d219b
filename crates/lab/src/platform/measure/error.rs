//! Why a measurement has no result.

use fathom_hostio::HostError;

/// The reason why a measurement has no result.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// A target cannot be measured.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The user ended it.
    #[error("interrupted")]
    Interrupted,
    /// A thread that measured ended without a result.
    #[error("a thread that measured has ended without a result; please report this")]
    Ended,
}
