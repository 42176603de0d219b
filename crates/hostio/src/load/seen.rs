//! What a loop records of its reads.

use super::latency::Latency;

/// When a read began and ended, as its caller saw it, in the unit of the run's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Offset in the target, in bytes.
    pub offset: u64,
    /// Right before the read was handed over: before the system call at depth 1, else before it was put into the queue that
    /// the next system call or the submission thread takes.
    pub before: u64,
    /// Right after the call returned that brought the completion.
    pub after: u64,
}

/// The record of a thread's reads.
pub(super) struct Seen {
    /// Number of reads.
    pub(super) ios: u64,
    pub(super) latency: Latency,
    /// The first reads, as many as there was room for.
    pub(super) stamps: Vec<Stamp>,
    stamps_max: usize,
}

impl Seen {
    /// Creates an empty record with room for `stamps_max` stamps, whose pages exist already.
    pub(super) fn new(tick_ns: f64, stamps_max: u32) -> Self {
        let mut stamps = vec![
            Stamp {
                after: 1,
                ..Stamp::default()
            };
            stamps_max as usize
        ];
        stamps.clear();
        Self {
            ios: 0,
            latency: Latency::new(tick_ns),
            stamps,
            stamps_max: stamps_max as usize,
        }
    }

    /// Forgets everything: the warm-up does not count.
    pub(super) fn clear(&mut self) {
        self.ios = 0;
        self.latency.clear();
        self.stamps.clear();
    }

    /// Adds a read.
    #[inline]
    pub(super) fn add(&mut self, stamp: Stamp) {
        self.ios += 1;
        self.latency.add(stamp.after.saturating_sub(stamp.before));
        if self.stamps.len() < self.stamps_max {
            self.stamps.push(stamp);
        }
    }
}
