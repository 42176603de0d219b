//! Random programs: what they write arrives once, and the same seed asks for the same.

use crate::list::mount;
use crate::program::{DRIVE, Drive, bytes, play, value};
use fathom_base::{Bytes, Dur, Rng, Time};
use fathom_block::Op;
use fathom_fs::{FileId, Format};
use fathom_platform::{Benchmark, Counter, Failed, Host, Machine, Script, Step, System};
use proptest::prelude::*;

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

/// The format of a random program, each one for some seeds.
fn any(seed: u64) -> Format {
    Format::ALL[(seed % Format::ALL.len() as u64) as usize]
}

fn random(format: Format, seed: u64, memory_mib: u64, threads: usize) -> Machine<Random> {
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
        let mut machine = random(any(seed), seed, memory_mib, threads);
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
        let run = |seed| play(&mut random(any(seed), seed, 16, 3), DRIVE);
        prop_assert_eq!(run(seed), run(seed));
        prop_assert_ne!(run(seed), run(seed ^ 2));
    }
}

/// A block that changes again while it is on the list of what is written stays there.
#[test]
fn without_a_journal_all_metadata_is_written_too() {
    for seed in 0..300 {
        let mut machine = random(
            Format::Ext2,
            3 * seed,
            8 + seed % 40,
            1 + (seed % 5) as usize,
        );
        let drive = Drive {
            latency: Dur::us(300),
            depth: 14,
        };
        play(&mut machine, drive);
        assert_eq!(machine.host().cache().dirty(), 0, "{seed}");
    }
}
