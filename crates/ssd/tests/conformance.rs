//! Modelled drives of every kind pass the conformance suite.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{BUFFERS, KINDS, SHAPES, drive, linked};
use fathom_base::{Bytes, Dur};
use fathom_block::conformance::{Options, check};
use fathom_ssd::spec::{MappingKind, Noise, Prefetch, Protocol, QueueArbitration, ReadBuffer};
use fathom_ssd::{Spec, Ssd};

fn conforms(spec: &Spec) {
    let options = Options {
        operations: 300,
        region: 0..spec.capacity.0,
        ..Options::default()
    };
    let mut make = || Ssd::new(spec, 7).unwrap().keep_data();
    let report = check(&mut make, &options).unwrap_or_else(|violation| panic!("{violation}"));
    assert!(report.skipped.is_empty() && report.bytes_compared > 0);
}

fn every_drive(kind: MappingKind, protocol: Protocol, depth: u32) {
    for shape in SHAPES {
        for buffer in BUFFERS {
            conforms(&linked(drive(kind, shape, buffer), protocol, depth));
        }
    }
}

#[test]
fn page_mapped_nvme_drives_conform() {
    every_drive(MappingKind::Page, Protocol::Nvme, 32);
}

#[test]
fn block_mapped_nvme_drives_conform() {
    every_drive(MappingKind::Block, Protocol::Nvme, 32);
}

#[test]
fn drives_with_their_map_in_flash_conform() {
    every_drive(MappingKind::Dftl, Protocol::Nvme, 32);
}

#[test]
fn drives_with_replacement_blocks_conform() {
    every_drive(MappingKind::Replacement, Protocol::Sata, 32);
}

#[test]
fn page_mapped_sata_drives_conform() {
    every_drive(MappingKind::Page, Protocol::Sata, 1);
}

#[test]
fn block_mapped_sata_drives_conform() {
    every_drive(MappingKind::Block, Protocol::Sata, 32);
}

#[test]
fn drives_with_a_read_buffer_prefetch_and_noise_conform() {
    for kind in KINDS {
        for (after, min) in [(1, 512), (2, 1024), (3, 4096)] {
            let mut spec = drive(kind, "lanes", "lru");
            spec.read_buffer = Some(ReadBuffer {
                capacity: Bytes::kib(8),
                line: Bytes(512),
                min_request: Bytes(min),
                prefetch: Some(Prefetch {
                    after,
                    depth: Bytes::kib(8),
                }),
            });
            spec.noise = Noise {
                command_percent: 20.0,
                flash_percent: 10.0,
                background_interval: Dur::ms(1),
                background_duration: Dur::us(300),
            };
            conforms(&spec);
        }
    }
}

#[test]
fn a_drive_of_larger_logical_blocks_conforms() {
    let mut spec = drive(MappingKind::Page, "whole", "fifo");
    spec.host.logical_block = Bytes::kib(4);
    spec.host.max_request = Bytes::kib(32);
    spec.write_buffer.as_mut().unwrap().capacity = Bytes::kib(12);
    conforms(&spec);
}

#[test]
fn drives_with_several_queues_and_host_memory_conform() {
    for buffer in ["none", "lru"] {
        let mut spec = drive(MappingKind::Dftl, "lanes", buffer);
        spec.host.queues = 3;
        spec.mapping.unit = Some(Bytes(512));
        spec.mapping.host_memory_buffer = Some(Bytes(1024));
        conforms(&spec);
        spec.host.queue_arbitration = QueueArbitration::Weighted;
        conforms(&spec);
    }
}
