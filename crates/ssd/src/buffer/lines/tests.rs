//! Tests of the order of age and of lines that are due.

use super::super::policy::{Elements, Shape};
use super::*;

fn lines(policy: WritePolicy, elements: u32) -> WriteLines {
    WriteLines::new(&LineSetup {
        policy,
        combine: true,
        capacity_sectors: 100,
        sectors_per_line: 8,
        shape: Shape {
            elements: Elements {
                stride: 1,
                count: elements,
                lanes: 1,
            },
            block_pages: 4,
        },
        clines: 1000,
    })
}

fn piece(cline: u32) -> Piece {
    Piece {
        cline,
        first: 0,
        sectors: 1,
        reserved: 0,
        owner: NONE,
    }
}

fn write(lines: &mut WriteLines, clines: &[u32], mark: u64) {
    for &cline in clines {
        lines.insert(piece(cline), mark);
    }
}

fn order(lines: &WriteLines) -> Vec<u32> {
    let ids = lines.links.iter(lines.age);
    ids.map(|id| lines.lines[id as usize].cline).collect()
}

/// Evicts up to `most` lines. Returns the clustered page of each, and whether it is only padding.
fn leave(lines: &mut WriteLines, mark: u64, most: usize) -> Vec<(u32, bool)> {
    let mut left = Vec::new();
    while left.len() < most
        && let Some(out) = lines.first_out(mark)
    {
        left.push((out.cline, out.line().is_none()));
        lines.leave(out);
    }
    left
}

#[test]
fn a_cache_moves_a_line_that_is_written_again_unless_it_is_due() {
    let mut lines = lines(WritePolicy::Lru, 1);
    write(&mut lines, &[1, 2, 3], 0);
    write(&mut lines, &[1], 0);
    assert_eq!(order(&lines), [2, 3, 1]);
    // All three lines are due for a flush. Lines that are written from now on come after them.
    let mark = lines.insertions();
    write(&mut lines, &[4, 2, 3], mark);
    assert_eq!(order(&lines), [2, 3, 1, 4]);
    for _ in 0..3 {
        assert!(lines.oldest_is_due(mark));
        leave(&mut lines, mark, 1);
    }
    assert!(!lines.oldest_is_due(mark) && !lines.is_empty());
}

#[test]
fn a_buffer_joins_the_newest_line_only() {
    let mut lines = lines(WritePolicy::Fifo, 1);
    write(&mut lines, &[1, 1, 2, 1], 0);
    assert_eq!(order(&lines), [1, 2, 1]);
    assert_eq!((lines.occupied(), lines.lines_of(1).count()), (3, 2));
}

#[test]
fn lines_that_are_due_leave_in_order_of_age_before_those_that_the_policy_chose() {
    let mut lines = lines(WritePolicy::Epo, 2);
    write(&mut lines, &[2, 4, 1, 3, 2], 0);
    // The tails of the queues of even and odd pages. Line 4 has left when the flush starts.
    assert_eq!(leave(&mut lines, 0, 1), [(4, false)]);
    let mark = lines.insertions();
    write(&mut lines, &[6], mark);
    let rest = [1, 3, 2, 6].map(|cline| (cline, false));
    assert_eq!(leave(&mut lines, mark, 9), rest);
    assert!(!lines.is_leaving());
}

#[test]
fn a_block_leaves_with_its_padding_though_its_lines_are_trimmed_meanwhile() {
    let mut lines = lines(WritePolicy::Bplru, 1);
    write(&mut lines, &[5, 7, 9], 0);
    assert_eq!(leave(&mut lines, 0, 1), [(4, true)]);
    lines.discard(7, 0, 8);
    assert!(lines.is_leaving());
    assert_eq!(leave(&mut lines, 0, 3), [(5, false), (6, true), (7, true)]);
    assert!(!lines.is_leaving());
    assert_eq!(order(&lines), [9]);
}
