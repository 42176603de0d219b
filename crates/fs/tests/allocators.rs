//! What every allocator must hold, whatever the file operations: no block has two owners, none is lost, none is
//! allocated twice across a mount, and a full volume refuses.

use fathom_base::Rng;
use fathom_fs::alloc::{Allocator, Ext3, Ext4, Ext4Settings, GreedyLocal, GreedySpace};
use fathom_fs::ext::{ExtFormat, Version};
use fathom_fs::{FileId, FsError, Player, ROOT, Space, Volume};
use proptest::prelude::*;
use std::collections::BTreeSet;

type Make = fn(&Space) -> Box<dyn Allocator>;

const ALLOCATORS: [(&str, Make); 5] = [
    ("ext3", |_| Box::new(Ext3::default())),
    ("ext4", |_| Box::new(Ext4::new(Ext4Settings::default()))),
    ("greedy-space", |space| {
        Box::new(GreedySpace::new(space, 1024, 77))
    }),
    ("greedy-local", |space| {
        Box::new(GreedyLocal::new(space, 512, 0))
    }),
    ("greedy-space of one block", |space| {
        Box::new(GreedySpace::new(space, 1, 0))
    }),
];

/// Blocks of a volume of two and a half groups.
const BLOCKS: u64 = 81_920;

fn format(version: Version) -> ExtFormat {
    ExtFormat {
        version,
        journal_blocks: if version == Version::Ext2 { 0 } else { 1024 },
        ..ExtFormat::default()
    }
}

/// The blocks that are neither owned by a file nor free when a volume is new.
fn metadata(version: Version) -> BTreeSet<u64> {
    let volume = Volume::format(format(version), BLOCKS, ALLOCATORS[0].1).unwrap();
    let owned: BTreeSet<u64> = owned(&volume, &[ROOT]).into_iter().collect();
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
    fn new(version: Version, allocator: Make, delayed: bool, seed: u64) -> Self {
        let volume = Volume::format(format(version), BLOCKS, allocator).unwrap();
        Self {
            player: Player::new(volume, delayed),
            rng: Rng::new(seed, 0),
            directories: vec![ROOT],
            files: Vec::new(),
            metadata: metadata(version),
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
        let all: Vec<FileId> = volume.files().collect();
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

fn versions() -> impl Strategy<Value = Version> {
    prop_oneof![
        Just(Version::Ext2),
        Just(Version::Ext3),
        Just(Version::Ext4)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn no_block_has_two_owners_and_none_is_lost(
        version in versions(),
        (which, other) in (0..ALLOCATORS.len(), 0..ALLOCATORS.len()),
        delayed: bool,
        seed: u64,
    ) {
        let mut life = Life::new(version, ALLOCATORS[which].1, delayed, seed);
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

#[test]
fn a_full_volume_refuses_and_stays_as_it_was() {
    for (name, allocator) in ALLOCATORS {
        for delayed in [false, true] {
            let mut life = Life::new(Version::Ext4, allocator, delayed, 1);
            let file = life.player.create(ROOT, 4, 1).unwrap();
            let free = |life: &Life| {
                let volume = life.player.volume();
                volume.space().free() + volume.allocator().set_aside()
            };
            // A block for the data of the first file, if it has none yet, and one of 340 for extents.
            let pages = (free(&life) - 8) * 340 / 341;
            life.player.append(file, pages * 4096).unwrap();
            let bytes = life.player.volume().size(file);
            let refused = life.player.append(file, 400 * 4096);
            assert!(
                matches!(refused, Err(FsError::Full { .. })),
                "{name}: {refused:?}"
            );
            let refused = life.player.create(ROOT, 4, 400 * 4096);
            assert!(
                matches!(refused, Err(FsError::Full { .. })),
                "{name}: {refused:?}"
            );
            assert_eq!(life.player.volume().size(file), bytes);
            assert_eq!(life.player.volume().files().count(), 2);
            life.player.sync().unwrap();
            life.check();
            assert!(free(&life) < 400, "{name}");
        }
    }
}

#[test]
fn what_does_not_exist_is_an_error() {
    let mut player = Life::new(Version::Ext3, ALLOCATORS[0].1, false, 1).player;
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
    let small = Volume::format(ExtFormat::default(), 1000, ALLOCATORS[0].1);
    assert!(matches!(small, Err(FsError::TooSmall { blocks: 1000, .. })));
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
