//! Who uses the bytes of a target, in every way that can be seen from here.
//!
//! A drive is used by more than mounts: a loop device over it does not hold it exclusively, and a process that opened it
//! without `O_EXCL` holds nothing at all. So first it is found out which devices and files share bytes with the target
//! ([`storage`]): its partitions, the drive that it is a partition of, what it is made of, other paths to the same
//! drive. Then who uses one of these: the kernel ([`kernel`], [`mod@mounts`]) and processes ([`mod@processes`], [`locks`]).
//!
//! It does not see processes of other users without the right to (it says how many), users in another machine, and file
//! descriptors on their way through a socket.

mod kernel;
mod locks;
mod loops;
mod mounts;
mod number;
mod processes;
mod storage;

pub(crate) use mounts::mounts;
pub(crate) use processes::processes;
pub(crate) use storage::{Storage, Way, of_device, of_file};

use crate::finding::Finding;

/// What uses a target inside the kernel: mounts, swap, other drivers.
pub(crate) fn in_kernel(storage: &Storage) -> Vec<Finding> {
    let mut found = mounts::findings(storage);
    found.extend(kernel::findings(storage));
    found
}
