//! A key of a drive file and what it is set to.

use std::fmt;
use toml::Value;

/// One setting: a key with the tables above it, and a value; no value takes the key, or the table, away.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Such as `write_buffer.policy`.
    pub key: String,
    /// What to set it to.
    pub value: Option<Value>,
}

impl Setting {
    /// A key and what it is set to.
    pub fn new(key: &str, value: impl Into<Value>) -> Self {
        Self {
            key: key.to_owned(),
            value: Some(value.into()),
        }
    }

    /// A key, or a table, to take away.
    pub fn absent(key: &str) -> Self {
        Self {
            key: key.to_owned(),
            value: None,
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(Value::String(text)) => write!(f, "{}={text}", self.key),
            Some(value) => write!(f, "{}={value}", self.key),
            None => write!(f, "{}=", self.key),
        }
    }
}
