//! What a drive and the kernel report about sizes, limits and features, before anything is measured.
//!
//! [`reported`] reads sysfs and, with the rights, asks the drive (NVMe Identify, ATA IDENTIFY DEVICE). [`inconsistencies`]
//! compares the values with each other. The common lie cannot be seen from here: a drive that reports physical blocks of
//! 512 bytes and has units of 4 KiB or more. Only a measurement shows it.

mod ata;
mod nvme;
mod rules;
mod sysfs;

use crate::error::{HostError, os_error};
use crate::inspect::drive_of;
use crate::log::{AtaDrive, Commands, LogError, Protocol, identify_device, way_of};
use crate::node::Node;
pub use ata::AtaReported;
pub use nvme::{Format, NvmeReported};
pub use rules::{Inconsistency, inconsistencies};
use serde::{Deserialize, Serialize};
use std::path::Path;
pub use sysfs::{Discards, Features, Limits, Sizes};

/// What is reported about a drive. Everything is optional: kernels and drives differ, and some of it needs rights.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reported {
    /// Kernel name of the drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drive: Option<String>,
    /// Sizes of blocks and requests.
    pub sizes: Sizes,
    /// Discards.
    pub discards: Discards,
    /// Limits and settings of the kernel's queue.
    pub limits: Limits,
    /// Features.
    pub features: Features,
    /// What an NVMe drive says of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvme: Option<NvmeReported>,
    /// What an ATA drive says of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ata: Option<AtaReported>,
    /// Why the drive was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_asked: Option<String>,
}

/// Reads what is reported about the drive of a path or under it: sysfs, and the drive itself. The commands wait for the drive
/// as long as the kernel lets them, usually milliseconds.
///
/// # Errors
/// [`HostError::NotFound`] and its like if the path cannot be read; [`HostError::Unsuitable`] if there is no drive under it.
/// A drive that cannot be asked is no error: [`Reported::not_asked`] has the reason.
pub fn reported(path: &Path) -> Result<Reported, HostError> {
    std::fs::metadata(path).map_err(|error| os_error(path, "look at it", error))?;
    let node = drive_of(path).ok_or_else(|| HostError::Unsuitable {
        path: path.to_owned(),
        what: "no drive was found under it".into(),
        advice: "name a block device, or a file on a local file system",
    })?;
    let mut reported = of_sysfs(&node);
    if let Err(error) = ask(path, &mut reported) {
        reported.not_asked = Some(error.to_string());
    }
    Ok(reported)
}

/// Reads sysfs alone.
fn of_sysfs(node: &Node) -> Reported {
    let dir = node.drive_dir();
    Reported {
        drive: dir.file_name().map(|name| name.to_string_lossy().into()),
        sizes: Sizes::read(dir),
        discards: Discards::read(dir),
        limits: Limits::read(&dir.join("queue")),
        features: Features::read(dir),
        ..Reported::default()
    }
}

fn ask(path: &Path, reported: &mut Reported) -> Result<(), LogError> {
    let way = way_of(path)?;
    let mut drive = Commands::open(&way)?;
    match &way.protocol {
        Protocol::Nvme => reported.nvme = Some(nvme::ask(&drive)?),
        Protocol::Ata { .. } => {
            let identify = drive.read(&identify_device(), "IDENTIFY DEVICE")?;
            reported.ata = ata::parse(&identify);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// Creates the directory of a drive in the form of sysfs.
    fn tree() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let drive = root.path().join("nvme9n1");
        for (name, text) in [
            ("dev", "259:0\n"),
            ("alignment_offset", "512\n"),
            ("discard_alignment", "1024\n"),
            ("queue/logical_block_size", "512\n"),
            ("queue/physical_block_size", "4096\n"),
            ("queue/minimum_io_size", "131072\n"),
            ("queue/optimal_io_size", "0\n"),
            ("queue/chunk_sectors", "256\n"),
            ("queue/discard_granularity", "8192\n"),
            ("queue/discard_max_bytes", "2147450880\n"),
            ("queue/discard_max_hw_bytes", "2147450880\n"),
            ("queue/max_sectors_kb", "1280\n"),
            ("queue/max_hw_sectors_kb", "2048\n"),
            ("queue/nr_requests", "1023\n"),
            ("queue/read_ahead_kb", "128\n"),
            ("queue/rq_affinity", "1\n"),
            ("queue/wbt_lat_usec", "2000\n"),
            ("queue/scheduler", "[none] mq-deadline kyber\n"),
            ("queue/rotational", "0\n"),
            ("queue/zoned", "none\n"),
            ("queue/write_cache", "write back\n"),
            ("queue/fua", "1\n"),
            ("queue/dax", "0\n"),
            ("metadata_bytes", "8\n"),
            ("integrity/format", "T10-DIF-TYPE1-CRC\n"),
        ] {
            let path = drive.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        (root, drive)
    }

    #[test]
    fn every_attribute_is_read_from_its_file() {
        let (_root, drive) = tree();
        let seen = of_sysfs(&Node::at(&drive).unwrap());
        let sizes = Sizes {
            logical_block_bytes: Some(512),
            physical_block_bytes: Some(4096),
            io_min_bytes: Some(131_072),
            io_opt_bytes: Some(0),
            alignment_offset_bytes: Some(512),
            chunk_bytes: Some(131_072),
            max_request_bytes: Some(1_310_720),
            max_hw_request_bytes: Some(2_097_152),
        };
        assert_eq!(seen.sizes, sizes);
        let discards = Discards {
            granularity_bytes: Some(8192),
            max_bytes: Some(2_147_450_880),
            max_hw_bytes: Some(2_147_450_880),
            alignment_bytes: Some(1024),
        };
        assert_eq!(seen.discards, discards);
        let limits = Limits {
            requests: Some(1023),
            read_ahead_bytes: Some(131_072),
            rq_affinity: Some(1),
            wbt_lat_usec: Some(2000),
            scheduler: Some("none".into()),
            schedulers: ["none", "mq-deadline", "kyber"].map(str::to_owned).to_vec(),
        };
        assert_eq!(seen.limits, limits);
        let features = Features {
            rotational: Some(false),
            zoned: Some("none".into()),
            write_cache: Some("write back".into()),
            fua: Some(true),
            dax: Some(false),
            metadata_bytes: Some(8),
            integrity: Some("T10-DIF-TYPE1-CRC".into()),
        };
        assert_eq!(seen.features, features);
        assert_eq!(seen.drive.as_deref(), Some("nvme9n1"));
    }

    #[test]
    fn what_no_kernel_reports_is_none() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("dev"), "8:0\n").unwrap();
        let seen = of_sysfs(&Node::at(root.path()).unwrap());
        let nothing = Reported {
            drive: seen.drive.clone(),
            ..Reported::default()
        };
        assert_eq!(seen, nothing);
        assert_eq!(inconsistencies(&seen), []);
    }
}
