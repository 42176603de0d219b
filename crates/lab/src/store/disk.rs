//! All changes of the store to the file system. They go through this module so that a test can make each of them fail, or
//! end the process at it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Prefix and suffix of the name of a staging directory.
pub(super) const PREFIX: &str = ".fathom-";
pub(super) const SUFFIX: &str = ".tmp";
/// Number of random letters and digits between the two.
pub(super) const DRAWN: usize = 16;

/// Creates a directory with a unique name.
pub(super) fn make_temp_dir(parent: &Path) -> io::Result<PathBuf> {
    fault::step()?;
    tempfile::Builder::new()
        .prefix(PREFIX)
        .suffix(SUFFIX)
        .rand_bytes(DRAWN)
        // The umask of the process applies, as for any other directory.
        .permissions(fs::Permissions::from_mode(0o777))
        .tempdir_in(parent)
        .map(tempfile::TempDir::keep)
        .map_err(plain)
}

/// Returns the plain error: `tempfile` adds a path that means nothing to a user.
fn plain(e: io::Error) -> io::Error {
    e.raw_os_error()
        .map_or_else(|| io::Error::from(e.kind()), io::Error::from_raw_os_error)
}

pub(super) fn make_dir(path: &Path) -> io::Result<()> {
    fault::step()?;
    fs::create_dir(path)
}

/// Creates a file, or truncates an existing one.
pub(super) fn make_file(path: &Path) -> io::Result<File> {
    fault::step()?;
    File::create(path)
}

/// Writes as many bytes as the system accepts at once.
pub(super) fn write(file: &mut File, bytes: &[u8]) -> io::Result<usize> {
    fault::step()?;
    file.write(bytes)
}

pub(super) fn sync(file: &File) -> io::Result<()> {
    fault::step()?;
    file.sync_all()
}

/// Makes the entries of a directory durable.
pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    fault::step()?;
    File::open(dir)?.sync_all()
}

pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fault::step()?;
    fs::rename(from, to)
}

pub(super) fn remove_file(path: &Path) -> io::Result<()> {
    fault::step()?;
    fs::remove_file(path)
}

/// Removes an empty directory.
pub(super) fn remove_dir(path: &Path) -> io::Result<()> {
    fault::step()?;
    fs::remove_dir(path)
}

/// Removes a directory with its contents, as far as possible.
pub(super) fn remove_tree(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => remove_tree(&entry.path()),
            _ => {
                let _stays = remove_file(&entry.path());
            }
        }
    }
    let _stays = remove_dir(dir);
}

/// Returns true if an open file is still the one at that path.
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let (Ok(held), Ok(named)) = (file.metadata(), path.symlink_metadata()) else {
        return false;
    };
    (held.dev(), held.ino()) == (named.dev(), named.ino())
}

#[cfg(not(test))]
mod fault {
    pub(super) fn step() -> std::io::Result<()> {
        Ok(())
    }
}

/// Injects faults into the changes of this thread.
#[cfg(test)]
pub(super) mod fault {
    use std::cell::Cell;
    use std::io;

    /// The effect of a fault.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Fault {
        /// The change fails, later ones succeed.
        Fails,
        /// The process ends before the change: this and all later changes fail.
        Killed,
    }

    thread_local! {
        static PLAN: Cell<Option<(u64, Fault)>> = const { Cell::new(None) };
        static STEPS: Cell<u64> = const { Cell::new(0) };
    }

    /// Runs `work` with a fault at its `n`-th change, counted from 0. Returns its result and the number of changes that it
    /// tried.
    pub(crate) fn at<T>(n: u64, fault: Fault, work: impl FnOnce() -> T) -> (T, u64) {
        PLAN.set(Some((n, fault)));
        STEPS.set(0);
        let done = work();
        PLAN.set(None);
        (done, STEPS.get())
    }

    pub(super) fn step() -> io::Result<()> {
        let n = STEPS.get();
        STEPS.set(n + 1);
        match PLAN.get() {
            Some((at, Fault::Fails)) if n == at => Err(io::Error::from(io::ErrorKind::StorageFull)),
            Some((at, Fault::Killed)) if n >= at => Err(io::Error::other("killed")),
            _ => Ok(()),
        }
    }
}
