//! A log-structured file system: checkpoints and cleaning.

use crate::list::{SYNC, WRITE_32_KIB, asked, list_on, mount, system};
use crate::program::{DRIVE, Played, bytes, play, value};
use fathom_base::{Bytes, Rng, Time};
use fathom_block::Op;
use fathom_fs::{FileId, Format};
use fathom_platform::{Benchmark, Counter, Failed, Host, Machine, Script, Step, System};

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
