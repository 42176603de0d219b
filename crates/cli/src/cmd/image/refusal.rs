//! Failures of operations on images.

use crate::failure::Failure;
use fathom_ext::ExtError;

/// The failure of an error.
pub(super) fn of(error: ExtError) -> Failure {
    let code = match &error {
        ExtError::Host(_) => return Failure::refused(error.to_string()),
        ExtError::InUse { .. } | ExtError::Occupied { .. } => {
            return Failure::refused(error.to_string());
        }
        ExtError::Io { .. } => "fathom::io",
        ExtError::Foreign(_) | ExtError::OtherVersion { .. } => "fathom::image::foreign",
        ExtError::Corrupt { .. } => "fathom::image::damaged",
        ExtError::NeedsReplay { .. } => "fathom::image::replay",
        ExtError::UnknownAllocator { .. } => "fathom::image::allocator",
        ExtError::LogicalBlock { .. } => "fathom::image::logical_block",
        ExtError::Full { .. } | ExtError::NoInode => "fathom::image::full",
        ExtError::Operation { .. } | ExtError::AtLine { .. } => "fathom::image::operation",
        _ => "fathom::image",
    };
    Failure::input(code, error.to_string())
}
