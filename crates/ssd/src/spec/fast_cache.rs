//! The part of a drive file for the fast cache: blocks that are programmed with one bit per cell (SLC mode).

use fathom_base::{Bytes, Dur};
use serde::{Deserialize, Serialize};

/// The fast cache (pseudo-SLC, Turbo Write, SLC buffer): some blocks are programmed with one bit per cell, which is several
/// times as fast as native programming and takes `bits_per_cell` times the space. Their data is later folded: moved into
/// blocks in native mode. The sizes of static and dynamic caches and the two ways of filling are those that data sheets and
/// reviews of consumer drives describe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FastCache {
    /// Bits per cell in native mode, 2 to 5. A block in SLC mode has that many times fewer pages.
    pub bits_per_cell: u32,
    /// Bytes of data that the drive can hold in SLC mode even if it is full. The blocks for it come in addition to capacity
    /// and over-provisioning. Rounded up to whole clustered blocks of every group.
    #[serde(default)]
    pub static_capacity: Bytes,
    /// Share of the free space that may be used in SLC mode in addition, in percent. Free is what the capacity exceeds the
    /// data in native mode by, so that the size is (free bytes / `bits_per_cell`) x share.
    #[serde(default)]
    pub dynamic_percent: f64,
    /// Time to read a page in SLC mode from the array into the page register.
    pub read: Dur,
    /// Time to program a page in SLC mode.
    pub program: Dur,
    /// Time to erase a block in SLC mode.
    pub erase: Dur,
    /// When data is folded.
    #[serde(default)]
    pub fold: Fold,
    /// Time without a request in flight after which folding in idle time starts (`fold = "idle"` only).
    #[serde(default = "idle_delay")]
    pub idle_delay: Dur,
    /// What writes do while the cache is full.
    #[serde(default)]
    pub when_full: WhenFull,
}

/// When data of the fast cache is folded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fold {
    /// In idle time, and under pressure.
    #[default]
    Idle,
    /// Only under pressure: when erased blocks run short, or as `when_full` says.
    Pressure,
}

/// What writes do while the fast cache is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// They go around the cache, into blocks in native mode.
    #[default]
    Bypass,
    /// They go into the cache, which folds as much as is written.
    Fold,
}

fn idle_delay() -> Dur {
    Dur::ms(1000)
}
