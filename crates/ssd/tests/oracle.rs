//! Times and counts compared with their closed forms.
//!
//! All expected values are computed here from the numbers of the spec in integer arithmetic, without the model's code. A
//! transfer of n bytes at r bytes per second takes ceil(n * 10^9 / r) nanoseconds.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::{base, rate, run};
use fathom_base::{Bytes, Dur, Rate, Rng};
use fathom_block::{Completion, Device, Op, Request};
use fathom_ssd::spec::{Arbitration, MappingKind, Protocol, ReadBuffer, WriteBuffer, WritePolicy};
use fathom_ssd::{MergeCounts, Spec, Ssd};

const KIB: u64 = 1024;

/// Returns the duration of a transfer in nanoseconds.
fn transfer(bytes: u64, rate: Rate) -> u64 {
    (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(rate.bytes_per_second())) as u64
}

/// Returns the time before the flash array is reached.
fn front(spec: &Spec) -> u64 {
    spec.host.command_overhead.0 + spec.host.latency.0
}

/// Sends one request to an idle drive. Returns its latency in nanoseconds.
fn alone(drive: &mut Ssd, op: Op, offset: u64, len: u64) -> u64 {
    let idle = drive.now() + Dur::ms(100);
    drive.wait(idle, &mut Vec::new());
    let done = run(drive, 1, [Request::new(1, op, offset, len)]);
    done[0].latency().0
}

/// `channels` channels with one die of `planes` planes each, page-mapped; clustered pages span all planes.
fn striped(channels: u32, planes: u32, page: u64, bus: u64) -> Spec {
    let mut spec = base();
    let width = u64::from(channels * planes);
    spec.flash.channels = channels;
    spec.flash.planes_per_die = planes;
    spec.flash.page = Bytes(page);
    spec.flash.bus = rate(bus);
    spec.flash.clustered_page = Bytes(width * page);
    spec.flash.clustered_block = Bytes(width * page * u64::from(spec.flash.pages_per_block));
    spec.capacity = Bytes(spec.flash.clustered_block.0 * 8);
    spec.host.max_request = spec.capacity;
    spec
}

/// `channels` x `dies` dies of one plane; each clustered page and block lies on a single die.
fn independent(channels: u32, dies: u32, page: u64) -> Spec {
    let mut spec = base();
    (spec.flash.channels, spec.flash.dies_per_package) = (channels, dies);
    spec.flash.pages_per_block = 64;
    spec.flash.page = Bytes(page);
    spec.flash.clustered_page = Bytes(page);
    spec.flash.clustered_block = Bytes(page * 64);
    spec.capacity = Bytes(page * 64 * u64::from(channels * dies) * 8);
    spec.host.queue_depth = 256;
    spec.host.max_request = Bytes::mib(1);
    spec
}

#[test]
fn unloaded_latencies_are_their_formulas_to_the_nanosecond() {
    for (channels, planes) in [(1, 1), (2, 1), (3, 1), (8, 1), (1, 2), (1, 4), (4, 2)] {
        for page in [512, 2 * KIB, 4 * KIB, 16 * KIB] {
            for bus in [40_000_000, 133_000_000, 533_000_000, 3_200_000_000] {
                let spec = striped(channels, planes, page, bus);
                let mut drive = Ssd::new(&spec, 1).unwrap();
                let len = spec.flash.clustered_page.0;
                // The planes of a die share its channel; the channels work in parallel.
                let on_bus = transfer(page * u64::from(planes), spec.flash.bus);
                let on_link = transfer(len, spec.host.bandwidth);
                let written = front(&spec) + on_link + on_bus + spec.flash.program.0;
                assert_eq!(alone(&mut drive, Op::Write, 0, len), written, "{spec:?}");
                let read = front(&spec) + spec.flash.read.0 + on_bus + on_link;
                assert_eq!(alone(&mut drive, Op::Read, 0, len), read, "{spec:?}");
                let sector = front(&spec)
                    + spec.flash.read.0
                    + transfer(512, spec.flash.bus)
                    + transfer(512, spec.host.bandwidth);
                assert_eq!(alone(&mut drive, Op::Read, len - 512, 512), sector);
                let nothing = front(&spec) + on_link;
                assert_eq!(alone(&mut drive, Op::Read, len, len), nothing);
            }
        }
    }
}

#[test]
fn a_read_behind_an_erase_waits_for_all_of_it() {
    let mut spec = striped(2, 1, 2 * KIB, 400_000_000);
    spec.mapping.kind = MappingKind::Block;
    let (block, page) = (spec.flash.clustered_block.0, spec.flash.clustered_page.0);
    let mut drive = Ssd::new(&spec, 1).unwrap();
    run(&mut drive, 1, [Request::new(1, Op::Write, 0, block * 2)]);
    // Trimming a whole block starts its erase when the command has been processed.
    let erases = drive.counters().erases;
    let trim = Request::new(1, Op::Trim, 0, block);
    let read = Request::new(2, Op::Read, block, page);
    let done = run(&mut drive, 2, [trim, read]);
    let expected = front(&spec)
        + spec.flash.erase.0
        + spec.flash.read.0
        + transfer(2 * KIB, spec.flash.bus)
        + transfer(page, spec.host.bandwidth);
    assert_eq!(done[1].latency().0, expected);
    assert_eq!(drive.counters().erases, erases + 1);
}

#[test]
fn a_partial_write_costs_one_read_of_the_rest_more() {
    for (channels, planes) in [(1, 1), (1, 2), (2, 1)] {
        let spec = striped(channels, planes, 4 * KIB, 400_000_000);
        let page = spec.flash.clustered_page.0;
        let mut drive = Ssd::new(&spec, 1).unwrap();
        let fresh = alone(&mut drive, Op::Write, 0, 512);
        let over = alone(&mut drive, Op::Write, 0, 512);
        let in_the_middle = alone(&mut drive, Op::Write, 3 * 512, 512);
        // The missing part of the first page and the other pages are read; on one channel one after another.
        let rest = if channels == 1 { page - 512 } else { 4 * KIB };
        let extra = spec.flash.read.0 + transfer(rest, spec.flash.bus);
        // Two transfers and a program are each rounded up to whole nanoseconds.
        assert_eq!(in_the_middle, over);
        assert_eq!(over, fresh + extra, "{channels} channels, {planes} planes");
        assert_eq!(
            alone(&mut drive, Op::Write, 0, page) - transfer(page, spec.host.bandwidth),
            fresh - transfer(512, spec.host.bandwidth),
            "a whole page needs no read"
        );
    }
}

/// Returns the throughput in bytes per second between the completions, without the first fifth of the run.
fn throughput(done: &[Completion], len: u64) -> f64 {
    let from = done.len() / 5;
    let time = done[done.len() - 1].completed.since(done[from].completed);
    (done.len() - 1 - from) as f64 * len as f64 / time.as_secs_f64()
}

fn within(got: f64, bound: f64, percent: f64) {
    let off = (got / bound - 1.0) * 100.0;
    assert!(
        off.abs() <= percent,
        "{got:.0} is {off:+.3} % from {bound:.0}"
    );
}

/// Sends sequential requests over the whole drive at its full queue depth.
fn sequential(drive: &mut Ssd, spec: &Spec, op: Op, len: u64) -> f64 {
    let requests = (0..spec.capacity.0 / len).map(|i| Request::new(i, op, i * len, len));
    let done = run(drive, spec.host.queue_depth as usize, requests);
    throughput(&done, len)
}

#[test]
fn saturated_sequential_streams_reach_the_slowest_stage() {
    let (channels, dies, page) = (4u32, 4u32, 4 * KIB);
    for protocol in [Protocol::Sata, Protocol::Nvme] {
        for len in [4 * KIB, 64 * KIB] {
            // Long enough that filling and draining the pipeline is less than a hundredth.
            let mut fast = independent(channels, dies, page);
            (fast.capacity, fast.host.queue_depth) = (Bytes(fast.capacity.0 * 8), 64);
            fast.host.protocol = protocol;
            (fast.host.command_overhead, fast.host.bandwidth) = (Dur(100), rate(50_000_000_000));
            fast.flash.bus = rate(2_000_000_000);
            (fast.flash.read, fast.flash.program) = (Dur::us(5), Dur::us(5));
            let all_dies = u64::from(channels * dies);

            let mut link = fast.clone();
            link.host.bandwidth = rate(600_000_000);
            let mut bus = fast.clone();
            bus.flash.bus = rate(100_000_000);
            let mut die = fast.clone();
            (die.flash.read, die.flash.program) = (Dur::us(400), Dur::us(900));
            // A die is occupied from its command to the end of its operation. The dies of a channel take turns.
            let of_die = |busy: Dur| {
                let each = busy.0 + transfer(page, die.flash.bus);
                (all_dies * page) as f64 / (each as f64 * 1e-9)
            };
            for (spec, read, write) in [
                (&link, 600e6, 600e6),
                (&bus, 400e6, 400e6),
                (&die, of_die(die.flash.read), of_die(die.flash.program)),
            ] {
                let mut drive = Ssd::new(spec, 1).unwrap();
                for (op, bound) in [(Op::Write, write), (Op::Read, read)] {
                    let requests =
                        (0..spec.capacity.0 / len).map(|i| Request::new(i, op, i * len, len));
                    let start = drive.now();
                    run(&mut drive, 64, requests);
                    let time = drive.now().since(start);
                    within(spec.capacity.0 as f64 / time.as_secs_f64(), bound, 1.0);
                }
            }
        }
    }
}

#[test]
fn transfer_rates_are_right_within_a_thousandth() {
    for mt in [
        100, 133, 166, 200, 266, 333, 400, 533, 667, 800, 1066, 1200, 1600, 2400, 3200, 3600, 4800,
    ] {
        let mut spec = independent(1, 4, 4 * KIB);
        spec.host.command_overhead = Dur(10);
        spec.host.bandwidth = rate(1_000_000_000_000);
        spec.flash.bus = rate(mt * 1_000_000);
        (spec.flash.read, spec.flash.program) = (Dur(500), Dur(500));
        let mut drive = Ssd::new(&spec, 1).unwrap();
        let bound = mt as f64 * 1e6;
        within(
            sequential(&mut drive, &spec, Op::Write, 4 * KIB),
            bound,
            0.1,
        );
        within(sequential(&mut drive, &spec, Op::Read, 4 * KIB), bound, 0.1);
    }
}

#[test]
fn arbitration_moves_saturated_iops_as_derived() {
    for (dies, read_us, bus_us) in [(2u64, 60u64, 40u64), (4, 60, 40), (3, 100, 10), (8, 25, 5)] {
        let mut iops = Vec::new();
        for arbitration in [Arbitration::CommandFirst, Arbitration::InOrder] {
            let mut spec = independent(1, dies as u32, 4000 / 500 * 512);
            let page = spec.flash.page.0;
            spec.host.command_overhead = Dur(10);
            spec.host.bandwidth = rate(100_000_000_000);
            spec.flash.bus = rate(page * 1_000_000 / bus_us);
            (spec.flash.read, spec.flash.arbitration) = (Dur::us(read_us), arbitration);
            let mut drive = Ssd::new(&spec, 1).unwrap();
            sequential(&mut drive, &spec, Op::Write, page);
            let got = sequential(&mut drive, &spec, Op::Read, page) / page as f64;
            // Command first: a die senses while others transfer, so each page costs the channel one transfer and each die
            // a sense and a transfer. In order: no die senses before all transfers that were booked have ended, so the
            // dies proceed in rounds: one sense, then a transfer of each.
            let bound = match arbitration {
                Arbitration::InOrder => dies as f64 * 1e6 / (read_us + dies * bus_us) as f64,
                _ => (1e6 / bus_us as f64).min(dies as f64 * 1e6 / (read_us + bus_us) as f64),
            };
            within(got, bound, 1.0);
            iops.push(got);
        }
        assert!(iops[0] > iops[1] * 1.1, "{iops:?}");
    }
}

fn buffered(policy: WritePolicy, capacity: u64) -> Spec {
    let mut spec = striped(2, 1, 2 * KIB, 400_000_000);
    spec.flash.pages_per_block = 256;
    spec.flash.clustered_block = Bytes::mib(1);
    spec.capacity = Bytes::mib(8);
    spec.write_buffer = Some(WriteBuffer::new(policy, Bytes(capacity)));
    spec
}

#[test]
fn a_write_buffer_holds_its_capacity_to_the_sector() {
    for policy in [WritePolicy::Fifo, WritePolicy::Lru] {
        for capacity in [512, 1536, 112 * KIB, 255 * KIB, 256 * KIB - 512] {
            let spec = buffered(policy, capacity);
            let mut drive = Ssd::new(&spec, 1).unwrap();
            let quick = front(&spec) + transfer(512, spec.host.bandwidth);
            let mut held = 0;
            while alone(&mut drive, Op::Write, held * 4 * KIB, 512) == quick {
                held += 1;
                assert_eq!(drive.counters().flash_ops, 0);
            }
            assert_eq!(held * 512, capacity, "{policy:?}");
        }
    }
}

#[test]
fn a_buffer_takes_room_for_a_second_write_and_a_cache_does_not() {
    let room = 64;
    for (policy, pages, programs) in [
        // The same page repeatedly: both policies overwrite it in place.
        (WritePolicy::Fifo, 1, false),
        (WritePolicy::Lru, 1, false),
        // Two pages in turn: FIFO stores each as new.
        (WritePolicy::Fifo, 2, true),
        (WritePolicy::Lru, 2, false),
    ] {
        let mut drive = Ssd::new(&buffered(policy, room * 512), 1).unwrap();
        let writes = (0..room + 1).map(|i| Request::new(i, Op::Write, i % pages * 4 * KIB, 512));
        run(&mut drive, 1, writes);
        let programmed = drive.counters().flash_sectors_programmed > 0;
        assert_eq!(programmed, programs, "{policy:?} {pages}");
    }
}

#[test]
fn a_read_buffer_holds_its_capacity_to_the_line() {
    for (lines, line) in [
        (1, 4 * KIB),
        (7, 4 * KIB),
        (64, 4 * KIB),
        (16, 512),
        (5, 8 * KIB),
    ] {
        let mut spec = striped(2, 1, 2 * KIB, 400_000_000);
        spec.capacity = Bytes::mib(2);
        spec.read_buffer = Some(ReadBuffer {
            capacity: Bytes(lines * line),
            line: Bytes(line),
            min_request: Bytes(512),
            prefetch: None,
        });
        let mut drive = Ssd::new(&spec, 1).unwrap();
        for i in 0..64 {
            run(
                &mut drive,
                1,
                [Request::new(1, Op::Write, i * 16 * KIB, 16 * KIB)],
            );
        }
        let hit = front(&spec) + transfer(line, spec.host.bandwidth);
        let mut hits = |n: u64| {
            let pass = |drive: &mut Ssd| {
                let latencies = (0..n).map(|i| alone(drive, Op::Read, i * 8 * KIB, line));
                latencies.filter(|&latency| latency == hit).count() as u64
            };
            pass(&mut drive);
            pass(&mut drive)
        };
        assert_eq!(hits(lines), lines);
        // With least recently used replacement, one line too many makes every access miss.
        assert_eq!(hits(lines + 1), 0);
    }
}

/// A block-mapped drive with blocks of eight pages and `log_blocks` log blocks.
fn logged(log_blocks: u32) -> (Spec, u64, u64) {
    let mut spec = striped(2, 1, 2 * KIB, 400_000_000);
    (spec.mapping.kind, spec.mapping.log_blocks) = (MappingKind::Block, log_blocks);
    let (block, page) = (spec.flash.clustered_block.0, spec.flash.clustered_page.0);
    assert_eq!(block / page, 8);
    (spec, block, page)
}

#[test]
fn merges_are_counted_as_they_must_be() {
    let (spec, block, page) = logged(1);
    let mut drive = Ssd::new(&spec, 1).unwrap();
    let mut write = |pages: &[(u64, u64)]| {
        let requests = pages
            .iter()
            .map(|&(b, p)| Request::new(1, Op::Write, b * block + p * page, page));
        run(&mut drive, 1, requests);
        drive.merges()
    };
    let whole = |b: u64| (0..8).map(move |p| (b, p)).collect::<Vec<_>>();
    let mut expected = MergeCounts {
        switch: 2,
        ..MergeCounts::default()
    };
    write(&whole(0));
    assert_eq!(write(&whole(1)), expected);
    // The first pages in order: when the log is needed, the other five pages are copied from the data block.
    write(&[(0, 0), (0, 1), (0, 2)]);
    (expected.partial, expected.moved_units) = (1, 5);
    assert_eq!(write(&[(1, 3)]), expected);
    // Out of order: all eight pages go to a new block. The following writes are in order, and their log becomes the data
    // block.
    (expected.full, expected.switch, expected.moved_units) = (1, 3, 13);
    assert_eq!(write(&whole(0)), expected);
    // Eight writes to one page fill the log; the ninth causes its merge.
    assert_eq!(write(&[(1, 0); 8]), expected);
    (expected.full, expected.moved_units) = (2, 21);
    assert_eq!(write(&[(1, 0)]), expected);
    // A block that was never written has no pages to move except the log's own.
    (expected.partial, expected.moved_units) = (2, 28);
    assert_eq!(write(&[(5, 1)]), expected);
    (expected.full, expected.moved_units) = (3, 29);
    assert_eq!(write(&[(0, 0)]), expected);
    drive.check().unwrap();
}

#[test]
fn as_many_logs_as_there_are_stay_open() {
    for logs in 1..5 {
        let (spec, block, page) = logged(logs);
        let mut drive = Ssd::new(&spec, 1).unwrap();
        let mut write = |b: u64, p: u64| {
            run(
                &mut drive,
                1,
                [Request::new(1, Op::Write, b * block + p * page, page)],
            );
            drive.merges().full
        };
        for round in 0..4 {
            for b in 0..u64::from(logs) {
                assert_eq!(write(b, 7 - round), 0);
            }
        }
        assert_eq!(write(7, 1), 1);
    }
}

#[test]
fn the_log_that_was_written_least_recently_is_given_up() {
    let (spec, block, page) = logged(2);
    let mut drive = Ssd::new(&spec, 1).unwrap();
    let writes = [(0, 0), (1, 3), (0, 1), (2, 1)].map(|(b, p)| b * block + p * page);
    run(
        &mut drive,
        1,
        writes.map(|at| Request::new(1, Op::Write, at, page)),
    );
    // Block 1's log is out of order; block 0's log, in order and opened first, would be a partial merge.
    let merges = drive.merges();
    assert_eq!((merges.full, merges.partial), (1, 0));
}

#[test]
fn write_amplification_of_uniform_writes_is_within_the_bound_of_greedy_collection() {
    for over in [7.0, 15.0, 28.0, 60.0] {
        let mut spec = independent(2, 2, 4 * KIB);
        spec.capacity = Bytes(spec.flash.clustered_block.0 * 4 * 64);
        spec.mapping.over_provisioning_percent = over;
        let mut drive = Ssd::new(&spec, 1).unwrap();
        let (g, pages) = (drive.geometry().clone(), spec.capacity.0 / (4 * KIB));
        let mut rng = Rng::new(3, 0);
        let mut writes = |drive: &mut Ssd, n: u64| {
            let requests =
                (0..n).map(|i| Request::new(i, Op::Write, rng.below(pages) * 4 * KIB, 4 * KIB));
            run(drive, 64, requests);
        };
        writes(&mut drive, pages * 4);
        let before = drive.counters();
        writes(&mut drive, pages * 2);
        let after = drive.counters();
        let host = after.host_sectors_written - before.host_sectors_written;
        let flash = after.flash_sectors_programmed - before.flash_sectors_programmed;
        let amplification = flash as f64 / host as f64;
        // The block with the fewest valid pages has at most as many as the mean of all sealed blocks. At most five blocks
        // of each group are not sealed, and the others hold all data.
        let sealed = f64::from((g.cblocks_per_group - 5) * g.groups * g.units_per_cblock);
        let bound = 1.0 / (1.0 - pages as f64 / sealed);
        assert!(
            amplification > 1.0 && amplification < bound,
            "{over} %: {amplification} {bound}"
        );
    }
}

#[test]
fn a_page_mapped_drive_keeps_at_most_twelve_bytes_for_a_physical_page() {
    for spec in [independent(4, 2, 4 * KIB), independent(1, 1, 16 * KIB)] {
        let mut spec = spec;
        spec.mapping.over_provisioning_percent = 7.0;
        spec.capacity = Bytes(spec.flash.clustered_block.0 * 4096);
        let mut drive = Ssd::new(&spec, 1).unwrap();
        let len = spec.flash.clustered_page.0;
        run(
            &mut drive,
            256,
            (0..20_000).map(|i| Request::new(i, Op::Write, i * len, len)),
        );
        let pages = u64::from(drive.geometry().physical_units());
        let bytes = drive.state_bytes() as u64;
        // The two maps alone take 4 bytes per logical and 4 per physical page.
        assert!(
            bytes > 7 * pages && bytes <= 12 * pages,
            "{bytes} bytes for {pages} pages"
        );
    }
}
