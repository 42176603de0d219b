//! Asks an NVMe drive what it is (Identify) and parses the answers. Offsets are those of the NVMe base specification 2.0
//! (Figure 275, Identify Controller) and of the NVM command set specification 1.0 (Figure 97, Identify Namespace).

use crate::fields::{u8_at, u16_at, u32_at};
use crate::log::{Commands, LogError};
use serde::{Deserialize, Serialize};

/// Identify Namespace, Identify Controller, Namespace Identification Descriptors, and the namespace for a command set.
const NAMESPACE: u8 = 0x00;
const CONTROLLER: u8 = 0x01;
const DESCRIPTORS: u8 = 0x03;
/// Unit of the Maximum Data Transfer Size and of the host memory buffer: the controller's smallest page. Only a register
/// tells it (CAP.MPSMIN); it is 4 KiB in every drive that a PC can use.
const PAGE_BYTES: u64 = 4096;
const HOST_MEMORY_UNIT_BYTES: u64 = 4096;

/// A format of logical blocks that the drive offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Format {
    /// Data of a logical block in bytes.
    pub data_bytes: u64,
    /// Metadata of a logical block in bytes.
    pub metadata_bytes: u16,
    /// 0 for the best performance, 3 for degraded performance.
    pub relative_performance: u8,
    /// The namespace has this format.
    pub in_use: bool,
}

/// What an NVMe drive says of itself. Sizes are in bytes, of the namespace's logical blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NvmeReported {
    /// PCI vendor ID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor_id: Option<u16>,
    /// Version of the specification: major in the upper 16 bits, minor in bits 15:8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// Preferred write granularity (NPWG).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub npwg_bytes: Option<u64>,
    /// Preferred write alignment (NPWA).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub npwa_bytes: Option<u64>,
    /// Preferred deallocate granularity (NPDG).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub npdg_bytes: Option<u64>,
    /// Preferred deallocate alignment (NPDA).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub npda_bytes: Option<u64>,
    /// Optimal write size (NOWS).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nows_bytes: Option<u64>,
    /// Optimal boundary that requests should not cross (NOIOB).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noiob_bytes: Option<u64>,
    /// Longest write that other commands see whole or not at all (AWUN, or NAWUN of the namespace).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atomic_write_bytes: Option<u64>,
    /// Longest write that a power failure leaves whole or not at all (AWUPF, or NAWUPF of the namespace).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atomic_write_power_fail_bytes: Option<u64>,
    /// Longest transfer of a command (MDTS), assuming pages of 4 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_transfer_bytes: Option<u64>,
    /// It has a volatile write cache (VWC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volatile_cache: Option<bool>,
    /// Preferred size of the host memory buffer (HMPRE); `None` if it uses none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_memory_bytes: Option<u64>,
    /// Smallest size of the host memory buffer (HMMIN).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_memory_min_bytes: Option<u64>,
    /// It supports flexible data placement (FDP).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_placement: Option<bool>,
    /// The namespace has zones (ZNS).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zoned: Option<bool>,
    /// Type of the protection information in use, 1 to 3; 0 for none (DPS).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protection_type: Option<u8>,
    /// Metadata is transferred in line with the data (extended logical blocks).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata_in_line: Option<bool>,
    /// The formats of logical blocks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub formats: Vec<Format>,
}

/// Asks a drive: three or four commands. A drive older than version 1.3 is not asked for its command set.
pub(crate) fn ask(drive: &Commands) -> Result<NvmeReported, LogError> {
    let nsid = drive.namespace()?;
    let controller = drive.identify_of(CONTROLLER, 0, 0)?;
    let namespace = drive.identify_of(NAMESPACE, 0, nsid)?;
    let mut reported = parse(&controller, &namespace);
    if reported
        .version
        .is_some_and(|version| version >= 0x0001_0300)
    {
        let descriptors = drive.identify_of(DESCRIPTORS, 0, nsid);
        reported.zoned = descriptors.ok().map(|bytes| command_set(&bytes) == Some(2));
    }
    Ok(reported)
}

/// Returns the command set of a namespace: in the list of descriptors (Figure 277), type 4 has it in its only byte. A
/// descriptor has its type, its length, two reserved bytes and its value.
fn command_set(descriptors: &[u8]) -> Option<u8> {
    let mut rest = descriptors;
    while let [kind, len, _, _, value @ ..] = rest {
        match *kind {
            0 => break,
            4 => return value.first().copied(),
            _ => {}
        }
        rest = value.get(usize::from(*len)..)?;
    }
    None
}

/// Returns the formats (LBAF, bytes 128 and on), up to 64, and the number of that in use (FLBAS, byte 26: bits 6:5 and 3:0).
fn formats(namespace: &[u8]) -> Vec<Format> {
    let last = usize::from(u8_at(namespace, 25).unwrap_or(0)).min(63);
    let flbas = u8_at(namespace, 26).unwrap_or(0);
    // Bits 6:5 are reserved where there are at most 16 formats.
    let high = if last >= 16 { flbas >> 5 & 3 } else { 0 };
    let used = usize::from(flbas & 15 | high << 4);
    let format = |number: usize| {
        let bits = u32_at(namespace, 128 + number * 4)?;
        let exponent = bits >> 16 & 0xff;
        let data_bytes = 1_u64.checked_shl(exponent).filter(|_| exponent >= 9)?;
        Some(Format {
            data_bytes,
            metadata_bytes: bits as u16,
            relative_performance: (bits >> 24 & 3) as u8,
            in_use: number == used,
        })
    };
    (0..=last).filter_map(format).collect()
}

/// Parses Identify Controller and Identify Namespace.
fn parse(controller: &[u8], namespace: &[u8]) -> NvmeReported {
    let formats = formats(namespace);
    let block = formats
        .iter()
        .find(|format| format.in_use)
        .map(|f| f.data_bytes);
    let blocks = |count: u64| block.and_then(|block| block.checked_mul(count));
    // A 0's based number of blocks.
    let field = |bytes: &[u8], at| blocks(u64::from(u16_at(bytes, at)?) + 1);
    let features = u8_at(namespace, 24).unwrap_or(0);
    // OPTPERF, bits 5:4 since version 2.1: the first bit is for NPDG and NPDA, either one for the others.
    let writes = features & 0x30 != 0;
    let preferred = |at| field(namespace, at).filter(|_| writes);
    let deallocate = |at| field(namespace, at).filter(|_| features & 0x10 != 0);
    // NSABP, bit 1: the namespace's own atomic units count, unless they are 0.
    let own = |at| {
        let atomic = u16_at(namespace, at).is_some_and(|n| n > 0) && features & 2 != 0;
        field(namespace, at).filter(|_| atomic)
    };
    let flbas = u8_at(namespace, 26);
    let memory = |at| {
        let units = u32_at(controller, at).filter(|&units| units > 0)?;
        Some(u64::from(units) * HOST_MEMORY_UNIT_BYTES)
    };
    NvmeReported {
        vendor_id: u16_at(controller, 0),
        version: u32_at(controller, 80),
        npwg_bytes: preferred(64),
        npwa_bytes: preferred(66),
        npdg_bytes: deallocate(68),
        npda_bytes: deallocate(70),
        nows_bytes: preferred(72),
        noiob_bytes: u16_at(namespace, 46)
            .filter(|&n| n > 0)
            .and_then(|n| blocks(u64::from(n))),
        atomic_write_bytes: own(34).or(field(controller, 526)),
        atomic_write_power_fail_bytes: own(36).or(field(controller, 528)),
        max_transfer_bytes: u8_at(controller, 77)
            .filter(|&power| power > 0)
            .and_then(|power| PAGE_BYTES.checked_mul(1_u64.checked_shl(power.into())?)),
        volatile_cache: u8_at(controller, 525).map(|cache| cache & 1 == 1),
        host_memory_bytes: memory(272),
        host_memory_min_bytes: memory(276),
        data_placement: u32_at(controller, 96).map(|attributes| attributes >> 19 & 1 == 1),
        zoned: None,
        protection_type: u8_at(namespace, 29).map(|protection| protection & 7),
        metadata_in_line: flbas.map(|flbas| flbas & 0x10 != 0),
        formats,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(fields: &[(usize, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0; 4096];
        for (at, field) in fields {
            bytes[*at..at + field.len()].copy_from_slice(field);
        }
        bytes
    }

    /// The namespace of a drive of 7.68 TB as `nvme id-ns` printed it (linux-nvme/nvme-cli#2173): nsfeat 1Ah, nlbaf 1,
    /// nawun 1023, nawupf 7, npwg 255, npwa 7, npdg 255, npda 7, nows 255; its physical block in sysfs was 4096.
    #[test]
    fn a_real_namespace_has_a_unit_above_its_physical_block() {
        let namespace = bytes(&[
            (24, &[0x1a, 1, 0]),
            (34, &1023_u16.to_le_bytes()),
            (36, &7_u16.to_le_bytes()),
            (64, &[255, 0, 7, 0, 255, 0, 7, 0, 255, 0]),
            (128, &[0, 0, 9, 0, 0, 0, 12, 0]),
        ]);
        let drive = parse(&bytes(&[]), &namespace);
        assert_eq!(drive.npwg_bytes, Some(128 << 10));
        assert_eq!(drive.npwa_bytes, Some(4096));
        assert_eq!(drive.npdg_bytes, Some(128 << 10));
        assert_eq!(drive.npda_bytes, Some(4096));
        assert_eq!(drive.nows_bytes, Some(128 << 10));
        assert_eq!(drive.atomic_write_bytes, Some(512 << 10));
        assert_eq!(drive.atomic_write_power_fail_bytes, Some(4096));
        assert_eq!((drive.noiob_bytes, drive.protection_type), (None, Some(0)));
        let sizes: Vec<u64> = drive.formats.iter().map(|f| f.data_bytes).collect();
        assert_eq!(sizes, [512, 4096]);
        assert!(drive.formats[0].in_use && !drive.formats[1].in_use);
    }

    #[test]
    fn preferred_sizes_count_only_if_the_drive_says_so() {
        let mut namespace = bytes(&[(64, &[7; 10]), (128, &[0, 0, 9, 0])]);
        let none = parse(&bytes(&[]), &namespace);
        assert_eq!(
            (none.npwg_bytes, none.npdg_bytes, none.nows_bytes),
            (None, None, None)
        );
        namespace[24] = 0x20;
        let large = parse(&bytes(&[]), &namespace);
        assert_eq!(large.npwg_bytes, Some((0x0707 + 1) * 512));
        assert_eq!(large.npdg_bytes, None, "the long fields have it");
    }

    #[test]
    fn a_controller_tells_its_limits() {
        let controller = bytes(&[
            (0, &[0x4d, 0x14]),
            (77, &[7]),
            (80, &[0, 0, 2, 0]),
            (96, &(1_u32 << 19).to_le_bytes()),
            (272, &16_384_u32.to_le_bytes()),
            (276, &4096_u32.to_le_bytes()),
            (525, &[7]),
            (526, &1023_u16.to_le_bytes()),
            (528, &3_u16.to_le_bytes()),
        ]);
        let namespace = bytes(&[(26, &[0x11, 0, 0, 3]), (25, &[1]), (132, &[8, 0, 12, 2])]);
        let drive = parse(&controller, &namespace);
        assert_eq!(
            (drive.vendor_id, drive.version),
            (Some(0x144d), Some(0x2_0000))
        );
        assert_eq!(drive.max_transfer_bytes, Some(512 << 10));
        assert_eq!(drive.host_memory_bytes, Some(64 << 20));
        assert_eq!(drive.host_memory_min_bytes, Some(16 << 20));
        assert_eq!(
            (drive.volatile_cache, drive.data_placement),
            (Some(true), Some(true))
        );
        assert_eq!(drive.atomic_write_bytes, Some(4 << 20));
        assert_eq!(drive.atomic_write_power_fail_bytes, Some(16 << 10));
        assert_eq!(
            (drive.protection_type, drive.metadata_in_line),
            (Some(3), Some(true))
        );
        let format = Format {
            data_bytes: 4096,
            metadata_bytes: 8,
            relative_performance: 2,
            in_use: true,
        };
        assert_eq!(
            drive.formats,
            [format],
            "a format of size 0 is not available"
        );
    }

    #[test]
    fn the_command_set_is_behind_descriptors_of_other_lengths() {
        let uuid = [&[3, 16, 0, 0][..], &[9; 16]].concat();
        let zoned = [&uuid[..], &[4, 1, 0, 0, 2, 0, 0, 0, 0]].concat();
        assert_eq!(command_set(&zoned), Some(2));
        assert_eq!(command_set(&uuid), None);
        assert_eq!(command_set(&[3, 200, 0, 0, 1]), None);
        assert_eq!(command_set(&[0; 4096]), None);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(
            controller in proptest::collection::vec(any::<u8>(), 0..600),
            namespace in proptest::collection::vec(any::<u8>(), 0..400),
        ) {
            let _parsed = (parse(&controller, &namespace), command_set(&namespace));
        }
    }
}
