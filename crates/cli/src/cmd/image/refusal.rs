//! Failures of operations on images: where, what, and what to do.

use crate::failure::Failure;
use crate::out;
use fathom_ext::ExtError;
use std::path::Path;

/// The failure of an error. `image` is the image, `operations` the file with the operations if there is one.
pub(super) fn of(error: ExtError, image: &Path, operations: Option<&Path>) -> Failure {
    let text = error.to_string();
    let failure = match &error {
        ExtError::Host(_) | ExtError::InUse { .. } | ExtError::Occupied { .. } => {
            return Failure::refused(text);
        }
        ExtError::Io { .. } | ExtError::UnknownAllocator { .. } | ExtError::LogicalBlock { .. } => {
            Failure::input(code(&error), text)
        }
        ExtError::Operation { .. } | ExtError::AtOperation { .. } => {
            let place = out::shown(operations.unwrap_or(image));
            Failure::input(code(&error), format!("{place}: {text}"))
        }
        _ => {
            let place = out::shown(image);
            // The library's texts do not know the path.
            let text = text.replace(" IMAGE`", &format!(" {place}`"));
            Failure::input(code(&error), format!("{place}: {text}"))
        }
    };
    match advice(&error) {
        Some(help) => failure.help(help),
        None => failure,
    }
}

fn code(error: &ExtError) -> &'static str {
    match error {
        ExtError::Io { .. } | ExtError::Disk { .. } => "fathom::io",
        ExtError::Foreign(_) | ExtError::OtherVersion { .. } => "fathom::image::foreign",
        ExtError::Corrupt { .. } => "fathom::image::damaged",
        ExtError::Unsupported { .. } => "fathom::image::unsupported",
        ExtError::NeedsReplay { .. } => "fathom::image::replay",
        ExtError::UnknownAllocator { .. } => "fathom::image::allocator",
        ExtError::LogicalBlock { .. } => "fathom::image::logical_block",
        ExtError::Full { .. } | ExtError::NoInode => "fathom::image::full",
        ExtError::Operation { .. } | ExtError::AtOperation { .. } => "fathom::image::operation",
        _ => "fathom::image",
    }
}

/// What to do.
fn advice(error: &ExtError) -> Option<&'static str> {
    Some(match error {
        ExtError::Foreign(_) => "`fathom mkfs --fs ext4 IMAGE` makes a file system",
        ExtError::OtherVersion { .. } => "name that with --fs, or leave the option out",
        ExtError::Unsupported { .. } => {
            "use an image of `fathom mkfs`, or of `mke2fs -b 4096` without that property"
        }
        ExtError::UnknownAllocator { .. } => "`fathom list allocators` describes them",
        ExtError::LogicalBlock { .. } => "give a multiple of 4KiB, such as --logical-block 4MiB",
        ExtError::Full { .. } | ExtError::NoInode => {
            "delete files, or make a larger image with `fathom mkfs --size`"
        }
        ExtError::AtOperation { source, .. } => return advice(source),
        ExtError::Operation { .. } => {
            "the operations are: M DIRECTORY, C FILE BYTES, A FILE BYTES, R FILE BYTES, D FILE, m DIRECTORY, S"
        }
        ExtError::JournalTooSmall { .. } => "make a larger image: its journal is larger too",
        _ => return None,
    })
}
