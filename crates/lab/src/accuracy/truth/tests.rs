//! Tests of the rules on known drives.

use super::right::{EFFECT_MIN, between, size, sizes, word};
use super::*;
use fathom_base::{Bytes, Dur, Rate};
use fathom_probe::Value;
use fathom_ssd::presets;
use fathom_ssd::spec::{Drain, MappingKind, WriteBuffer, WritePolicy};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn preset(name: &str) -> Spec {
    Spec::from_toml(presets::find(name).unwrap().text).unwrap()
}

fn with(name: &str, change: impl Fn(&mut Spec)) -> Spec {
    let mut spec = preset(name);
    change(&mut spec);
    spec.check().unwrap();
    spec
}

fn buffer_of(spec: &mut Spec) -> &mut WriteBuffer {
    spec.write_buffer.as_mut().unwrap()
}

fn identifiable(right: Right) -> Truth {
    Truth::new(Sight::Identifiable, vec![right], "")
}

fn sight(spec: &Spec, parameter: Parameter) -> Sight {
    Truth::of(spec, parameter).sight
}

/// Values of `parameter-aware-io` Table 3 and 4.2.3 to 4.3 for SSD-A and SSD-C.
#[test]
fn the_drives_of_the_paper_hold_what_the_paper_says() {
    let is = |n: u64| identifiable(size(n * KIB));
    let a = [
        is(16),
        is(4096),
        is(4096),
        is(256),
        is(255),
        Truth::missing(),
        identifiable(word("buffer")),
    ];
    let of_papers = |spec: &Spec| Parameter::PAPERS.map(|parameter| Truth::of(spec, parameter));
    let found = of_papers(&preset("ssd-a"));
    assert_eq!(found, a);
    // SSD-C updates single sectors, so nothing is completed; the paper reads 4 KiB off its plot.
    let c = preset("ssd-c");
    let page = Truth::of(&c, Parameter::ClusteredPage);
    assert_eq!(
        (page.sight, page.right),
        (Sight::Missing, sizes(&[4 * KIB]))
    );
    let rest = [
        is(5120),
        is(5120),
        is(3072),
        is(112),
        Truth::missing(),
        identifiable(word("buffer")),
    ];
    assert_eq!(of_papers(&c)[1..], rest);
}

#[test]
fn a_battery_hides_no_unit_but_behind_a_link_that_is_slower_than_completing() {
    let protected = with("ssd-a", |spec| buffer_of(spec).battery = true);
    for parameter in [
        Parameter::ClusteredPage,
        Parameter::WriteBuffer,
        Parameter::WritePolicy,
    ] {
        assert_eq!(sight(&protected, parameter), Sight::Identifiable);
    }
    let slow = with("ssd-a", |spec| {
        buffer_of(spec).battery = true;
        spec.host.bandwidth = Rate::new(1_000_000).unwrap();
    });
    assert_eq!(sight(&slow, Parameter::ClusteredPage), Sight::Faint);
    // A flush waits for the completion, however slow the link is.
    let flushed = with("ssd-a", |spec| spec.host.bandwidth = slow.host.bandwidth);
    assert_eq!(sight(&flushed, Parameter::ClusteredPage), Sight::Faint);
}

#[test]
fn the_unit_that_is_completed_counts_and_the_one_that_is_read_is_not_wrong() {
    let small = with("ssd-a", |spec| spec.mapping.unit = Some(Bytes::kib(4)));
    let page = Truth::of(&small, Parameter::ClusteredPage);
    assert_eq!(page.right, sizes(&[4 * KIB, 16 * KIB]));
    assert_eq!(mapping_unit(&small).right, sizes(&[4 * KIB]));
    assert_eq!(read_unit(&small).right, sizes(&[16 * KIB]));
    let sectors = with("ssd-a", |spec| spec.mapping.unit = Some(Bytes(512)));
    let page = Truth::of(&sectors, Parameter::ClusteredPage);
    assert_eq!(
        (page.sight, page.right),
        (Sight::Missing, sizes(&[16 * KIB]))
    );
    // Pieces of a write are no longer than the buffer; a shifted write still completes two units.
    let tiny = with("ssd-a", |spec| buffer_of(spec).capacity = Bytes::kib(8));
    assert_eq!(sight(&tiny, Parameter::ClusteredPage), Sight::Identifiable);
}

#[test]
fn pages_hide_blocks_and_padding_shows_its_own() {
    let nvme = preset("nvme");
    for parameter in [Parameter::ClusteredBlock, Parameter::LogicalBlock] {
        assert_eq!(sight(&nvme, parameter), Sight::Hidden);
    }
    let padded = with("nvme", |spec| {
        let buffer = buffer_of(spec);
        (buffer.policy, buffer.block) = (WritePolicy::Bplru, Some(Bytes::mib(1)));
        spec.host.bandwidth = Rate::new(7_000_000_000).unwrap();
    });
    assert_eq!(sight(&padded, Parameter::ClusteredBlock), Sight::Hidden);
    let unit = Truth::of(&padded, Parameter::ClusteredPage);
    assert!(unit.right.contains(&sizes(&[MIB])[0]), "{unit}");
    let block = Truth::of(&padded, Parameter::LogicalBlock);
    assert_eq!(block.sight, Sight::Identifiable);
    assert_eq!(block.bytes(), Some(MIB));
}

#[test]
fn a_slow_link_leaves_the_block_to_small_writes() {
    let slow = |kind, battery| {
        with("ssd-a", |spec| {
            spec.mapping.kind = kind;
            buffer_of(spec).battery = battery;
            spec.host.bandwidth = Rate::new(2_000_000).unwrap();
        })
    };
    let own_logs = slow(MappingKind::Block, false);
    assert_eq!(
        sight(&own_logs, Parameter::ClusteredBlock),
        Sight::Identifiable
    );
    let logical = Truth::of(&own_logs, Parameter::LogicalBlock);
    assert_eq!(logical.sight, Sight::Faint);
    let [Right::Between(Value::Bytes(low), Value::Bytes(high))] = logical.right[..] else {
        panic!("{logical}");
    };
    assert!(low < high / 2 && high == 4 * MIB, "{logical}");
    for spec in [
        slow(MappingKind::Hybrid, false),
        slow(MappingKind::Block, true),
    ] {
        assert_eq!(sight(&spec, Parameter::ClusteredBlock), Sight::Faint);
    }
    // The first unit of a block takes the single sequential log block.
    let fast = slow(MappingKind::Fast, true);
    assert_eq!(sight(&fast, Parameter::ClusteredBlock), Sight::Identifiable);
    let superblock = slow(MappingKind::Superblock, false);
    let right = Truth::of(&superblock, Parameter::ClusteredBlock).right;
    assert!(right.contains(&size(4 * MIB)) && right.contains(&size(16 * MIB)));
}

#[test]
fn memory_is_measured_in_logical_blocks() {
    let odd = with("ssd-a", |spec| spec.host.logical_block = Bytes::kib(4));
    let buffer = Truth::of(&odd, Parameter::WriteBuffer);
    assert_eq!(buffer.right, [size(252 * KIB)]);
    let one = with("ssd-a", |spec| buffer_of(spec).capacity = Bytes(512));
    assert_eq!(sight(&one, Parameter::WritePolicy), Sight::Hidden);
    assert_eq!(sight(&one, Parameter::WriteBuffer), Sight::Identifiable);
}

#[test]
fn memory_that_is_never_full_cannot_be_measured() {
    let drained = with("ssd-a", |spec| {
        (buffer_of(spec).drain, buffer_of(spec).idle_delay) = (Drain::Idle, Dur::ZERO);
        spec.host.bandwidth = Rate::new(1_000_000).unwrap();
    });
    for parameter in [Parameter::WriteBuffer, Parameter::WritePolicy] {
        assert_eq!(sight(&drained, parameter), Sight::Hidden);
    }
    let all = with("sata-cache", |spec| {
        buffer_of(spec).capacity = spec.capacity;
        spec.read_buffer.as_mut().unwrap().capacity = spec.capacity;
    });
    for parameter in [
        Parameter::WriteBuffer,
        Parameter::WritePolicy,
        Parameter::ReadBuffer,
    ] {
        assert_eq!(sight(&all, parameter), Sight::Hidden);
    }
}

#[test]
fn reads_that_are_not_kept_show_no_buffer() {
    let selective = |least| {
        with("sata-cache", |spec| {
            spec.host.max_request = Bytes::mib(1);
            spec.read_buffer.as_mut().unwrap().min_request = least;
        })
    };
    for least in [Bytes::kib(768), Bytes::mib(2)] {
        let spec = selective(least);
        assert_eq!(sight(&spec, Parameter::ReadBuffer), Sight::Hidden);
        assert_eq!(sight(&spec, Parameter::Prefetch), Sight::Hidden);
    }
}

#[test]
fn what_is_read_ahead_beyond_the_buffer_is_gone_where_flash_is_faster() {
    let ahead = |depth: u64, link: &str| {
        let spec = with("sata-cache", |spec| {
            spec.host.bandwidth = link.parse().unwrap();
            let buffer = spec.read_buffer.as_mut().unwrap();
            buffer.capacity = Bytes::kib(64);
            buffer.prefetch.as_mut().unwrap().depth = Bytes::kib(depth);
        });
        sight(&spec, Parameter::Prefetch)
    };
    // A host that waits for the flash takes each piece as it arrives; a slower host comes too late for it.
    assert_eq!(ahead(32, "20MB/s"), Sight::Identifiable);
    assert_eq!(ahead(4096, "20MB/s"), Sight::Faint);
    assert_eq!(ahead(4096, "300MB/s"), Sight::Identifiable);
}

#[test]
fn a_truth_reads_as_what_it_is() {
    let is = identifiable(size(4096));
    assert_eq!(is.to_string(), "4096");
    assert_eq!(Truth::missing().to_string(), "nothing");
    let faint = Truth::by_effect(0.05, vec![between(1, 2), word("x")], "small");
    assert_eq!(faint.to_string(), "1 to 2 or x, faint: small");
    assert!(Truth::by_effect(EFFECT_MIN, sizes(&[1, 1]), "small").is_identifiable());
}
