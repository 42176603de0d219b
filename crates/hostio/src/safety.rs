//! The safety lock: what speaks against writing to a target, and whether the user's word outweighs it.
//!
//! Pure functions over facts that [`crate::inspect()`] has gathered. The rules:
//!
//! - Nothing is ever written with `read_only`.
//! - A target that is in use is never written to, whatever the user names: what uses it would be corrupted while it runs,
//!   and the kernel's own copies of the data would overwrite the measurement. In use is a device that is mounted, held by
//!   another driver (RAID, LVM, dm-crypt, ZFS, a loop device), used as swap or claimed exclusively, and a device or file
//!   that any process has open, mapped or locked. What shares bytes with the target counts as the target. The way
//!   is to release it first.
//! - A device with partitions or a known signature is written to only if `destroy` names it, by serial number, by kernel
//!   name or by path.
//! - A regular file that existed before is written to only if `destroy` names it, by name or by path.
//! - `destroy` that names something else than the target refuses everything: somebody meant another drive.
//! - What has been agreed to is what was shown: anything that is found after the user's word and was not there
//!   before it refuses ([`crate::Clearance`]).

use crate::error::Refused;
use crate::inspect::{Inspection, Kind};
use crate::signature::Signature;
use fathom_base::Bytes;
use std::fmt;
use std::path::{Path, PathBuf};

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

/// Whether a target may be written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Written to.
    Write,
    /// Opened, for reading only: an existing file that nobody named.
    ReadOnly,
}

/// The lock. `destroy` is the user's word.
pub(crate) fn judge(target: &Inspection, destroy: Option<&str>) -> Result<Verdict, Refused> {
    let refused = |found: Vec<Finding>, advice: String| {
        Err(Refused {
            path: target.path.clone(),
            found,
            advice,
        })
    };
    let refuse = |weight: Weight, advice: String| {
        let of_weight = |f: &&Finding| f.weight() == weight;
        let found = target.findings.iter().filter(of_weight);
        refused(found.cloned().collect(), advice)
    };
    let named = destroy.is_some_and(|word| names(target, word));
    let heaviest = target.findings.iter().map(Finding::weight).max();
    if let (Some(word), false) = (destroy, named) {
        let advice = format!(
            "`--destroy` names \"{word}\", which is {}",
            not_this(target)
        );
        return refused(Vec::new(), advice);
    }
    if target.kind == Kind::File && !named {
        return Ok(Verdict::ReadOnly);
    }
    match heaviest {
        Some(Weight::Always) => refuse(
            Weight::Always,
            "Unmount it, detach it or stop what uses it, or measure it read-only; no option overrides this".into(),
        ),
        Some(Weight::NameIt) if named => Ok(Verdict::Write),
        Some(Weight::NameIt) => refuse(
            Weight::NameIt,
            format!(
                "Writing destroys what it holds. If that is meant, name it in `--destroy`: {}; or measure it read-only",
                its_names(target)
            ),
        ),
        Some(Weight::Note) | None => Ok(Verdict::Write),
    }
}

fn not_this(target: &Inspection) -> String {
    format!("not this target ({})", its_names(target))
}

fn its_names(target: &Inspection) -> String {
    let serial = target.identity.serial.as_deref();
    match (target.kind, serial) {
        (Kind::Block, Some(serial)) => {
            format!(
                "serial number \"{serial}\" or \"{}\"",
                target.path.display()
            )
        }
        _ => format!("\"{}\"", target.path.display()),
    }
}

/// Whether `word` names the target: a path as given or resolved; a file's name or a device's kernel name; a drive's
/// serial number (that of the whole drive names its partitions too).
fn names(target: &Inspection, word: &str) -> bool {
    let path = Path::new(word);
    if word.is_empty() || target.kind == Kind::Directory {
        return false;
    }
    let by_path = path == target.path || path == target.given;
    let by_name = target.path.file_name() == Some(path.as_os_str());
    let serial = target.identity.serial.as_deref();
    by_path || by_name || (target.kind == Kind::Block && serial == Some(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;

    fn target(kind: Kind, findings: Vec<Finding>) -> Inspection {
        Inspection {
            given: "/dev/disk/by-id/x".into(),
            path: "/dev/sdx".into(),
            kind,
            identity: Identity {
                serial: Some("S1".into()),
                ..Identity::default()
            },
            size_bytes: 1 << 30,
            free_bytes: None,
            logical_block_bytes: Some(512),
            findings,
        }
    }

    fn signature() -> Finding {
        Finding::Signature(Signature {
            name: "XFS".into(),
            offset: Some(0),
        })
    }

    fn mounted() -> Finding {
        Finding::Mounted {
            device: "sdx1".into(),
            at: "/home".into(),
        }
    }

    #[test]
    fn a_spare_device_is_written_to_without_a_word() {
        let spare = target(Kind::Block, vec![Finding::UnknownData]);
        assert_eq!(judge(&spare, None), Ok(Verdict::Write));
    }

    #[test]
    fn contents_want_their_name_and_every_name_does() {
        let disk = target(Kind::Block, vec![signature(), Finding::UnknownData]);
        let refused = judge(&disk, None).unwrap_err();
        assert_eq!(refused.found, [signature()]);
        let text = refused.to_string();
        assert!(text.contains("XFS") && text.contains("\"S1\""), "{text}");
        for word in ["S1", "sdx", "/dev/sdx", "/dev/disk/by-id/x"] {
            assert_eq!(judge(&disk, Some(word)), Ok(Verdict::Write), "{word}");
        }
        for word in ["", "S", "s1", "sdx1", "/dev/sdy", "x"] {
            assert!(judge(&disk, Some(word)).is_err(), "{word}");
        }
    }

    #[test]
    fn what_is_in_use_is_refused_whatever_is_named() {
        let held = Finding::Held {
            device: "sdx".into(),
            holder: "dm-0".into(),
        };
        let swap = Finding::Swap {
            device: "/dev/sdx".into(),
        };
        let claimed = Finding::Claimed {
            device: "sdx".into(),
        };
        for finding in [mounted(), held, swap, claimed] {
            for destroy in [None, Some("S1")] {
                let disk = target(Kind::Block, vec![signature(), finding.clone()]);
                let refused = judge(&disk, destroy).unwrap_err();
                assert_eq!(refused.found, std::slice::from_ref(&finding));
            }
        }
    }

    #[test]
    fn a_word_for_another_target_refuses_even_a_spare_one() {
        let spare = target(Kind::Block, vec![]);
        let refused = judge(&spare, Some("S2")).unwrap_err();
        assert!(refused.advice.contains("S2") && refused.advice.contains("S1"));
    }

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

    #[test]
    fn an_existing_file_is_read_only_until_it_is_named_and_no_serial_names_it() {
        let file = target(Kind::File, vec![Finding::ExistingFile]);
        assert_eq!(judge(&file, None), Ok(Verdict::ReadOnly));
        assert_eq!(judge(&file, Some("sdx")), Ok(Verdict::Write));
        assert!(judge(&file, Some("S1")).is_err());
        let swap = Finding::Swap { device: "x".into() };
        let in_use = target(Kind::File, vec![Finding::ExistingFile, swap]);
        assert!(judge(&in_use, Some("sdx")).is_err());
    }
}
