//! Decides what metadata of logical blocks means for a measurement.
//!
//! What the kernel does (`nvme_update_disk_info` and `nvme_configure_metadata`, drivers/nvme/host/core.c;
//! `bio_integrity_prep`, block/bio-integrity.c; Linux 6.1):
//!
//! - With a buffer of its own for the metadata, it registers a profile (`integrity/format` in sysfs). For each request it
//!   allocates such a buffer; it generates the checksums of a write and checks those of a read. Data is safe, so this is a
//!   note: the measured times include this work.
//! - With metadata in line with the data, or metadata without protection information over a fabric, it gives the namespace
//!   no capacity. The same happens for logical blocks larger than it supports. Nothing can be measured, so this refuses.
//!
//! Commands that would pass such data (NVMe passthrough) are never used.

use crate::finding::Finding;
use crate::node::Node;
use crate::sysfs::{number, text};

/// Returns the finding about the metadata of a drive's logical blocks.
pub(crate) fn of(node: &Node) -> Option<Finding> {
    let drive = node.drive_dir();
    let metadata_bytes = number(&drive.join("metadata_bytes"));
    let whole = drive == node.dir;
    if whole && node.name.starts_with("nvme") && number(&drive.join("size")) == Some(0) {
        return Some(Finding::NoCapacity { metadata_bytes });
    }
    let integrity = drive.join("integrity");
    let format = text(&integrity.join("format")).filter(|format| format != "none")?;
    let on = |name: &str| number(&integrity.join(name)) == Some(1);
    Some(Finding::Integrity {
        format,
        checked: on("read_verify") || on("write_generate"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Weight;
    use std::fs;

    fn finding(files: &[(&str, &str)]) -> Option<Finding> {
        let root = tempfile::tempdir().unwrap();
        let drive = root.path().join("nvme0n1");
        for (name, text) in [("dev", "259:0"), ("size", "131072")].iter().chain(files) {
            let path = drive.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        of(&Node::at(&drive).unwrap())
    }

    #[test]
    fn a_drive_without_metadata_has_no_finding() {
        assert_eq!(finding(&[]), None);
        assert_eq!(finding(&[("integrity/format", "none\n")]), None);
    }

    #[test]
    fn what_the_kernel_generates_and_checks_is_a_note() {
        let protected = [
            ("integrity/format", "T10-DIF-TYPE1-CRC\n"),
            ("integrity/read_verify", "0\n"),
            ("integrity/write_generate", "1\n"),
        ];
        let note = finding(&protected).unwrap();
        let told = note.to_string();
        assert_eq!(note.weight(), Weight::Note);
        assert!(
            told.contains("T10-DIF-TYPE1-CRC") && told.contains("checks"),
            "{told}"
        );
        let off = finding(&protected[..2]).unwrap().to_string();
        assert!(off.contains("switched off"), "{off}");
    }

    #[test]
    fn a_namespace_without_capacity_is_refused_with_the_likely_reason() {
        let refused = finding(&[("size", "0"), ("metadata_bytes", "16\n")]).unwrap();
        assert_eq!(refused.weight(), Weight::Always);
        let told = refused.to_string();
        assert!(
            told.contains("16 bytes of metadata") && told.contains("nvme format"),
            "{told}"
        );
        let older = finding(&[("size", "0")]).unwrap().to_string();
        assert!(
            older.contains("in line") && older.contains("nvme format"),
            "{older}"
        );
    }
}
