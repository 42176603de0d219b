//! The modelled drives: every kind by name or by drive file, and one type for all of them.
//!
//! A [`Model`] is what a drive file says, a [`Drive`] is a drive made from it. A drive file says its kind; a new kind of
//! drive is a file in `kinds/` and a line in its list.
//!
//! ```
//! use fathom_block::{Device, Op, Request};
//! use fathom_model::{Model, find};
//!
//! let preset = find("ssd-a").ok_or("no such drive")?;
//! let mut drive = Model::from_toml(preset.toml)?.build(1)?;
//! drive.submit(Request::new(0, Op::Write, 0, 4096))?;
//! let mut done = Vec::new();
//! drive.wait(fathom_base::Time::MAX, &mut done);
//! println!("4 KiB written in {}", done[0].latency());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod kinds;

pub use fathom_base::SpecError;
pub use fathom_base::drive_file::Preset;
pub use kinds::{Drive, Model, catalog};

/// The drive of that name.
pub fn find(name: &str) -> Option<&'static Preset> {
    catalog().find(|preset| preset.name == name)
}
