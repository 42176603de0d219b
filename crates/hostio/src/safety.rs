//! The safety lock: decides whether a target may be written to, and whether the user's `destroy` overrides the reasons
//! against it.
//!
//! Pure functions over the facts from [`crate::inspect()`]. The rules:
//!
//! - With `read_only`, nothing is ever written.
//! - A target in use is never written to, whatever the user names. Its users would be corrupted while they run, and the
//!   kernel's own copies of the data would overwrite the measurement. A device is in use if it is mounted, held by another
//!   driver (RAID, LVM, dm-crypt, ZFS, a loop device), used as swap or claimed exclusively. A device or file is in use if
//!   any process has it open, mapped or locked. Everything that shares bytes with the target counts as the target. The user
//!   has to release it first.
//! - An NVMe namespace without capacity is refused: the kernel does not read or write its format. Protection information is
//!   a note, because the kernel generates and checks it.
//! - A zoned device is never written to: writes at any place, which an ordinary drive takes, fail there.
//! - A device with partitions or a known signature is written to only if `destroy` names it, by serial number, kernel name
//!   or path.
//! - An existing regular file is written to only if `destroy` names it, by name or path.
//! - If `destroy` names something other than the target, everything is refused: the user meant another drive.
//! - The user agrees only to the findings shown. A new finding after the user's confirmation refuses ([`crate::Clearance`]).

use crate::error::Refused;
use crate::finding::{Finding, Weight};
use crate::inspect::{Inspection, Kind};
use std::path::Path;

/// Whether a target may be written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Writing is allowed.
    Write,
    /// Opened read-only: an existing file that `destroy` does not name.
    ReadOnly,
}

/// Judges a target. `destroy` is the name given by the user.
pub(crate) fn judge(target: &Inspection, destroy: Option<&str>) -> Result<Verdict, Refused> {
    let refuse = |weight: Weight, advice: String| {
        let of_weight = |f: &&Finding| f.weight() == weight;
        let found = target.findings.iter().filter(of_weight);
        Err(Refused::of(&target.path, found.cloned().collect(), advice))
    };
    let named = destroy.is_some_and(|word| names(target, word));
    let heaviest = target.findings.iter().map(Finding::weight).max();
    if let (Some(word), false) = (destroy, named) {
        let advice = format!(
            "`--destroy` names \"{word}\", which is {}",
            not_this(target)
        );
        return Err(Refused::of(&target.path, Vec::new(), advice));
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

/// Returns true if `word` names the target: its path as given or resolved, a file's name, a device's kernel name or a
/// drive's serial number (the whole drive's serial number also names its partitions).
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
    use crate::signature::Signature;

    fn target(kind: Kind, findings: Vec<Finding>) -> Inspection {
        Inspection {
            given: "/dev/disk/by-id/x".into(),
            path: "/dev/sdx".into(),
            kind,
            identity: Identity {
                serial: Some("S1".into()),
                ..Identity::default()
            },
            file_system: None,
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
        let zoned = Finding::Zoned {
            zones: "host-managed".into(),
        };
        for finding in [mounted(), held, swap, claimed, zoned] {
            for destroy in [None, Some("S1")] {
                let disk = target(Kind::Block, vec![signature(), finding.clone()]);
                let refused = judge(&disk, destroy).unwrap_err();
                assert_eq!(refused.found, std::slice::from_ref(&finding));
            }
        }
    }

    #[test]
    fn protection_information_is_a_note_and_a_namespace_without_capacity_refuses() {
        let protected = Finding::Integrity {
            format: "T10-DIF-TYPE1-CRC".into(),
            checked: true,
        };
        let disk = target(Kind::Block, vec![protected]);
        assert_eq!(judge(&disk, None), Ok(Verdict::Write));
        let empty = Finding::NoCapacity {
            metadata_bytes: Some(16),
        };
        for destroy in [None, Some("S1")] {
            let disk = target(Kind::Block, vec![empty.clone()]);
            let refused = judge(&disk, destroy).unwrap_err();
            assert_eq!(refused.found, std::slice::from_ref(&empty));
        }
    }

    #[test]
    fn a_word_for_another_target_refuses_even_a_spare_one() {
        let spare = target(Kind::Block, vec![]);
        let refused = judge(&spare, Some("S2")).unwrap_err();
        assert!(refused.advice.contains("S2") && refused.advice.contains("S1"));
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
