//! Parses what an ATA drive logs: bytes in, numbers out.
//!
//! - Device Statistics, log 04h (ACS-4, 9.5): standard units. It is preferred.
//! - SMART READ DATA (ATA8-ACS, 7.52; the list of attributes is the vendors' convention): attributes without standard
//!   units. Only temperatures, and the counters of vendors with public documents, are used:
//!   - Samsung: 241 sectors of 512 bytes written, 177 wear (value 100 to 0).
//!   - Intel and Solidigm: 241 host writes and 243 NAND writes in units of 32 MiB, 233 wear, 232 reserve.
//!   - Micron and Crucial: 246 sectors of 512 bytes written, 247 and 248 pages programmed for the host and by the drive
//!     (their ratio is the write amplification), 202 lifetime.
//!
//!   The units are those of the drive database of smartmontools (drivedb.h). Attribute 241 of other vendors is in sectors,
//!   in units of 32 MiB, in GiB or in pages of NAND, even within one vendor, and is therefore left out.

use crate::fields::{u8_at, u16_at, u32_at, u48_at};
use fathom_block::DriveLog;

/// Length of a page of a log, and of the SMART data, in bytes.
pub(crate) const PAGE_BYTES: usize = 512;
/// Pages of log 04h: the list of pages, general statistics, temperatures, solid state.
pub(crate) const LIST: u8 = 0;
pub(crate) const GENERAL: u8 = 1;
pub(crate) const TEMPERATURE: u8 = 5;
pub(crate) const SOLID_STATE: u8 = 7;

/// Unit of the counters of Samsung and Micron.
const SECTOR_BYTES: u64 = 512;
/// Unit of the counters of Intel.
const INTEL_UNIT_BYTES: u64 = 32 << 20;

/// Returns the command ATA PASS-THROUGH (16) (SAT-4, 12.2.2.3) for a PIO data-in command of one page. `log` and `page` are
/// those of READ LOG EXT (2Fh; ACS-4, 7.22).
pub(crate) fn read_log_ext(log: u8, page: u8) -> [u8; 16] {
    // Protocol 4 (PIO data-in) with EXTEND; data from the drive, in blocks of 512 bytes, as many as COUNT says.
    [
        0x85, 0x09, 0x0e, 0, 0, 0, 1, 0, log, 0, page, 0, 0, 0, 0x2f, 0,
    ]
}

/// Returns the command for SMART READ DATA (B0h, feature D0h; LBA C24Fxxh).
pub(crate) fn smart_read_data() -> [u8; 16] {
    [
        0x85, 0x08, 0x0e, 0, 0xd0, 0, 1, 0, 0, 0, 0x4f, 0, 0xc2, 0, 0xb0, 0,
    ]
}

/// Returns the command for IDENTIFY DEVICE (ECh).
pub(crate) fn identify_device() -> [u8; 16] {
    [0x85, 0x08, 0x0e, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xec, 0]
}

/// Returns the numbers of the pages of log 04h: their count in byte 8 of page 00h, then the numbers. Empty if it is no such
/// page.
pub(crate) fn statistics_pages(page: &[u8]) -> &[u8] {
    let count = u8_at(page, 8).filter(|_| u16_at(page, 0).is_some_and(|revision| revision > 0));
    let end = 9 + usize::from(count.unwrap_or(0));
    page.get(9..end).unwrap_or_default()
}

/// Adds the statistics of a page of log 04h to `log`. A statistic has 8 bytes; byte 7 has its flags: supported (bit 7) and
/// valid (bit 6). `sector_bytes` is the logical sector.
pub(crate) fn add_statistics(log: &mut DriveLog, page: &[u8], sector_bytes: u64) {
    let valid = |at: usize| u8_at(page, at + 7).is_some_and(|flags| flags & 0xc0 == 0xc0);
    let sectors = |at: usize| {
        let sectors = u48_at(page, at).filter(|_| valid(at))?;
        sectors.checked_mul(sector_bytes)
    };
    match u8_at(page, 2) {
        Some(GENERAL) => {
            log.host_bytes_written = sectors(24);
            log.host_bytes_read = sectors(40);
        }
        Some(TEMPERATURE) => {
            // 80h: not valid (ACS-4, 9.5.8).
            let celsius = |at: usize| {
                let byte = u8_at(page, at).filter(|_| valid(at));
                byte.map(|byte| i16::from(byte as i8)).filter(|&c| c > -128)
            };
            log.temperature_celsius = celsius(8);
            // Time in Over-Temperature, in minutes, and Specified Maximum Operating Temperature.
            log.hot_minutes = u32_at(page, 80).filter(|_| valid(80));
            log.warning_celsius = celsius(88);
        }
        Some(SOLID_STATE) if valid(8) => log.used_percent = u8_at(page, 8),
        _ => {}
    }
}

/// An attribute of SMART READ DATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Attribute {
    value: u8,
    raw: u64,
}

/// Finds an attribute: 30 entries of 12 bytes from byte 2 have the number, flags of two bytes, the value, the worst value
/// and the raw number of six bytes.
fn attribute(data: &[u8], number: u8) -> Option<Attribute> {
    let table = data.get(2..2 + 30 * 12)?;
    let entry = table.chunks_exact(12).find(|entry| entry[0] == number)?;
    Some(Attribute {
        value: entry[3],
        raw: u48_at(entry, 5)?,
    })
}

/// Returns true if the bytes of SMART READ DATA add up to 0 (ATA8-ACS, 7.52.6).
pub(crate) fn is_smart_data(data: &[u8]) -> bool {
    let sum = data.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
    data.len() == PAGE_BYTES && sum == 0 && data[2..362].iter().any(|&byte| byte != 0)
}

/// A vendor whose attributes have documented units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vendor {
    Samsung,
    Intel,
    Micron,
    Other,
}

/// Returns the vendor of a model name. sysfs has its first 16 characters.
fn vendor(model: &str) -> Vendor {
    let model = model.trim().to_ascii_uppercase();
    let begins = |names: &[&str]| names.iter().any(|name| model.starts_with(name));
    let client =
        || model.starts_with("CT") && ["MX500SSD", "BX500SSD"].iter().any(|n| model.contains(n));
    match () {
        () if begins(&["SAMSUNG SSD 8", "SAMSUNG MZ7"]) => Vendor::Samsung,
        () if begins(&["INTEL SSDSC2"]) => Vendor::Intel,
        () if begins(&["CRUCIAL_CT", "MICRON_5", "MICRON_1"]) || client() => Vendor::Micron,
        () => Vendor::Other,
    }
}

/// Parses SMART READ DATA for a drive of this model.
pub(crate) fn smart(data: &[u8], model: &str) -> DriveLog {
    let raw = |number| attribute(data, number).map(|a| a.raw);
    let left = |number| attribute(data, number).map(|a| a.value);
    let used = |number| left(number).map(|value| 100_u8.saturating_sub(value));
    let bytes = |number, unit: u64| raw(number).filter(|&n| n > 0)?.checked_mul(unit);
    // The lowest byte; the others are the lowest and highest temperature of many drives.
    let celsius = raw(194).or(raw(190)).map(|raw| i16::from(raw as u8 as i8));
    let mut log = DriveLog {
        temperature_celsius: celsius.filter(|c| (-40..=125).contains(c) && *c != 0),
        ..DriveLog::default()
    };
    match vendor(model) {
        Vendor::Samsung => {
            log.host_bytes_written = bytes(241, SECTOR_BYTES);
            log.used_percent = used(177);
        }
        Vendor::Intel => {
            log.host_bytes_written = bytes(241, INTEL_UNIT_BYTES);
            log.host_bytes_read = bytes(242, INTEL_UNIT_BYTES);
            log.media_bytes_written = bytes(243, INTEL_UNIT_BYTES);
            log.used_percent = used(233);
            log.spare_percent = left(232).filter(|&value| value <= 100);
        }
        Vendor::Micron => {
            log.host_bytes_written = bytes(246, SECTOR_BYTES);
            log.media_bytes_written = micron_media_bytes(data, log.host_bytes_written);
            log.used_percent = used(202);
        }
        Vendor::Other => {}
    }
    log
}

/// Returns the host's bytes times the write amplification, (host pages + own pages) / host pages: attributes 247 and 248.
fn micron_media_bytes(data: &[u8], host_bytes: Option<u64>) -> Option<u64> {
    let host = attribute(data, 247)?.raw;
    let own = attribute(data, 248)?.raw;
    let product = u128::from(host_bytes?) * u128::from(host + own);
    u64::try_from(product.checked_div(u128::from(host))?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a page of log 04h with statistics of 8 bytes.
    fn statistics(page: u8, fields: &[(usize, [u8; 8])]) -> Vec<u8> {
        let mut bytes = vec![0; PAGE_BYTES];
        bytes[..3].copy_from_slice(&[1, 0, page]);
        for (at, field) in fields {
            bytes[*at..at + 8].copy_from_slice(field);
        }
        bytes
    }

    /// Returns SMART data with attributes of (number, value, raw number).
    fn data(attributes: &[[u64; 3]]) -> Vec<u8> {
        let mut bytes = vec![0; PAGE_BYTES];
        for (entry, [number, value, raw]) in bytes[2..].chunks_mut(12).zip(attributes) {
            (entry[0], entry[3]) = (*number as u8, *value as u8);
            entry[5..11].copy_from_slice(&raw.to_le_bytes()[..6]);
        }
        let sum = bytes.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
        bytes[511] = sum.wrapping_neg();
        bytes
    }

    #[test]
    fn statistics_have_standard_units_and_count_only_if_they_are_valid() {
        let mut log = DriveLog::default();
        let sectors = |n: u64, flags| {
            let mut field = n.to_le_bytes();
            field[7] = flags;
            field
        };
        let general = statistics(1, &[(24, sectors(1 << 40, 0xc0)), (40, sectors(5, 0x80))]);
        add_statistics(&mut log, &general, 4096);
        assert_eq!(log.host_bytes_written, Some(1 << 52));
        assert_eq!(log.host_bytes_read, None, "supported, but not valid");
        let cold = statistics(5, &[(8, [0xf6, 0, 0, 0, 0, 0, 0, 0xc0])]);
        add_statistics(&mut log, &cold, 512);
        assert_eq!((log.hot_minutes, log.warning_celsius), (None, None));
        let warm = statistics(
            5,
            &[
                (8, [0xf6, 0, 0, 0, 0, 0, 0, 0xc0]),
                (80, [4, 1, 0, 0, 0, 0, 0, 0xc0]),
                (88, [70, 0, 0, 0, 0, 0, 0, 0xc0]),
            ],
        );
        add_statistics(&mut log, &warm, 512);
        assert_eq!(
            (log.hot_minutes, log.warning_celsius),
            (Some(260), Some(70))
        );
        let worn = statistics(7, &[(8, [103, 0, 0, 0, 0, 0, 0, 0xe0])]);
        add_statistics(&mut log, &worn, 512);
        assert_eq!(
            (log.temperature_celsius, log.used_percent),
            (Some(-10), Some(103))
        );
        add_statistics(&mut log, &statistics(7, &[(8, [1; 8])]), 512);
        assert_eq!(log.used_percent, Some(103), "a page without a valid value");
    }

    #[test]
    fn the_list_of_pages_ends_with_its_count() {
        let list = |count| statistics(0, &[(8, [count, 0, 1, 5, 7, 0xff, 0, 0])]);
        assert_eq!(statistics_pages(&list(4)), [0, 1, 5, 7]);
        assert!(statistics_pages(&[0; PAGE_BYTES]).is_empty());
        assert!(statistics_pages(&list(255)[..20]).is_empty());
    }

    /// The units of drivedb.h: sectors for Samsung and Micron, 32 MiB for Intel. Another vendor's 241 is not used.
    #[test]
    fn attributes_count_in_the_units_of_their_vendor() {
        let attributes = data(&[
            [194, 67, 0x0010_002d_0021],
            [241, 99, 1000],
            [243, 99, 3000],
            [177, 93, 70],
            [233, 98, 0],
            [232, 100, 0],
        ]);
        assert!(is_smart_data(&attributes));
        let samsung = smart(&attributes, "Samsung SSD 850 ");
        assert_eq!(samsung.host_bytes_written, Some(512_000));
        assert_eq!(
            (samsung.used_percent, samsung.media_bytes_written),
            (Some(7), None)
        );
        let intel = smart(&attributes, "INTEL SSDSC2BB48");
        assert_eq!(intel.host_bytes_written, Some(1000 << 25));
        assert_eq!(intel.media_bytes_written, Some(3000 << 25));
        assert_eq!(
            (intel.used_percent, intel.spare_percent),
            (Some(2), Some(100))
        );
        let other = smart(&attributes, "KINGSTON SA400S3");
        let temperature = DriveLog {
            temperature_celsius: Some(33),
            ..DriveLog::default()
        };
        assert_eq!(other, temperature);
    }

    /// 300 pages of the host and 150 of the drive are a write amplification of 1.5.
    #[test]
    fn microns_media_bytes_follow_from_the_pages_programmed() {
        let attributes = data(&[
            [202, 90, 10],
            [246, 100, 2000],
            [247, 100, 300],
            [248, 100, 150],
        ]);
        let log = smart(&attributes, "CT500MX500SSD1");
        assert_eq!(log.host_bytes_written, Some(1_024_000));
        assert_eq!(log.media_bytes_written, Some(1_536_000));
        assert_eq!(log.used_percent, Some(10));
        let new = data(&[[246, 100, 1], [247, 100, 0], [248, 100, 0]]);
        assert_eq!(smart(&new, "Micron_5300_MTFD").media_bytes_written, None);
    }

    #[test]
    fn data_with_a_wrong_sum_or_without_attributes_is_no_smart_data() {
        let mut bytes = data(&[[194, 67, 33]]);
        bytes[3] ^= 1;
        assert!(!is_smart_data(&bytes) && !is_smart_data(&[0; PAGE_BYTES]));
        assert!(!is_smart_data(&[]));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let mut log = DriveLog::default();
            add_statistics(&mut log, &bytes, u64::MAX);
            let _parsed = (statistics_pages(&bytes), is_smart_data(&bytes));
            for model in ["Samsung SSD 8", "INTEL SSDSC2", "Micron_5", "x"] {
                let _log = smart(&bytes, model);
            }
        }
    }
}
