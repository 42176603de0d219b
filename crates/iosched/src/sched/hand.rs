//! Requests made by hand, for the tests of the schedulers.

use crate::{Io, IoKey, Scheduler};
use fathom_base::Time;
use fathom_block::Op;

/// The length of these requests, in bytes.
pub(crate) const LEN: u64 = 4096;

/// A read of process 0, [`LEN`] bytes long.
pub(crate) fn read(key: u32, offset: u64) -> Io {
    Io {
        key: IoKey(key),
        op: Op::Read,
        offset,
        len: LEN,
        process: 0,
        class: crate::Class::default(),
        priority: 4,
        sync: true,
        fua: false,
        placement: 0,
        queued: Time::ZERO,
    }
}

/// A write of process 0 that nobody waits for, [`LEN`] bytes long.
pub(crate) fn write(key: u32, offset: u64) -> Io {
    Io {
        op: Op::Write,
        sync: false,
        ..read(key, offset)
    }
}

/// Returns the same request for another process.
pub(crate) fn of(process: u32, io: Io) -> Io {
    Io { process, ..io }
}

/// Inserts a request that arrives at `now`.
pub(crate) fn put(scheduler: &mut dyn Scheduler, now: Time, io: Io) {
    scheduler.insert(now, Io { queued: now, ..io });
}

/// Dispatches up to `count` requests at one time and completes each at once. Returns their keys.
pub(crate) fn next(scheduler: &mut dyn Scheduler, now: Time, count: usize) -> Vec<u32> {
    let one = || {
        let io = scheduler.dispatch(now)?;
        scheduler.completed(now, &io);
        Some(io.key.0)
    };
    std::iter::from_fn(one).take(count).collect()
}
