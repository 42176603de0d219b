//! The modelled drives: every kind by name or by drive file, and one type for all of them.
//!
//! A [`Model`] is what a drive file says, a [`Drive`] is a drive made from it. A drive file says its kind; a new kind of
//! drive is a file in `kinds/` and a line in its list. A name that no drive has is an [`UnknownDrive`].
//!
//! ```
//! use fathom_block::{Device, Op, Request};
//! use fathom_model::Model;
//!
//! let mut drive = "ssd-a".parse::<Model>()?.build(1)?;
//! drive.submit(Request::new(0, Op::Write, 0, 4096))?;
//! let mut done = Vec::new();
//! drive.wait(fathom_base::Time::MAX, &mut done);
//! println!("4 KiB written in {}", done[0].latency());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod kinds;

use fathom_base::Named;
pub use fathom_base::SpecError;
use fathom_base::registry::BadName;
pub use kinds::{Drive, Model, catalog};

/// No drive that comes with Fathom has this name, or its file makes no drive here.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum UnknownDrive {
    /// The name.
    #[error(transparent)]
    Name(#[from] BadName),
    /// The drive file.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

/// A drive that comes with Fathom, by its name.
impl std::str::FromStr for Model {
    type Err = UnknownDrive;

    fn from_str(name: &str) -> Result<Self, UnknownDrive> {
        let preset = find(name).ok_or_else(|| BadName::unknown(name, catalog()))?;
        Ok(Model::from_toml(preset.text)?)
    }
}

/// The drive of that name.
pub fn find(name: &str) -> Option<&'static Named> {
    catalog().find(|preset| preset.name == name)
}
