//! The clocks of an I/O by layer, as a platform file has them.

use fathom_base::{BadValue, defaults, want};
use serde::{Deserialize, Serialize};

/// Largest number of clocks of a layer: a thousand times what any layer takes.
const CLOCKS_MAX: u64 = 1_000_000_000;

defaults! {
    /// Clocks of a processor for an I/O, by layer.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
    pub struct Clocks {
        /// The program, between its system calls.
        pub application: u64 = 0,
        /// Entering the kernel and returning from it, for each system call. An asynchronous interface makes one to submit and
        /// one to collect, each for all I/Os of a batch.
        pub system_call: u64 = 500,
        /// libaio's own management of an I/O.
        pub libaio: u64 = 0,
        /// io_uring's own management of an I/O, with all of its interfaces.
        pub io_uring: u64 = 0,
        /// The virtual file system.
        pub vfs: u64 = 0,
        /// The file system; charged with `file-system = true`.
        pub file_system: u64 = 0,
        /// The page cache's copy, and its management, for each byte; charged with `buffered = true`.
        pub copy_per_byte: f64 = 0.0,
        /// RAID: splitting an I/O, and finding the drive and the place of a piece. For each piece; charged with `stripe`.
        pub raid: u64 = 500,
        /// The block layer, on the way to the drive. This and what follows is for each piece of an I/O.
        pub block: u64 = 1_000,
        /// The translation into the drive's protocol.
        pub protocol: u64 = 0,
        /// The driver, up to the doorbell.
        pub driver: u64 = 500,
        /// From the doorbell until the thread sleeps, while the drive works. For each thread that sleeps.
        pub sleep: u64 = 1_000,
        /// The driver's handler, for each interrupt.
        pub interrupt: u64 = 500,
        /// The driver's handler, for each I/O.
        pub driver_return: u64 = 500,
        /// Reads of device registers for each interrupt.
        pub uncached_reads: u64 = 0,
        /// One of them.
        pub uncached_read: u64 = 2_100,
        /// The block layer, on the way back.
        pub completion: u64 = 500,
        /// From the wake-up of a thread until it runs.
        pub wake: u64 = 1_000,
        /// Finding a completion without an interrupt, for each I/O; instead of `interrupt`, `uncached-reads` and
        /// `driver-return`.
        pub poll: u64 = 500,
        /// What each other processor that computes at that time adds to an I/O: lines of caches that move between them.
        pub contention: u64 = 0,
    }
}

impl Clocks {
    /// Checks the values.
    ///
    /// # Errors
    /// The first key with an invalid value.
    pub(super) fn check(&self) -> Result<(), BadValue> {
        for (key, clocks) in self.all() {
            want(clocks <= CLOCKS_MAX, key, clocks, || {
                format!("must be at most {CLOCKS_MAX}")
            })?;
        }
        let copy = self.copy_per_byte;
        want(
            (0.0..=1e6).contains(&copy),
            "clocks.copy-per-byte",
            copy,
            || "must be at least 0 and at most 1000000".into(),
        )
    }

    pub(super) fn all(&self) -> [(&'static str, u64); 19] {
        [
            ("clocks.application", self.application),
            ("clocks.system-call", self.system_call),
            ("clocks.libaio", self.libaio),
            ("clocks.io-uring", self.io_uring),
            ("clocks.vfs", self.vfs),
            ("clocks.file-system", self.file_system),
            ("clocks.raid", self.raid),
            ("clocks.block", self.block),
            ("clocks.protocol", self.protocol),
            ("clocks.driver", self.driver),
            ("clocks.sleep", self.sleep),
            ("clocks.interrupt", self.interrupt),
            ("clocks.driver-return", self.driver_return),
            ("clocks.uncached-reads", self.uncached_reads),
            ("clocks.uncached-read", self.uncached_read),
            ("clocks.completion", self.completion),
            ("clocks.wake", self.wake),
            ("clocks.poll", self.poll),
            ("clocks.contention", self.contention),
        ]
    }

    /// The values of [`Clocks::all`], in its order.
    pub(super) fn all_mut(&mut self) -> [&mut u64; 19] {
        [
            &mut self.application,
            &mut self.system_call,
            &mut self.libaio,
            &mut self.io_uring,
            &mut self.vfs,
            &mut self.file_system,
            &mut self.raid,
            &mut self.block,
            &mut self.protocol,
            &mut self.driver,
            &mut self.sleep,
            &mut self.interrupt,
            &mut self.driver_return,
            &mut self.uncached_reads,
            &mut self.uncached_read,
            &mut self.completion,
            &mut self.wake,
            &mut self.poll,
            &mut self.contention,
        ]
    }

    /// The register reads of an interrupt.
    pub(super) fn of_uncached_reads(&self) -> u64 {
        self.uncached_reads.saturating_mul(self.uncached_read)
    }
}
