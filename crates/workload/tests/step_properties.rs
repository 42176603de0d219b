//! Properties that hold for all steps and all accesses.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::{Bytes, Dur, Time};
use fathom_block::Access;
use fathom_block::Op;
use fathom_workload::step::{
    Align, Clip, Disk, First, PastEnd, ReadsOnly, RoundToPages, Rounding, ScaleTime, Shrink, Split,
    Step, TimeWindow, Wrap, WritesOnly, apply, plain,
};
use proptest::prelude::*;

/// End of the traces in these tests.
const SPAN: u64 = 1 << 30;
/// Length of the longest access.
const LONGEST: u64 = 1 << 16;

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![Just(Op::Read), Just(Op::Write), Just(Op::Trim)]
}

fn access() -> impl Strategy<Value = Access> {
    let place = (0..SPAN - LONGEST, 1..=LONGEST);
    (0u64..1 << 40, op(), place, 0u32..4).prop_map(|(at, op, (offset, len), disk)| Access {
        at: Time(at),
        op,
        offset,
        len,
        disk,
        process: disk * 7,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = |range: std::ops::Range<u64>| range.prop_map(Bytes);
    let rounding = prop_oneof![
        Just(Rounding::Cover),
        Just(Rounding::Closest),
        Just(Rounding::Up)
    ];
    let past_end = Just(PastEnd::Drop);
    prop_oneof![
        Just(Step::WritesOnly(WritesOnly {})),
        Just(Step::ReadsOnly(ReadsOnly {})),
        (0u64..60).prop_map(|accesses| Step::First(First { accesses })),
        (0u32..4).prop_map(|keep| Step::Disk(Disk { keep })),
        (0.0..10.0f64).prop_map(|factor| Step::ScaleTime(ScaleTime { factor })),
        (0u64..1 << 39, 1u64..1 << 39).prop_map(|(from, more)| Step::TimeWindow(TimeWindow {
            from: Dur(from),
            until: Dur(from + more),
        })),
        // Earlier steps move accesses, which lie below SPAN, by at most a page each.
        (bytes(1 << 20..2 << 30), bytes(1..9000)).prop_map(|(capacity, page)| Step::Shrink(
            Shrink {
                capacity,
                span: Some(Bytes(2 * SPAN)),
                page,
            }
        )),
        bytes(1 << 20..2 << 30).prop_map(|capacity| Step::Wrap(Wrap { capacity })),
        (bytes(1..9000), rounding)
            .prop_map(|(page, rounding)| Step::RoundToPages(RoundToPages { page, rounding })),
        bytes(1..9000).prop_map(|to| Step::Align(Align { to })),
        bytes(500..1 << 17).prop_map(|longest| Step::Split(Split { longest })),
        (bytes(1..2 << 30), past_end)
            .prop_map(|(capacity, past_end)| Step::Clip(Clip { capacity, past_end })),
    ]
}

fn one(step: Step, access: Access) -> Vec<Access> {
    apply(&[step], plain([access]))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

proptest! {
    /// Counters balance at the end and at any time before it, and each step passes on exactly what the next one
    /// receives.
    #[test]
    fn nothing_is_lost_in_silence(
        steps in prop::collection::vec(step(), 1..6),
        accesses in prop::collection::vec(access(), 0..80),
        stop in 0usize..80,
    ) {
        let mut shaped = apply(&steps, plain(accesses.iter().copied())).unwrap();
        let out = shaped.by_ref().take(stop).map(Result::unwrap).count();
        let counts: Vec<_> = shaped.counts().iter().map(|step| step.counts).collect();
        for step in &counts {
            prop_assert_eq!(step.entered + step.added, step.left + step.dropped);
            prop_assert!(step.changed <= step.left - step.added);
        }
        for pair in counts.windows(2) {
            prop_assert_eq!(pair[0].left, pair[1].entered);
        }
        prop_assert_eq!(counts.last().unwrap().left, out as u64);
        let ends_early = steps.iter().any(|step| matches!(step, Step::First(_)));
        if out < stop && !ends_early {
            prop_assert_eq!(counts[0].entered, accesses.len() as u64);
        }
    }

    #[test]
    fn shrinking_fits_aligns_and_keeps_order(
        (a, b) in (access(), access()),
        capacity in LONGEST..SPAN,
        page in prop_oneof![Just(1u64), Just(512), Just(4096), Just(16384), 1u64..9000],
    ) {
        let shrink = |access| {
            let step = Step::Shrink(Shrink { capacity: Bytes(capacity), span: Some(Bytes(SPAN)), page: Bytes(page) });
            one(step, access)[0]
        };
        let exact = |offset: u64| (u128::from(offset) * u128::from(capacity) / u128::from(SPAN)) as u64;
        for access in [a, b] {
            let shrunk = shrink(access);
            prop_assert!(shrunk.end() <= capacity);
            prop_assert_eq!(shrunk.offset % page, 0);
            prop_assert_eq!(Access { offset: access.offset, ..shrunk }, access);
            // Evenly: within a page of the exact place, unless it had to be moved to fit.
            let fits = exact(access.offset) + access.len <= capacity;
            prop_assert!(!fits || exact(access.offset) - shrunk.offset < page);
        }
        // The order is preserved among equal lengths, and among accesses that fit without being moved.
        let (low, mut high) = if a.offset <= b.offset { (a, b) } else { (b, a) };
        if exact(high.offset) + high.len > capacity {
            high.len = low.len;
        }
        prop_assert!(shrink(low).offset <= shrink(high).offset);
    }

    #[test]
    fn rounding_gives_whole_pages_and_covering_loses_no_byte(a in access(), page in 1u64..70_000) {
        for rounding in [Rounding::Cover, Rounding::Closest, Rounding::Up] {
            let out = one(Step::RoundToPages(RoundToPages { page: Bytes(page), rounding }), a);
            for rounded in &out {
                prop_assert_eq!((rounded.offset % page, rounded.len % page), (0, 0));
                prop_assert!(rounded.len >= page);
            }
            match (a.op, rounding) {
                (Op::Trim, _) => {
                    prop_assert!(out.iter().all(|t| t.offset >= a.offset && t.end() <= a.end()));
                }
                (_, Rounding::Cover) => {
                    prop_assert!(out[0].offset <= a.offset && out[0].end() >= a.end());
                    prop_assert!(a.offset - out[0].offset < page && out[0].end() - a.end() < page);
                }
                (_, Rounding::Closest) => {
                    // No multiple of the page, of at least one page, is closer.
                    let off = out[0].len.abs_diff(a.len);
                    prop_assert!(off <= page / 2 || out[0].len == page);
                }
                (_, Rounding::Up) => prop_assert!((a.len..a.len + page).contains(&out[0].len)),
            }
        }
    }

    /// The pieces of `split` and `wrap` together cover the access, byte for byte.
    #[test]
    fn pieces_are_the_whole(a in access(), longest in 1000u64..80_000, capacity in LONGEST..SPAN) {
        let mut at = a.offset;
        for piece in one(Step::Split(Split { longest: Bytes(longest) }), a) {
            prop_assert_eq!(piece.offset, at);
            prop_assert!((1..=longest).contains(&piece.len));
            at = piece.end();
        }
        prop_assert_eq!(at, a.end());
        let mut byte = a.offset;
        for piece in one(Step::Wrap(Wrap { capacity: Bytes(capacity) }), a) {
            prop_assert_eq!(piece.offset, byte % capacity);
            prop_assert!(piece.end() <= capacity);
            byte += piece.len;
        }
        prop_assert_eq!(byte, a.end());
    }
}
