//! A value that cannot be: the one error for it, whatever it is a setting of.

use std::fmt::{self, Display};

/// A value that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadValue {
    /// What it is a setting of, such as a scheduler; empty where the key says it.
    pub part: String,
    /// The key, with the tables above it, such as `flash.clustered_page`.
    pub key: &'static str,
    /// What it is now; empty where `allowed` says it.
    pub found: String,
    /// What would do, or what is wrong.
    pub allowed: String,
}

impl BadValue {
    /// A key whose value, `found`, cannot be.
    pub fn new(key: &'static str, found: impl Display, allowed: impl Into<String>) -> Self {
        Self {
            part: String::new(),
            key,
            found: found.to_string(),
            allowed: allowed.into(),
        }
    }

    /// It as a setting of `part`, unless it says of what.
    #[must_use]
    pub fn of(mut self, part: impl Into<String>) -> Self {
        if self.part.is_empty() {
            self.part = part.into();
        }
        self
    }
}

/// `part: \`key\` is found: allowed`.
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

/// Refuses the value of a key unless `holds`; `allowed` says what would do.
///
/// # Errors
/// [`BadValue`].
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
