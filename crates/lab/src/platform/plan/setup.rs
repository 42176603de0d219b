//! The numbers that a search chooses.

use crate::platform::stand::Load;
use fathom_platform::{Interface, Platform};

/// Hardware and load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setup {
    /// Number of drives.
    pub(super) drives: u32,
    /// Most drives of an adapter; the last adapter may have fewer.
    pub(super) per_adapter: u32,
    /// Number of processors.
    pub(super) cores: u32,
    /// I/Os in flight.
    pub(super) in_flight: u32,
}

impl Setup {
    /// Number of adapters.
    pub(super) fn adapters(&self) -> u32 {
        self.drives.div_ceil(self.per_adapter.max(1))
    }

    /// The platform with these numbers. It may have places for more drives than there are.
    pub(super) fn on(&self, platform: &Platform) -> Platform {
        Platform {
            cores: self.cores,
            adapters: self.adapters(),
            drives: self.per_adapter,
            ..platform.clone()
        }
    }

    /// Threads and their depth, with at most the I/Os in flight: with an asynchronous interface one thread for each processor
    /// that runs programs.
    pub(super) fn load(&self, platform: &Platform) -> Load {
        let threads = match platform.interface {
            Interface::Pread => self.in_flight,
            _ => self.on(platform).program_cores().min(self.in_flight),
        };
        let threads = threads.max(1);
        Load {
            threads,
            depth: (self.in_flight / threads).max(1),
        }
    }
}
