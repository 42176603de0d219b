//! Brings a modelled drive into its initial state and shows the progress, because some kinds are filled by requests.

use crate::failure::Failure;
use crate::progress::Playing;
use fathom_block::Device as _;
use fathom_lab::replay::RunError;
use fathom_model::Drive;
use fathom_run::{Precondition, prepare_watched};

/// Returns the drive in this state.
///
/// # Errors
/// If the drive refuses a write.
pub(super) fn prepared(mut drive: Drive, state: Precondition, seed: u64) -> Result<Drive, Failure> {
    let again = match state {
        Precondition::Random { times, .. } => times,
        Precondition::AsIs | Precondition::Fresh | Precondition::Filled => 0.0,
    };
    let of = (drive.info().capacity_bytes as f64 * (1.0 + again)) as u64;
    let shown = Playing::new();
    let mut watcher = |written| shown.filling(written, of);
    prepare_watched(&mut drive, state, seed, &mut watcher).map_err(RunError::Prepare)?;
    Ok(drive)
}
