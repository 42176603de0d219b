//! The write buffer's part of a drive file.

use crate::buffer::{POLICIES, WritePolicy};
use fathom_base::registry::{keyed, table_of};
use fathom_base::{Bytes, Dur, Named, keys};
use serde::{Deserialize, Serialize};

keys! {
    /// The memory for writes.
    #[serde(deny_unknown_fields)]
    pub struct WriteBuffer {
        /// What leaves it first.
        pub policy: WritePolicy,
        /// Bytes of data that it holds.
        pub capacity: Bytes,
        /// What `bplru` and `lb-clock` take for a block; left out for any other, and for the clustered block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub block: Option<Bytes>,
        /// When it is drained, besides at a flush.
        #[serde(default)]
        pub drain: Drain,
        /// How long no write may come before an idle drain starts.
        #[serde(default)]
        pub idle_delay: Dur,
        /// Whether it survives a power cut, so that FLUSH need not drain it.
        #[serde(default)]
        pub battery: bool,
        /// Whether `fifo` joins a write to the clustered page that was written last; else every command's part of a page is
        /// programmed by itself.
        #[serde(default = "yes")]
        pub combine: bool,
        /// Once full, all of it is drained before more is taken ("as soon as the buffer is full", `parameter-aware-io` 4.3);
        /// else only as much as makes room.
        #[serde(default)]
        pub drain_whole: bool,
        /// What a command waits for that is longer than the buffer.
        #[serde(default)]
        pub oversize: Oversize,
        /// Where a command is cut into what is programmed together.
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
    /// A volatile buffer that is drained when it is full, with every other setting's default.
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

/// What a command waits for that is longer than the write buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Oversize {
    /// For room for its last byte, as any other.
    #[default]
    Buffered,
    /// Until all of it is in flash (`parameter-aware-io` 4.2.6: a write longer than the buffer pays for flash writes,
    /// though the buffer is empty).
    WriteThrough,
}

/// Where a command is cut into what is programmed together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// At clustered pages of the drive.
    #[default]
    Page,
    /// At every clustered page's length from its own beginning too: of one that is not aligned no page comes whole.
    Command,
}

/// When the memory for writes is drained.
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
