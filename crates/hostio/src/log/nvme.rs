//! Parses the log pages of an NVMe drive: bytes in, numbers out.
//!
//! - SMART / Health Information, page 02h: NVMe base specification 2.0, 5.16.1.3, Figure 207.
//! - SMART / Health Information Extended, page C0h: OCP Datacenter NVMe SSD specification 2.0, 4.8.6.
//! - Additional SMART attributes, page CAh of Intel and Solidigm: items of 12 bytes, as in nvme-cli (plugins/intel and
//!   plugins/solidigm); both vendors count in units of 32 MiB.
//!
//! The pages of other vendors are not read: their units or versions are not documented in public.

use crate::fields::{u8_at, u16_at, u32_at, u48_at, u128_at};
use fathom_block::DriveLog;

/// Page 02h, SMART / Health Information.
pub(crate) const HEALTH: u8 = 0x02;
/// Page C0h, of the OCP specification if its GUID is [`OCP_GUID`].
pub(crate) const OCP: u8 = 0xc0;
/// Page CAh, of the vendor.
pub(crate) const ADDITIONAL: u8 = 0xca;
/// Length of these pages in bytes.
pub(crate) const PAGE_BYTES: usize = 512;
/// Page 00h, Supported Log Pages: a dword for each page, bit 0 for support (NVMe 2.0, Figure 198).
pub(crate) const SUPPORTED: u8 = 0x00;
/// Length of page 00h in bytes.
pub(crate) const SUPPORTED_BYTES: usize = 1024;

/// NVMe counts data in thousands of 512 bytes, rounded up.
const DATA_UNIT_BYTES: u128 = 512_000;
/// Unit of the counters of page CAh.
const ADDITIONAL_UNIT_BYTES: u64 = 32 << 20;
/// The GUID in bytes 496 to 511 of page C0h: AFD514C97C6F4F9CA4F2BFEA2810AFC5 (OCP 2.0, SMART-25), little-endian.
const OCP_GUID: [u8; 16] = [
    0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4, 0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf,
];
/// The UUID of the OCP's pages in a drive's UUID list: C194D55B-E094-4794-A21D-29998F56BE6F (OCP 2.0, 4.8.1).
const OCP_UUID: [u8; 16] = [
    0xc1, 0x94, 0xd5, 0x5b, 0xe0, 0x94, 0x47, 0x94, 0xa2, 0x1d, 0x29, 0x99, 0x8f, 0x56, 0xbe, 0x6f,
];
/// PCI vendor IDs of Intel and Solidigm.
const HAVE_ADDITIONAL: [u16; 2] = [0x8086, 0x025e];

/// Parses page 02h. The spare is a percentage up to 100 (byte 3), the temperature is in kelvin, 0 if there is no sensor
/// (bytes 1 to 2). A counter of 0 is not reported (Data Units Read and Written, bytes 32 to 63).
pub(crate) fn health(page: &[u8]) -> DriveLog {
    let units = |at| {
        let bytes = u128_at(page, at)?.checked_mul(DATA_UNIT_BYTES)?;
        u64::try_from(bytes).ok().filter(|&bytes| bytes > 0)
    };
    let kelvin = u16_at(page, 1).filter(|&kelvin| kelvin > 0);
    DriveLog {
        host_bytes_read: units(32),
        host_bytes_written: units(48),
        media_bytes_written: None,
        temperature_celsius: kelvin.and_then(|k| i16::try_from(i32::from(k) - 273).ok()),
        hot_minutes: u32_at(page, 192),
        spare_percent: u8_at(page, 3).filter(|&percent| percent <= 100),
        used_percent: u8_at(page, 5),
        warning_celsius: None,
        // Transitions to the light and to the heavy stage of its thermal management (bytes 216 to 223).
        throttles: u32_at(page, 216)
            .zip(u32_at(page, 220))
            .map(|(light, heavy)| light.saturating_add(heavy)),
        critical_warning: u8_at(page, 0),
    }
}

/// Parses the Physical Media Units Written of page C0h: bytes written to the media, user data and metadata (SMART-1, bytes
/// 0 to 15). `None` if the page has another GUID: before the OCP, vendors used this number for pages of their own.
pub(crate) fn ocp_media_bytes(page: &[u8]) -> Option<u64> {
    if page.get(496..512)? != OCP_GUID {
        return None;
    }
    u64::try_from(u128_at(page, 0)?).ok().filter(|&n| n > 0)
}

/// Parses the NAND bytes written of page CAh: item F4h. An item has its key in byte 0 and its number in bytes 5 to 10.
pub(crate) fn additional_media_bytes(page: &[u8]) -> Option<u64> {
    let mut items = page.chunks_exact(12);
    let item = items.find(|item| item[0] == 0xf4)?;
    let units = u48_at(item, 5).filter(|&n| n > 0)?;
    units.checked_mul(ADDITIONAL_UNIT_BYTES)
}

/// Returns true if page 00h lists a log page.
pub(crate) fn is_supported(page_00: &[u8], page: u8) -> bool {
    u32_at(page_00, usize::from(page) * 4).is_some_and(|flags| flags & 1 == 1)
}

/// Returns the index of the OCP's UUID in a UUID list (Identify CNS 17h; NVMe 2.0, Figure 301): 32 bytes each, the UUID in
/// the last 16; the first is the header, so the first UUID has index 1.
pub(crate) fn ocp_uuid_index(list: &[u8]) -> Option<u8> {
    let mut entries = list.chunks_exact(32).take(128).skip(1);
    let place = entries.position(|entry| entry[16..] == OCP_UUID)?;
    u8::try_from(place + 1).ok()
}

/// What the controller says of itself, as far as its logs are concerned (Identify CNS 01h; NVMe 2.0, Figure 275).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Controller {
    /// PCI vendor ID (bytes 0 to 1).
    pub(crate) vendor: u16,
    /// Supports page 00h: mandatory since version 2.0 (bytes 80 to 83, major version in the upper 16 bits).
    pub(crate) lists_pages: bool,
    /// Has a UUID list (bytes 96 to 99, bit 9).
    pub(crate) lists_uuids: bool,
    /// Temperature from which on it warns, in degrees Celsius (WCTEMP, bytes 266 to 267, in kelvin; 0 is not reported).
    pub(crate) warning_celsius: Option<i16>,
}

impl Controller {
    pub(crate) fn parse(identify: &[u8]) -> Option<Self> {
        Some(Self {
            vendor: u16_at(identify, 0)?,
            lists_pages: u32_at(identify, 80)? >> 16 >= 2,
            lists_uuids: u32_at(identify, 96)? >> 9 & 1 == 1,
            warning_celsius: u16_at(identify, 266)
                .filter(|&kelvin| kelvin > 0)
                .and_then(|kelvin| i16::try_from(i32::from(kelvin) - 273).ok()),
        })
    }

    /// Returns true for the vendors whose page CAh is known.
    pub(crate) fn has_additional(self) -> bool {
        HAVE_ADDITIONAL.contains(&self.vendor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page(fields: &[(usize, &[u8])]) -> Vec<u8> {
        let mut page = vec![0; PAGE_BYTES];
        for (at, bytes) in fields {
            page[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        page
    }

    /// The numbers of a Samsung MZVLB1T0HBLR as smartctl printed them: 1,699,027 units read (869 GB), 17,586,666 written
    /// (9.00 TB), 44 degrees, spare 100 %, used 0 %.
    #[test]
    fn the_health_page_of_a_real_drive() {
        let log = health(&page(&[
            (0, &[2]),
            (1, &317_u16.to_le_bytes()),
            (3, &[100, 5, 0]),
            (32, &1_699_027_u128.to_le_bytes()),
            (48, &17_586_666_u128.to_le_bytes()),
            (192, &7_u32.to_le_bytes()),
            (196, &9_u32.to_le_bytes()),
            (216, &3_u32.to_le_bytes()),
            (220, &1_u32.to_le_bytes()),
        ]));
        let expected = DriveLog {
            host_bytes_read: Some(869_901_824_000),
            host_bytes_written: Some(9_004_372_992_000),
            media_bytes_written: None,
            temperature_celsius: Some(44),
            hot_minutes: Some(7),
            spare_percent: Some(100),
            used_percent: Some(0),
            warning_celsius: None,
            throttles: Some(4),
            critical_warning: Some(2),
        };
        assert_eq!(log, expected);
    }

    #[test]
    fn what_a_drive_does_not_report_is_none() {
        let log = health(&page(&[(3, &[101])]));
        assert_eq!(
            (log.host_bytes_written, log.temperature_celsius),
            (None, None)
        );
        assert_eq!(log.spare_percent, None);
        let too_many = page(&[(48, &[0xff; 16])]);
        assert_eq!(health(&too_many).host_bytes_written, None);
        assert_eq!(health(&[]), DriveLog::default());
    }

    #[test]
    fn media_bytes_of_the_ocp_need_its_guid() {
        let written: &[u8] = &24_698_875_318_272_u128.to_le_bytes();
        let mut ocp = page(&[(0, written), (496, &OCP_GUID)]);
        assert_eq!(ocp_media_bytes(&ocp), Some(24_698_875_318_272));
        assert_eq!(ocp_media_bytes(&ocp[..511]), None);
        ocp[511] ^= 1;
        assert_eq!(ocp_media_bytes(&ocp), None);
    }

    #[test]
    fn nand_bytes_of_intel_are_found_by_their_key() {
        let mut page = page(&[(0, &[0xab, 0, 0, 100]), (132, &[0xf4, 0, 0, 100, 0])]);
        page[137..143].copy_from_slice(&224_943_088_u64.to_le_bytes()[..6]);
        assert_eq!(additional_media_bytes(&page), Some(224_943_088 << 25));
        page[132] = 0xf5;
        assert_eq!(additional_media_bytes(&page), None);
    }

    #[test]
    fn pages_and_uuids_are_looked_up_before_they_are_asked_for() {
        let mut supported = vec![0; SUPPORTED_BYTES];
        supported[0xc0 * 4] = 1;
        supported[0xca * 4] = 2;
        assert!(is_supported(&supported, OCP) && !is_supported(&supported, ADDITIONAL));
        assert!(!is_supported(&supported[..0xc0 * 4], OCP));
        let mut list = vec![0; 4096];
        list[3 * 32 + 16..4 * 32].copy_from_slice(&OCP_UUID);
        assert_eq!(ocp_uuid_index(&list), Some(3));
        assert_eq!(ocp_uuid_index(&[0; 4096]), None);
    }

    #[test]
    fn a_controller_tells_its_vendor_and_version() {
        let mut identify = vec![0; 4096];
        identify[0..2].copy_from_slice(&0x8086_u16.to_le_bytes());
        identify[80..84].copy_from_slice(&0x0001_0400_u32.to_le_bytes());
        let intel = Controller::parse(&identify).unwrap();
        assert!(intel.has_additional() && !intel.lists_pages && !intel.lists_uuids);
        identify[0] = 0;
        identify[80..84].copy_from_slice(&0x0002_0000_u32.to_le_bytes());
        identify[97] = 2;
        let other = Controller::parse(&identify).unwrap();
        assert!(!other.has_additional() && other.lists_pages && other.lists_uuids);
        assert_eq!(Controller::parse(&identify[..99]), None);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..5000), number: u8) {
            let _numbers = (health(&bytes), ocp_media_bytes(&bytes));
            let _more = (additional_media_bytes(&bytes), ocp_uuid_index(&bytes));
            let _flags = (is_supported(&bytes, number), Controller::parse(&bytes));
        }
    }
}
