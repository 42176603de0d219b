//! The kinds of samples: each is one line of a plot.
//!
//! A series is its name. A parameter that takes samples of another kind makes a series of its own beside its method; a record
//! keeps the name, and is read whether or not the name is known.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// The longest name, in bytes.
const NAME_MAX: usize = 16;

/// What a sample is: one line of a plot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Series([u8; NAME_MAX]);

impl Series {
    /// Mean or single latency of flushed writes over their size (`parameter-aware-io` Figure 4).
    pub const SWEEP: Self = Self::new("sweep");
    /// Writes at an aligned offset, beside `Shifted`.
    pub const ALIGNED: Self = Self::new("aligned");
    /// The same writes at a shifted offset.
    pub const SHIFTED: Self = Self::new("shifted");
    /// Sequential writes of size `x` (Figure 5; `greedy-space` Figure 2).
    pub const SEQUENTIAL: Self = Self::new("sequential");
    /// Random writes of size `x`, aligned to `x`.
    pub const RANDOM: Self = Self::new("random");
    /// Random reads of size `x` (`irbw` Figure 6).
    pub const RANDOM_READ: Self = Self::new("random_read");
    /// Sequential reads of size `x` (`irbw` Figure 6).
    pub const SEQUENTIAL_READ: Self = Self::new("sequential_read");
    /// A read that the buffer cannot serve, of size `x` ("NAND" of Figure 6).
    pub const MISS: Self = Self::new("miss");
    /// The same read at once again ("Buffer" of Figure 6).
    pub const HIT: Self = Self::new("hit");
    /// A piece of a run of writes into an emptied buffer, after which `x` bytes are written.
    pub(crate) const FILLING: Self = Self::new("filling");
    /// A write of size `x` into an empty buffer ("Buffer" of Figure 7).
    pub const EMPTY_BUFFER: Self = Self::new("empty_buffer");
    /// A write of size `x` into a full buffer ("NAND" of Figure 7).
    pub const FULL_BUFFER: Self = Self::new("full_buffer");
    /// The flush after a write of size `x`.
    pub const FLUSH_AFTER: Self = Self::new("flush_after");
    /// Reads at random places, for prefetch.
    pub const SCATTERED: Self = Self::new("scattered");
    /// Reads at consecutive places, for prefetch.
    pub const CONSECUTIVE: Self = Self::new("consecutive");
    /// Writes that come back to the same places, for the write policy.
    pub const REWRITE: Self = Self::new("rewrite");
    /// Writes that never come back, for the write policy.
    pub const DISTINCT: Self = Self::new("distinct");
    /// Reads or writes over `x` bytes at regular places, for the ends of blocks.
    pub const PLACE: Self = Self::new("place");
    /// The same around the ends of blocks.
    pub(crate) const AROUND: Self = Self::new("around");
    /// Small writes across multiples of `x` bytes, beside `Within`.
    pub const ACROSS: Self = Self::new("across");
    /// Writes of the same length at any other place.
    pub const WITHIN: Self = Self::new("within");
    /// Streams of small writes across multiples of `x` bytes, without flushes, beside `StreamWithin`.
    pub const STREAM_ACROSS: Self = Self::new("stream_across");
    /// Streams of writes of the same length at any other place.
    pub const STREAM_WITHIN: Self = Self::new("stream_within");
    /// A place that holds nothing, as the drive tells.
    pub const HOLE: Self = Self::new("hole");
    /// A place whose bytes are all equal; the time is that of asking.
    pub const BLANK: Self = Self::new("blank");
    /// A place whose bytes differ; likewise.
    pub const DATA: Self = Self::new("data");
    /// Reads of the same places in every round.
    pub const AGAIN: Self = Self::new("again");

    /// A series of that name: at most 16 characters, lower case with underscores. Make it a constant: a longer name does not compile
    /// there.
    pub const fn new(name: &str) -> Self {
        match Self::of(name) {
            Some(series) => series,
            None => panic!("the name of a series has at most 16 characters"),
        }
    }

    const fn of(name: &str) -> Option<Self> {
        let (from, mut to, mut at) = (name.as_bytes(), [0; NAME_MAX], 0);
        while at < from.len() {
            if at == NAME_MAX {
                return None;
            }
            to[at] = from[at];
            at += 1;
        }
        Some(Self(to))
    }

    /// Its name in records.
    pub fn name(&self) -> &str {
        let end = self.0.iter().position(|byte| *byte == 0);
        str::from_utf8(&self.0[..end.unwrap_or(NAME_MAX)]).unwrap_or_default()
    }
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Series {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Series {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let wanted = &"the name of a series, of at most 16 characters";
        Self::of(&name).ok_or_else(|| de::Error::invalid_value(de::Unexpected::Str(&name), wanted))
    }
}
