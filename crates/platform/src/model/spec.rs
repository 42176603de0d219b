//! The platform file: what a host spends on an I/O, and what it has.
//!
//! The layers and their clocks are those of `ssd-ready-platforms` Figures 4 to 7. Every layer costs a fixed number of
//! clocks for each I/O, except where a key says otherwise.

use super::clocks::Clocks;
use super::layout::Layout;
use fathom_base::{BadValue, Bytes, Dur, Frequency, Rate, defaults, want};
use fathom_block::DeviceInfo;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Largest number of processors, adapters, or drives of an adapter.
const MOST: u32 = 4096;
/// A chunk is a multiple of this: Linux wants whole pages (`mdadm --chunk`).
const PAGE: u64 = 4096;

/// How a program asks for its I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interface {
    /// `pread` and `pwrite`: each I/O in flight has a thread of its own, which sleeps until it is done.
    #[default]
    Pread,
    /// `io_submit` and `io_getevents`: a thread sleeps only when all of its I/O is in flight.
    Libaio,
    /// io_uring with interrupts.
    IoUring,
    /// io_uring whose threads look for completions themselves (`IORING_SETUP_IOPOLL`): no interrupts, and no sleep.
    IoUringPolled,
    /// io_uring with a thread of the kernel that submits (`IORING_SETUP_SQPOLL`): no system calls.
    IoUringSqThread,
}

impl Interface {
    /// All interfaces.
    pub const ALL: [Self; 5] = [
        Self::Pread,
        Self::Libaio,
        Self::IoUring,
        Self::IoUringPolled,
        Self::IoUringSqThread,
    ];

    /// The name in files.
    fn name(self) -> &'static str {
        match self {
            Self::Pread => "pread",
            Self::Libaio => "libaio",
            Self::IoUring => "io-uring",
            Self::IoUringPolled => "io-uring-polled",
            Self::IoUringSqThread => "io-uring-sq-thread",
        }
    }

    /// Whether a thread can have several I/Os in flight.
    pub(super) fn is_async(self) -> bool {
        self != Self::Pread
    }
}

/// Which processor handles the interrupts of an adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// That of the thread that made the request: a queue for each processor, as of NVMe.
    #[default]
    Submitter,
    /// One for all of an adapter, and adapters in turn: one interrupt line, as of SATA and SAS adapters.
    Adapter,
}

defaults! {
    /// The adapters' interrupts.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
    pub struct Interrupts {
        /// The processor that handles them.
        pub target: Target = Target::Submitter,
        /// Coalescing: an interrupt comes with this number of completions; with 1 for each.
        pub count: u32 = 1,
        /// Coalescing: an interrupt comes at the latest this time after the first completion.
        pub time: Dur = Dur::ZERO,
    }
}

defaults! {
    /// An adapter (host-bus adapter, controller) and the links of its drives.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
    pub struct Adapter {
        /// Most I/Os that it takes in a second.
        pub iops: Option<u64> = None,
        /// Most bytes that it moves in a second, such as its slot's.
        pub rate: Option<Rate> = None,
        /// Time that it adds to each I/O.
        pub latency: Dur = Dur::ZERO,
        /// The rate of the link to a drive. It only says which part of the drive's time is the transfer: the drives model
        /// their links.
        pub link: Option<Rate> = None,
    }
}

defaults! {
    /// A platform: a host with its adapters.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
    pub struct Platform {
        /// Name for people.
        pub name: String = String::new(),
        /// Clock rate of the processors.
        pub clock: Frequency = GHZ_3,
        /// Number of processors.
        pub cores: u32 = 4,
        /// How programs ask for I/O.
        pub interface: Interface = Interface::Pread,
        /// Whether reads and writes go through the page cache, which copies them. All of them miss it.
        pub buffered: bool = false,
        /// Whether there is a file system, whose metadata is in memory.
        pub file_system: bool = false,
        /// Number of adapters.
        pub adapters: u32 = 1,
        /// Number of drives of each adapter.
        pub drives: u32 = 1,
        /// Length of a chunk of a RAID 0 over all drives, the first chunk on the first drive, the next on the next; 0 without
        /// one. Then the drives are one after the other.
        pub stripe: Bytes = Bytes(0),
        /// The drives that `fathom platform` models, such as `model:nvme`.
        pub drive: String = String::new(),
        /// The clocks of an I/O.
        pub clocks: Clocks = Clocks::default(),
        /// The clocks of an I/O with an interface, where they are known apart. They replace `clocks` as a whole. Those of
        /// io_uring are also those of io_uring with polling, and with a thread that submits, without a table of their own.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        pub interfaces: BTreeMap<Interface, Clocks> = BTreeMap::new(),
        /// The interrupts.
        pub interrupts: Interrupts = Interrupts::default(),
        /// An adapter.
        pub adapter: Adapter = Adapter::default(),
    }
}

/// 3 GHz.
const GHZ_3: Frequency = match Frequency::new(3_000_000_000) {
    Some(clock) => clock,
    None => unreachable!(),
};

impl Platform {
    /// Checks the values.
    ///
    /// # Errors
    /// The first key with an invalid value.
    pub fn check(&self) -> Result<(), BadValue> {
        let counts = [
            ("cores", self.cores),
            ("adapters", self.adapters),
            ("drives", self.drives),
        ];
        for (key, count) in counts {
            want((1..=MOST).contains(&count), key, count, || {
                format!("must be at least 1 and at most {MOST}")
            })?;
        }
        self.clocks.check()?;
        for (interface, clocks) in &self.interfaces {
            clocks
                .check()
                .map_err(|bad| bad.of(format!("interfaces.{}", interface.name())))?;
        }
        want(
            self.stripe.0.is_multiple_of(PAGE),
            "stripe",
            self.stripe,
            || "must be a multiple of 4KiB, or 0B without RAID".into(),
        )?;
        let clocks = 1_000_000..=1_000_000_000_000;
        want(
            clocks.contains(&self.clock.hertz()),
            "clock",
            self.clock,
            || "must be at least 1MHz and at most 1000GHz".into(),
        )?;
        self.check_interrupts()?;
        want(self.adapter.iops != Some(0), "adapter.iops", 0, || {
            "must be at least 1; leave it out for an adapter without a ceiling".into()
        })
    }

    /// Checks the chunk of a RAID 0 against a drive.
    ///
    /// # Errors
    /// It is no multiple of the drive's logical block, or longer than the drive.
    pub fn check_drive(&self, drive: &DeviceInfo) -> Result<(), BadValue> {
        let (stripe, block) = (self.stripe, u64::from(drive.logical_block_bytes));
        want(stripe.0.is_multiple_of(block), "stripe", stripe, || {
            format!(
                "must be a multiple of the drive's logical block, {}",
                Bytes(block)
            )
        })?;
        want(stripe.0 <= drive.capacity_bytes, "stripe", stripe, || {
            let capacity = Bytes(drive.capacity_bytes);
            format!("must be at most the capacity of a drive, {capacity}")
        })
    }

    fn check_interrupts(&self) -> Result<(), BadValue> {
        let Interrupts { count, time, .. } = self.interrupts;
        want(count > 0, "interrupts.count", count, || {
            "must be at least 1".into()
        })?;
        want(
            count == 1 || time > Dur::ZERO,
            "interrupts.time",
            time,
            || {
                "must be above zero with `interrupts.count`: the last completions would wait for ever".into()
            },
        )?;
        want(
            count > 1 || time == Dur::ZERO,
            "interrupts.time",
            time,
            || "must be 0ns without `interrupts.count`: each completion interrupts at once".into(),
        )?;
        want(time <= Dur::ms(1_000), "interrupts.time", time, || {
            "must be at most 1s".into()
        })
    }

    /// Clocks of the copy of an I/O.
    pub(super) fn copy(&self, len: Bytes) -> u64 {
        match self.buffered {
            true => (self.clocks.copy_per_byte * len.0 as f64).round() as u64,
            false => 0,
        }
    }

    /// Clocks of a system call on its way back.
    pub(super) fn returning(&self) -> u64 {
        self.clocks.system_call - self.clocks.system_call / 2
    }

    /// Clocks of the file systems of an I/O.
    pub(super) fn file_systems(&self) -> u64 {
        let of_one = if self.file_system {
            self.clocks.file_system
        } else {
            0
        };
        self.clocks.vfs + of_one
    }

    /// What its interface itself takes for an I/O. `pread` has nothing beside the system call.
    pub(super) fn of_interface(&self) -> u64 {
        match self.interface {
            Interface::Pread => 0,
            Interface::Libaio => self.clocks.libaio,
            Interface::IoUring | Interface::IoUringPolled | Interface::IoUringSqThread => {
                self.clocks.io_uring
            }
        }
    }

    /// Clocks of the layers below the file systems for a piece of an I/O, on its way to a drive: block layer with RAID,
    /// protocol, driver.
    pub(super) fn of_piece(&self) -> [u64; 3] {
        let Clocks {
            raid,
            block,
            protocol,
            driver,
            ..
        } = self.clocks;
        let raid = if self.stripe.0 > 0 { raid } else { 0 };
        [raid + block, protocol, driver]
    }

    /// Returns the platform with the clocks of its own interface.
    #[must_use]
    pub(super) fn in_use(mut self) -> Self {
        let of_ring = match self.interface {
            Interface::IoUringPolled | Interface::IoUringSqThread => Some(Interface::IoUring),
            _ => None,
        };
        let own = self.interfaces.remove(&self.interface);
        let clocks = own.or_else(|| self.interfaces.get(&of_ring?).cloned());
        self.clocks = clocks.unwrap_or(self.clocks);
        self
    }

    /// Returns the platform with a share more of one input, for each input that is not zero: its key and the platform. The
    /// clocks are those of its interface.
    pub fn with_more(&self, share: f64) -> Vec<(String, Self)> {
        self.clone().in_use().each_with_more(share)
    }

    fn each_with_more(&self, share: f64) -> Vec<(String, Self)> {
        let more = |value: u64| (value as f64 * (1.0 + share)).round() as u64;
        let mut all = Vec::new();
        for (index, (key, clocks)) in self.clocks.all().into_iter().enumerate() {
            if clocks > 0 {
                let mut changed = self.clone();
                *changed.clocks.all_mut()[index] = more(clocks);
                all.push((key.to_owned(), changed));
            }
        }
        if let Some(clock) = Frequency::new(more(self.clock.hertz())) {
            let clock = Self {
                clock,
                ..self.clone()
            };
            all.push(("clock".to_owned(), clock));
        }
        if let Some(iops) = self.adapter.iops {
            let mut changed = self.clone();
            changed.adapter.iops = Some(more(iops));
            all.push(("adapter.iops".to_owned(), changed));
        }
        all
    }

    /// Number of processors that run programs: all, or half of them if threads of the kernel submit.
    pub fn program_cores(&self) -> u32 {
        match self.interface {
            Interface::IoUringSqThread => self.cores.div_ceil(2),
            _ => self.cores,
        }
    }

    /// Bytes of all drives together, of which each has `drive` bytes. A RAID 0 leaves out what is no whole chunk of a drive.
    pub fn capacity(&self, drive: u64) -> u64 {
        Layout::new(self.stripe, self.drives_in_all() as usize, drive).capacity()
    }

    /// Number of drives of all adapters.
    pub fn drives_in_all(&self) -> u32 {
        self.adapters.saturating_mul(self.drives)
    }
}
