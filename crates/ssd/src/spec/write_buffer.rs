//! The part of a drive file for the write buffer.

use crate::buffer::{POLICIES, WritePolicy};
use fathom_base::registry::{keyed, table_of};
use fathom_base::{Bytes, Dur, Named, keys};
use serde::{Deserialize, Serialize};

keys! {
    /// The write buffer.
    #[serde(deny_unknown_fields)]
    pub struct WriteBuffer {
        /// Eviction policy.
        pub policy: WritePolicy,
        /// Capacity in bytes of data.
        pub capacity: Bytes,
        /// Size of a block for `bplru` and `lb-clock`, by default the clustered block. Left out for any other policy.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub block: Option<Bytes>,
        /// When the buffer is drained, apart from a flush.
        #[serde(default)]
        pub drain: Drain,
        /// Time without writes after which an idle drain starts.
        #[serde(default)]
        pub idle_delay: Dur,
        /// Whether the buffer survives a power cut, so that FLUSH need not drain it.
        #[serde(default)]
        pub battery: bool,
        /// Whether `fifo` joins a write to the clustered page that was written last. If false, the part of a page that
        /// each command writes is programmed by itself.
        #[serde(default = "yes")]
        pub combine: bool,
        /// Whether a full buffer is drained completely before it takes more data ("as soon as the buffer is full",
        /// `parameter-aware-io` 4.3). If false, it is drained only as far as room is needed.
        #[serde(default)]
        pub drain_whole: bool,
        /// What a command longer than the buffer waits for.
        #[serde(default)]
        pub oversize: Oversize,
        /// Where a command is cut into parts that are programmed together.
        #[serde(default)]
        pub cut: Cut,
    }
}

/// Write buffers: values of `write_buffer.policy`, and `no-cache`.
pub const BUFFERS: &[Named] = &keyed::<{ POLICIES.len() }>(
    POLICIES,
    WriteBuffer::KEYS,
    Some(|| table_of(&WriteBuffer::new(WritePolicy::Lru, Bytes::mib(8)))),
);

impl WriteBuffer {
    /// A volatile buffer that is drained when it is full. All other settings have their defaults.
    pub fn new(policy: WritePolicy, capacity: Bytes) -> Self {
        Self {
            policy,
            capacity,
            block: None,
            drain: Drain::OnFull,
            idle_delay: Dur::ZERO,
            battery: false,
            combine: true,
            drain_whole: false,
            oversize: Oversize::default(),
            cut: Cut::default(),
        }
    }
}

/// What a command longer than the write buffer waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Oversize {
    /// Room in the buffer for its last byte, as for any other command.
    #[default]
    Buffered,
    /// Programming of all its data (`parameter-aware-io` 4.2.6: a write longer than the buffer pays for flash writes,
    /// even if the buffer is empty).
    WriteThrough,
}

/// Where a command is cut into parts that are programmed together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// At the boundaries of the drive's clustered pages.
    #[default]
    Page,
    /// Also after every clustered page's length from the start of the command, so that an unaligned command contains no
    /// whole clustered page.
    Command,
}

/// When the write buffer is drained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drain {
    /// Only when it is full.
    #[default]
    OnFull,
    /// When it is full, and when no write has come for `idle_delay`.
    Idle,
}

fn yes() -> bool {
    true
}
