//! Steps that choose: which accesses go on, none of them changed.

use super::place::given_capacity;
use super::work::{Problem, Settings, Verdict, Work};
use fathom_base::{BadValue, Bytes, keys};
use fathom_block::Access;
use fathom_block::Op;
use serde::{Deserialize, Serialize};

keys! {
    /// Keeps the writes; reads, flushes and trims are dropped (`epo` IV.A, first task of the pre-processing).
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    pub struct WritesOnly {}
}

keys! {
    /// Keeps the reads; writes, flushes and trims are dropped.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    pub struct ReadsOnly {}
}

keys! {
    /// Ends after a number of accesses (`epo` IV.A, second task). Nothing behind the last one is read.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    pub struct First {
        /// Accesses that go on: those that reach this step, so that after `writes-only` it counts writes.
        pub accesses: u64,
    }
}

keys! {
    /// Keeps one disk of a trace of several.
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    pub struct Disk {
        /// Its number in the trace; it keeps that number.
        pub keep: u32,
    }
}

/// What becomes of an access past the end of a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PastEnd {
    /// The workload ends with an error that names the access.
    #[default]
    Refuse,
    /// It is dropped, whole, and counted.
    Drop,
}

keys! {
    /// Lets through only what lies within a drive.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    pub struct Clip {
        /// The drive's capacity; at least one byte.
        pub capacity: Bytes,
        /// What becomes of an access that ends past it, even if it starts within.
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

/// [`First`] at work: how many may still pass.
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
    fn shape(&mut self, access: Access) -> Verdict {
        let end = access.offset.checked_add(access.len);
        let within = end.is_some_and(|end| end <= self.capacity.0);
        match self.past_end {
            PastEnd::Refuse if !within => Err(Problem::PastEnd(self.capacity)),
            _ => Ok(within.then_some(access)),
        }
    }
}

impl Settings for WritesOnly {
    fn work(&self) -> Box<dyn Work> {
        Box::new(*self)
    }
}

impl Settings for ReadsOnly {
    fn work(&self) -> Box<dyn Work> {
        Box::new(*self)
    }
}

impl Settings for Disk {
    fn work(&self) -> Box<dyn Work> {
        Box::new(*self)
    }
}

impl Settings for First {
    fn work(&self) -> Box<dyn Work> {
        Box::new(Remaining(self.accesses))
    }
}

impl Settings for Clip {
    fn check(&self) -> Result<(), BadValue> {
        given_capacity(self.capacity)
    }
    fn work(&self) -> Box<dyn Work> {
        Box::new(*self)
    }
}
