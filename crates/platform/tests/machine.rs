//! Tests of the machine under programs of file operations: reads wait for the drive, and dirty pages are written once,
//! in order and in time.
#![allow(
    clippy::unwrap_used,
    reason = "test helpers have nothing to hand an error to"
)]

mod program;

use fathom_base::{Bytes, Dur, Rng, Time};
use fathom_block::Op;
use fathom_block::program::{Done, Next, Program};
use fathom_fs::{FileId, FileSystem, Format, ROOT};
use fathom_platform::{Benchmark, Counter, Failed, Host, Machine, Mount, Script, Step, System};
use program::{DRIVE, Drive, Played, bytes, play, play_and_look, value};
use proptest::prelude::*;

type Act = fn(&[FileId], &mut Host, Time) -> Option<Step>;

/// One thread that performs a list of acts, with the files that it has created.
struct List {
    acts: Vec<Act>,
    next: usize,
    files: Vec<FileId>,
    times: Vec<Time>,
}

impl Script for List {
    fn threads(&self) -> usize {
        1
    }

    fn step(&mut self, _thread: usize, host: &mut Host, now: Time) -> Result<Step, Failed> {
        self.times.push(now);
        let act = self.acts.get(self.next);
        self.next += 1;
        let step = act.map(|act| act(&self.files, host, now));
        Ok(step.map_or(Step::End, |step| step.unwrap_or(Step::Compute(Dur::ZERO))))
    }

    fn counters(&self) -> Vec<Counter> {
        let seconds = |&time: &Time| Counter::seconds("at", time.since(Time::ZERO));
        self.times.iter().map(seconds).collect()
    }
}

/// A machine on which only the drive takes time.
fn system() -> System {
    System {
        memory: Bytes::mib(64),
        operation_time: Dur::ZERO,
        page_time: Dur::ZERO,
        access_times: false,
        ..System::default()
    }
}

/// An empty file system with directories.
fn mount(format: Format, len: Bytes, directories: usize) -> Mount {
    let file_system = FileSystem {
        format,
        ..FileSystem::default()
    };
    mounted(&file_system, len, directories)
}

fn mounted(file_system: &FileSystem, len: Bytes, directories: usize) -> Mount {
    let mut volume = file_system.volume(len).unwrap();
    let made = (0..directories).map(|_| volume.create(ROOT, 4, true).unwrap());
    let directories = made.collect();
    volume.forget_changes().unwrap();
    Mount {
        volume,
        start: Bytes(0),
        delayed: file_system.is_delayed(),
        directories,
    }
}

/// A file system with one file of `bytes` bytes, the first file of the acts.
fn list_on(mut mount: Mount, system: System, bytes: u64, acts: &[Act]) -> (Machine<List>, u64) {
    let volume = &mut mount.volume;
    let file = volume.create(mount.directories[0], 8, false).unwrap();
    volume.set_size(file, bytes).unwrap();
    volume
        .allocate(file, 0, bytes.div_ceil(4096) as u32)
        .unwrap();
    volume.open(file, false).unwrap();
    volume.forget_changes().unwrap();
    let offset = volume.find(file, 0).map_or(0, |(block, _)| block * 4096);
    let script = List {
        acts: acts.to_vec(),
        next: 0,
        files: vec![file],
        times: Vec::new(),
    };
    (Machine::new(script, mount, system), offset)
}

/// ext3 on 64 MiB.
fn list(system: System, bytes: u64, acts: &[Act]) -> (Machine<List>, u64) {
    list_on(mount(Format::Ext3, Bytes::mib(64), 1), system, bytes, acts)
}

fn times(machine: &Machine<List>) -> Vec<f64> {
    let counters = machine.counters();
    let at = counters.iter().filter(|c| c.name == "at");
    at.map(|c| c.value).collect()
}

fn read_all(files: &[FileId], host: &mut Host, _now: Time) -> Option<Step> {
    Some(Step::read(files[0], host.size(files[0]), 4096))
}

fn write_mib(files: &[FileId], _host: &mut Host, _now: Time) -> Option<Step> {
    Some(Step::write(files[0], 0, 1 << 20))
}

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

/// A random script: several threads, each with files of its own.
struct Random {
    rng: Rng,
    files: Vec<Vec<FileId>>,
    left: Vec<u32>,
}

impl Script for Random {
    fn threads(&self) -> usize {
        self.files.len()
    }

    fn step(&mut self, thread: usize, host: &mut Host, now: Time) -> Result<Step, Failed> {
        if self.left[thread] == 0 {
            return Ok(Step::End);
        }
        self.left[thread] -= 1;
        let rng = &mut self.rng;
        let (len, call) = (rng.below(400_000), 1 + rng.below(1 << 18));
        let Some(&file) = rng.pick(&self.files[thread]) else {
            self.files[thread].push(host.create(rng.below(3) as usize, now)?);
            return Ok(Step::Compute(Dur::us(10)));
        };
        let from = rng.below(host.size(file) + 1);
        Ok(match rng.below(12) {
            0..=3 => Step::Write { file, from, len },
            4 | 5 => Step::Read {
                file,
                from,
                len,
                call,
            },
            6 => Step::WriteThrough {
                file,
                from,
                len: len + 1,
                at_most: 3,
            },
            7 => Step::Settle { at_most: 0 },
            8 => Step::Compute(Dur::ms(rng.below(900))),
            9 | 10 => {
                self.files[thread].push(host.create(rng.below(3) as usize, now)?);
                Step::Compute(Dur::ZERO)
            }
            _ if host.writes_in_flight(thread) > 0 => Step::Settle { at_most: 0 },
            _ => {
                self.files[thread].retain(|&other| other != file);
                host.delete(file, now);
                Step::Compute(Dur::ZERO)
            }
        })
    }

    fn counters(&self) -> Vec<Counter> {
        Vec::new()
    }
}

fn random(seed: u64, memory_mib: u64, threads: usize) -> Machine<Random> {
    let format = Format::ALL[(seed % Format::ALL.len() as u64) as usize];
    let script = Random {
        rng: Rng::new(seed, 0),
        files: vec![Vec::new(); threads],
        left: vec![60; threads],
    };
    let system = System {
        memory: Bytes::mib(memory_mib),
        access_times: seed.is_multiple_of(2),
        window: 1 + (seed % 40) as u32,
        page_time: Dur::us(1),
        ..System::default()
    };
    Machine::new(script, mount(format, Bytes::mib(400), 3), system)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Every dirtied page is written once or dropped with its file, and the drive sees exactly the counted bytes.
    #[test]
    fn every_dirty_page_is_written_once_or_dropped(
        seed: u64, memory_mib in 8u64..64, threads in 1usize..6, depth in 1usize..64,
    ) {
        let mut machine = random(seed, memory_mib, threads);
        let drive = Drive { latency: Dur::us(300), depth };
        let played = play(&mut machine, drive);
        let counters = machine.counters();
        let count = |name| value(&counters, name) as u64;
        prop_assert_eq!(machine.host().cache().dirty(), 0);
        // A write to the drive also cleans the dirty pages that it covers.
        let (dirtied, back) = (count("dirtied-bytes"), count("written-back-bytes"));
        let (dropped, taken) = (count("dropped-bytes"), count("taken-along-bytes"));
        prop_assert_eq!(dirtied, back + dropped + taken);
        let of = |flusher: bool| {
            let those = played.iter().filter(move |p| p.actor <= threads);
            let those = those.filter(move |p| (p.actor == threads) == flusher);
            bytes(those, Op::Write)
        };
        prop_assert_eq!(of(false), count("written-through-bytes"));
        let journal = of(true) - back - count("metadata-written-bytes");
        // A commit has descriptors, a record, and maybe revoke records and the super block of the journal.
        let (logged, commits) = (count("journal-metadata-bytes"), count("commits"));
        if machine.host().volume().moves() {
            // A checkpoint is logged as a whole, but for its last block.
            prop_assert_eq!(journal, logged + 4096 * commits);
        } else {
            prop_assert!(journal >= logged + 2 * 4096 * commits);
            prop_assert!(journal <= logged + logged / 200 + 4 * 4096 * commits);
        }
        prop_assert_eq!(bytes(&played, Op::Read), count("cache-read-bytes") + count("cleaned-bytes"));
        prop_assert!(played.iter().all(|p| p.tag.sync == (p.actor < threads)));
    }

    #[test]
    fn the_same_seed_asks_for_the_same(seed: u64) {
        let run = |seed| play(&mut random(seed, 16, 3), DRIVE);
        prop_assert_eq!(run(seed), run(seed));
        prop_assert_ne!(run(seed), run(seed ^ 2));
    }
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

/// What a machine asked for, in order: the operation, whether it is forced to the medium, the blocks.
fn asked(played: &[Played]) -> Vec<(Op, bool, u64)> {
    let mut played = played.to_vec();
    played.sort_by_key(|p| p.asked);
    let of = |p: &Played| (p.access.op, p.tag.fua, p.access.len / 4096);
    played
        .iter()
        .filter(|p| p.access.op != Op::Read)
        .map(of)
        .collect()
}

const SYNC: Act = |files, _, _| Some(Step::Sync { file: files[0] });
const SYNC_ALL: Act = |_, _, _| Some(Step::SyncAll);
const WRITE_32_KIB: Act = |files, _, _| Some(Step::write(files[0], 0, 32 << 10));

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
fn a_sync_of_a_log_structured_file_system_is_a_checkpoint() {
    let system = System {
        barriers: true,
        ..system()
    };
    let mount = mount(Format::F2fs, Bytes::mib(200), 1);
    let (mut machine, offset) = list_on(mount, system, 4096, &[WRITE_32_KIB, SYNC]);
    let played = play(&mut machine, DRIVE);
    // Eight pages, the first of which moves, the inode, a block of segment information and one of node addresses, the
    // checkpoint and its last block. Nothing is left to do then.
    let write = |blocks| (Op::Write, false, blocks);
    let mut expected = [8, 1, 1, 1, 4].map(write).to_vec();
    expected.extend([(Op::Flush, false, 0), (Op::Write, true, 1)]);
    assert_eq!(asked(&played), expected);
    let data = played.iter().find(|p| p.access.op == Op::Write).unwrap();
    assert_eq!(data.access.offset, offset + 4096);
}

/// Rewrites random pages of 140 MiB on 200 MiB, with a sync now and then.
#[derive(Debug)]
struct Rewrite {
    rng: Rng,
    file: FileId,
    left: u32,
}

impl Script for Rewrite {
    fn threads(&self) -> usize {
        1
    }

    fn step(&mut self, _: usize, _: &mut Host, _: Time) -> Result<Step, Failed> {
        self.left -= 1;
        Ok(match self.left {
            0 => Step::End,
            left if left.is_multiple_of(5000) => Step::SyncAll,
            _ => Step::write(self.file, self.rng.below(35_840) * 4096, 4096),
        })
    }

    fn counters(&self) -> Vec<Counter> {
        Vec::new()
    }
}

#[test]
fn cleaning_reads_what_it_moves_and_nothing_is_lost() {
    let mut mount = mount(Format::F2fs, Bytes::mib(200), 1);
    let volume = &mut mount.volume;
    let file = volume.create(mount.directories[0], 8, false).unwrap();
    volume.set_size(file, 140 << 20).unwrap();
    volume.allocate(file, 0, 35_840).unwrap();
    volume.forget_changes().unwrap();
    let (rng, left) = (Rng::new(3, 0), 60_000);
    let script = Rewrite { rng, file, left };
    let mut machine = Machine::new(script, mount, system());
    let played = play(&mut machine, DRIVE);
    let cleaner: Vec<&Played> = played.iter().filter(|p| p.actor == 2).collect();
    let read = bytes(cleaner.iter().copied(), Op::Read);
    let cleaned = value(&machine.counters(), "cleaned-bytes");
    assert!(read > 0);
    assert_eq!(read as f64, cleaned);
    // What is moved is written again, with the nodes that say where.
    assert!(bytes(cleaner.iter().copied(), Op::Write) > read / 2);
    // Each of these two kinds waits for the other.
    for pair in cleaner.windows(2) {
        assert!(pair[0].access.op == pair[1].access.op || pair[0].done <= pair[1].asked);
    }
    let volume = machine.host().volume();
    let blocks: std::collections::BTreeSet<u64> = (0..35_840)
        .map(|page| volume.find(file, page).unwrap().0)
        .collect();
    assert_eq!(blocks.len(), 35_840);
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
/// A block that changes again while it is on the list of what is written stays there.
#[test]
fn without_a_journal_all_metadata_is_written_too() {
    for seed in 0..300 {
        let mut machine = random(3 * seed, 8 + seed % 40, 1 + (seed % 5) as usize);
        let drive = Drive {
            latency: Dur::us(300),
            depth: 14,
        };
        play(&mut machine, drive);
        assert_eq!(machine.host().cache().dirty(), 0, "{seed}");
    }
}
