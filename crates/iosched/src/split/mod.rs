//! Splitters: the longest request that may begin at an offset.
//!
//! This one number decides how a long request is split and how far a short one may grow by merging. [`nopas`], [`pas`]
//! and [`pasa`] each compute it in another way.

pub mod nopas;
pub mod pas;
pub mod pasa;

pub use nopas::NoPas;
pub use pas::Pas;
pub use pasa::Pasa;

use fathom_base::registry::Text;
use fathom_base::{BadValue, Kind, names, want};
use fathom_block::Op;

/// Where the block layer cuts requests.
const SPLIT: Kind = Kind {
    one: "splitter",
    list: "splits",
    summary: "Where the block layer cuts requests",
    prefix: "",
    option: "--split",
    text: Text::Section("schedulers.md"),
};

names! {
    /// A splitter with its limits.
    pub enum Split by "name" of SPLIT in SPLITS, macro each {
        Nopas(NoPas) = "nopas", nopas::ABOUT;
        Pas(Pas) = "pas", pas::ABOUT;
        Pasa(Pasa) = "pasa", pasa::ABOUT;
    }
}

impl Default for Split {
    fn default() -> Self {
        Self::Nopas(NoPas::default())
    }
}

impl Split {
    /// The longest request that may begin at `offset`, in bytes; at least 1.
    #[inline]
    pub fn room(&self, op: Op, offset: u64) -> u64 {
        each!(self, split => split.room(op, offset))
    }

    /// Checks that all sizes are positive multiples of the drive's logical block, `block` bytes.
    ///
    /// # Errors
    /// [`BadValue`] names the invalid size.
    pub fn check(&self, block: u64) -> Result<(), BadValue> {
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
        let why = || {
            format!("it must be a positive multiple of the drive's logical block of {block} bytes")
        };
        for &(key, size) in sizes {
            let whole = size > 0 && size.is_multiple_of(block);
            want(whole, key, format!("{size} bytes"), why).map_err(|bad| bad.of("split"))?;
        }
        Ok(())
    }
}
