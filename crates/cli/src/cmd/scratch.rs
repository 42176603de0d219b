//! Writes a scratch file once: reads of unwritten space do not reach the drive.

use crate::failure::Failure;
use crate::progress::Playing;
use crate::watch;
use fathom_lab::target::{Opened, fill};

/// Writes a scratch file once in order, with progress, until it is full or the user interrupts.
///
/// # Errors
/// A [`Failure`] if it cannot be written.
pub(super) fn write_once(opened: &mut Opened) -> Result<(), Failure> {
    let size = opened.target.capacity_bytes;
    let progress = Playing::new();
    let go_on = |written| {
        progress.filling(written, size);
        !watch::interrupted()
    };
    fill(&mut *opened.device, &go_on).map_err(|error| {
        Failure::input("fathom::real::fill", error.to_string())
            .help("make room on what holds the file, or use a smaller one (`--size`)")
    })?;
    Ok(())
}
