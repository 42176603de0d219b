//! Where requests are cut: how long a request may be that begins at a place.
//!
//! One number decides both how a long request is split and how far a short one may grow by merging: the longest
//! request that may begin at an offset. [`nopas`], [`pas`] and [`pasa`] each give another one.

pub mod nopas;
pub mod pas;
pub mod pasa;

pub use nopas::NoPas;
pub use pas::Pas;
pub use pasa::Pasa;

use crate::{BadConfig, Entry};
use fathom_block::Op;
use serde::{Deserialize, Serialize};

/// How requests are split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Split {
    /// Up to the generic limit.
    Nopas(NoPas),
    /// At the drive's buffer size.
    Pas(Pas),
    /// At the drive's buffer size, and aligned.
    Pasa(Pasa),
}

/// Every splitter, with a line each.
pub const SPLITS: &[Entry] = &[
    Entry {
        name: "nopas",
        summary: "up to the generic limit, 512 KiB",
    },
    Entry {
        name: "pas",
        summary: "at the drive's read or write buffer size",
    },
    Entry {
        name: "pasa",
        summary: "as pas; unaligned requests are cut at the next boundary first",
    },
];

impl Default for Split {
    fn default() -> Self {
        Self::Nopas(NoPas::default())
    }
}

impl Split {
    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Nopas(_) => "nopas",
            Self::Pas(_) => "pas",
            Self::Pasa(_) => "pasa",
        }
    }

    /// The longest request that may begin at `offset`, in bytes; at least 1.
    #[inline]
    pub fn room(&self, op: Op, offset: u64) -> u64 {
        match self {
            Self::Nopas(split) => split.room(),
            Self::Pas(split) => split.room(op),
            Self::Pasa(split) => split.room(op, offset),
        }
    }

    /// Checks the sizes against the logical block of a drive, in bytes.
    ///
    /// # Errors
    /// [`BadConfig`] names the size that cannot be.
    pub fn check(&self, block: u64) -> Result<(), BadConfig> {
        let sizes: &[(&'static str, u64)] = match self {
            Self::Nopas(split) => &[("limit", split.limit.0)],
            Self::Pas(split) => &[("read", split.read.0), ("write", split.write.0)],
            Self::Pasa(split) => &[
                ("read", split.read.0),
                ("write", split.write.0),
                ("read_boundary", split.read_boundary.0),
                ("write_boundary", split.write_boundary.0),
            ],
        };
        for &(key, size) in sizes {
            if size == 0 || !size.is_multiple_of(block) {
                return Err(BadConfig {
                    part: "split",
                    key,
                    problem: format!(
                        "is {size} bytes, and must be a positive multiple of the drive's logical block of {block} bytes"
                    ),
                });
            }
        }
        Ok(())
    }
}
