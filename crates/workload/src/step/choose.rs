//! Steps that filter accesses without changing them.

use super::place::given_capacity;
use super::work::{Problem, Settings, Verdict, Work};
use fathom_base::{BadValue, Bytes, keys};
use fathom_block::Access;
use fathom_block::Op;
use serde::{Deserialize, Serialize};

keys! {
    /// Keeps the writes and drops reads, flushes and trims (`epo` IV.A, first task of the pre-processing).
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    pub struct WritesOnly {}
}

keys! {
    /// Keeps the reads and drops writes, flushes and trims.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    pub struct ReadsOnly {}
}

keys! {
    /// Ends the workload after a number of accesses (`epo` IV.A, second task). Accesses after the last one are not
    /// read.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    pub struct First {
        /// Number of accesses to keep. Only accesses that reach this step count: after `writes-only` it counts writes.
        pub accesses: u64,
    }
}

keys! {
    /// Keeps one disk of a trace of several disks.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    pub struct Disk {
        /// Number of the disk in the trace. The accesses keep it.
        pub keep: u32,
    }
}

/// The treatment of an access past the end of a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PastEnd {
    /// End the workload with an error that names the access.
    #[default]
    Refuse,
    /// Drop the whole access and count it.
    Drop,
}

keys! {
    /// Keeps the accesses that lie within a drive.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    pub struct Clip {
        /// The drive's capacity, at least one byte.
        pub capacity: Bytes,
        /// Treatment of an access that ends past the capacity, even if it starts within it.
        #[serde(default)]
        pub past_end: PastEnd,
    }
}

impl Work for WritesOnly {
    fn shape(&mut self, access: Access) -> Verdict {
        Ok((access.op == Op::Write).then_some(access))
    }
}

impl Work for ReadsOnly {
    fn shape(&mut self, access: Access) -> Verdict {
        Ok((access.op == Op::Read).then_some(access))
    }
}

impl Work for Disk {
    fn shape(&mut self, access: Access) -> Verdict {
        Ok((access.disk == self.keep).then_some(access))
    }
}

/// [`First`] at work: the number of accesses that may still pass.
struct Remaining(u64);

impl Work for Remaining {
    fn shape(&mut self, access: Access) -> Verdict {
        let left = self.0.checked_sub(1);
        self.0 = left.unwrap_or(0);
        Ok(left.map(|_| access))
    }

    fn full(&self) -> bool {
        self.0 == 0
    }
}

impl Work for Clip {
    fn check(&self) -> Result<(), BadValue> {
        given_capacity(self.capacity)
    }

    fn shape(&mut self, access: Access) -> Verdict {
        let end = access.offset.checked_add(access.len);
        let within = end.is_some_and(|end| end <= self.capacity.0);
        match self.past_end {
            PastEnd::Refuse if !within => Err(Problem::PastEnd(self.capacity)),
            _ => Ok(within.then_some(access)),
        }
    }
}

impl Settings for First {
    fn work(&self) -> Box<dyn Work> {
        Box::new(Remaining(self.accesses))
    }
}
