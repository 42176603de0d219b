//! Tests which block of a chain a unit goes into.

use super::*;
use crate::ftl::config;
use crate::spec::MappingKind;
use crate::spec::small::small;
use fathom_base::Bytes;

/// Data blocks of eight units, two per page.
fn ftl(partial_program: bool) -> ReplacementFtl {
    let mut spec = small(MappingKind::Replacement);
    spec.mapping.unit = Some(Bytes::kib(1));
    spec.mapping.partial_program = partial_program;
    let config = config::read::<ReplacementFtl>(&spec.mapping).unwrap();
    ReplacementFtl::new(config, &spec, &Geometry::new(&spec), None)
}

/// Writes single units. Returns the block of each; blocks are numbered in the order in which they were taken.
fn write(ftl: &mut ReplacementFtl, lpns: &[u32]) -> Vec<u32> {
    let mut places = Vec::new();
    for &lpn in lpns {
        let mut ops = Vec::new();
        ftl.write(&[(Lpn(lpn), 1)], &mut ops).unwrap();
        let at = ftl.lookup(Lpn(lpn)).0;
        assert_eq!(at % 8, lpn % 8, "it keeps its offset");
        places.push(at / 8);
        ftl.check().unwrap();
    }
    places
}

#[test]
fn a_unit_goes_into_the_first_block_where_its_offset_is_free() {
    let mut ftl = ftl(true);
    assert_eq!(write(&mut ftl, &[0, 1, 0, 0]), [0, 0, 1, 2]);
    // 1 has room in the second block, 5 in the first, and 0 in none.
    assert_eq!(write(&mut ftl, &[1, 5, 1, 5, 0]), [1, 0, 2, 1, 3]);
}

#[test]
fn a_page_that_cannot_be_programmed_again_is_used_up() {
    let mut ftl = ftl(false);
    assert_eq!(write(&mut ftl, &[0, 1, 2, 0]), [0, 1, 0, 2]);
    // 3 shares its page with 2. 4 and 5 are written together, with one program.
    assert_eq!(write(&mut ftl, &[3]), [1]);
    let mut ops = Vec::new();
    ftl.write(&[(Lpn(4), 2)], &mut ops).unwrap();
    let program = FlashOp::Program {
        at: Ppn(4),
        units: 2,
    };
    assert_eq!(ops, [program]);
}

#[test]
fn a_chain_has_four_replacement_blocks_at_most() {
    let mut ftl = ftl(true);
    write(&mut ftl, &[0, 1, 2]);
    assert_eq!(write(&mut ftl, &[0, 0, 0, 0]), [1, 2, 3, 4]);
    assert_eq!(ftl.merges(), MergeCounts::default());
    // The two units that are elsewhere are copied to the last block, which has room for them. The other blocks are
    // erased.
    let mut ops = Vec::new();
    ftl.write(&[(Lpn(0), 1)], &mut ops).unwrap();
    let copy = FlashOp::Copy {
        from: Ppn(1),
        to: Ppn(33),
        units: 1,
    };
    assert_eq!(ops[0], copy);
    let erased = |op: &&FlashOp| matches!(op, FlashOp::Erase { .. });
    assert_eq!(ops.iter().filter(erased).count(), 4);
    let merges = ftl.merges();
    assert_eq!((merges.partial, merges.moved_units), (1, 2));
    assert_eq!(write(&mut ftl, &[3, 1]), [4, 5]);
}
