//! Small drives of every kind. They are nearly full, so that space is reclaimed all the time.
#![allow(dead_code, reason = "the tests and the examples use their own parts")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

pub(crate) mod merges;
pub(crate) mod naive;
#[path = "suite.rs"]
pub(crate) mod suite;
pub(crate) mod waf;
pub(crate) mod zone_case;
pub(crate) mod zone_life;

use fathom_base::{Bytes, Dur, Rate, Time};
use fathom_block::{Completion, Device, Request};
use fathom_ssd::spec::{Drain, MappingKind, Protocol, WriteBuffer, WritePolicy};
use fathom_ssd::{Spec, Ssd};

const BASE: &str = r#"
name = "small"
capacity = "256KiB"
[host]
protocol = "nvme"
bandwidth = "1GB/s"
command_overhead = "1us"
latency = "2us"
queue_depth = 32
max_request = "64KiB"
[flash]
channels = 2
packages_per_channel = 1
dies_per_package = 1
planes_per_die = 1
pages_per_block = 8
page = "2KiB"
bus = "400MT/s"
read = "25us"
program = "200us"
erase = "1500us"
clustered_page = "4KiB"
clustered_block = "32KiB"
[mapping]
kind = "page"
over_provisioning_percent = 0.0
log_blocks = 2
"#;

/// The base drive, from which the others are derived: clustered pages of 4 KiB over two channels, eight blocks of 32 KiB.
pub(crate) fn base() -> Spec {
    Spec::from_toml(BASE).unwrap()
}

/// All mappings of ordinary drives, which pass the suites. Zoned drives have suites of their own (`zoned.rs`).
pub(crate) const KINDS: [MappingKind; 7] = [
    MappingKind::Page,
    MappingKind::Dftl,
    MappingKind::Block,
    MappingKind::Replacement,
    MappingKind::Fast,
    MappingKind::Superblock,
    MappingKind::Hybrid,
];

/// A zoned drive: zones of two clustered blocks, in a small drive of that shape. `buffer` is a FIFO buffer.
pub(crate) fn zoned(shape_name: &str, buffer_name: &str) -> Spec {
    let mut spec = shape(shape_name);
    spec.name = format!("zoned {shape_name} {buffer_name}");
    spec.mapping.kind = MappingKind::Zoned;
    if shape_name == "tiny" {
        // The conformance suite needs some logical blocks.
        spec.capacity = Bytes::kib(128);
    }
    let unit = Bytes(spec.unit());
    let block = spec.flash.clustered_block;
    let zone = if spec.capacity.0.is_multiple_of(2 * block.0) {
        2 * block.0
    } else {
        block.0
    };
    spec.mapping.zone = Some(Bytes(zone));
    spec.mapping.log_blocks = 0;
    spec.mapping.partial_program |= unit != spec.flash.clustered_page;
    (spec.mapping.max_open_zones, spec.mapping.max_active_zones) = (2, 3);
    spec.write_buffer = buffer(buffer_name);
    if let Some(buffer) = &mut spec.write_buffer {
        buffer.capacity = Bytes(buffer.capacity.0 / unit.0 * unit.0);
    }
    if unit.0.is_power_of_two() {
        spec.host.logical_block = unit;
    }
    spec
}

/// Shapes and buffers of zoned drives: those whose unit can be a logical block, and those that keep the order of writes.
pub(crate) const ZONED_SHAPES: [&str; 6] =
    ["whole", "parted", "padded", "lanes", "one die", "tiny"];
pub(crate) const ZONED_BUFFERS: [&str; 4] = ["none", "fifo", "fifo idle", "fifo idle battery"];

/// Layouts and mappings of the flash array.
pub(crate) const SHAPES: [&str; 7] = [
    "whole", "parted", "padded", "lanes", "one die", "tiny", "odd",
];

fn shape(name: &str) -> Spec {
    let mut spec = base();
    let flash = &mut spec.flash;
    match name {
        "parted" | "padded" => {
            (flash.channels, flash.planes_per_die, flash.pages_per_block) = (1, 2, 4);
            (flash.page, flash.clustered_page) = (Bytes::kib(4), Bytes::kib(8));
            spec.mapping.unit = Some(Bytes::kib(1));
            spec.mapping.partial_program = name == "parted";
        }
        "lanes" => {
            (flash.dies_per_package, flash.planes_per_die) = (2, 2);
            flash.pages_per_block = 4;
        }
        "one die" => {
            (flash.channels, flash.planes_per_die, flash.pages_per_block) = (1, 4, 4);
            (flash.page, flash.clustered_page) = (Bytes::kib(4), Bytes::kib(4));
        }
        "tiny" => {
            // Two clustered pages per block, each as wide as the drive.
            flash.pages_per_block = 2;
            flash.clustered_block = Bytes::kib(8);
            spec.capacity = Bytes::kib(32);
        }
        "odd" => {
            // Avoids powers of two everywhere.
            (flash.channels, flash.pages_per_block) = (3, 6);
            flash.page = Bytes(3 * 512);
            (flash.clustered_page, flash.clustered_block) = (Bytes(9 * 512), Bytes(54 * 512));
            (spec.capacity, spec.mapping.unit) = (Bytes(7 * 54 * 512), Some(Bytes(3 * 512)));
        }
        _ => {}
    }
    spec
}

/// Write buffers.
pub(crate) const BUFFERS: [&str; 10] = [
    "none",
    "fifo",
    "lru",
    "fifo idle",
    "lru battery",
    "fifo idle battery",
    "bplru",
    "epo battery",
    "lb-clock",
    "streams idle",
];

fn buffer(name: &str) -> Option<WriteBuffer> {
    let has = |word| name.split(' ').any(|w| w == word);
    let policy = name.split(' ').next()?.parse::<WritePolicy>().ok()?;
    // An eviction batch must find room for more than two lines of 4 KiB.
    let by_age = matches!(policy, WritePolicy::Fifo | WritePolicy::Lru);
    let kib = if by_age { 9 } else { 27 };
    Some(WriteBuffer {
        drain: if has("idle") {
            Drain::Idle
        } else {
            Drain::OnFull
        },
        idle_delay: Dur::us(300),
        battery: has("battery"),
        ..WriteBuffer::new(policy, Bytes(kib * 1024 + 512))
    })
}

/// A small drive.
pub(crate) fn drive(kind: MappingKind, shape_name: &str, buffer_name: &str) -> Spec {
    let mut spec = shape(shape_name);
    spec.name = format!("{kind:?} {shape_name} {buffer_name}");
    spec.mapping.kind = kind;
    spec.mapping.map_cache = (kind == MappingKind::Dftl).then_some(Bytes(64));
    spec.write_buffer = buffer(buffer_name);
    spec
}

/// All small drives.
pub(crate) fn drives() -> Vec<Spec> {
    let mut all = Vec::new();
    for kind in KINDS {
        for shape in SHAPES {
            all.extend(BUFFERS.map(|buffer| drive(kind, shape, buffer)));
        }
    }
    all
}

/// Returns the same drive behind another link.
pub(crate) fn linked(mut spec: Spec, protocol: Protocol, queue_depth: u32) -> Spec {
    spec.name = format!("{} {protocol:?} {queue_depth}", spec.name);
    (spec.host.protocol, spec.host.queue_depth) = (protocol, queue_depth);
    spec
}

/// Converts from bytes per second.
pub(crate) fn rate(bytes_per_second: u64) -> Rate {
    Rate::new(bytes_per_second).unwrap()
}

/// Sends requests with queue depth `depth` and waits for all of them. Panics if one fails or the drive stops.
pub(crate) fn run(
    drive: &mut Ssd,
    depth: usize,
    requests: impl IntoIterator<Item = Request>,
) -> Vec<Completion> {
    let (mut all, mut done, mut in_flight) = (Vec::new(), Vec::new(), 0);
    let mut requests = requests.into_iter().peekable();
    while requests.peek().is_some() || in_flight > 0 {
        while in_flight < depth
            && let Some(request) = requests.next()
        {
            drive.submit(request).unwrap();
            in_flight += 1;
        }
        drive.wait(Time::MAX, &mut done);
        assert!(!done.is_empty(), "{in_flight} requests never complete");
        for completion in &done {
            assert_eq!(completion.result, Ok(()));
        }
        in_flight -= done.len();
        all.append(&mut done);
    }
    all
}
