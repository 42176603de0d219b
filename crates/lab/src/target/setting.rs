//! A setting of a drive file: a key and its value.

use std::fmt;
use toml::Value;

/// A setting: a key including its tables, and a value. Without a value the key or the table is removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The key, such as `write_buffer.policy`.
    pub key: String,
    /// The value.
    pub value: Option<Value>,
}

impl Setting {
    /// Creates a setting of a key to a value.
    pub fn new(key: &str, value: impl Into<Value>) -> Self {
        Self {
            key: key.to_owned(),
            value: Some(value.into()),
        }
    }

    /// Creates a setting that removes a key or a table.
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
