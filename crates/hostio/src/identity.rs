//! The identity of a drive, from sysfs.

use crate::sysfs::{chosen, number, text};
use std::fmt;
use std::fs;
use std::path::Path;

/// Limits of the request queue; `None` where the kernel reports none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueLimits {
    /// Logical block size in bytes: the unit of addresses.
    pub logical_block_bytes: Option<u64>,
    /// Physical block size in bytes: the unit that the drive reports to write without reading first.
    pub physical_block_bytes: Option<u64>,
    /// Preferred I/O size in bytes.
    pub optimal_io_bytes: Option<u64>,
    /// Maximum length in bytes of a request to the drive; the kernel splits longer ones.
    pub max_request_bytes: Option<u64>,
    /// Number of requests that the kernel queues.
    pub requests: Option<u64>,
    /// Maximum length of a discard in bytes; 0 if not supported.
    pub discard_max_bytes: Option<u64>,
    /// Name of the active kernel scheduler, such as `none` or `mq-deadline`.
    pub scheduler: Option<String>,
}

/// Identity of a drive. A field is `None` if the drive does not report it or no drive was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Kernel name of the whole drive, such as `nvme0n1`.
    pub drive: Option<String>,
    /// Model name.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware version.
    pub firmware: Option<String>,
    /// True for a rotating disk.
    pub rotational: Option<bool>,
    /// True if the drive has a volatile write cache, according to the kernel.
    pub volatile_cache: Option<bool>,
    /// Limits of its request queue.
    pub queue: QueueLimits,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.model.as_ref().or(self.drive.as_ref());
        f.write_str(name.map_or("an unknown drive", |n| n))?;
        if let Some(serial) = &self.serial {
            write!(f, ", serial {serial}")?;
        }
        if let Some(firmware) = &self.firmware {
            write!(f, ", firmware {firmware}")?;
        }
        Ok(())
    }
}

/// Reads the identity of a drive from its sysfs directory.
pub(crate) fn of_drive(drive: &Path) -> Identity {
    let device = |name: &str| text(&drive.join("device").join(name));
    let udev = || udev_property(drive, "ID_SERIAL_SHORT");
    Identity {
        drive: drive.file_name().map(|n| n.to_string_lossy().into()),
        model: device("model")
            .or_else(|| device("name"))
            .or_else(|| text(&drive.join("loop/backing_file")).map(|f| format!("loop over {f}"))),
        serial: text(&drive.join("serial"))
            .or_else(|| device("serial"))
            .or_else(|| unit_serial(&drive.join("device/vpd_pg80")))
            .or_else(udev),
        firmware: device("firmware_rev").or_else(|| device("rev")),
        rotational: number(&drive.join("queue/rotational")).map(|n| n == 1),
        volatile_cache: text(&drive.join("queue/write_cache")).map(|t| t == "write back"),
        queue: queue_limits(&drive.join("queue")),
    }
}

fn queue_limits(queue: &Path) -> QueueLimits {
    let value = |name: &str| number(&queue.join(name));
    QueueLimits {
        logical_block_bytes: value("logical_block_size"),
        physical_block_bytes: value("physical_block_size"),
        optimal_io_bytes: value("optimal_io_size").filter(|&n| n > 0),
        max_request_bytes: value("max_sectors_kb").map(|kib| kib.saturating_mul(1024)),
        requests: value("nr_requests"),
        discard_max_bytes: value("discard_max_bytes"),
        scheduler: text(&queue.join("scheduler")).map(|t| chosen(&t)),
    }
}

/// Reads the serial number from SCSI vital product data page 80h (SPC-4, 7.8.16): a header of four bytes, whose last two are
/// the length, then the number, padded with spaces.
fn unit_serial(path: &Path) -> Option<String> {
    let page = fs::read(path).ok()?;
    let len = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    let serial = std::str::from_utf8(page.get(4..4 + len)?).ok()?.trim();
    (!serial.is_empty()).then(|| serial.to_owned())
}

/// Reads a property from udev's database, if udev runs. udev queries SATA and USB drives for data that sysfs lacks.
fn udev_property(drive: &Path, key: &str) -> Option<String> {
    let number = text(&drive.join("dev"))?;
    let database = fs::read_to_string(format!("/run/udev/data/b{number}")).ok()?;
    let prefix = format!("E:{key}=");
    let mut values = database.lines().filter_map(|l| l.strip_prefix(&prefix));
    values.next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::{DeviceNumber, Node};
    use std::path::PathBuf;

    /// Creates a directory tree in the form of sysfs.
    fn tree(files: &[(&str, &[u8])]) -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let drive = root.path().join("block/sdx");
        for (name, bytes) in files {
            let path = drive.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        (root, drive)
    }

    #[test]
    fn a_drive_and_its_partitions_are_read_from_sysfs() {
        let (_root, drive) = tree(&[
            ("dev", b"8:16\n"),
            ("size", b"2048\n"),
            ("ro", b"1\n"),
            ("device/model", b"DISK 9000        \n"),
            ("device/rev", b"1.2 \n"),
            ("device/vpd_pg80", b"\0\x80\0\x08  SER42 "),
            ("queue/rotational", b"0\n"),
            ("queue/write_cache", b"write back\n"),
            ("queue/max_sectors_kb", b"1280\n"),
            ("queue/scheduler", b"none [mq-deadline] kyber\n"),
            ("sdx10/partition", b"10\n"),
            ("sdx10/dev", b"8:26\n"),
            ("sdx2/partition", b"2\n"),
            ("sdx2/dev", b"8:18\n"),
            ("sdx2/size", b"8\n"),
            ("sdx2/holders/dm-0", b""),
        ]);
        let node = Node::at(&drive).unwrap();
        assert_eq!(node.number, DeviceNumber(8, 16));
        assert_eq!(node.size_bytes(), 1 << 20);
        assert!(node.write_protected());
        let parts = node.partitions();
        let names: Vec<&str> = parts.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["sdx2", "sdx10"]);
        assert_eq!(parts[0].holders(), ["dm-0"]);
        assert_eq!(parts[0].size_bytes(), 4096);
        let identity = node.identity();
        assert_eq!(
            identity.to_string(),
            "DISK 9000, serial SER42, firmware 1.2"
        );
        assert_eq!(identity.rotational, Some(false));
        assert_eq!(identity.volatile_cache, Some(true));
        assert_eq!(identity.queue.max_request_bytes, Some(1280 << 10));
        assert_eq!(identity.queue.scheduler.as_deref(), Some("mq-deadline"));
        assert_eq!(identity.queue.requests, None);
        assert_eq!(parts[0].identity(), identity);
    }

    #[test]
    fn a_serial_page_that_is_cut_short_is_no_serial() {
        for page in [&b"\0\x80\0\x08abc"[..], b"\0\x80", b"\0\x80\0\x02  "] {
            let (_root, drive) = tree(&[("device/vpd_pg80", page), ("dev", b"8:16")]);
            assert_eq!(unit_serial(&drive.join("device/vpd_pg80")), None);
        }
    }
}
