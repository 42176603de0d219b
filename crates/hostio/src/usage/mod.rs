//! Finds the users of a target's bytes that are visible from here.
//!
//! A drive has other users than mounts: a loop device over it does not hold it exclusively, and a process that opened it
//! without `O_EXCL` holds nothing at all. The first step finds the devices and files that share bytes with the target
//! ([`storage`]): its partitions, the drive that it is a partition of, the devices it is made of, and other paths to the
//! same drive. The second step finds the users of these: the kernel ([`kernel`], [`mod@mounts`]) and processes
//! ([`mod@processes`], [`locks`]).
//!
//! It does not see other users' processes without permission (it reports how many), users in another machine, and file
//! descriptors in transit through a socket.

mod kernel;
mod locks;
mod loops;
mod mounts;
mod number;
mod processes;
mod storage;

pub(crate) use mounts::{Mount, mount_of};
pub(crate) use processes::processes;
pub(crate) use storage::{Storage, Way, of_device, of_file};

use crate::finding::Finding;

/// Finds the users inside the kernel: mounts, swap, other drivers.
pub(crate) fn in_kernel(storage: &Storage) -> Vec<Finding> {
    let mut found = mounts::findings(storage);
    found.extend(kernel::findings(storage));
    found
}
