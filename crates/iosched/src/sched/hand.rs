//! Requests made by hand, for the tests of the policies.

use crate::{Io, IoKey, Scheduler};
use fathom_base::Time;
use fathom_block::Op;

/// The length of what is made here, in bytes.
pub(crate) const LEN: u64 = 4096;

/// A read of process 0, of [`LEN`] bytes.
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
        queued: Time::ZERO,
    }
}

/// A write of process 0 for which nobody waits, of [`LEN`] bytes.
pub(crate) fn write(key: u32, offset: u64) -> Io {
    Io {
        op: Op::Write,
        sync: false,
        ..read(key, offset)
    }
}

/// The same for another process.
pub(crate) fn of(process: u32, io: Io) -> Io {
    Io { process, ..io }
}

/// Hands a request over that is queued at that very moment.
pub(crate) fn put(scheduler: &mut dyn Scheduler, now: Time, io: Io) {
    scheduler.insert(now, Io { queued: now, ..io });
}

/// The keys of what goes next, as many as are asked for, all at one time; each is done at once.
pub(crate) fn next(scheduler: &mut dyn Scheduler, now: Time, count: usize) -> Vec<u32> {
    let one = || {
        let io = scheduler.dispatch(now)?;
        scheduler.completed(now, &io);
        Some(io.key.0)
    };
    std::iter::from_fn(one).take(count).collect()
}
