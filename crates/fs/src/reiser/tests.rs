//! The tree after random operations: order, room, balance, and what is in it.

use super::format::ReiserFormat;
use super::item::{Body, Item, ROOM};
use super::layout::ReiserFs;
use super::tree::{Contents, Index, Tree};
use crate::alloc::Reiser;
use crate::block::{FileId, ROOT};
use crate::layout::{Core, Layout};
use crate::space::Space;
use fathom_base::Rng;

fn volume(blocks: u64) -> (ReiserFs, Core) {
    let mut space = Space::new(blocks);
    let mut layout = ReiserFs::new(ReiserFormat::default(), &mut space).unwrap();
    let mut core = Core {
        fresh: Vec::new(),
        cleaned: Vec::new(),
        processor: 0,
        space,
        allocator: Box::new(Reiser::default()),
        files: vec![None, None],
        changed: Vec::new(),
        revoked: Vec::new(),
        writes: Vec::new(),
    };
    layout.make_root(&mut core).unwrap();
    (layout, core)
}

/// The leaves in order, with checks of the inner nodes.
fn leaves(tree: &Tree, node: Index, found: &mut Vec<Index>) {
    let Contents::Inner { keys, children } = &tree.node(node).contents else {
        found.push(node);
        return;
    };
    assert_eq!(keys.len() + 1, children.len());
    assert!(children.len() <= 170);
    assert!(node == tree.root || children.len() >= 85 || tree.node(node).parent == Some(tree.root));
    for &child in children {
        assert_eq!(tree.node(child).parent, Some(node));
    }
    for (key, &child) in keys.iter().zip(&children[1..]) {
        assert!(tree.first_key(child).unwrap() >= *key);
    }
    children
        .iter()
        .for_each(|&child| leaves(tree, child, found));
}

fn check(tree: &Tree) {
    let mut all = Vec::new();
    leaves(tree, tree.root, &mut all);
    let items = all.iter().flat_map(|&leaf| tree.items(leaf));
    let keys: Vec<_> = items.map(|item| item.key).collect();
    assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
    for &leaf in &all {
        let used: u32 = tree.items(leaf).iter().map(Item::bytes).sum();
        assert!(used == tree.used(leaf) && used <= ROOM);
        assert!(tree.items(leaf).iter().all(|item| item.units() > 0));
    }
    // The condition of the balance: no two neighbours fit into one leaf.
    for pair in all.windows(2) {
        let continues = tree.items(pair[1])[0].continues();
        let saved = if continues { 24 } else { 0 };
        assert!(tree.used(pair[0]) + tree.used(pair[1]) - saved > ROOM);
    }
}

/// Numbers of stat data, of pointers and of entries in the tree.
fn count(tree: &Tree) -> [usize; 3] {
    let mut all = Vec::new();
    leaves(tree, tree.root, &mut all);
    let mut found = [0; 3];
    for item in all.iter().flat_map(|&leaf| tree.items(leaf)) {
        match &item.body {
            Body::Stat => found[0] += 1,
            Body::Pointers(pointers) => found[1] += *pointers as usize,
            Body::Entries(entries) => found[2] += entries.len(),
            Body::Link => panic!("a link remained"),
        }
    }
    found
}

#[test]
fn the_tree_stays_ordered_balanced_and_complete() {
    for seed in 1..=6 {
        grow_and_shrink(seed);
    }
}

fn grow_and_shrink(seed: u64) {
    let (mut layout, mut core) = volume(1 << 18);
    let mut rng = Rng::new(seed, 0);
    let mut directories = vec![ROOT];
    let mut files: Vec<(FileId, u32)> = Vec::new();
    for step in 0..12_000 {
        let deletes = if step < 6000 { 2 } else { 6 };
        let index = rng.below(files.len().max(1) as u64) as usize;
        match rng.below(12) {
            0 if step < 6000 => {
                let name = 1 + rng.below(20) as usize;
                let made = layout.create(&mut core, ROOT, name, true);
                directories.push(made.unwrap());
            }
            choice if choice <= deletes && !files.is_empty() => {
                let (file, _) = files.swap_remove(index);
                let extents = layout.delete(&mut core, file).unwrap();
                core.release(&extents);
                layout.close();
                layout.committed(&mut core);
            }
            7..=8 if !files.is_empty() => {
                let (file, pages) = files[index];
                let more = 1 + rng.below(1500) as u32 / (1 + rng.below(30) as u32);
                layout.allocate(&mut core, file, pages, more).unwrap();
                files[index].1 += more;
            }
            _ => {
                let directory = directories[rng.below(directories.len() as u64) as usize];
                let name = 1 + rng.below(40) as usize;
                let made = layout.create(&mut core, directory, name, false);
                files.push((made.unwrap(), 0));
            }
        }
        if step % 100 == 0 {
            check(layout.tree());
        }
    }
    check(layout.tree());
    let made = files.len() + directories.len();
    let pointers: u32 = files.iter().map(|(_, pages)| pages).sum();
    // Each directory has two entries of its own; the root has no entry.
    let entries = made - 1 + 2 * directories.len();
    assert_eq!(count(layout.tree()), [made, pointers as usize, entries]);
    for (file, _) in files {
        layout.delete(&mut core, file).unwrap();
    }
    for directory in directories.into_iter().skip(1) {
        assert!(layout.is_empty(directory));
        layout.delete(&mut core, directory).unwrap();
    }
    assert_eq!(count(layout.tree()), [1, 0, 2]);
    assert_eq!(layout.tree().blocks().len(), 1);
}

/// A tree of three levels: nodes above leaves are joined while leaves are.
#[test]
fn the_tree_of_an_aged_volume_stays_ordered() {
    for seed in 1..=3 {
        let (mut layout, mut core) = volume(64 << 18);
        let mut rng = Rng::new(seed, 0);
        let made = (0..100).map(|_| layout.create(&mut core, ROOT, 8, true).unwrap());
        let directories: Vec<FileId> = made.collect();
        let most = core.space.free() / 2;
        let mut files = Vec::new();
        let mut used = 0;
        for round in 0..4 {
            while used < most {
                let &directory = rng.pick(&directories).unwrap();
                let pages = 1 + rng.below(4096) as u32;
                let file = layout.create(&mut core, directory, 8, false).unwrap();
                layout.allocate(&mut core, file, 0, pages).unwrap();
                files.push((file, pages));
                used += u64::from(pages);
            }
            while used > most / 5 {
                let index = rng.below(files.len() as u64) as usize;
                let (file, pages) = files.swap_remove(index);
                let freed = layout.delete(&mut core, file).unwrap();
                core.release(&freed);
                used -= u64::from(pages);
                if files.len().is_multiple_of(50) {
                    check(layout.tree());
                }
            }
            check(layout.tree());
            let pointers: u32 = files.iter().map(|(_, pages)| pages).sum();
            assert_eq!(count(layout.tree())[1], pointers as usize, "{round}");
            layout.close();
            layout.committed(&mut core);
        }
    }
}
