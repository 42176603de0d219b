//! Chooses the way to a drive's log from its sysfs directory: NVMe or ATA, or none with the reason.

use crate::log::error::LogError;
use crate::node::{DeviceNumber, Node};
use crate::sysfs::text;
use std::path::{Path, PathBuf};

/// The command set of a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// NVMe admin commands on the namespace's block device.
    Nvme,
    /// ATA commands through SG_IO.
    Ata {
        /// Model name.
        model: String,
        /// Logical sector in bytes.
        sector_bytes: u64,
    },
}

/// A device node and the commands that it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) node: PathBuf,
    /// Number of the device, to be compared with that of the node.
    pub(crate) number: DeviceNumber,
    pub(crate) protocol: Protocol,
}

/// Returns the way to the log of a drive, of a partition's drive, or of the one drive under a stack of device-mapper or md
/// devices.
pub(crate) fn to(node: &Node) -> Result<Way, LogError> {
    let drive = bottom(node.whole().unwrap_or_else(|| node.clone()))?;
    let node = PathBuf::from("/dev").join(drive.name.replace('!', "/"));
    let protocol = protocol(&drive)?;
    Ok(Way {
        node,
        number: drive.number,
        protocol,
    })
}

/// Maximum height of a stack of devices.
const HEIGHT_MAX: usize = 16;

fn bottom(mut node: Node) -> Result<Node, LogError> {
    for _ in 0..HEIGHT_MAX {
        let mut below = node.slaves();
        if below.len() > 1 {
            let names: Vec<String> = below.into_iter().map(|n| n.name).collect();
            let why = format!(
                "it is made of {}; name one of these drives",
                names.join(", ")
            );
            return Err(no_log(&node.name, why));
        }
        let Some(only) = below.pop() else {
            return Ok(node);
        };
        node = only.whole().unwrap_or(only);
    }
    Err(no_log(
        &node.name,
        "too many devices lie on each other".into(),
    ))
}

fn no_log(name: &str, why: String) -> LogError {
    LogError::NoLog {
        what: name.to_owned(),
        why,
    }
}

fn protocol(drive: &Node) -> Result<Protocol, LogError> {
    let device = |name: &str| text(&drive.dir.join("device").join(name));
    if drive.name.starts_with("nvme") {
        return Ok(Protocol::Nvme);
    }
    let usb = is_behind_usb(&drive.dir);
    if device("vendor").as_deref() == Some("ATA") && !usb {
        return Ok(Protocol::Ata {
            model: device("model").unwrap_or_default(),
            sector_bytes: crate::sysfs::number(&drive.dir.join("queue/logical_block_size"))
                .unwrap_or(512),
        });
    }
    let why = match drive.name.as_str() {
        // Some bridges hang at an ATA command: the kernel has a list of those (US_FL_NO_ATA_1X, unusual_uas.h).
        _ if usb => {
            "it is behind a USB bridge, and ATA commands make some bridges hang; attach the drive by SATA or NVMe"
        }
        name if name.starts_with("sd") => {
            "it speaks SCSI, whose log pages have no counters of bytes that all drives share; `smartctl -x` shows what it has"
        }
        name if name.starts_with("vd") => {
            "virtio has no command for it; read the log on the host of the virtual machine"
        }
        name if name.starts_with("loop") => {
            "it is a loop device; name the drive that holds its file"
        }
        name if name.starts_with("mmcblk") => {
            "it is an eMMC or SD card, which counts no bytes; `device/life_time` in sysfs tells its wear"
        }
        _ => "it is no NVMe or ATA drive",
    };
    Err(no_log(&drive.name, why.into()))
}

fn is_behind_usb(dir: &Path) -> bool {
    let device = std::fs::canonicalize(dir.join("device")).unwrap_or_else(|_| dir.to_owned());
    let usb = |part: &str| {
        part.strip_prefix("usb")
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    device
        .components()
        .any(|part| part.as_os_str().to_str().is_some_and(usb))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new(files: &[(&str, &str)]) -> Self {
            let root = tempfile::tempdir().unwrap();
            for (name, text) in files {
                let path = root.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Self(root)
        }

        fn way(&self, dir: &str) -> Result<Way, LogError> {
            to(&Node::at(&self.0.path().join(dir)).unwrap())
        }

        fn refusal(&self, dir: &str) -> String {
            self.way(dir).unwrap_err().to_string()
        }
    }

    #[test]
    fn a_partition_leads_to_the_namespace_of_its_drive() {
        let tree = Tree::new(&[
            ("pci0/nvme0/nvme0n1/dev", "259:0\n"),
            ("pci0/nvme0/nvme0n1/nvme0n1p2/dev", "259:2\n"),
            ("pci0/nvme0/nvme0n1/nvme0n1p2/partition", "2\n"),
        ]);
        let expected = Way {
            node: "/dev/nvme0n1".into(),
            number: DeviceNumber(259, 0),
            protocol: Protocol::Nvme,
        };
        for dir in ["pci0/nvme0/nvme0n1", "pci0/nvme0/nvme0n1/nvme0n1p2"] {
            assert_eq!(tree.way(dir), Ok(expected.clone()));
        }
    }

    #[test]
    fn only_an_ata_drive_without_a_usb_bridge_is_sent_ata_commands() {
        let tree = Tree::new(&[
            ("ata1/block/sda/dev", "8:0\n"),
            ("ata1/block/sda/device/vendor", "ATA     \n"),
            ("ata1/block/sda/device/model", "Samsung SSD 850 \n"),
            ("ata1/block/sda/queue/logical_block_size", "4096\n"),
            ("usb2/2-1/block/sdb/dev", "8:16\n"),
            ("usb2/2-1/block/sdb/device/vendor", "ATA\n"),
            ("host3/block/sdc/dev", "8:32\n"),
            ("host3/block/sdc/device/vendor", "SEAGATE\n"),
        ]);
        let ata = Protocol::Ata {
            model: "Samsung SSD 850".into(),
            sector_bytes: 4096,
        };
        assert_eq!(tree.way("ata1/block/sda").unwrap().protocol, ata);
        assert!(tree.refusal("usb2/2-1/block/sdb").contains("USB bridge"));
        assert!(tree.refusal("host3/block/sdc").contains("SCSI"));
    }

    #[test]
    fn a_stack_leads_to_its_drive_only_if_it_has_one() {
        let tree = Tree::new(&[
            ("nvme0n1/dev", "259:0\n"),
            ("nvme1n1/dev", "259:1\n"),
            ("dm-0/dev", "252:0\n"),
            ("md0/dev", "9:0\n"),
            ("vda/dev", "254:0\n"),
            ("loop0/dev", "7:0\n"),
        ]);
        let root = tree.0.path();
        for (stack, below) in [("dm-0", "nvme0n1"), ("md0", "nvme0n1"), ("md0", "nvme1n1")] {
            let slaves = root.join(stack).join("slaves");
            fs::create_dir_all(&slaves).unwrap();
            std::os::unix::fs::symlink(root.join(below), slaves.join(below)).unwrap();
        }
        assert_eq!(tree.way("dm-0").unwrap().node, Path::new("/dev/nvme0n1"));
        assert!(tree.refusal("md0").contains("nvme0n1, nvme1n1"));
        assert!(tree.refusal("vda").contains("virtio"));
        assert!(tree.refusal("loop0").contains("loop device"));
    }
}
