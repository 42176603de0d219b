//! Reading a file of ours: what is wrong with it, and in which line.

use serde::de::DeserializeOwned;

/// What a TOML text says.
///
/// # Errors
/// The line, counted from 1, and what is wrong there.
pub(crate) fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, (Option<usize>, String)> {
    toml::from_str(text).map_err(|error| {
        let before = |at: usize| text.get(..at).unwrap_or_default();
        let line = error
            .span()
            .map(|span| before(span.start).matches('\n').count() + 1);
        (line, error.message().to_owned())
    })
}
