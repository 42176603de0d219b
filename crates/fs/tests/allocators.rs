//! What every allocator must hold, whatever the file operations: no block has two owners, none is lost, none is
//! allocated twice across a mount, and a full volume refuses.

use fathom_base::Rng;
use fathom_fs::alloc::{
    Allocator, Ext3, Ext4, Ext4Settings, GreedyData, GreedyLocal, GreedySpace, ReclaimUnits, Reiser,
};
use fathom_fs::ext::{ExtFormat, Version};
use fathom_fs::log::LogFormat;
use fathom_fs::reiser::ReiserFormat;
use fathom_fs::{FileId, Formatting, FsError, METADATA, Player, ROOT, Space, Volume};
use proptest::prelude::*;
use std::collections::BTreeSet;

type Make = fn(&Space) -> Box<dyn Allocator>;

const ALLOCATORS: [(&str, Make); 8] = [
    ("ext3", |_| Box::new(Ext3::default())),
    ("ext4", |_| Box::new(Ext4::new(Ext4Settings::default()))),
    ("greedy-space", |space| {
        Box::new(GreedySpace::new(space, 1024, 77))
    }),
    ("greedy-data", |space| {
        Box::new(GreedyData::new(space, 1024, 77))
    }),
    ("greedy-local", |space| {
        Box::new(GreedyLocal::new(space, 512, 0))
    }),
    ("reiser", |_| Box::new(Reiser::default())),
    ("reclaim units", |space| {
        Box::new(ReclaimUnits::new(space, 2048, 5, 4))
    }),
    ("greedy-space of one block", |space| {
        Box::new(GreedySpace::new(space, 1, 0))
    }),
];

/// Blocks of a volume of two and a half groups.
const BLOCKS: u64 = 81_920;

/// Every format.
fn formats() -> Vec<Formatting> {
    let ext = |version| {
        Formatting::Ext(ExtFormat {
            version,
            journal_blocks: if version == Version::Ext2 { 0 } else { 1024 },
            ..ExtFormat::default()
        })
    };
    let journal_blocks = 1024;
    vec![
        ext(Version::Ext2),
        ext(Version::Ext3),
        ext(Version::Ext4),
        Formatting::Reiser(ReiserFormat { journal_blocks }),
        Formatting::Log(LogFormat::default()),
    ]
}

/// The blocks that are neither allocated nor free when a volume is new.
fn metadata(format: Formatting) -> BTreeSet<u64> {
    let volume = Volume::format(format, BLOCKS, ALLOCATORS[0].1).unwrap();
    let owned: BTreeSet<u64> = owned(&volume, &[METADATA, ROOT]).into_iter().collect();
    let used = (0..BLOCKS).filter(|&block| !volume.space().is_free(block));
    used.filter(|block| !owned.contains(block)).collect()
}

/// The blocks of files, data and mapping.
fn owned(volume: &Volume, files: &[FileId]) -> Vec<u64> {
    let extents = files.iter().flat_map(|&file| volume.blocks(file));
    let mut blocks: Vec<u64> = extents
        .flat_map(|extent| extent.start..extent.end())
        .collect();
    blocks.sort_unstable();
    blocks
}

/// A random life of a volume, with its files.
struct Life {
    player: Player,
    rng: Rng,
    directories: Vec<FileId>,
    files: Vec<FileId>,
    metadata: BTreeSet<u64>,
}

impl Life {
    fn new(format: Formatting, allocator: Make, delayed: bool, seed: u64) -> Self {
        let volume = Volume::format(format, BLOCKS, allocator).unwrap();
        Self {
            player: Player::new(volume, delayed),
            rng: Rng::new(seed, 0),
            directories: vec![ROOT],
            files: Vec::new(),
            metadata: metadata(format),
        }
    }

    fn any(&mut self) -> Option<usize> {
        let files = self.files.len() as u64;
        (files > 0).then(|| self.rng.below(files) as usize)
    }

    fn step(&mut self) -> Result<(), FsError> {
        // Up to 40 MiB, of 300: some files need indirect blocks, and the volume becomes full.
        let bytes = 1 << self.rng.below(26);
        match self.rng.below(12) {
            0 => self.directories.push(self.player.make_directory(7)?),
            1..=5 => {
                let index = self.rng.below(self.directories.len() as u64) as usize;
                let name = 1 + self.rng.below(255) as usize;
                let file = self.player.create(self.directories[index], name, bytes)?;
                self.files.push(file);
            }
            6..=8 => {
                if let Some(index) = self.any() {
                    self.player.append(self.files[index], bytes)?;
                }
            }
            9..=10 => {
                if let Some(index) = self.any() {
                    self.player.delete(self.files.swap_remove(index))?;
                }
            }
            _ => {
                self.player.sync()?;
            }
        }
        Ok(())
    }

    /// Checks the state after a sync: nothing is waiting to be freed.
    fn check(&self) {
        let volume = self.player.volume();
        let all: Vec<FileId> = volume.files().chain([METADATA]).collect();
        let owned = owned(volume, &all);
        assert!(
            owned.windows(2).all(|pair| pair[0] < pair[1]),
            "a block has two owners"
        );
        for &block in &owned {
            assert!(
                !volume.space().is_free(block),
                "block {block} is owned and free"
            );
            assert!(!self.metadata.contains(&block), "block {block} is metadata");
        }
        let used = owned.len() + self.metadata.len();
        let free = volume.space().free() + volume.allocator().set_aside();
        assert_eq!(used as u64 + free, BLOCKS, "blocks were lost or made");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn no_block_has_two_owners_and_none_is_lost(
        format in proptest::sample::select(formats()),
        (which, other) in (0..ALLOCATORS.len(), 0..ALLOCATORS.len()),
        delayed: bool,
        seed: u64,
    ) {
        let mut life = Life::new(format, ALLOCATORS[which].1, delayed, seed);
        for round in 0..6 {
            for _ in 0..60 {
                // A full volume refuses; what was written before remains.
                match life.step() {
                    Ok(()) | Err(FsError::Full { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            life.player.sync().unwrap();
            life.check();
            if round == 3 {
                life.player.mount(ALLOCATORS[other].1);
                prop_assert_eq!(life.player.volume().allocator().set_aside(), 0);
                life.check();
            }
        }
    }
}

/// Files that all together are longer than the volume: the last ones are refused, and nothing of them remains.
#[test]
fn a_full_volume_refuses_and_stays_as_it_was() {
    let variants = formats()
        .into_iter()
        .flat_map(|format| ALLOCATORS.map(|(name, make)| (format, name, make)));
    for (format, name, allocator) in variants {
        for delayed in [false, true] {
            let mut life = Life::new(format, allocator, delayed, 1);
            let free = |life: &Life| {
                let volume = life.player.volume();
                volume.space().free() + volume.allocator().set_aside()
            };
            let mut files = vec![life.player.create(ROOT, 4, 1).unwrap()];
            // Half of what is free, and again, until nothing more goes in.
            let mut pages = free(&life) / 2;
            while pages > 0 {
                let count = life.player.volume().files().count();
                let appended = life.player.append(files[0], pages * 4096);
                let bytes = life.player.volume().size(files[0]);
                match life.player.create(ROOT, 4, pages * 4096) {
                    Ok(file) => files.push(file),
                    Err(error) => {
                        assert!(matches!(error, FsError::Full { .. }), "{name}: {error}");
                        assert_eq!(life.player.volume().files().count(), count);
                    }
                }
                if let Err(error) = appended {
                    assert!(matches!(error, FsError::Full { .. }), "{name}: {error}");
                    assert_eq!(life.player.volume().size(files[0]), bytes);
                }
                pages /= 2;
            }
            life.player.sync().unwrap();
            life.check();
            // A log-structured format keeps sections for cleaning.
            let most = if life.player.volume().moves() {
                BLOCKS / 5
            } else {
                BLOCKS / 20
            };
            assert!(free(&life) < most, "{name}: {}", free(&life));
            for file in files {
                life.player.delete(file).unwrap();
            }
            life.player.sync().unwrap();
            life.check();
        }
    }
}

/// Small files in ten directories, half of which are deleted: what is free is then in pieces, counted from the bitmap.
#[test]
fn free_pieces_are_those_between_the_blocks_in_use() {
    for format in formats() {
        for (name, allocator) in ALLOCATORS {
            let mut life = Life::new(format, allocator, false, 1);
            let files: Vec<FileId> = (0..400)
                .map(|index| life.player.create(ROOT, 4, 4096 * (1 + index % 5)).unwrap())
                .collect();
            life.player.sync().unwrap();
            for pair in files.chunks(2) {
                life.player.delete(pair[0]).unwrap();
            }
            life.player.sync().unwrap();
            let volume = life.player.volume();
            let free = |block: u64| block < BLOCKS && volume.space().is_free(block);
            let begins =
                (0..BLOCKS).filter(|&block| free(block) && (block == 0 || !free(block - 1)));
            assert_eq!(volume.space().free_runs(), begins.count() as u64, "{name}");
            let kept: Vec<FileId> = files.iter().skip(1).step_by(2).copied().collect();
            let pieces: usize = kept.iter().map(|&file| volume.pieces(file)).sum();
            assert!(pieces >= kept.len(), "{name}");
            life.check();
        }
    }
}

#[test]
fn what_does_not_exist_is_an_error() {
    let mut player = Life::new(formats()[1], ALLOCATORS[0].1, false, 1).player;
    let missing = FileId(99);
    assert_eq!(player.append(missing, 1), Err(FsError::Missing(missing)));
    assert_eq!(player.delete(missing), Err(FsError::Missing(missing)));
    assert_eq!(player.delete(ROOT), Err(FsError::NotEmpty(ROOT)));
    assert_eq!(player.create(missing, 3, 1), Err(FsError::Missing(missing)));
    assert_eq!(player.create(ROOT, 256, 1), Err(FsError::NameLength(256)));
    let file = player.create(ROOT, 3, 1).unwrap();
    let directory = false;
    assert_eq!(
        player.create(file, 3, 1),
        Err(FsError::Kind { file, directory })
    );
    let directory = player.make_directory(3).unwrap();
    player.create(directory, 3, 1).unwrap();
    assert_eq!(player.delete(directory), Err(FsError::NotEmpty(directory)));
    for format in formats() {
        let small = Volume::format(format, 1000, ALLOCATORS[0].1);
        assert!(matches!(small, Err(FsError::TooSmall { blocks: 1000, .. })));
    }
}

#[test]
fn greedy_space_needs_the_memory_that_the_paper_states() {
    // Table I: 32 GB in logical blocks of 4 MB, 64 GB in 8 MB, 64 GB in 2 MB.
    for (bytes, logical, kib) in [(32, 4, 288), (64, 8, 288), (64, 2, 1152)] {
        let entries = (bytes << 30) / (logical << 20);
        let paper = entries * fathom_fs::alloc::PAPER_ENTRY_BYTES;
        assert_eq!(paper, kib << 10);
        let space = Space::new((bytes << 30) / 4096);
        let greedy = GreedySpace::new(&space, (logical << 20) / 4096, 0);
        assert_eq!(greedy.logical_blocks() as u64, entries);
        assert!(greedy.memory_bytes() < paper);
    }
}

/// Small files of one processor follow each other in its pool; those of another lie in another pool.
#[test]
fn each_processor_has_a_pool_for_small_files() {
    let mut volume = Volume::format(formats()[2], BLOCKS, |_| {
        Box::new(Ext4::new(Ext4Settings::default()))
    })
    .unwrap();
    volume.runs_on(4);
    let starts: Vec<u64> = [0, 2, 0, 2]
        .into_iter()
        .map(|processor| {
            volume.on_processor(processor);
            let file = volume.create(ROOT, 8, false).unwrap();
            volume.set_size(file, 4096).unwrap();
            volume.allocate(file, 0, 1).unwrap();
            volume.blocks(file)[0].start
        })
        .collect();
    assert_eq!(starts[2], starts[0] + 1, "{starts:?}");
    assert_eq!(starts[3], starts[1] + 1, "{starts:?}");
    assert!(starts[0].abs_diff(starts[1]) >= 512, "{starts:?}");
}
