//! Reads wait for the drive, and dirty pages are written once, in order and in time.

use crate::list::{Act, list, mount, read_all, system, times, write_mib};
use crate::program::{DRIVE, Drive, Played, bytes, play, play_and_look, value};
use fathom_base::{Bytes, Dur, Time};
use fathom_block::Op;
use fathom_block::program::{Done, Next, Program};
use fathom_fs::Format;
use fathom_platform::{Benchmark, Counter, Failed, Host, Machine, Script, Step, System};

#[test]
fn a_read_waits_and_what_is_in_memory_does_not() {
    let (mut machine, offset) = list(system(), 60 << 10, &[read_all, read_all]);
    let drive = Drive {
        latency: Dur::ms(1),
        depth: 8,
    };
    let played = play(&mut machine, drive);
    // 15 pages of 4096 bytes: first 16 KiB; at the mark in page 1, 32 KiB more; at page 4, the rest.
    let reads: Vec<(u64, u64)> = played
        .iter()
        .map(|p| ((p.access.offset - offset) >> 10, p.access.len >> 10))
        .collect();
    assert_eq!(reads, [(0, 16), (16, 32), (48, 12)]);
    assert!(played.iter().all(|p| p.tag.sync && p.tag.process == 0));
    // Pages 0 to 3 arrive at 1 ms. Page 1 requests pages 4 to 11, and page 4, which is being loaded, the rest.
    assert_eq!(times(&machine), [0.0, 0.002, 0.002]);
}

#[test]
fn elsewhere_only_what_is_asked_for_is_read() {
    let acts: &[Act] = &[|files, _, _| {
        Some(Step::Read {
            file: files[0],
            from: 40_000,
            len: 2_000,
            call: 2_000,
        })
    }];
    let (mut machine, offset) = list(system(), 1 << 20, acts);
    let played = play(&mut machine, DRIVE);
    assert_eq!(played.len(), 1);
    // Bytes 40,000 to 41,999 are in pages 9 and 10.
    assert_eq!(played[0].access.offset - offset, 9 * 4096);
    assert_eq!(bytes(&played, Op::Read), 8192);
}

#[test]
fn a_write_does_not_wait_and_is_committed_in_order() {
    let (mut machine, offset) = list(
        system(),
        0,
        &[write_mib, |_, _, _| Some(Step::Compute(Dur::ms(7_000)))],
    );
    assert_eq!(offset, 0);
    let played = play(&mut machine, DRIVE);
    let writes: Vec<&Played> = played.iter().filter(|p| p.access.op == Op::Write).collect();
    let flusher = 1;
    assert!(writes.iter().all(|p| p.actor == flusher && !p.tag.sync));
    // Its inode is read at once; the write took no time.
    assert_eq!(times(&machine)[1], 0.000_1);
    // 5 s after the first change: the data, then the journal, then the commit record, one after the other.
    let (direct, data, journal, record) = (writes[0], writes[1], writes[2], writes[3]);
    assert_eq!(
        (direct.asked, data.asked),
        (Time(5_000_000_000), Time(5_000_000_000))
    );
    // Twelve blocks, the indirect block, and the others.
    assert_eq!(direct.access.len, 12 * 4096);
    assert_eq!(data.access.len, 244 * 4096);
    assert_eq!(data.access.offset, direct.access.end() + 4096);
    assert_eq!(journal.asked, data.done);
    assert_eq!(record.asked, journal.done);
    assert_eq!(record.access.len, 4096);
    assert_eq!(record.access.offset, journal.access.end());
    // A descriptor of the journal, the inode's block, the bitmap, the group descriptor and the indirect block.
    assert_eq!(journal.access.len, 5 * 4096);
    // The metadata is written to its place after the end of the thread.
    assert!(writes[4..].iter().all(|p| p.asked >= Time(7_000_000_000)));
    assert_eq!(bytes(writes[4..].iter().copied(), Op::Write), 4 * 4096);
}

#[test]
fn metadata_goes_to_its_place_30_s_after_its_commit() {
    let (mut machine, _) = list(
        system(),
        0,
        &[write_mib, |_, _, _| Some(Step::Compute(Dur::ms(40_000)))],
    );
    let played = play(&mut machine, DRIVE);
    let last = played.last().unwrap();
    let early = played.iter().filter(|p| p.asked < Time(30_000_000_000));
    let committed = early.map(|p| p.done).max().unwrap();
    assert_eq!(last.asked, committed + Dur::ms(30_000));
}

#[test]
fn what_is_deleted_before_it_is_committed_is_never_written() {
    let delete: Act = |files, host, now| {
        host.delete(files[0], now);
        None
    };
    let (mut machine, _) = list(system(), 0, &[write_mib, delete]);
    let played = play(&mut machine, DRIVE);
    let counters = machine.counters();
    assert_eq!(value(&counters, "dropped-bytes"), f64::from(1 << 20));
    assert_eq!(value(&counters, "written-back-bytes"), 0.0);
    assert!(bytes(&played, Op::Write) < 64 << 10);
}

#[test]
fn blocks_come_back_once_the_deletion_is_committed() {
    let acts: &[Act] = &[
        |files, host, now| {
            host.delete(files[0], now);
            None
        },
        |_, _, _| Some(Step::Compute(Dur::ms(1))),
    ];
    let (mut machine, _) = list(system(), 1 << 20, acts);
    let free = machine.host().volume().space().free();
    let mut seen = Vec::new();
    play_and_look(&mut machine, DRIVE, |machine, _| {
        seen.push((
            machine.host().volume().space().free() - free,
            machine.counters(),
        ));
    });
    let freed = |after: bool| {
        let those = seen
            .iter()
            .filter(move |(_, c)| (value(c, "commits") > 0.0) == after);
        those.map(|(freed, _)| *freed).collect::<Vec<_>>()
    };
    assert!(!freed(false).is_empty() && freed(false).iter().all(|&blocks| blocks == 0));
    assert!(!freed(true).is_empty() && freed(true).iter().all(|&blocks| blocks == 257));
}

#[test]
fn a_part_of_a_page_that_is_on_the_drive_is_read_before_it_is_written() {
    let acts: &[Act] = &[|files, host, _| {
        let from = host.size(files[0]);
        Some(Step::write(files[0], from, 8192))
    }];
    let (mut machine, offset) = list(system(), 5_000, acts);
    let played = play(&mut machine, DRIVE);
    let data = played.iter().filter(|p| p.access.offset >= offset);
    let data: Vec<(Op, u64, u64)> = data
        .map(|p| (p.access.op, p.access.offset - offset, p.access.len))
        .filter(|&(_, offset, _)| offset < 1 << 20)
        .collect();
    // Bytes 5,000 to 13,191: a part of page 1, pages 2 and 3.
    assert_eq!(data, [(Op::Read, 4096, 4096), (Op::Write, 4096, 3 * 4096)]);
}

#[test]
fn who_writes_too_much_waits_for_the_drive() {
    let system = System {
        memory: Bytes::mib(8),
        dirty_percent: 25.0,
        longest_write: Bytes::kib(64),
        ..system()
    };
    let write: Act = |files, _, _| Some(Step::write(files[0], 0, 16 << 20));
    let (mut machine, _) = list(system, 0, &[write]);
    let slow = Drive {
        latency: Dur::ms(10),
        depth: 1,
    };
    let mut most = 0;
    play_and_look(&mut machine, slow, |machine, _| {
        most = most.max(machine.host().unwritten());
    });
    // 25 % of 8 MiB is 512 pages; a thread writes 32 before it checks the limit.
    assert!((256..=512 + 32).contains(&most), "{most}");
    let counters = machine.counters();
    assert!(value(&counters, "stalls") > 10.0);
    // The thread ends when all but slightly more than 2 MiB are on the drive, at 64 KiB per 10 ms.
    let least = f64::from((14 << 20) - (128 << 10)) / 65_536.0 * 0.01;
    assert!(times(&machine)[1] > least, "{:?}", times(&machine));
}

#[test]
fn writing_begins_above_the_background_share() {
    let write: Act = |files, _, _| Some(Step::write(files[0], 0, 4 << 20));
    let pause: Act = |_, _, _| Some(Step::Compute(Dur::ms(1_000)));
    let (mut machine, _) = list(system(), 0, &[write, pause]);
    let played = play(&mut machine, DRIVE);
    // 5 % of 64 MiB is 819 of the 1,024 pages: the excess is written at once, up to 1 MiB at a time. Before the indirect
    // block there are 12 pages.
    let early = played.iter().filter(|p| p.asked < Time(1_000_000_000));
    assert_eq!(bytes(early, Op::Write), (1 << 20) + 12 * 4096);
}

#[test]
fn a_completion_of_nothing_is_an_error() {
    let (mut machine, _) = list(system(), 1 << 20, &[read_all]);
    let Next::Request(request) = machine.next(0, Time::ZERO).unwrap() else {
        panic!("nothing was asked for");
    };
    let mut access = request.access;
    access.offset += 4096;
    let stray = machine.done(
        0,
        Done {
            access: &access,
            tag: request.tag,
            completed: Time(1),
            data: None,
        },
    );
    assert_eq!(
        stray,
        Err(Failed::Stray {
            offset: access.offset
        })
    );
}

#[test]
fn computing_takes_turns_on_the_processors() {
    struct Busy;
    impl Script for Busy {
        fn threads(&self) -> usize {
            5
        }
        fn step(&mut self, _: usize, _: &mut Host, now: Time) -> Result<Step, Failed> {
            Ok(match now {
                Time::ZERO => Step::Compute(Dur::ms(10)),
                _ => Step::End,
            })
        }
        fn counters(&self) -> Vec<Counter> {
            Vec::new()
        }
    }
    let mount = mount(Format::Ext3, Bytes::mib(64), 1);
    let mut machine = Machine::new(Busy, mount, system());
    assert_eq!(play(&mut machine, DRIVE), []);
    // Five times 10 ms on two processors.
    let ended = value(&machine.counters(), "everything-written");
    assert!((ended - 0.03).abs() < 1e-9, "{ended}");
}
