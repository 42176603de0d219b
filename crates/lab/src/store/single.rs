//! A file by itself, such as a trace or a drive file: where it goes. Anything but a file there is left alone, for a new file
//! takes the place of what has its name.

use super::error::StoreError;
use super::staging::{Staging, above};
use std::fs::{self, FileType};
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

/// Returns the place of a file that is to be written whole: the path, or where a symbolic link points. Makes sure, with a
/// directory that it makes and removes, that a file can be made there.
///
/// # Errors
/// [`StoreError::NotAFile`] if the place is taken by something else, [`StoreError::Io`] if its directory does not exist or
/// takes no file.
pub fn single(path: &Path) -> Result<PathBuf, StoreError> {
    let place = match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => fs::canonicalize(path),
        _ => Ok(path.to_owned()),
    };
    let place = place.map_err(|e| StoreError::io("follow the link", path, e))?;
    if let Ok(found) = fs::metadata(&place)
        && let Some(what) = other(found.file_type())
    {
        let path = path.to_owned();
        return Err(StoreError::NotAFile { path, what });
    }
    let above = above(&place);
    if !above.is_dir() {
        let source = io::Error::new(io::ErrorKind::NotFound, "there is no such directory");
        return Err(StoreError::io("create a file in", above, source));
    }
    drop(Staging::beside(&place)?);
    Ok(place)
}

/// Returns what something is, unless it is a file.
fn other(found: FileType) -> Option<&'static str> {
    match found {
        f if f.is_dir() => Some("a directory"),
        f if f.is_char_device() => Some("a character device"),
        f if f.is_block_device() => Some("a block device"),
        f if f.is_fifo() => Some("a pipe"),
        f if f.is_socket() => Some("a socket"),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "helpers of tests")]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_a_file_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let dir = fs::canonicalize(dir.path()).unwrap();
        let new = dir.join("new");
        assert_eq!(single(&new).unwrap(), new);
        fs::write(&new, "old").unwrap();
        assert_eq!(single(&new).unwrap(), new);
        let link = dir.join("link");
        symlink("new", &link).unwrap();
        assert_eq!(single(&link).unwrap(), new);
        let lost = dir.join("lost");
        symlink("nothing", &lost).unwrap();
        assert!(matches!(single(&lost), Err(StoreError::Io { .. })));
        let socket = dir.join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        for (path, is) in [
            (dir.as_path(), "a directory"),
            (&socket, "a socket"),
            (Path::new("/dev/null"), "a character device"),
        ] {
            let refused = single(path);
            let Err(StoreError::NotAFile { what, .. }) = refused else {
                panic!("{refused:?}");
            };
            assert_eq!(what, is);
        }
        let none = Path::new("/proc/fathom");
        assert!(matches!(single(none), Err(StoreError::Io { .. })));
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 4);
        let nowhere = dir.join("nowhere/file");
        assert!(matches!(single(&nowhere), Err(StoreError::Io { .. })));
    }
}
