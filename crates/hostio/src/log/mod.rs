//! Reads what a drive reports of its own work: bytes that hosts wrote, bytes written to its media, temperature and wear.
//!
//! A read takes one to ten commands of some milliseconds each. The drive may delay other requests meanwhile, so a log is
//! read between timed requests. Nothing is written, and no self-test is started.

mod ask;
mod ata;
mod commands;
mod error;
mod nvme;
mod reader;
mod way;

pub(crate) use ask::AtaDrive;
pub(crate) use ata::identify_device;
pub(crate) use commands::Commands;
pub use error::LogError;
pub(crate) use reader::{LogReader, way_of};
pub(crate) use way::Protocol;

use fathom_block::DriveLog;
use std::path::Path;

/// Reads the log of a drive, or of the drive under a file, a directory or a partition, without opening it for requests.
///
/// # Errors
/// [`LogError`] with the reason and a way out.
pub fn drive_log(path: &Path) -> Result<DriveLog, LogError> {
    let mut reader = LogReader::new(path);
    reader.ask()?;
    loop {
        if let Some(answer) = reader.answer(None) {
            return answer;
        }
    }
}
