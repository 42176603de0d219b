//! Why a measurement has no result.

use fathom_hostio::HostError;
use fathom_report::platform::Missing;

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

/// A result, or else an entry of what is missing.
pub(super) fn or_missing<T>(
    found: Result<T, MeasureError>,
    what: &str,
    missing: &mut Vec<Missing>,
) -> Result<Option<T>, MeasureError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(MeasureError::Host(error)) => {
            missing.push(self::missing(what, &error));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// What an error leaves out, and its advice, which follows a semicolon in the message.
pub(super) fn missing(what: &str, error: &HostError) -> Missing {
    let said = error.to_string();
    let (why, help) = said.split_once("; ").unwrap_or((&said, ""));
    Missing {
        what: format!("{what}: {why}"),
        help: help.to_owned(),
    }
}
