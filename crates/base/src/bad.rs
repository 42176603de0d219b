//! The error for an invalid value of any setting.

use std::fmt::{self, Display};

/// An invalid value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadValue {
    /// The owner of the setting, such as a scheduler; empty if the key is sufficient.
    pub part: String,
    /// The key, with the tables that contain it, such as `flash.clustered_page`.
    pub key: &'static str,
    /// The present value; empty if `allowed` states it.
    pub found: String,
    /// The allowed values, or what is wrong.
    pub allowed: String,
}

impl BadValue {
    /// Creates the error for the value `found` of a key.
    pub fn new(key: &'static str, found: impl Display, allowed: impl Into<String>) -> Self {
        Self {
            part: String::new(),
            key,
            found: found.to_string(),
            allowed: allowed.into(),
        }
    }

    /// Sets the owner of the setting, unless it is already set.
    #[must_use]
    pub fn of(mut self, part: impl Into<String>) -> Self {
        if self.part.is_empty() {
            self.part = part.into();
        }
        self
    }
}

/// Format: `part: \`key\` is found: allowed`.
impl Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.part.is_empty() {
            write!(f, "{}: ", self.part)?;
        }
        write!(f, "`{}`", self.key)?;
        if !self.found.is_empty() {
            write!(f, " is {}", self.found)?;
        }
        write!(f, ": {}", self.allowed)
    }
}

impl std::error::Error for BadValue {}

/// Checks the value of a key: returns an error unless `holds`. `allowed` states the allowed values.
///
/// # Errors
/// Returns [`BadValue`] if `holds` is false.
pub fn want(
    holds: bool,
    key: &'static str,
    found: impl Display,
    allowed: impl FnOnce() -> String,
) -> Result<(), BadValue> {
    match holds {
        true => Ok(()),
        false => Err(BadValue::new(key, found, allowed())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_leaves_out_what_is_not_known() {
        let bad = BadValue::new("depth", 0, "at least 1");
        assert_eq!(bad.to_string(), "`depth` is 0: at least 1");
        let bad = bad.of("queue");
        assert_eq!(bad.to_string(), "queue: `depth` is 0: at least 1");
        let bad = BadValue::new("range", "", "it ends too late");
        assert_eq!(bad.to_string(), "`range`: it ends too late");
    }
}
