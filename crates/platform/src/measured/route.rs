//! The I/O that is looked at.

/// An I/O as its caller saw it. Nothing else of the same thread was in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// The caller, as the kernel numbers threads.
    pub thread: u32,
    /// The caller's time before and after it, on the clock of the records.
    pub before: u64,
    /// See `before`.
    pub after: u64,
}

/// Which events belong to an I/O.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// The devices that the program's I/O enters, as major * 2^20 + minor.
    pub queued: Vec<u32>,
    /// The devices whose drivers get the requests: the same, or those under a mapped device.
    pub issued: Vec<u32>,
    /// The thread of the kernel that submits for the program, as with io_uring's submission thread.
    pub submitter: Option<u32>,
    /// The program looks for completions itself, as with io_uring's polled ones.
    pub polls: bool,
    /// The kernel does not report the system calls: entry and file system are one phase.
    pub without_calls: bool,
}

impl Route {
    pub(super) fn is_queued(&self, dev: u32) -> bool {
        self.queued.contains(&dev)
    }

    pub(super) fn is_issued(&self, dev: u32) -> bool {
        self.issued.contains(&dev)
    }
}
