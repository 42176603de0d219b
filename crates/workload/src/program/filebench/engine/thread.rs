//! The state of a thread: its place in the list, its descriptors and its counts.

use super::rngs::Rngs;
use fathom_base::Time;
use fathom_platform::Step;
use std::collections::BTreeMap;

/// Number of descriptors that `opennext` uses in turn.
pub(super) const ROTOR: usize = 128;

/// A file that is or was open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) set: usize,
    /// The number of the file in its set.
    pub(super) number: usize,
    pub(super) is_open: bool,
    /// Where the last call ended, in bytes.
    pub(super) position: u64,
    /// Whether writes go to the drive at once.
    pub(super) synchronous: bool,
}

/// A descriptor of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Fd(u8),
    /// Of a set, used in turn.
    Rotor(usize, usize),
}

/// The descriptors for a set that are used in turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Rotor {
    pub(super) files: Vec<Option<Open>>,
    /// The descriptor used last; they are used downwards.
    pub(super) at: usize,
    /// Where the thread's rotation over the files continues.
    pub(super) next: usize,
}

/// What an operation has done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub(super) operations: u64,
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) bytes_read: u64,
    pub(super) bytes_written: u64,
}

impl Count {
    pub(super) fn accesses(&self) -> u64 {
        self.reads + self.writes
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes_read + self.bytes_written
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.reads += other.reads;
        self.writes += other.writes;
        self.bytes_read += other.bytes_read;
        self.bytes_written += other.bytes_written;
    }
}

/// What came of an attempt at a flowop.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outcome {
    /// It is done; the thread's `then` has the steps that follow.
    Done(Count),
    /// There was nothing to do, which does not count as an operation.
    Skipped,
    /// It is tried again after this step.
    Again(Step),
    /// There is no file for it, or its count is reached.
    Stop,
}

impl Outcome {
    /// An operation that moves nothing.
    pub(super) fn done() -> Self {
        Self::Done(Count {
            operations: 1,
            ..Count::default()
        })
    }

    /// A read.
    pub(super) fn read(bytes: u64) -> Self {
        Self::Done(Count {
            operations: 1,
            reads: 1,
            bytes_read: bytes,
            ..Count::default()
        })
    }

    /// A write.
    pub(super) fn written(bytes: u64) -> Self {
        Self::Done(Count {
            operations: 1,
            writes: 1,
            bytes_written: bytes,
            ..Count::default()
        })
    }
}

/// The state of a limit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limit {
    /// The count at the last time; 0 before the first.
    pub(super) last: u64,
    /// What may still pass without an event.
    pub(super) bucket: i64,
}

/// Where a thread is in a flowop that takes several steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Begin,
    /// Posts to the target with this index.
    Post(usize),
    /// Has allowed posts, or has begun to wait.
    Wait,
}

/// A thread.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub(super) group: usize,
    /// Index of the flowop.
    pub(super) at: usize,
    /// Repetitions left of the flowop; `None` before the first.
    pub(super) left: Option<u64>,
    pub(super) stage: Stage,
    /// Steps that follow, the next one last.
    pub(super) then: Vec<Step>,
    pub(super) descriptors: BTreeMap<u8, Open>,
    pub(super) rotors: BTreeMap<usize, Rotor>,
    /// The semaphore of each flowop that has one.
    pub(super) semaphores: BTreeMap<usize, usize>,
    pub(super) limits: BTreeMap<usize, Limit>,
    /// What each flowop has done.
    pub(super) counts: Vec<Count>,
    /// When the thread began its list.
    pub(super) began: Time,
    pub(super) rngs: Rngs,
}

impl Thread {
    pub(super) fn new(group: usize, flowops: usize, rngs: Rngs) -> Self {
        Self {
            group,
            at: 0,
            left: None,
            stage: Stage::Begin,
            then: Vec::new(),
            descriptors: BTreeMap::new(),
            rotors: BTreeMap::new(),
            semaphores: BTreeMap::new(),
            limits: BTreeMap::new(),
            counts: vec![Count::default(); flowops],
            began: Time::ZERO,
            rngs,
        }
    }

    /// The next descriptor that `opennext` uses.
    pub(super) fn turn(&mut self, set: usize) -> Slot {
        let rotor = self.rotors.entry(set).or_default();
        rotor.files.resize(ROTOR, None);
        rotor.at = rotor.at.checked_sub(1).unwrap_or(ROTOR - 1);
        Slot::Rotor(set, rotor.at)
    }

    pub(super) fn get(&self, slot: Slot) -> Option<Open> {
        match slot {
            Slot::Fd(fd) => self.descriptors.get(&fd).copied(),
            Slot::Rotor(set, at) => self.rotors.get(&set)?.files.get(at).copied().flatten(),
        }
    }

    pub(super) fn put(&mut self, slot: Slot, open: Open) {
        match slot {
            Slot::Fd(fd) => {
                self.descriptors.insert(fd, open);
            }
            Slot::Rotor(set, at) => {
                if let Some(file) = self.rotors.entry(set).or_default().files.get_mut(at) {
                    *file = Some(open);
                }
            }
        }
    }
}
