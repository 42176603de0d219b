//! What can be found at a target, and how much it weighs against writing.

use crate::signature::Signature;
use fathom_base::Bytes;
use std::fmt;
use std::path::PathBuf;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Worth knowing; nothing depends on it.
    Note,
    /// Writing wants the target named in `destroy`.
    NameIt,
    /// Nothing is written, whatever is named.
    Always,
}

/// A process that uses a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its command, as the kernel keeps it; `?` where it does not tell.
    pub command: String,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.command, self.pid)
    }
}

/// Something that was found at a target. A `device` is the kernel name of the target, of a part of it, or of
/// what it is a part of; `what` is that or the path of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// `device` is mounted at `at`.
    Mounted {
        /// Which device.
        device: String,
        /// The mount point, in the namespace where it is mounted.
        at: PathBuf,
    },
    /// `device` is held by another driver's `holder`.
    Held {
        /// Which device, or the path of a file.
        device: String,
        /// The kernel name of what holds it (`dm-0`, `md0`), or the driver.
        holder: String,
    },
    /// Used as swap.
    Swap {
        /// The device or file.
        device: String,
    },
    /// A loop device stands on it.
    LoopBacking {
        /// The kernel name of the loop device.
        device: String,
        /// The device or file that it stands on.
        backing: String,
    },
    /// Somebody has it open exclusively (a mount in another namespace, a multi-device file system, a running `mkfs`).
    Claimed {
        /// Which device.
        device: String,
    },
    /// A process has it open.
    Opened {
        /// The device or file.
        what: String,
        /// Which process.
        by: Process,
        /// Whether it may write.
        writing: bool,
    },
    /// A process has it in its memory.
    Mapped {
        /// The device or file.
        what: String,
        /// Which process.
        by: Process,
    },
    /// Somebody has locked it.
    Locked {
        /// The device or file.
        what: String,
        /// The kind of lock.
        kind: String,
        /// Which process, where it is one.
        by: Option<Process>,
    },
    /// The kernel says that something else has the file open, and nothing shows what.
    HeldByOthers,
    /// It was written to or replaced while leave to write was being asked for.
    Changed {
        /// The device or file.
        what: String,
    },
    /// It has partitions, by their kernel names.
    Partitioned {
        /// Kernel names.
        partitions: Vec<String>,
    },
    /// It carries a known signature.
    Signature(Signature),
    /// The system does not show what uses it.
    Hidden {
        /// What is missing.
        why: String,
    },
    /// Some of what may use it could not be seen.
    Blind {
        /// Why.
        why: String,
    },
    /// Its contents could not be looked at.
    Unread {
        /// Why.
        reason: String,
    },
    /// A regular file that was there before.
    ExistingFile,
    /// A file with holes: reads of a hole touch no drive.
    Sparse {
        /// Bytes that have a place on the drive.
        allocated_bytes: u64,
    },
    /// A file with several names: what is written shows under all of them.
    HardLinks {
        /// How many names it has, this one among them.
        names: u64,
    },
    /// Its ends are neither zeros nor a known signature.
    UnknownData,
    /// It is write-protected.
    WriteProtected,
    /// Whether some processes have it open could not be seen.
    Unseen {
        /// Which ones.
        processes: Vec<Process>,
        /// Whether this is root, to whom the system does not show them either.
        by_root: bool,
    },
}

impl Finding {
    /// How much it weighs.
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
            | Finding::WriteProtected => Weight::Always,
            Finding::Partitioned { .. }
            | Finding::Signature(_)
            | Finding::Unread { .. }
            | Finding::ExistingFile => Weight::NameIt,
            Finding::Sparse { .. }
            | Finding::HardLinks { .. }
            | Finding::UnknownData
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

/// The subject of a sentence: by name where there are few.
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
