//! The offsets of the declared structures against those of the header of this machine.

use super::*;
use std::mem::offset_of;
use std::process::Command;

/// Prints the offsets that [`ours`] lists, in its order.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stddef.h>
#include <ext2fs/ext2fs.h>
#define F(f) printf("%zu\n", offsetof(struct struct_ext2_filsys, f))
#define C(f) printf("%zu\n", offsetof(struct struct_io_channel, f))
#define M(f) printf("%zu\n", offsetof(struct struct_io_manager, f))
int main(void) {
  F(io); F(flags); F(super); F(group_desc_count); F(inode_map); F(block_map); F(now); F(priv_data);
  F(get_alloc_block2); F(block_alloc_stats);
  C(manager); C(block_size); C(private_data); C(align); printf("%zu\n", sizeof(struct struct_io_channel));
  M(open); M(flush); M(read_blk64); M(zeroout); printf("%zu\n", sizeof(struct struct_io_manager));
  printf("%zu\n", sizeof(struct ext2_super_block));
  printf("%zu\n", offsetof(struct ext2fs_extent, e_len));
  printf("%zu\n", offsetof(struct blk_alloc_ctx, lblk));
  printf("%zu\n", offsetof(struct ext2_dir_entry, name));
  return 0;
}
"#;

fn ours() -> Vec<usize> {
    vec![
        offset_of!(Filsys, io),
        offset_of!(Filsys, flags),
        offset_of!(Filsys, superblock),
        offset_of!(Filsys, group_desc_count),
        offset_of!(Filsys, inode_map),
        offset_of!(Filsys, block_map),
        offset_of!(Filsys, now),
        offset_of!(Filsys, priv_data),
        offset_of!(Filsys, get_alloc_block2),
        offset_of!(Filsys, block_alloc_stats),
        offset_of!(Channel, manager),
        offset_of!(Channel, block_size),
        offset_of!(Channel, private_data),
        offset_of!(Channel, align),
        size_of::<Channel>(),
        offset_of!(Manager, open),
        offset_of!(Manager, flush),
        offset_of!(Manager, read_blk64),
        offset_of!(Manager, zeroout),
        size_of::<Manager>(),
        size_of::<SuperBlock>(),
        offset_of!(RawExtent, len),
        offset_of!(AllocContext, page),
        offset_of!(DirEntry, name),
    ]
}

#[test]
#[allow(clippy::print_stderr, reason = "a test says what it skips")]
fn the_layouts_are_those_of_the_header() {
    let dir = tempfile::tempdir().unwrap();
    let (source, program) = (dir.path().join("a.c"), dir.path().join("a"));
    std::fs::write(&source, PROGRAM).unwrap();
    let compiled = Command::new("cc")
        .arg("-o")
        .arg(&program)
        .arg(&source)
        .output();
    match compiled {
        Ok(output) if output.status.success() => {}
        other => {
            eprintln!("skipped: no C compiler with the header of libext2fs ({other:?})");
            return;
        }
    }
    let output = Command::new(&program).output().unwrap();
    let theirs: Vec<usize> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| line.parse().unwrap())
        .collect();
    assert_eq!(ours(), theirs);
}
