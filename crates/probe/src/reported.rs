//! What a drive and the kernel report, and what is set in the kernel, before anything is measured: plain data. This module
//! reads nothing (`fathom-hostio` does).

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a drive and the kernel report, and the attributes of its request queue. Everything is absent for a drive that is not
/// here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reported {
    /// Kernel name of the whole drive, such as `nvme0n1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Number of the device, `MAJOR:MINOR`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// Model name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Serial number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// Firmware version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// Why the drive itself was not asked, and what can be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_asked: Option<String>,
    /// Why its log was not read, and what can be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_log: Option<String>,
    /// The attributes in `queue` of sysfs with their texts (Linux, Documentation/ABI/stable/sysfs-block).
    #[serde(default)]
    pub queue: BTreeMap<String, String>,
    /// Fields of an NVMe controller and namespace, in bytes, by the names of the specification: `NPWG`, `NPWA`, `NPDG`, `NPDA`,
    /// `NOWS` (NVM Command Set Specification 1.0, 5.8.2) and others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub namespace: BTreeMap<String, u64>,
    /// The values that cannot all be true.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<Contradiction>,
}

/// Reported values that cannot all be true, or that harm a system which believes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contradiction {
    /// Name of the rule.
    pub rule: String,
    /// What contradicts, and what follows from it.
    pub text: String,
    /// Where the rule comes from.
    pub source: String,
}

impl Reported {
    /// Returns the value of a numeric attribute of the queue.
    pub fn number(&self, attribute: &str) -> Option<u64> {
        self.queue.get(attribute)?.parse().ok()
    }

    /// As [`Reported::number`], without 0, by which the kernel says that the drive reports nothing.
    pub fn size(&self, attribute: &str) -> Option<u64> {
        self.number(attribute).filter(|&n| n > 0)
    }

    /// Returns the value of an attribute that is set; of `scheduler` the active one.
    pub fn now(&self, attribute: &str) -> Option<String> {
        let text = self.queue.get(attribute)?;
        let inside = text.split_once('[').and_then(|(_, t)| t.split_once(']'));
        Some(inside.map_or(text.as_str(), |(word, _)| word).to_owned())
    }

    /// Returns the schedulers that the kernel offers; empty if unknown.
    pub fn schedulers(&self) -> Vec<&str> {
        let text = self.queue.get("scheduler").map_or("", String::as_str);
        let words = text.split_whitespace();
        words.map(|word| word.trim_matches(['[', ']'])).collect()
    }
}
