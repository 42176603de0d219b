//! I/O priorities, as set by `ionice`: a class and a level in the class.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// The class of an I/O priority (ioprio_set(2)), in order from the highest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Served before all others (`IOPRIO_CLASS_RT`).
    RealTime,
    /// The default class (`IOPRIO_CLASS_BE`).
    #[default]
    BestEffort,
    /// Served after all others (`IOPRIO_CLASS_IDLE`).
    Idle,
}

/// The I/O priority of a process. In a settings file, a number is a level of the class best effort; a text is a class
/// and a level: `"realtime:0"`, `"best-effort:7"`, `"idle"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority {
    /// The class.
    pub class: Class,
    /// The level, from 0, the highest, to 7. The class idle has no levels; it is 7 there.
    pub level: u8,
}

/// The lowest priority level.
const LOWEST: u8 = 7;

impl Default for Priority {
    /// Returns the priority of a process without a setting: the middle of best effort (`IOPRIO_BE_NORM`).
    fn default() -> Self {
        let class = Class::BestEffort;
        Self { class, level: 4 }
    }
}

impl Priority {
    /// Returns the priority, or `None` if `level` is above 7. The class idle always gets the lowest level, whatever
    /// `level` is (`bfq_set_next_ioprio_data`).
    pub fn new(class: Class, level: u8) -> Option<Self> {
        let level = match class {
            Class::Idle => LOWEST,
            _ => level,
        };
        (level <= LOWEST).then_some(Self { class, level })
    }

    fn parse(text: &str) -> Option<Self> {
        let (class, level) = match text.split_once(':') {
            Some((class, level)) => (class, Some(level.parse().ok().filter(|it| *it <= LOWEST)?)),
            None => (text, None),
        };
        let class = match class {
            "realtime" => Class::RealTime,
            "best-effort" => Class::BestEffort,
            "idle" => Class::Idle,
            _ => return None,
        };
        Self::new(class, level.unwrap_or(Self::default().level))
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.class {
            Class::RealTime => write!(f, "realtime:{}", self.level),
            Class::BestEffort => write!(f, "{}", self.level),
            Class::Idle => f.write_str("idle"),
        }
    }
}

impl Serialize for Priority {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.class {
            Class::BestEffort => serializer.serialize_u8(self.level),
            _ => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Priority {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Said {
            Level(i64),
            Text(String),
        }
        let (read, said) = match Said::deserialize(deserializer)? {
            Said::Level(level) => {
                let number = u8::try_from(level).ok();
                let read = number.and_then(|level| Self::new(Class::BestEffort, level));
                (read, level.to_string())
            }
            Said::Text(text) => (Self::parse(&text), format!("\"{text}\"")),
        };
        read.ok_or_else(|| {
            de::Error::custom(format!(
                "{said} is no priority; it is a level from 0, the highest, to 7, or \"realtime:LEVEL\", \
                 \"best-effort:LEVEL\" or \"idle\""
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// ioprio_set(2): three classes with levels 0 to 7, except for the class idle, which has none; the default is best
    /// effort.
    #[test]
    fn a_number_is_best_effort_and_text_says_the_class() {
        let read =
            |text: &str| toml::from_str::<BTreeMap<String, Priority>>(&format!("0 = {text}"));
        for (text, class, level) in [
            ("3", Class::BestEffort, 3),
            ("\"best-effort:3\"", Class::BestEffort, 3),
            ("\"best-effort\"", Class::BestEffort, 4),
            ("\"realtime:0\"", Class::RealTime, 0),
            ("\"idle\"", Class::Idle, 7),
            ("\"idle:2\"", Class::Idle, 7),
        ] {
            let all = read(text).unwrap();
            assert_eq!(all["0"], Priority { class, level }, "{text}");
            // The serialized form reads back as the same priorities.
            let written = toml::to_string(&all).unwrap();
            assert_eq!(
                toml::from_str::<BTreeMap<String, Priority>>(&written).unwrap(),
                all
            );
        }
        for text in ["8", "-1", "\"realtime:8\"", "\"first\"", "\"idle:\""] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains("is no priority"), "{text}: {error}");
        }
    }
}
