//! What a drive and the kernel report, and what is set now.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a drive reports, and the attributes of its request queue. Everything is absent for a drive that is not here.
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
    /// The attributes in `queue` of sysfs with their texts (Linux, Documentation/ABI/stable/sysfs-block).
    #[serde(default)]
    pub queue: BTreeMap<String, String>,
    /// Fields of the NVMe namespace, in bytes: `NPWG`, `NPWA`, `NPDG`, `NOWS` (NVM Command Set Specification 1.0, 5.8.2).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub namespace: BTreeMap<String, u64>,
}

impl Reported {
    /// Returns the value of a numeric attribute of the queue.
    pub(super) fn number(&self, attribute: &str) -> Option<u64> {
        self.queue.get(attribute)?.parse().ok()
    }

    /// As [`Reported::number`], without 0, by which the kernel says that the drive reports nothing.
    pub(super) fn size(&self, attribute: &str) -> Option<u64> {
        self.number(attribute).filter(|&n| n > 0)
    }

    /// Returns the value of an attribute that is set now; of `scheduler` the active one.
    pub(super) fn now(&self, attribute: &str) -> Option<String> {
        let text = self.queue.get(attribute)?;
        let inside = text.split_once('[').and_then(|(_, t)| t.split_once(']'));
        Some(inside.map_or(text.as_str(), |(word, _)| word).to_owned())
    }

    /// Returns the schedulers that the kernel offers; empty if unknown.
    pub(super) fn schedulers(&self) -> Vec<&str> {
        let text = self.queue.get("scheduler").map_or("", String::as_str);
        let words = text.split_whitespace();
        words.map(|word| word.trim_matches(['[', ']'])).collect()
    }
}
