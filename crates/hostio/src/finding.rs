//! Findings at a target, and how strongly each speaks against writing.

use crate::signature::Signature;
use fathom_base::Bytes;
use std::fmt;
use std::path::PathBuf;

/// How strongly a finding speaks against writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Information only.
    Note,
    /// Writing requires that `destroy` names the target.
    NameIt,
    /// Writing is refused, whatever is named.
    Always,
}

/// A process that uses a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Process ID.
    pub pid: u32,
    /// Command name from the kernel; `?` if unknown.
    pub command: String,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.command, self.pid)
    }
}

/// A finding at a target. A `device` is the kernel name of the target, of a part of it, or of a device that it is part of.
/// `what` is such a name or the path of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// `device` is mounted at `at`.
    Mounted {
        /// Kernel name of the device.
        device: String,
        /// Mount point, in the namespace of the mount.
        at: PathBuf,
    },
    /// `device` is held by another driver, `holder`.
    Held {
        /// Kernel name of the device, or the path of a file.
        device: String,
        /// Kernel name of the holder (`dm-0`, `md0`), or its driver.
        holder: String,
    },
    /// The device or file is used as swap.
    Swap {
        /// Device or file.
        device: String,
    },
    /// A loop device uses it as its backing storage.
    LoopBacking {
        /// Kernel name of the loop device.
        device: String,
        /// Backing device or file.
        backing: String,
    },
    /// It is open exclusively elsewhere (a mount in another namespace, a multi-device file system, a running `mkfs`).
    Claimed {
        /// Kernel name of the device.
        device: String,
    },
    /// A process has it open.
    Opened {
        /// Device or file.
        what: String,
        /// The process.
        by: Process,
        /// True if it is open for writing.
        writing: bool,
    },
    /// A process has mapped it into its memory.
    Mapped {
        /// Device or file.
        what: String,
        /// The process.
        by: Process,
    },
    /// It is locked.
    Locked {
        /// Device or file.
        what: String,
        /// Kind of lock.
        kind: String,
        /// The process, if a single one holds the lock.
        by: Option<Process>,
    },
    /// The kernel reports another open of the file, by an unknown user.
    HeldByOthers,
    /// It was written to or replaced between the check and the user's confirmation.
    Changed {
        /// Device or file.
        what: String,
    },
    /// It has partitions.
    Partitioned {
        /// Kernel names of the partitions.
        partitions: Vec<String>,
    },
    /// It carries a known signature.
    Signature(Signature),
    /// The system does not show its users.
    Hidden {
        /// What is missing.
        why: String,
    },
    /// Some possible users could not be seen.
    Blind {
        /// The reason.
        why: String,
    },
    /// Its contents could not be inspected.
    Unread {
        /// The reason.
        reason: String,
    },
    /// It is an existing regular file.
    ExistingFile,
    /// It is a file with holes; reads of a hole do not reach the drive.
    Sparse {
        /// Allocated bytes.
        allocated_bytes: u64,
    },
    /// It is a file with several names; writes show under all of them.
    HardLinks {
        /// Number of names, including this one.
        names: u64,
    },
    /// The bytes inspected are neither blank nor a known signature.
    UnknownData,
    /// It is write-protected.
    WriteProtected,
    /// Its logical blocks have metadata, which the kernel transfers with each request.
    Integrity {
        /// Format, as in `integrity/format` in sysfs.
        format: String,
        /// The kernel generates it for writes or checks it for reads.
        checked: bool,
    },
    /// The kernel gives the NVMe namespace no capacity.
    NoCapacity {
        /// Metadata of a logical block in bytes, where the kernel tells it.
        metadata_bytes: Option<u64>,
    },
    /// It is a zoned drive, which is written in order only.
    Zoned {
        /// How, in the kernel's word: `host-managed`.
        zones: String,
    },
    /// The open files of some processes could not be seen.
    Unseen {
        /// These processes.
        processes: Vec<Process>,
        /// True if this process runs as root, so that even root cannot see them.
        by_root: bool,
    },
}

impl Finding {
    /// Returns how strongly the finding speaks against writing.
    pub fn weight(&self) -> Weight {
        match self {
            Finding::Mounted { .. }
            | Finding::Held { .. }
            | Finding::Swap { .. }
            | Finding::LoopBacking { .. }
            | Finding::Claimed { .. }
            | Finding::Opened { .. }
            | Finding::Mapped { .. }
            | Finding::Locked { .. }
            | Finding::HeldByOthers
            | Finding::Changed { .. }
            | Finding::Hidden { .. }
            | Finding::NoCapacity { .. }
            | Finding::Zoned { .. }
            | Finding::WriteProtected => Weight::Always,
            Finding::Partitioned { .. }
            | Finding::Signature(_)
            | Finding::Unread { .. }
            | Finding::ExistingFile => Weight::NameIt,
            Finding::Sparse { .. }
            | Finding::HardLinks { .. }
            | Finding::UnknownData
            | Finding::Integrity { .. }
            | Finding::Blind { .. }
            | Finding::Unseen { .. } => Weight::Note,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Mounted { device, at } => write!(f, "{device} is mounted at {}", at.display()),
            Finding::Held { device, holder } => write!(f, "{device} is held by {holder}"),
            Finding::Swap { device } => write!(f, "{device} is used as swap"),
            Finding::LoopBacking { device, backing } => {
                write!(f, "the loop device {device} stands on {backing}")
            }
            Finding::Claimed { device } => write!(f, "somebody else has {device} open exclusively"),
            Finding::Opened { what, by, writing } => {
                let how = if *writing { "writing" } else { "reading" };
                write!(f, "{what} is open for {how} in {by}")
            }
            Finding::Mapped { what, by } => write!(f, "{what} is mapped into the memory of {by}"),
            Finding::Locked { what, kind, by } => {
                write!(f, "{what} is locked with {kind}")?;
                by.as_ref().map_or(Ok(()), |by| write!(f, " by {by}"))
            }
            Finding::HeldByOthers => f.write_str(
                "something that cannot be seen has it open: a process of another user or container, a loop device or an \
                 overlay over it",
            ),
            Finding::Changed { what } => {
                write!(f, "{what} was changed by somebody else in the meantime")
            }
            Finding::Partitioned { partitions } => {
                write!(f, "it has partitions ({})", partitions.join(", "))
            }
            Finding::Signature(signature) => write!(f, "it holds {signature}"),
            Finding::Hidden { why } | Finding::Blind { why } => f.write_str(why),
            Finding::Unread { reason } => write!(f, "its contents could not be read ({reason})"),
            Finding::ExistingFile => f.write_str("it is an existing file"),
            Finding::Sparse { allocated_bytes } => {
                let allocated = Bytes(*allocated_bytes).human();
                write!(f, "it is sparse: {allocated} of it have a place on the drive")
            }
            Finding::HardLinks { names } => write!(
                f,
                "it has {names} names (hard links): what is written to it shows under each of them"
            ),
            Finding::UnknownData => f.write_str("it holds data of an unknown kind"),
            Finding::WriteProtected => f.write_str("it is write-protected"),
            Finding::Integrity { format, checked } => write_integrity(f, format, *checked),
            Finding::NoCapacity { metadata_bytes } => write_no_capacity(f, *metadata_bytes),
            Finding::Zoned { zones } => write!(
                f,
                "it is a zoned drive ({zones}), which fails every write that is not at the write pointer of a zone: Fathom \
                 writes to ordinary drives only"
            ),
            Finding::Unseen { processes, by_root } => {
                let why = match by_root {
                    true => "a container or a security module hides it, also from root",
                    false => "root can see it",
                };
                write!(f, "what {} open could not be seen; {why}", have(processes))
            }
        }
    }
}

fn write_integrity(f: &mut fmt::Formatter<'_>, format: &str, checked: bool) -> fmt::Result {
    let work = match checked {
        true => "the kernel generates and checks it, so every time includes that work",
        false => "the kernel's part is switched off, so the drive adds and removes it",
    };
    write!(
        f,
        "its blocks have protection information ({format}): {work}"
    )
}

fn write_no_capacity(f: &mut fmt::Formatter<'_>, metadata_bytes: Option<u64>) -> fmt::Result {
    match metadata_bytes {
        Some(bytes @ 1..) => write!(f, "its blocks have {bytes} bytes of metadata")?,
        _ => f.write_str("its blocks have metadata in line or are too large")?,
    }
    f.write_str(
        ", and the kernel gives such a namespace no capacity; format it without metadata (`nvme format`, which erases it)",
    )
}

/// Returns the subject of a sentence: up to two processes by name, more as a number.
fn have(processes: &[Process]) -> String {
    match processes {
        [one] => format!("{one} has"),
        [one, other] => format!("{one} and {other} have"),
        many => format!("{} processes have", many.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_that_cannot_be_seen_are_told_as_they_are() {
        let process = |pid| Process {
            pid,
            command: "init".into(),
        };
        let said = |pids: std::ops::Range<u32>, by_root| {
            let processes = pids.map(process).collect();
            Finding::Unseen { processes, by_root }.to_string()
        };
        assert_eq!(
            said(1..2, false),
            "what init (process 1) has open could not be seen; root can see it"
        );
        assert_eq!(
            said(1..3, true),
            "what init (process 1) and init (process 2) have open could not be seen; a container or a security module \
             hides it, also from root"
        );
        assert!(said(1..4, false).starts_with("what 3 processes have open"));
    }
}
