//! Write buffers inside the drive: evictions are observed from outside by the reads that need the flash array.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{base, drive, run};
use fathom_base::{Bytes, Rng};
use fathom_block::{Op, Request};
use fathom_ssd::spec::{Cut, MappingKind, Oversize, WriteBuffer, WritePolicy};
use fathom_ssd::{Spec, Ssd};

const PAGE: u64 = 4096;

/// A drive of 64 clustered pages in two groups of blocks of eight, with a buffer of `pages`.
fn buffered(kind: MappingKind, policy: WritePolicy, pages: u64) -> Spec {
    let mut spec = base();
    spec.mapping.kind = kind;
    // A block on one channel, so there are two groups.
    spec.flash.planes_per_die = 2;
    spec.mapping.over_provisioning_percent = 100.0;
    spec.write_buffer = Some(WriteBuffer::new(policy, Bytes(pages * PAGE)));
    spec
}

fn page(op: Op, page: u64) -> Request {
    Request::new(page, op, page * PAGE, PAGE)
}

/// Creates a drive on which every page was written once and is in flash.
fn written(spec: &Spec) -> Ssd {
    let mut drive = Ssd::new(spec, 1).unwrap();
    let all = 0..spec.capacity.0 / PAGE;
    run(&mut drive, 1, all.map(|p| page(Op::Write, p)));
    run(&mut drive, 1, [Request::new(0, Op::Flush, 0, 0)]);
    drive
}

fn write(drive: &mut Ssd, pages: &[u64]) {
    run(drive, 1, pages.iter().map(|&p| page(Op::Write, p)));
    // Waits until the data on its way to the flash array has arrived.
    let later = fathom_base::Time(fathom_block::Device::now(drive).0 + 100_000_000);
    fathom_block::Device::wait(drive, later, &mut Vec::new());
}

/// Returns the pages that are in the buffer: reading them needs no flash operation.
fn inside(drive: &mut Ssd, pages: &[u64]) -> Vec<u64> {
    let mut found = Vec::new();
    for &p in pages {
        let before = drive.counters().flash_ops;
        run(drive, 1, [page(Op::Read, p)]);
        if drive.counters().flash_ops == before {
            found.push(p);
        }
    }
    found
}

/// Returns the pages that remain in the buffer after one more page needed room.
fn left(kind: MappingKind, policy: WritePolicy, pages: &[u64], last: u64) -> Vec<u64> {
    let mut drive = written(&buffered(kind, policy, pages.len() as u64));
    write(&mut drive, pages);
    assert_eq!(inside(&mut drive, pages), pages);
    write(&mut drive, &[last]);
    inside(&mut drive, pages)
}

#[test]
fn the_geometry_is_what_the_tests_below_take_it_for() {
    let drive = written(&buffered(MappingKind::Page, WritePolicy::Lru, 8));
    let g = drive.geometry();
    assert_eq!(
        (g.groups, g.lanes_per_group, g.cpages_per_cblock),
        (2, 1, 8)
    );
}

/// A cache evicts enough to keep both stations busy, two programs for each, and at most half of its contents. With page
/// mapping the stations take turns; with block mapping the block determines the station.
#[test]
fn each_policy_lets_its_own_pages_go() {
    // Blocks of eight pages: 0 to 7, 8 to 15 and so on; even pages on one element, odd ones on the other. With block
    // mapping, 0 to 7 and 16 to 23 are on one element, 8 to 15 on the other.
    let pages = [8, 10, 20, 9, 22, 0, 1, 2, 3];
    for (policy, page, block) in [
        // A full buffer is drained to its newest line.
        (WritePolicy::Fifo, vec![3], vec![3]),
        (
            WritePolicy::Lru,
            vec![22, 0, 1, 2, 3],
            // Of the oldest pages, the fourth is an extra one for the station that has two already, the fifth is the
            // second of the other station.
            vec![0, 1, 2, 3],
        ),
        // One block, padded; with block mapping it uses one station, and the next block the other.
        (
            WritePolicy::Bplru,
            vec![20, 22, 0, 1, 2, 3],
            vec![0, 1, 2, 3],
        ),
        // 8 and 9, 10 and 1; with block mapping 20 and 8, 22 and 10.
        (WritePolicy::Epo, vec![20, 22, 0, 2, 3], vec![9, 0, 1, 2, 3]),
        // The fullest block; with block mapping also the next one.
        (WritePolicy::LbClock, vec![8, 10, 20, 9, 22], vec![20, 22]),
        // The stream; with block mapping also the oldest run: 9 has joined 8 since 10 was written.
        (
            WritePolicy::Streams,
            vec![8, 10, 20, 9, 22],
            vec![8, 20, 9, 22],
        ),
    ] {
        for (kind, rest) in [(MappingKind::Page, page), (MappingKind::Block, block)] {
            let found = left(kind, policy, &pages, 40);
            assert_eq!(found, rest, "{policy:?} {kind:?}");
        }
    }
}

/// FIFO stores a page twice; every other policy replaces it.
#[test]
fn only_a_buffer_takes_new_room_for_the_same_page() {
    for &policy in &WritePolicy::ALL[1..] {
        let mut drive = written(&buffered(MappingKind::Page, policy, 4));
        let before = drive.counters().flash_sectors_programmed;
        write(&mut drive, &[30, 50, 30, 50, 30, 50, 30, 50]);
        let programmed = drive.counters().flash_sectors_programmed - before;
        assert_eq!(programmed > 0, policy == WritePolicy::Fifo, "{policy:?}");
    }
}

/// Kim and Ahn, 3.2: blocks evicted by BPLRU become switch merges; random writes under LRU need other merges.
#[test]
fn padded_blocks_are_switched_not_merged() {
    let merges = |policy| {
        let mut drive = written(&buffered(MappingKind::Block, policy, 16));
        let before = drive.merges();
        let mut rng = Rng::new(3, 0);
        let pages: Vec<u64> = (0..400).map(|_| rng.below(64)).collect();
        write(&mut drive, &pages);
        let after = drive.merges();
        (
            after.switch - before.switch,
            after.partial - before.partial + after.full - before.full,
        )
    };
    let (switched, merged) = merges(WritePolicy::Bplru);
    assert!(switched > 100 && merged == 0, "{switched} {merged}");
    let (_, merged) = merges(WritePolicy::Lru);
    assert!(merged > 100, "{merged}");
}

/// Padding pages are read and programmed: a whole block of eight pages for one written page.
#[test]
fn padding_costs_reads_and_programs() {
    let mut drive = written(&buffered(MappingKind::Page, WritePolicy::Bplru, 8));
    let before = drive.counters();
    write(&mut drive, &[3, 11, 19, 27, 35, 43, 51, 59, 12]);
    let after = drive.counters();
    let sectors = after.flash_sectors_programmed - before.flash_sectors_programmed;
    assert_eq!(sectors, 8 * PAGE / 512);
    // Seven reads and eight programs, and no garbage collection.
    assert_eq!(after.erases, before.erases);
    assert_eq!(after.flash_ops - before.flash_ops, 15);
}

/// The block size of a policy may differ from the clustered block.
#[test]
fn the_block_of_a_policy_can_be_set() {
    let mut spec = buffered(MappingKind::Page, WritePolicy::Bplru, 4);
    let buffer = spec.write_buffer.as_mut().unwrap();
    (buffer.block, buffer.capacity) = (Some(Bytes(2 * PAGE)), Bytes(6 * PAGE));
    let mut drive = written(&spec);
    write(&mut drive, &[9, 10, 8, 12, 14, 16]);
    write(&mut drive, &[40]);
    // Evicts the blocks of 10 and of 8, of two pages each.
    assert_eq!(inside(&mut drive, &[8, 9, 10, 12, 14, 16]), [12, 14, 16]);
}

/// A flush empties the buffer completely, regardless of its eviction batches.
#[test]
fn a_flush_empties_every_buffer() {
    for &policy in &WritePolicy::ALL[1..] {
        for kind in [MappingKind::Page, MappingKind::Block] {
            let mut drive = written(&buffered(kind, policy, 8));
            write(&mut drive, &[8, 20, 9, 21, 0, 1, 2, 3, 40]);
            run(&mut drive, 1, [Request::new(0, Op::Flush, 0, 0)]);
            let found = inside(&mut drive, &[8, 20, 9, 21, 0, 1, 2, 3, 40]);
            assert!(found.is_empty(), "{policy:?} {kind:?}: {found:?}");
        }
    }
}

/// Pages of one eviction batch are programmed in parallel: equally many for each element, as long as there are some.
#[test]
fn a_batch_of_epo_keeps_every_element_busy() {
    let gone = |policy| {
        let mut spec = buffered(MappingKind::Page, policy, 24);
        spec.flash.channels = 4;
        spec.capacity = Bytes(128 * PAGE);
        let mut drive = written(&spec);
        assert_eq!(drive.geometry().groups, 4);
        let pages: Vec<u64> = (0..12)
            .map(|i| i * 4)
            .chain((0..4).flat_map(|i| [1, 2, 3].map(|e| 4 * i + e)))
            .collect();
        write(&mut drive, &pages);
        write(&mut drive, &[100]);
        let found = inside(&mut drive, &pages);
        let mut gone: Vec<u64> = pages.into_iter().filter(|p| !found.contains(p)).collect();
        gone.sort_unstable();
        gone
    };
    // Two programs for each of four stations: two rounds over all elements with EPO, the eight oldest pages with LRU.
    assert_eq!(gone(WritePolicy::Epo), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(gone(WritePolicy::Lru), [0, 4, 8, 12, 16, 20, 24, 28]);
}

/// Partial pages that could share a clustered page do not, because they are for different elements.
#[test]
fn lines_of_a_batch_of_epo_share_no_program() {
    let mut spec = buffered(MappingKind::Page, WritePolicy::Epo, 1);
    spec.mapping.unit = Some(Bytes(1024));
    spec.write_buffer.as_mut().unwrap().capacity = Bytes(2048);
    let mut drive = written(&spec);
    let before = drive.counters().flash_ops;
    let part = |page: u64| Request::new(page, Op::Write, page * PAGE, 1024);
    run(&mut drive, 1, [8, 9].map(part));
    assert_eq!(drive.counters().flash_ops, before);
    run(&mut drive, 1, [part(10)]);
    write(&mut drive, &[]);
    assert_eq!(drive.counters().flash_ops, before + 2);
}

/// Returns the flash operations until the written data is in flash, on a drive whose pages hold data.
fn ops(buffer: impl FnOnce(&mut WriteBuffer), requests: &[(u64, u64)]) -> u64 {
    let mut spec = buffered(MappingKind::Page, WritePolicy::Fifo, 8);
    buffer(spec.write_buffer.as_mut().unwrap());
    let mut drive = written(&spec);
    let before = drive.counters().flash_ops;
    let write = |&(at, len): &(u64, u64)| Request::new(at, Op::Write, at, len);
    run(&mut drive, 1, requests.iter().map(write));
    run(&mut drive, 1, [Request::new(0, Op::Flush, 0, 0)]);
    drive.counters().flash_ops - before
}

/// `parameter-aware-io` 4.3 finds that a second write hits only directly after the first. The paper leaves open whether
/// the two halves of a page, written one after the other, make a whole page.
#[test]
fn a_buffer_combines_the_parts_of_a_page_or_forgets_them() {
    let halves = [(8 * PAGE, PAGE / 2), (8 * PAGE + PAGE / 2, PAGE / 2)];
    assert_eq!(ops(|_| (), &halves), 1, "one program");
    let apart = ops(|b| b.combine = false, &halves);
    assert_eq!(apart, 4, "each half is programmed with the old other one");
    let mut cache = buffered(MappingKind::Page, WritePolicy::Lru, 8);
    cache.write_buffer.as_mut().unwrap().combine = false;
    let refused = Spec::from_toml(&cache.to_toml()).unwrap_err().to_string();
    assert!(refused.contains("write_buffer.combine"), "{refused}");
}

/// Two pages' length from the middle of a page: two parts and a page between them, or four parts.
#[test]
fn commands_are_cut_at_pages_or_from_their_beginning() {
    let request = [(8 * PAGE + PAGE / 2, 2 * PAGE)];
    let cut = |cut, combine| ops(|b| (b.cut, b.combine) = (cut, combine), &request);
    for combine in [true, false] {
        assert_eq!(cut(Cut::Page, combine), 3 + 2);
    }
    assert_eq!(
        cut(Cut::Command, true),
        3 + 2,
        "the halves meet in the buffer"
    );
    assert_eq!(cut(Cut::Command, false), 4 + 4);
    let aligned = ops(
        |b| (b.cut, b.combine) = (Cut::Command, false),
        &[(8 * PAGE, 2 * PAGE)],
    );
    assert_eq!(aligned, 2);
}

/// `parameter-aware-io` 4.3: a write buffer flushes "as soon as the buffer is full".
#[test]
fn a_full_buffer_is_drained_whole_or_as_far_as_room_is_needed() {
    let last = |whole| {
        let mut spec = buffered(MappingKind::Page, WritePolicy::Fifo, 8);
        spec.write_buffer.as_mut().unwrap().drain_whole = whole;
        let mut drive = written(&spec);
        let done = run(&mut drive, 1, (8..17).map(|p| page(Op::Write, p)));
        done.last().unwrap().latency().0 / 1000
    };
    // 10 us over the bus and 200 us in the array; eight pages on two dies.
    assert!((210..230).contains(&last(false)), "{}", last(false));
    assert!((840..860).contains(&last(true)), "{}", last(true));
}

/// `parameter-aware-io` 4.2.6: a write that is longer than the buffer pays for flash writes, even if the buffer is empty.
#[test]
fn a_command_longer_than_the_buffer_waits_for_the_flash() {
    let programmed = |battery, oversize, pages| {
        let mut spec = buffered(MappingKind::Page, WritePolicy::Fifo, 8);
        let buffer = spec.write_buffer.as_mut().unwrap();
        (buffer.oversize, buffer.battery) = (oversize, battery);
        let mut drive = written(&spec);
        write(&mut drive, &[]);
        let before = drive.counters().flash_sectors_programmed;
        run(&mut drive, 1, [Request::new(0, Op::Write, 0, pages * PAGE)]);
        (drive.counters().flash_sectors_programmed - before) * 512 / PAGE
    };
    assert_eq!(programmed(false, Oversize::WriteThrough, 9), 9);
    assert_eq!(programmed(false, Oversize::WriteThrough, 8), 0);
    // A battery makes no difference, and the previous contents of the buffer are drained too.
    assert!(programmed(true, Oversize::WriteThrough, 9) >= 9);
    let room = programmed(false, Oversize::Buffered, 9);
    assert!((1..9).contains(&room), "{room}");
}

#[test]
fn a_drive_file_names_the_policy_and_is_refused_where_it_makes_no_sense() {
    let text = |policy: &str, block: &str| {
        let spec = drive(MappingKind::Page, "whole", "lru").to_toml();
        let spec = spec.replace(
            "policy = \"lru\"",
            &format!("policy = \"{policy}\"\n{block}"),
        );
        Spec::from_toml(&spec).map(|s| s.write_buffer.unwrap())
    };
    for &policy in &WritePolicy::ALL[1..] {
        assert_eq!(text(policy.name(), "").unwrap().policy, policy);
    }
    let none = text("no-cache", "").unwrap_err().to_string();
    assert!(none.contains("leave [write_buffer] out"), "{none}");
    assert!(
        text("mru", "")
            .unwrap_err()
            .to_string()
            .contains("lb-clock")
    );
    assert_eq!(
        text("bplru", "block = \"8KiB\"").unwrap().block,
        Some(Bytes(8192))
    );
    for (policy, block) in [("bplru", "6KiB"), ("lb-clock", "2KiB"), ("lru", "8KiB")] {
        let error = text(policy, &format!("block = \"{block}\"")).unwrap_err();
        assert!(error.to_string().contains("write_buffer.block"), "{error}");
    }
}
