//! Which commands read a drive's log, in which order. A command that a drive does not know is sent only once: some drives
//! note it as an error, and monitors report that (smartmontools/smartmontools#208).

use crate::log::error::LogError;
use crate::log::{ata, nvme};
use fathom_block::DriveLog;

/// Identify Controller.
const CONTROLLER: u8 = 0x01;
/// UUID list.
const UUID_LIST: u8 = 0x17;
/// Number of the log Device Statistics of an ATA drive.
const STATISTICS: u8 = 0x04;

/// Sends commands to an NVMe drive.
pub(crate) trait NvmeDrive {
    /// Returns the 4096 bytes of Identify with this CNS.
    fn identify(&mut self, cns: u8) -> Result<Vec<u8>, LogError>;
    /// Returns the beginning of a log page; `uuid` is an index in the UUID list, or 0.
    fn log_page(&mut self, page: u8, uuid: u8, len: usize) -> Result<Vec<u8>, LogError>;
}

/// Sends commands to an ATA drive.
pub(crate) trait AtaDrive {
    /// Returns the 512 bytes that a command reads.
    fn read(&mut self, command: &[u8; 16], name: &'static str) -> Result<Vec<u8>, LogError>;
}

/// The page with the bytes written to the media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Media {
    #[default]
    Unknown,
    Ocp {
        uuid: u8,
    },
    Additional,
    Absent,
}

/// What an earlier read of the log has shown, so that it is not asked for again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    media: Media,
    warning_celsius: Option<i16>,
    statistics: Option<Vec<u8>>,
    no_attributes: bool,
}

/// Returns `None` if the drive refused the command, and any other failure as an error.
fn unless_refused<T>(result: Result<T, LogError>) -> Result<Option<T>, LogError> {
    match result {
        Err(LogError::Refused { .. }) => Ok(None),
        other => other.map(Some),
    }
}

/// Reads the log of an NVMe drive: one command, or two where the drive tells the bytes written to its media. The first read
/// takes up to three more.
pub(crate) fn nvme(drive: &mut impl NvmeDrive, known: &mut Known) -> Result<DriveLog, LogError> {
    let mut log = nvme::health(&drive.log_page(nvme::HEALTH, 0, nvme::PAGE_BYTES)?);
    if known.media == Media::Unknown {
        find_media(drive, known)?;
    }
    log.warning_celsius = known.warning_celsius;
    log.media_bytes_written = media_bytes(drive, known.media)?;
    Ok(log)
}

fn media_bytes(drive: &mut impl NvmeDrive, media: Media) -> Result<Option<u64>, LogError> {
    Ok(match media {
        Media::Ocp { uuid } => {
            let page = unless_refused(drive.log_page(nvme::OCP, uuid, nvme::PAGE_BYTES))?;
            page.and_then(|page| nvme::ocp_media_bytes(&page))
        }
        Media::Additional => {
            let page = unless_refused(drive.log_page(nvme::ADDITIONAL, 0, nvme::PAGE_BYTES))?;
            page.and_then(|page| nvme::additional_media_bytes(&page))
        }
        Media::Unknown | Media::Absent => None,
    })
}

/// Finds the page with the bytes written to the media, and what the controller says of its temperature.
fn find_media(drive: &mut impl NvmeDrive, known: &mut Known) -> Result<(), LogError> {
    let identify = unless_refused(drive.identify(CONTROLLER))?;
    let controller = identify.and_then(|bytes| nvme::Controller::parse(&bytes));
    known.warning_celsius = controller.and_then(|controller| controller.warning_celsius);
    known.media = match controller {
        Some(controller) => page_of(drive, controller)?,
        None => Media::Absent,
    };
    Ok(())
}

/// Returns the page with the bytes written to the media: the OCP's, else the vendor's.
fn page_of(drive: &mut impl NvmeDrive, controller: nvme::Controller) -> Result<Media, LogError> {
    let supported = match controller.lists_pages {
        true => unless_refused(drive.log_page(nvme::SUPPORTED, 0, nvme::SUPPORTED_BYTES))?,
        false => None,
    };
    let may_have = |page| {
        let listed = supported
            .as_deref()
            .map(|list| nvme::is_supported(list, page));
        listed.unwrap_or(true)
    };
    if may_have(nvme::OCP) {
        let list = match controller.lists_uuids {
            true => unless_refused(drive.identify(UUID_LIST))?,
            false => None,
        };
        let uuid = list
            .and_then(|list| nvme::ocp_uuid_index(&list))
            .unwrap_or(0);
        let ocp = Media::Ocp { uuid };
        if media_bytes(drive, ocp)?.is_some() {
            return Ok(ocp);
        }
    }
    if controller.has_additional()
        && may_have(nvme::ADDITIONAL)
        && media_bytes(drive, Media::Additional)?.is_some()
    {
        return Ok(Media::Additional);
    }
    Ok(Media::Absent)
}

/// Reads the log of an ATA drive: up to three pages of its statistics, and its SMART attributes for what is missing there.
/// The first read takes one more command.
pub(crate) fn ata(
    drive: &mut impl AtaDrive,
    model: &str,
    sector_bytes: u64,
    known: &mut Known,
) -> Result<DriveLog, LogError> {
    let mut log = DriveLog::default();
    for &page in statistics_pages(drive, known)? {
        if let Some(bytes) = statistics(drive, page)? {
            ata::add_statistics(&mut log, &bytes, sector_bytes);
        }
    }
    if known.no_attributes {
        return Ok(log);
    }
    let data = unless_refused(drive.read(&ata::smart_read_data(), "SMART READ DATA"))?;
    match data.filter(|data| ata::is_smart_data(data)) {
        Some(data) => fill(&mut log, &ata::smart(&data, model)),
        None => known.no_attributes = true,
    }
    Ok(log)
}

fn statistics(drive: &mut impl AtaDrive, page: u8) -> Result<Option<Vec<u8>>, LogError> {
    let command = ata::read_log_ext(STATISTICS, page);
    unless_refused(drive.read(&command, "READ LOG EXT (Device Statistics)"))
}

/// Returns the numbers of the statistics pages that the drive has and that are used.
fn statistics_pages<'a>(
    drive: &mut impl AtaDrive,
    known: &'a mut Known,
) -> Result<&'a [u8], LogError> {
    if known.statistics.is_none() {
        let list = statistics(drive, ata::LIST)?.unwrap_or_default();
        let used = [ata::GENERAL, ata::TEMPERATURE, ata::SOLID_STATE];
        let pages = ata::statistics_pages(&list).iter().copied();
        known.statistics = Some(pages.filter(|page| used.contains(page)).collect());
    }
    Ok(known.statistics.as_deref().unwrap_or_default())
}

/// Adds the fields of `other` that `log` lacks.
fn fill(log: &mut DriveLog, other: &DriveLog) {
    log.host_bytes_written = log.host_bytes_written.or(other.host_bytes_written);
    log.host_bytes_read = log.host_bytes_read.or(other.host_bytes_read);
    log.media_bytes_written = log.media_bytes_written.or(other.media_bytes_written);
    log.temperature_celsius = log.temperature_celsius.or(other.temperature_celsius);
    log.spare_percent = log.spare_percent.or(other.spare_percent);
    log.used_percent = log.used_percent.or(other.used_percent);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn refused() -> LogError {
        LogError::Refused {
            node: "/dev/x".into(),
            command: "x",
            status: 0x109,
        }
    }

    /// A drive that answers from a table and counts what it was asked: (Identify or log page, number, UUID index).
    #[derive(Default)]
    struct Fake {
        answers: BTreeMap<(bool, u8, u8), Vec<u8>>,
        asked: Vec<(bool, u8, u8)>,
    }

    impl Fake {
        fn with(mut self, key: (bool, u8, u8), fields: &[(usize, &[u8])]) -> Self {
            let mut bytes = vec![0; if key.0 { 4096 } else { 1024 }];
            for (at, field) in fields {
                bytes[*at..at + field.len()].copy_from_slice(field);
            }
            self.answers.insert(key, bytes);
            self
        }

        fn answer(&mut self, key: (bool, u8, u8)) -> Result<Vec<u8>, LogError> {
            self.asked.push(key);
            self.answers.get(&key).cloned().ok_or_else(refused)
        }
    }

    impl NvmeDrive for Fake {
        fn identify(&mut self, cns: u8) -> Result<Vec<u8>, LogError> {
            self.answer((true, cns, 0))
        }

        fn log_page(&mut self, page: u8, uuid: u8, len: usize) -> Result<Vec<u8>, LogError> {
            let mut bytes = self.answer((false, page, uuid))?;
            bytes.truncate(len);
            Ok(bytes)
        }
    }

    const GUID: &[u8] = &[
        0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4, 0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5,
        0xaf,
    ];
    const UUID: &[u8] = &[
        0xc1, 0x94, 0xd5, 0x5b, 0xe0, 0x94, 0x47, 0x94, 0xa2, 0x1d, 0x29, 0x99, 0x8f, 0x56, 0xbe,
        0x6f,
    ];

    fn health() -> Fake {
        Fake::default().with((false, 2, 0), &[(48, &[3])])
    }

    #[test]
    fn a_drive_with_the_ocp_page_is_asked_with_its_uuid() {
        let mut drive = health()
            .with((true, 1, 0), &[(80, &[0, 0, 2, 0]), (97, &[2])])
            .with((false, 0, 0), &[(0xc0 * 4, &[1])])
            .with((true, 0x17, 0), &[(48, UUID)])
            .with((false, 0xc0, 1), &[(0, &[0, 1]), (496, GUID)]);
        let mut known = Known::default();
        let log = nvme(&mut drive, &mut known).unwrap();
        assert_eq!(log.media_bytes_written, Some(256));
        assert_eq!(log.host_bytes_written, Some(3 * 512_000));
        drive.asked.clear();
        assert_eq!(nvme(&mut drive, &mut known), Ok(log));
        assert_eq!(drive.asked, [(false, 2, 0), (false, 0xc0, 1)]);
    }

    /// WCTEMP of 355 K.
    #[test]
    fn the_warning_temperature_is_asked_for_once() {
        let mut drive = health().with((true, 1, 0), &[(80, &[0, 4, 1, 0]), (266, &[99, 1])]);
        let mut known = Known::default();
        for _ in 0..2 {
            let log = nvme(&mut drive, &mut known).unwrap();
            assert_eq!(log.warning_celsius, Some(82));
        }
        let identified = drive.asked.iter().filter(|asked| **asked == (true, 1, 0));
        assert_eq!(identified.count(), 1);
    }

    #[test]
    fn a_page_that_a_drive_does_not_list_is_never_asked_for() {
        let mut drive = health()
            .with((true, 1, 0), &[(80, &[0, 0, 2, 0])])
            .with((false, 0, 0), &[]);
        nvme(&mut drive, &mut Known::default()).unwrap();
        assert_eq!(drive.asked, [(false, 2, 0), (true, 1, 0), (false, 0, 0)]);
    }

    #[test]
    fn an_older_drive_refuses_a_page_once() {
        let mut drive = health().with((true, 1, 0), &[(80, &[0, 4, 1, 0])]);
        let mut known = Known::default();
        for _ in 0..3 {
            let log = nvme(&mut drive, &mut known).unwrap();
            assert_eq!(log.media_bytes_written, None);
        }
        let ocp = drive.asked.iter().filter(|asked| asked.1 == 0xc0);
        assert_eq!(ocp.count(), 1);
    }

    #[test]
    fn intels_page_is_asked_for_at_intel_alone() {
        let item: &[u8] = &[0xf4, 0, 0, 100, 0, 2];
        for (vendor, media) in [([0x86, 0x80], Some(64 << 20)), ([0x4d, 0x14], None)] {
            let mut drive = health()
                .with((true, 1, 0), &[(0, &vendor), (80, &[0, 2, 1, 0])])
                .with((false, 0xca, 0), &[(0, item)]);
            let log = nvme(&mut drive, &mut Known::default()).unwrap();
            assert_eq!(log.media_bytes_written, media);
            let asked = drive.asked.contains(&(false, 0xca, 0));
            assert_eq!(asked, media.is_some());
        }
    }

    #[test]
    fn a_drive_that_refuses_its_health_has_no_log() {
        let refusal = nvme(&mut Fake::default(), &mut Known::default());
        assert_eq!(refusal, Err(refused()));
    }

    impl AtaDrive for Fake {
        fn read(&mut self, command: &[u8; 16], _: &'static str) -> Result<Vec<u8>, LogError> {
            let mut bytes = self.answer((false, command[14], command[10]))?;
            bytes.truncate(512);
            Ok(bytes)
        }
    }

    /// LBA bits 7:0 are the log and bits 15:8 its page in READ LOG EXT; bits 15:8 are 4Fh in SMART READ DATA.
    #[test]
    fn statistics_come_before_attributes() {
        let attribute: &[u8] = &[241, 0, 0, 99, 99, 7];
        let sum = attribute.iter().fold(0_u8, |s, b| s.wrapping_add(*b));
        let mut drive = Fake::default()
            .with((false, 0x2f, 0), &[(0, &[1]), (8, &[3, 0, 1, 7])])
            .with(
                (false, 0x2f, 1),
                &[(2, &[1]), (24, &[9, 0, 0, 0, 0, 0, 0, 0xc0])],
            )
            .with(
                (false, 0x2f, 7),
                &[(2, &[7]), (8, &[4, 0, 0, 0, 0, 0, 0, 0xc0])],
            )
            .with(
                (false, 0xb0, 0x4f),
                &[(2, attribute), (511, &[sum.wrapping_neg()])],
            );
        let mut known = Known::default();
        let log = ata(&mut drive, "Samsung SSD 860", 512, &mut known).unwrap();
        assert_eq!(log.host_bytes_written, Some(9 * 512));
        assert_eq!(log.used_percent, Some(4));
        assert_eq!(drive.asked.len(), 4);
        drive.answers.remove(&(false, 0x2f, 0));
        let log = ata(&mut drive, "Samsung SSD 860", 512, &mut Known::default()).unwrap();
        assert_eq!(log.host_bytes_written, Some(7 * 512));
    }

    #[test]
    fn an_old_ata_drive_without_any_log_is_asked_once() {
        let (mut drive, mut known) = (Fake::default(), Known::default());
        for _ in 0..3 {
            let log = ata(&mut drive, "ST9160", 512, &mut known);
            assert_eq!(log, Ok(DriveLog::default()));
        }
        assert_eq!(drive.asked, [(false, 0x2f, 0), (false, 0xb0, 0x4f)]);
    }
}
