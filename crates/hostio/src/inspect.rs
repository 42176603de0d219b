//! Inspects a target before anything is opened for writing.

use crate::error::{HostError, os_error};
use crate::finding::Finding;
use crate::holds;
use crate::identity::Identity;
use crate::metadata;
use crate::node::{DeviceNumber, Node};
use crate::usage::{self, Mount, Storage};
use fathom_base::Bytes;
use rustix::fs::{AtFlags, CWD, StatxFlags, statvfs, statx};
use std::fmt;
use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A directory, in which a scratch file is created.
    Directory,
    /// A regular file.
    File,
    /// A block device: a drive, a partition, or a device that looks like one.
    Block,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Directory => "directory",
            Kind::File => "file",
            Kind::Block => "block device",
        })
    }
}

/// The facts about a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// Path as given by the user.
    pub given: PathBuf,
    /// Path with symbolic links resolved.
    pub path: PathBuf,
    /// Kind of the target.
    pub kind: Kind,
    /// Identity of the drive, or of the drive under the file system.
    pub identity: Identity,
    /// Type of the file system of a file or directory, as the kernel names it.
    pub file_system: Option<String>,
    /// Size of a file or device in bytes; 0 for a directory.
    pub size_bytes: u64,
    /// Free bytes for this user in the file system of a file or directory.
    pub free_bytes: Option<u64>,
    /// Unit of offset and length of direct I/O in bytes, if the kernel reports it.
    pub logical_block_bytes: Option<u32>,
    /// Reasons against writing to the target, and notes.
    pub findings: Vec<Finding>,
}

impl Inspection {
    /// Describes the target for people: one line for the target, then one for each finding. Names are not escaped and may
    /// contain line breaks.
    pub fn describe(&self) -> Vec<String> {
        let on = if self.kind == Kind::Block { "" } else { "on " };
        let mut text = format!(
            "{}: {}, {on}{}",
            self.path.display(),
            self.kind,
            self.identity
        );
        if self.kind != Kind::Directory {
            text += &format!(", {}", Bytes(self.size_bytes).human());
        }
        if let Some(free) = self.free_bytes {
            text += &format!(", {} free", Bytes(free).human());
        }
        let findings = self.findings.iter().map(|finding| format!("  {finding}"));
        std::iter::once(text).chain(findings).collect()
    }
}

/// Inspects a target without opening anything for writing. [`crate::open`] looks for processes that have it open, and only
/// if it is going to write.
///
/// # Errors
/// [`HostError::NotFound`]; [`HostError::NoPermission`] on the path to it; [`HostError::Unsuitable`] if it is neither a
/// directory, a regular file nor a block device.
pub fn inspect(path: &Path) -> Result<Inspection, HostError> {
    Ok(Look::at(path)?.inspection)
}

/// Identity of a file or device: the numbers of the file system, the inode and the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(pub(crate) u64, pub(crate) u64, pub(crate) u64);

/// An inspection with the data that later checks need.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) inspection: Inspection,
    /// The devices and files that share bytes with the target.
    pub(crate) storage: Storage,
    /// Identity of the file or device.
    pub(crate) place: Place,
    /// A hash that changes if the target was written to, or if the inspected contents changed in another way.
    pub(crate) stamp: u64,
}

impl Look {
    pub(crate) fn at(path: &Path) -> Result<Self, HostError> {
        let failed = |source: io::Error| os_error(path, "look at it", source);
        let resolved = fs::canonicalize(path).map_err(failed)?;
        let metadata = fs::metadata(&resolved).map_err(failed)?;
        let kind = kind_of(path, &metadata)?;
        let mount = (kind != Kind::Block)
            .then(|| usage::mount_of(&resolved))
            .flatten();
        let node = match kind {
            Kind::Block => Node::find(DeviceNumber::of(metadata.rdev())),
            Kind::File | Kind::Directory => under(&metadata, mount.as_ref()),
        };
        let storage = match (kind, &node) {
            (Kind::Block, Some(node)) => usage::of_device(node),
            (Kind::File, _) => usage::of_file(&resolved, &metadata),
            _ => Storage::default(),
        };
        let mut findings = usage::in_kernel(&storage);
        findings.extend(node.as_ref().and_then(metadata::of));
        let (size_bytes, contents) = match (kind, &node) {
            (Kind::Block, Some(node)) => (
                node.size_bytes(),
                holds::of_block(&resolved, node, &mut findings),
            ),
            (Kind::File, _) => {
                let why = "sysfs is not there, so loop devices over it cannot be seen";
                let blind = !Path::new("/sys/block").exists();
                findings.extend(blind.then(|| Finding::Hidden { why: why.into() }));
                let contents = holds::of_file(&resolved, &metadata, &mut findings);
                (metadata.len(), contents)
            }
            (Kind::Block, None) => {
                findings.push(Finding::Hidden {
                    why: "sysfs does not show it, so its users cannot be seen".into(),
                });
                (0, 0)
            }
            (Kind::Directory, _) => (0, 0),
        };
        let zoned = node.as_ref().filter(|_| kind == Kind::Block);
        findings.extend(
            zoned
                .and_then(Node::zoned)
                .map(|zones| Finding::Zoned { zones }),
        );
        let identity = node.map(|n| n.identity()).unwrap_or_default();
        let logical_block_bytes = match kind {
            Kind::Block => identity.queue.logical_block_bytes.map(|n| n as u32),
            Kind::File => direct_io_align(&resolved),
            Kind::Directory => None,
        };
        let inspection = Inspection {
            given: path.to_owned(),
            kind,
            size_bytes,
            free_bytes: (kind != Kind::Block).then(|| free_bytes(&resolved)),
            path: resolved,
            file_system: mount.map(|mount| mount.file_system),
            identity,
            logical_block_bytes,
            findings,
        };
        let mut hasher = DefaultHasher::new();
        (contents, storage.written()).hash(&mut hasher);
        Ok(Self {
            inspection,
            storage,
            place: Place(metadata.dev(), metadata.ino(), metadata.rdev()),
            stamp: hasher.finish(),
        })
    }
}

/// Finds the block device at a path, or under the file or directory there; `None` if sysfs shows none.
pub(crate) fn node_of(path: &Path) -> Result<Option<Node>, HostError> {
    let failed = |source: io::Error| os_error(path, "look at it", source);
    let resolved = fs::canonicalize(path).map_err(failed)?;
    let metadata = fs::metadata(&resolved).map_err(failed)?;
    Ok(match kind_of(path, &metadata)? {
        Kind::Block => Node::find(DeviceNumber::of(metadata.rdev())),
        Kind::File | Kind::Directory => under(&metadata, usage::mount_of(&resolved).as_ref()),
    })
}

fn kind_of(path: &Path, metadata: &Metadata) -> Result<Kind, HostError> {
    let kind = metadata.file_type();
    let what = if kind.is_dir() {
        return Ok(Kind::Directory);
    } else if kind.is_file() {
        return Ok(Kind::File);
    } else if kind.is_block_device() {
        return Ok(Kind::Block);
    } else if kind.is_char_device() {
        "a character device"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "of an unknown type"
    };
    Err(HostError::Unsuitable {
        path: path.to_owned(),
        what: format!("it is {what}"),
        advice: "name a directory, a regular file or a block device (an NVMe drive is /dev/nvme0n1, not /dev/nvme0)",
    })
}

/// Finds the block device under a file, also for file systems with a device number of their own (Btrfs): the first one of
/// several.
fn under(metadata: &Metadata, mount: Option<&Mount>) -> Option<Node> {
    let source = || {
        let source = fs::metadata(&mount?.source).ok()?;
        let block = source.file_type().is_block_device();
        block.then(|| Node::find(DeviceNumber::of(source.rdev())))?
    };
    Node::find(DeviceNumber::of(metadata.dev())).or_else(source)
}

/// Returns the block device of a path: itself, or the one under its file system.
pub(crate) fn drive_of(path: &Path) -> Option<Node> {
    let resolved = fs::canonicalize(path).ok()?;
    let metadata = fs::metadata(&resolved).ok()?;
    match metadata.file_type().is_block_device() {
        true => Node::find(DeviceNumber::of(metadata.rdev())),
        false => under(&metadata, usage::mount_of(&resolved).as_ref()),
    }
}

fn free_bytes(path: &Path) -> u64 {
    statvfs(path).map_or(0, |s| s.f_bavail.saturating_mul(s.f_frsize))
}

/// Returns the alignment for direct I/O on a file in bytes: 0 if direct I/O is not supported, `None` if the kernel or the
/// file system does not report it (kernels before 6.1).
pub(crate) fn direct_io_align(path: &Path) -> Option<u32> {
    let stat = statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN).ok()?;
    let told = stat.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
    told.then_some(stat.stx_dio_offset_align)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::Signature;

    #[test]
    fn what_cannot_be_measured_is_named() {
        let error = inspect(Path::new("/dev/null")).unwrap_err();
        assert!(matches!(error, HostError::Unsuitable { .. }));
        assert!(error.to_string().contains("character device"), "{error}");
        let missing = Path::new("/nonexistent/fathom");
        let error = inspect(missing).unwrap_err();
        assert!(matches!(error, HostError::NotFound { path } if path == missing));
    }

    #[test]
    fn a_file_is_described_with_its_holes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 20).unwrap();
        let seen = inspect(file.path()).unwrap();
        assert_eq!((seen.kind, seen.size_bytes), (Kind::File, 1 << 20));
        let sparse = Finding::Sparse { allocated_bytes: 0 };
        assert_eq!(seen.findings, [Finding::ExistingFile, sparse]);
        assert!(seen.free_bytes.is_some_and(|free| free > 0));
        let text = seen.describe().join("\n");
        assert!(
            text.contains(", 1 MiB, ") && text.contains("sparse: 0 B of it"),
            "{text}"
        );
        let free = Bytes(seen.free_bytes.unwrap()).human();
        assert!(text.contains(&format!(", {free} free")), "{text}");
    }

    #[test]
    fn other_names_of_a_file_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let [file, other] = ["file", "other"].map(|name| dir.path().join(name));
        fs::write(&file, [1; 4096]).unwrap();
        let found = inspect(&file).unwrap().findings;
        assert_eq!(found, [Finding::ExistingFile, Finding::UnknownData]);
        fs::hard_link(&file, &other).unwrap();
        let text = inspect(&file).unwrap().describe().join("\n");
        assert!(text.contains("2 names"), "{text}");
    }

    /// Lengths that direct I/O would not accept are included.
    #[test]
    fn what_a_file_holds_is_told_as_of_a_device() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("image");
        for len in [0, 1, 511, 4096, 70_001, (8 << 20) + 1] {
            let mut bytes = vec![0; len];
            fs::write(&file, &bytes).unwrap();
            assert_eq!(
                inspect(&file).unwrap().findings,
                [Finding::ExistingFile],
                "{len}"
            );
            if len < 4096 {
                continue;
            }
            bytes[..4].copy_from_slice(b"XFSB");
            fs::write(&file, &bytes).unwrap();
            let xfs = Finding::Signature(Signature {
                name: "XFS".into(),
                offset: Some(0),
            });
            assert_eq!(
                inspect(&file).unwrap().findings,
                [Finding::ExistingFile, xfs],
                "{len}"
            );
        }
    }

    #[test]
    fn a_symbolic_link_is_followed_and_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(".", &link).unwrap();
        let seen = inspect(&link).unwrap();
        assert_eq!(seen.kind, Kind::Directory);
        assert_eq!(seen.given, link);
        assert_eq!(seen.path, fs::canonicalize(dir.path()).unwrap());
    }
}
