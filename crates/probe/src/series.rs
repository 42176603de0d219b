//! The kinds of samples: each is one line of a plot.
//!
//! A series is identified by its name. A parameter with samples of a new kind defines its series next to its method. A
//! record stores the name and can be read even if the name is unknown.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// The length of the longest name, in bytes.
const NAME_MAX: usize = 16;

/// The kind of a sample: one line of a plot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Series([u8; NAME_MAX]);

impl Series {
    /// Mean or single latency of flushed writes over their size (`parameter-aware-io` Figure 4).
    pub const SWEEP: Self = Self::new("sweep");
    /// Writes at an aligned offset, compared with [`Series::SHIFTED`].
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
    /// The same read, repeated at once ("Buffer" of Figure 6).
    pub const HIT: Self = Self::new("hit");
    /// One part of a run of writes into an emptied buffer; `x` is the number of bytes written by its end.
    pub(crate) const FILLING: Self = Self::new("filling");
    /// A write of size `x` into an empty buffer ("Buffer" of Figure 7).
    pub const EMPTY_BUFFER: Self = Self::new("empty_buffer");
    /// A write of size `x` into a full buffer ("NAND" of Figure 7).
    pub const FULL_BUFFER: Self = Self::new("full_buffer");
    /// The flush after a write of size `x`.
    pub const FLUSH_AFTER: Self = Self::new("flush_after");
    /// Reads at random places, for the prefetch parameter.
    pub const SCATTERED: Self = Self::new("scattered");
    /// Reads at consecutive places, for the prefetch parameter.
    pub const CONSECUTIVE: Self = Self::new("consecutive");
    /// Writes that return to the same places, for the write policy.
    pub const REWRITE: Self = Self::new("rewrite");
    /// Writes that never return to a place, for the write policy.
    pub const DISTINCT: Self = Self::new("distinct");
    /// Reads or writes of `x` bytes at regularly spaced places, to find the ends of blocks.
    pub const PLACE: Self = Self::new("place");
    /// Reads or writes around the ends of blocks.
    pub(crate) const AROUND: Self = Self::new("around");
    /// Small writes across multiples of `x` bytes, compared with [`Series::WITHIN`].
    pub const ACROSS: Self = Self::new("across");
    /// Writes of the same length anywhere else.
    pub const WITHIN: Self = Self::new("within");
    /// Streams of small writes across multiples of `x` bytes, without flushes, compared with [`Series::STREAM_WITHIN`].
    pub const STREAM_ACROSS: Self = Self::new("stream_across");
    /// Streams of writes of the same length anywhere else.
    pub const STREAM_WITHIN: Self = Self::new("stream_within");
    /// A place that holds no data, as the drive reports; the sample's time is that of the query.
    pub const HOLE: Self = Self::new("hole");
    /// A place whose bytes are all equal; the sample's time is that of the query.
    pub const BLANK: Self = Self::new("blank");
    /// A place whose bytes differ; the sample's time is that of the query.
    pub const DATA: Self = Self::new("data");
    /// Reads that are repeated at the same places in every round.
    pub const AGAIN: Self = Self::new("again");

    /// Creates a series with that name: at most 16 characters, lower case with underscores.
    ///
    /// # Panics
    /// If the name is longer. In a constant that is a compile-time error, so define every series as a constant.
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

    /// Returns the name that records use.
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
