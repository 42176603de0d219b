//! What a drive and the kernel report, as plain data for the record of a measurement and for `fathom tune`.

use fathom_hostio::reported::{AtaReported, NvmeReported, inconsistencies, reported as ask};
use fathom_hostio::{DriveQueue, drive_log};
use fathom_probe::{Contradiction, Reported};
use std::collections::BTreeMap;
use std::path::Path;

/// Returns what is reported at the beginning of a measurement, with the reason why the drive's log cannot be read, if it
/// cannot. `None` if no drive is found under the path.
pub fn at_probe(path: &Path) -> Option<Reported> {
    let queue = DriveQueue::of(path).ok()?;
    Some(Reported {
        no_log: drive_log(path).err().map(|error| error.to_string()),
        ..of(path, &queue)
    })
}

/// Returns what the drive of a path and the kernel report now.
pub fn of(path: &Path, queue: &DriveQueue) -> Reported {
    let identity = queue.identity();
    let mut reported = Reported {
        name: Some(queue.name.clone()),
        number: Some(queue.number.clone()),
        model: identity.model,
        serial: identity.serial,
        firmware: identity.firmware,
        queue: queue.attributes(),
        ..Reported::default()
    };
    if let Ok(seen) = ask(path) {
        let nvme = seen.nvme.as_ref().map(nvme);
        let ata = seen.ata.as_ref().map(ata);
        reported.namespace = nvme.or(ata).unwrap_or_default();
        reported.contradictions = inconsistencies(&seen)
            .into_iter()
            .map(|found| Contradiction {
                rule: found.rule.to_owned(),
                text: found.text,
                source: found.source.to_owned(),
            })
            .collect();
        reported.not_asked = seen.not_asked;
    }
    reported
}

/// A field with its name, if it is reported.
type Field = (&'static str, Option<u64>);

fn fields<const N: usize>(all: [Field; N]) -> BTreeMap<String, u64> {
    let reported = all.into_iter();
    reported
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

fn nvme(nvme: &NvmeReported) -> BTreeMap<String, u64> {
    fields([
        ("NPWG", nvme.npwg_bytes),
        ("NPWA", nvme.npwa_bytes),
        ("NPDG", nvme.npdg_bytes),
        ("NPDA", nvme.npda_bytes),
        ("NOWS", nvme.nows_bytes),
        ("NOIOB", nvme.noiob_bytes),
        ("AWUN", nvme.atomic_write_bytes),
        ("AWUPF", nvme.atomic_write_power_fail_bytes),
        ("MDTS", nvme.max_transfer_bytes),
        ("HMPRE", nvme.host_memory_bytes),
        ("VWC", nvme.volatile_cache.map(u64::from)),
    ])
}

fn ata(ata: &AtaReported) -> BTreeMap<String, u64> {
    fields([
        ("ATA_LOGICAL", ata.logical_block_bytes),
        ("ATA_PHYSICAL", ata.physical_block_bytes),
        ("VWC", ata.write_cache.map(u64::from)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_reported_has_no_field() {
        let drive = NvmeReported {
            npwg_bytes: Some(16_384),
            volatile_cache: Some(false),
            ..NvmeReported::default()
        };
        let expected = BTreeMap::from([("NPWG".to_owned(), 16_384), ("VWC".to_owned(), 0)]);
        assert_eq!(nvme(&drive), expected);
        assert_eq!(ata(&AtaReported::default()), BTreeMap::new());
    }

    /// The drive of the temporary directory, if there is one: its queue is read, and what cannot be read has a reason.
    #[test]
    fn the_drive_of_a_directory_is_reported_or_none_is_found() {
        let Some(seen) = at_probe(&std::env::temp_dir()) else {
            return;
        };
        assert!(seen.name.is_some() && seen.size("logical_block_size").is_some());
        assert!(seen.no_log.is_none_or(|why| why.len() > 20));
    }
}
