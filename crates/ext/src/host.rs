//! Opens a file or block device of the host for an image: what is in use or holds something else is refused.

use crate::disk::FileDisk;
use crate::error::ExtError;
use fathom_fs::BLOCK_BYTES;
use fathom_hostio::{Finding, Inspection, Kind, Refused, Weight, inspect};
use rustix::fs::{FlockOperation, OFlags, flock};
use std::fs::{File, OpenOptions};
use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// What an image is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    Write,
}

/// Opens an existing image.
///
/// # Errors
/// [`ExtError::Host`], [`ExtError::InUse`], [`ExtError::Io`].
pub(crate) fn open(path: &Path, how: Use, durable: bool) -> Result<FileDisk, ExtError> {
    let found = inspect(path)?;
    refuse_used(&found)?;
    let file = claim(&found, how)?;
    let blocks = size(&file, path)? / BLOCK_BYTES;
    Ok(FileDisk::new(file, blocks, false, durable))
}

/// Opens what is to be formatted. A file that is not there is made, with `bytes` bytes; a file that is there gets this
/// size and loses its contents. A block device is used up to `bytes`, or whole.
///
/// # Errors
/// [`ExtError::Occupied`] if `destroy` does not name what holds something; see [`open`].
pub(crate) fn open_to_format(
    path: &Path,
    bytes: Option<u64>,
    destroy: Option<&str>,
) -> Result<FileDisk, ExtError> {
    let failed = |what| move |source| ExtError::io(path, what, source);
    if !path.exists() {
        let bytes = bytes.ok_or(ExtError::Size {
            bytes: 0,
            large: false,
        })?;
        let mut options = OpenOptions::new();
        let made = options.read(true).write(true).create_new(true).open(path);
        let file = made.map_err(failed("make it"))?;
        file.set_len(bytes).map_err(failed("give it its size"))?;
        return Ok(FileDisk::new(file, bytes / BLOCK_BYTES, true, true));
    }
    let found = inspect(path)?;
    refuse_used(&found)?;
    let holds = found
        .findings
        .iter()
        .any(|finding| finding.weight() == Weight::NameIt);
    let empty = found.kind == Kind::File && found.size_bytes == 0;
    if holds && !empty && !destroy.is_some_and(|word| names(&found, word)) {
        return Err(ExtError::Occupied { path: path.into() });
    }
    let file = claim(&found, Use::Write)?;
    let there = size(&file, path)?;
    let bytes = bytes.unwrap_or(there);
    if found.kind == Kind::File {
        let sized = file.set_len(0).and_then(|()| file.set_len(bytes));
        sized.map_err(failed("give it its size"))?;
    } else if bytes > there {
        return Err(ExtError::Size { bytes, large: true });
    }
    let fresh = found.kind == Kind::File;
    Ok(FileDisk::new(file, bytes / BLOCK_BYTES, fresh, true))
}

fn names(found: &Inspection, word: &str) -> bool {
    let path = Path::new(word);
    let serial = found.identity.serial.as_deref() == Some(word) && found.kind == Kind::Block;
    let name = found.path.file_name() == Some(path.as_os_str());
    path == found.path || path == found.given || name || serial
}

fn refuse_used(found: &Inspection) -> Result<(), ExtError> {
    if found.kind == Kind::Directory {
        return Err(ExtError::Foreign("it is a directory".into()));
    }
    let always = |finding: &&Finding| finding.weight() == Weight::Always;
    let used: Vec<Finding> = found.findings.iter().filter(always).cloned().collect();
    if used.is_empty() {
        return Ok(());
    }
    let advice = "Unmount it, detach it or stop what uses it; no option overrides this".into();
    let path = found.path.clone();
    let refused = Refused {
        path,
        found: used,
        advice,
    };
    Err(ExtError::Host(refused.into()))
}

/// Opens and locks; a device is claimed, which fails while it is mounted.
fn claim(found: &Inspection, how: Use) -> Result<File, ExtError> {
    let path = &found.path;
    let in_use = |by: &str| ExtError::InUse {
        path: path.clone(),
        by: by.into(),
    };
    let mut options = OpenOptions::new();
    options.read(true).write(how == Use::Write);
    if found.kind == Kind::Block && how == Use::Write {
        options.custom_flags(OFlags::EXCL.bits() as i32);
    }
    let file = options.open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::ResourceBusy => in_use("the kernel has claimed it"),
        _ => ExtError::io(path, "open it", error),
    })?;
    let operation = match how {
        Use::Read => FlockOperation::NonBlockingLockShared,
        Use::Write => FlockOperation::NonBlockingLockExclusive,
    };
    match flock(&file, operation) {
        Err(rustix::io::Errno::WOULDBLOCK) => Err(in_use("another program has locked it")),
        // A file system without locks: then nobody holds one.
        _ => Ok(file),
    }
}

fn size(file: &File, path: &Path) -> Result<u64, ExtError> {
    let mut file = file;
    let end = file.seek(SeekFrom::End(0));
    end.map_err(|source| ExtError::io(path, "ask for its size", source))
}
