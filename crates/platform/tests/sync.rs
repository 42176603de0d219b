//! Syncs and commits: which requests, in which order, and who waits.

use crate::list::{
    Act, SYNC, SYNC_ALL, WRITE_32_KIB, asked, list, list_on, mount, mounted, read_all, system,
    times, write_mib,
};
use crate::program::{DRIVE, Drive, play, play_and_look, value};
use fathom_base::{Bytes, Dur, Time};
use fathom_block::Op;
use fathom_block::program::{Next, Program};
use fathom_fs::{FileSystem, Format};
use fathom_platform::{Benchmark, Counter, Failed, Host, Machine, Script, Step, System};

#[test]
fn a_sync_of_a_file_waits_for_data_log_and_record() {
    let (mut machine, _) = list(system(), 0, &[WRITE_32_KIB, SYNC]);
    let played = play(&mut machine, DRIVE);
    // Data; a descriptor with the inode's block, the bitmap and the group descriptor; the record. After the end, the
    // three blocks at their places: descriptor, bitmap and table of inodes, which are no neighbours.
    let write = |blocks| (Op::Write, false, blocks);
    assert_eq!(
        asked(&played)[..3],
        [write(8), write(4), write(1)],
        "{:?}",
        asked(&played)
    );
    let record = played
        .iter()
        .filter(|p| p.access.op == Op::Write)
        .nth(2)
        .unwrap();
    let [_, written, synced] = times(&machine)[..] else {
        panic!("{:?}", times(&machine));
    };
    assert!(written < synced);
    assert_eq!(synced, record.done.since(Time::ZERO).as_secs_f64());
}

#[test]
fn with_barriers_the_cache_is_flushed_before_a_record_that_is_forced() {
    let system = System {
        barriers: true,
        ..system()
    };
    let mount = mount(Format::Ext4, Bytes::mib(64), 1);
    let (mut machine, _) = list_on(mount, system, 0, &[WRITE_32_KIB, SYNC]);
    let asked = asked(&play(&mut machine, DRIVE));
    let expected = [
        (Op::Write, false, 8),
        (Op::Write, false, 4),
        (Op::Flush, false, 0),
        (Op::Write, true, 1),
    ];
    assert_eq!(asked[..4], expected, "{asked:?}");
}

#[test]
fn a_sync_of_reiserfs_logs_the_leaf_the_bitmap_and_the_super_block() {
    let mount = mount(Format::Reiserfs, Bytes::mib(64), 1);
    let (mut machine, _) = list_on(mount, system(), 0, &[WRITE_32_KIB, SYNC]);
    let asked = asked(&play(&mut machine, DRIVE));
    // All items are in the one leaf. At their places the super block and the bitmap are neighbours.
    let write = |blocks| (Op::Write, false, blocks);
    let expected = [8, 4, 1, 2, 1].map(write);
    assert_eq!(asked, expected);
}

#[test]
fn a_sync_of_all_ends_with_metadata_at_its_place() {
    for format in Format::ALL {
        let mount = mount(format, Bytes::mib(64), 1);
        let (mut machine, _) = list_on(mount, system(), 0, &[write_mib, SYNC_ALL]);
        let played = play(&mut machine, DRIVE);
        let last = played.iter().map(|p| p.done).max().unwrap();
        let synced = times(&machine)[2];
        assert_eq!(synced, last.since(Time::ZERO).as_secs_f64(), "{format}");
        // ext2 has no log.
        let commits = if format == Format::Ext2 { 0.0 } else { 1.0 };
        assert_eq!(value(&machine.counters(), "commits"), commits);
    }
}

#[test]
fn delayed_data_is_written_after_30_s_and_has_no_block_before() {
    let pause: Act = |_, _, _| Some(Step::Compute(Dur::ms(40_000)));
    let mount = mount(Format::Ext4, Bytes::mib(64), 1);
    let free = mount.volume.space().free();
    let (mut machine, _) = list_on(mount, system(), 0, &[write_mib, pause]);
    let mut before = Vec::new();
    let played = play_and_look(&mut machine, DRIVE, |machine, now| {
        if now < Time(30_000_000_000) {
            before.push(machine.host().volume().space().free());
        }
    });
    assert!(!before.is_empty() && before.iter().all(|&blocks| blocks == free));
    let data = played.iter().find(|p| p.access.len == 1 << 20).unwrap();
    assert_eq!(data.asked, Time(30_000_000_000));
}

/// A thread that creates files: each changes a block of the directory, of inodes, a bitmap and a descriptor.
#[test]
fn who_fills_the_journal_waits_for_it() {
    struct Creator(u32);
    impl Script for Creator {
        fn threads(&self) -> usize {
            1
        }
        fn step(&mut self, _: usize, host: &mut Host, now: Time) -> Result<Step, Failed> {
            self.0 += 1;
            if self.0 > 40_000 {
                return Ok(Step::End);
            }
            let file = host.create(self.0 as usize % 40, now)?;
            Ok(Step::write(file, 0, 4096))
        }
        fn counters(&self) -> Vec<Counter> {
            Vec::new()
        }
    }
    // A transaction takes a quarter of the 1,024 blocks at most.
    let file_system = FileSystem {
        journal: Some(Bytes::mib(4)),
        ..FileSystem::default()
    };
    let mount = mounted(&file_system, Bytes::mib(400), 40);
    let mut machine = Machine::new(Creator(0), mount, system());
    let slow = Drive {
        latency: Dur::ms(1),
        depth: 4,
    };
    let played = play(&mut machine, slow);
    let counters = machine.counters();
    assert!(value(&counters, "waits-for-journal") > 0.0, "{counters:?}");
    // 40,000 inodes of 128 bytes alone are 1,250 blocks: more than the log has.
    assert!(value(&counters, "commits") >= 5.0, "{counters:?}");
    assert_eq!(machine.host().cache().dirty(), 0);
    // The super block of the journal names its tail when the log was short; it lies before the log.
    let log = machine.host().volume().journal()[0].start * 4096;
    assert!(played.iter().any(|p| p.access.offset == log));
}

/// A drive that takes 64 KiB at a time gets what another gets, in shorter requests.
#[test]
fn no_request_is_longer_than_the_drive_takes() {
    for format in Format::ALL {
        let [free, bounded] = [None, Some(Bytes::kib(64))].map(|most| {
            let mount = mount(format, Bytes::mib(64), 1);
            let (mut machine, _) =
                list_on(mount, system(), 1 << 20, &[read_all, write_mib, SYNC_ALL]);
            if let Some(most) = most {
                machine.bound_requests(most);
            }
            let played = play(&mut machine, DRIVE);
            let longest = played.iter().map(|p| p.access.len).max().unwrap();
            (played.iter().map(|p| p.access.len).sum::<u64>(), longest)
        });
        assert_eq!(free.0, bounded.0, "{format}");
        assert!(free.1 > 64 << 10, "{format}: {free:?}");
        assert!(bounded.1 <= 64 << 10, "{format}: {bounded:?}");
    }
}

#[test]
fn a_computation_after_the_end_of_time_ends_the_program() {
    let centuries: Act = |_, _, _| Some(Step::Compute(Dur(u64::MAX / 2)));
    let acts = [centuries, centuries, centuries];
    let (mut machine, _) = list(system(), 0, &acts);
    let mut now = Time::ZERO;
    let failed = loop {
        match machine.next(0, now) {
            Ok(Next::Wait(at) | Next::Watch(at)) => {
                assert!(at < Time::MAX, "the program ended");
                now = at;
            }
            Ok(_) => panic!("a request"),
            Err(failed) => break failed,
        }
    };
    assert_eq!(failed, Failed::EndOfTime);
}
