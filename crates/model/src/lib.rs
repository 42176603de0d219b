//! All modelled drives behind one type, created by name or from a drive file.
//!
//! A [`Model`] is the contents of a drive file, a [`Drive`] is a drive built from it. A drive file states its kind; a new
//! kind of drive needs a file in `kinds/` and a line in the list there. An unknown drive name gives [`UnknownDrive`].
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

/// The name is not a known drive, or its drive file is invalid here.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum UnknownDrive {
    /// The name is unknown.
    #[error(transparent)]
    Name(#[from] BadName),
    /// The drive file is invalid.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

/// Parses the name of a drive that comes with Fathom.
impl std::str::FromStr for Model {
    type Err = UnknownDrive;

    fn from_str(name: &str) -> Result<Self, UnknownDrive> {
        let preset = find(name).ok_or_else(|| BadName::unknown(name, catalog()))?;
        Ok(Model::from_toml(preset.text)?)
    }
}

/// Returns the drive of that name.
pub fn find(name: &str) -> Option<&'static Named> {
    catalog().find(|preset| preset.name == name)
}
