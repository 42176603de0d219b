//! The names of what an I/O passes through: layers cost clocks of a processor, phases take time.
//!
//! A measurement and the model use the same names, so that one can be set beside the other. The layers are those of
//! `ssd-ready-platforms` Figures 4 to 7, the phases those of Figure 3.

use serde::{Deserialize, Serialize};

/// What a processor spends its clocks on. All layers together are the whole time of all processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The program between its system calls.
    Application,
    /// Entry into the kernel and return from it.
    SystemCall,
    /// The virtual file system, and the file system if there is one.
    FileSystem,
    /// Copies between the page cache and the program, and management of the cache.
    Copy,
    /// The block layer on the way to the drive: bio, RAID, request, scheduler.
    Block,
    /// The translation of a request into the drive's protocol: SCSI, ATA, NVMe.
    Protocol,
    /// The driver on the way to the drive, up to the doorbell.
    Driver,
    /// The driver on the way back: the interrupt handler.
    Interrupt,
    /// Reads of device registers, which bypass the caches (memory-mapped I/O).
    UncachedReads,
    /// The block layer on the way back, and waking the thread that waits.
    Completion,
    /// Switching between threads: the scheduler.
    ContextSwitch,
    /// Looking for completions without an interrupt.
    Polling,
    /// Lines of caches that move between processors. A measurement cannot tell it from the layers that wait for them.
    Contention,
    /// Everything else that runs, such as the thread that serves a loop device, and other programs.
    Other,
    /// Nothing to do.
    Idle,
}

impl Layer {
    /// All layers, in the order of the way to the drive and back.
    pub const ALL: [Self; 15] = [
        Self::Application,
        Self::SystemCall,
        Self::FileSystem,
        Self::Copy,
        Self::Block,
        Self::Protocol,
        Self::Driver,
        Self::Interrupt,
        Self::UncachedReads,
        Self::Completion,
        Self::ContextSwitch,
        Self::Polling,
        Self::Contention,
        Self::Other,
        Self::Idle,
    ];

    /// Whether its clocks are spent for an I/O; [`Layer::Other`] and [`Layer::Idle`] are not.
    pub fn is_of_io(self) -> bool {
        !matches!(self, Self::Other | Self::Idle)
    }

    /// The name for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Application => "application",
            Self::SystemCall => "system call",
            Self::FileSystem => "VFS and file system",
            Self::Copy => "copy",
            Self::Block => "block layer",
            Self::Protocol => "protocol (SCSI, ATA, NVMe)",
            Self::Driver => "driver, issue",
            Self::Interrupt => "driver, return",
            Self::UncachedReads => "uncached register reads",
            Self::Completion => "completion and wake-up",
            Self::ContextSwitch => "context switch",
            Self::Polling => "polling",
            Self::Contention => "contention",
            Self::Other => "other",
            Self::Idle => "idle",
        }
    }
}

/// A part of the time of one I/O, as its caller sees it. All phases together are the whole latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// From the program into the kernel.
    Entry,
    /// In the virtual file system and the file system, up to the block layer.
    FileSystem,
    /// In the block layer, up to the driver.
    Block,
    /// In the adapter: its queue and its own time. A measurement cannot tell it from the device.
    Adapter,
    /// On the link to the drive. A measurement cannot tell it from the device.
    Transfer,
    /// From the driver's issue to its completion.
    Device,
    /// From the completion of the request to the wake-up of the thread.
    Completion,
    /// From its wake-up until the thread runs.
    Wake,
    /// Back to the program.
    Return,
}

impl Phase {
    /// All phases, in order of time.
    pub const ALL: [Self; 9] = [
        Self::Entry,
        Self::FileSystem,
        Self::Block,
        Self::Adapter,
        Self::Transfer,
        Self::Device,
        Self::Completion,
        Self::Wake,
        Self::Return,
    ];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::FileSystem => "file-system",
            Self::Block => "block",
            Self::Adapter => "adapter",
            Self::Transfer => "transfer",
            Self::Device => "device",
            Self::Completion => "completion",
            Self::Wake => "wake",
            Self::Return => "return",
        }
    }

    /// The name for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Entry => "system call entry",
            Self::FileSystem => "VFS and file system",
            Self::Block => "block layer",
            Self::Adapter => "adapter",
            Self::Transfer => "transfer",
            Self::Device => "driver to completion",
            Self::Completion => "completion to wake-up",
            Self::Wake => "wake-up to running",
            Self::Return => "system call return",
        }
    }
}
