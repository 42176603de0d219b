//! Choices of the section `[host]`: the drive's own log, and the arbitration between submission queues.

use serde::{Deserialize, Serialize};

/// What the drive reports about itself (`fathom_block::Device::log`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Log {
    /// Nothing.
    #[default]
    None,
    /// The bytes that the host has written and read, in the unit of the protocol: NVMe counts 512,000 bytes, rounded up
    /// (NVM Express Base Specification, SMART / Health Information, "Data Units Written"); ATA counts sectors of 512
    /// bytes (attributes 241 and 242).
    Host,
    /// As `host`, and the bytes written to the flash and the spare blocks left, as vendors and the Open Compute Project's
    /// Datacenter NVMe SSD Specification report them ("Physical Media Units Written").
    Media,
}

/// How the controller chooses the queue of its next command (NVM Express Base Specification, "Command Arbitration").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueArbitration {
    /// All queues in turn.
    #[default]
    RoundRobin,
    /// Urgent queues first, then those of high, medium and low priority by weight (weighted round robin with urgent
    /// priority class).
    Weighted,
}

/// Priority of a submission queue (NVM Express Base Specification, "Create I/O Submission Queue").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// Before all others.
    Urgent,
    /// The first weight.
    High,
    /// The second weight.
    #[default]
    Medium,
    /// The third weight.
    Low,
}
