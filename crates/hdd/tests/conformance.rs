//! Modelled disks of every kind pass the conformance suite.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{preset, small};
use fathom_base::{Bytes, Dur};
use fathom_block::conformance::{Options, check};
use fathom_hdd::spec::{Destage, LinkKind, ReadCache, Scheduling, WriteCache};
use fathom_hdd::{Hdd, Spec};

fn conforms(spec: &Spec, region: u64) {
    let options = Options {
        operations: 300,
        region: 0..region,
        patience: Dur::ms(60_000),
        ..Options::default()
    };
    let mut make = || Hdd::new(spec, 7).unwrap().keep_data();
    let report = check(&mut make, &options).unwrap_or_else(|violation| panic!("{violation}"));
    assert!(report.bytes_compared > 0);
    // A disk reports that it has no TRIM; all other rules are checked.
    assert!(
        report.skipped.keys().all(|rule| rule.contains("trim")),
        "{:?}",
        report.skipped
    );
}

fn reads(segments: u32, sectors: u64, ahead: u64) -> Option<ReadCache> {
    Some(ReadCache {
        segments,
        segment: Bytes(sectors * 512),
        read_ahead: Bytes(ahead * 512),
    })
}

fn writes(sectors: u64, destage: Destage) -> Option<WriteCache> {
    Some(WriteCache {
        capacity: Bytes(sectors * 512),
        destage,
    })
}

#[test]
fn disks_with_every_mix_of_caches_conform() {
    for read in [None, reads(1, 16, 0), reads(4, 64, 64), reads(2, 8, 3)] {
        for write in [
            None,
            writes(1, Destage::Fifo),
            writes(40, Destage::CScan),
            writes(600, Destage::Fifo),
            writes(2000, Destage::CScan),
        ] {
            for (scheduling, depth) in [(Scheduling::Sptf, 32), (Scheduling::Fcfs, 5)] {
                let mut spec = small();
                (spec.read_cache, spec.write_cache) = (read.clone(), write.clone());
                (spec.host.scheduling, spec.host.queue_depth) = (scheduling, depth);
                conforms(&spec, spec.capacity.0);
            }
        }
    }
}

#[test]
fn a_disk_on_parallel_ata_with_noise_conforms() {
    let mut spec = small();
    (spec.host.link, spec.host.queue_depth) = (LinkKind::Pata, 1);
    (spec.read_cache, spec.write_cache) = (reads(2, 32, 16), writes(64, Destage::CScan));
    spec.noise.command_percent = 30.0;
    conforms(&spec, spec.capacity.0);
}

#[test]
fn a_disk_whose_link_is_slower_than_its_medium_conforms() {
    let mut spec = small();
    spec.host.bandwidth = "1MB/s".parse().unwrap();
    (spec.read_cache, spec.write_cache) = (reads(2, 32, 16), writes(64, Destage::CScan));
    conforms(&spec, spec.capacity.0);
}

#[test]
fn the_presets_conform() {
    for name in ["hitachi-7k160", "seagate-barracuda-iv"] {
        conforms(&preset(name), 64 << 20);
    }
}
