//! The model of a platform: what an I/O costs the host, as a device above drives.
//!
//! [`Charged`] is a [`fathom_block::Device`] over one or more drives. A request passes through the layers of
//! `ssd-ready-platforms` Figure 4: the program, the system call, the file systems, the block layer, the protocol and the
//! driver compute on a processor; the adapter has a ceiling; the drive is a model of its own; an interrupt computes on a
//! processor, alone or for several completions; the thread is woken and returns. Processors and adapters are resources, so
//! requests queue for them.
//!
//! - With [`Interface::Pread`] every I/O has a thread of its own, on the processor that is free first. With the others a
//!   thread (a process of the workload) has a processor of its own, submits everything it has at an instant with one
//!   system call, collects all completions that are there with another, and sleeps only if there is none.
//! - With [`Interface::IoUringSqThread`] half of the processors run programs, and the other half the threads of the kernel
//!   that submit for them.
//! - A thread that sleeps costs `sleep` clocks while the drive works, and `wake` clocks when it is woken.
//! - A handler that runs takes all completions that have arrived until then.
//! - An I/O that is on several drives, or in several chunks of a RAID 0, has a piece for each, which is a request to its drive:
//!   block layer, protocol, driver, interrupt and completion are charged for each piece, the rest once for the I/O. The
//!   pieces leave together, as Linux unplugs a queue, and the thread is woken after the last one.
//!
//! Left out: variation of the costs, caches, memory bandwidth, power states, time slices, and the cost of threads that
//! spin for those on the same processor. A polling thread looks like one that computes, in [`HostWork`] only.

mod account;
mod adapter;
mod below;
mod charged;
mod clocks;
mod drives;
mod host;
mod layout;
mod order;
mod presets;
mod spec;
mod thread;
mod ticket;
mod work;

pub use charged::Charged;
pub use clocks::Clocks;
pub use presets::PLATFORMS;
pub use spec::{Adapter, Interface, Interrupts, Platform, Target};
pub use work::HostWork;
