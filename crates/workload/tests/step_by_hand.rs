//! Tests of each step with accesses small enough to calculate by hand.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::registry::{Key, Unset};
use fathom_base::{Bytes, Time};
use fathom_block::Access;
use fathom_block::Op;
use fathom_workload::step::{
    Align, Arrival, Concatenate, Counts, Disk, First, Problem, ReadsOnly, RoundToPages, Rounding,
    STEPS, ScaleTime, ShapeError, Shrink, Span, Step, StepError, WritesOnly, apply, plain, resolve,
};

fn access(at: u64, op: Op, offset: u64, len: u64, disk: u32) -> Access {
    Access {
        at: Time(at),
        op,
        offset,
        len,
        disk,
        process: 0,
    }
}

fn step(text: &str) -> Step {
    text.parse().unwrap()
}

/// Makes a step that places disks, given with their spans.
fn concatenate(disks: &[(u32, u64)], page: u64) -> Step {
    let span = |&(disk, span): &(u32, u64)| Span {
        disk,
        span: Bytes(span),
    };
    Step::Concatenate(Concatenate {
        disks: Some(disks.iter().map(span).collect()),
        page: Bytes(page),
    })
}

fn write(offset: u64, len: u64) -> Access {
    access(0, Op::Write, offset, len, 0)
}

/// Returns the resulting accesses and the counters of the last step.
fn run(steps: &[Step], accesses: &[Access]) -> (Vec<Access>, Counts) {
    let mut shaped = apply(steps, plain(accesses.iter().copied())).unwrap();
    let out = shaped.by_ref().map(Result::unwrap).collect();
    (out, shaped.counts().last().unwrap().counts)
}

fn fails(step: Step, access: Access) -> StepError {
    let last = apply(&[step], plain([access])).unwrap().next().unwrap();
    match last {
        Err(ShapeError::Step(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn places(accesses: &[Access]) -> Vec<(u64, u64)> {
    accesses.iter().map(|a| (a.offset, a.len)).collect()
}

const FLUSH: Access = Access {
    at: Time(0),
    op: Op::Flush,
    offset: 0,
    len: 0,
    disk: 9,
    process: 0,
};

#[test]
fn writes_only_and_reads_only_keep_their_operation_and_count_the_rest() {
    let all = [
        write(0, 512),
        access(1, Op::Read, 0, 512, 0),
        FLUSH,
        access(2, Op::Trim, 0, 512, 0),
        write(512, 512),
    ];
    let (out, counts) = run(&[Step::WritesOnly(WritesOnly {})], &all);
    assert_eq!(out, [all[0], all[4]]);
    assert_eq!(
        (counts.entered, counts.left, counts.dropped, counts.changed),
        (5, 2, 3, 0)
    );
    let (out, _) = run(&[Step::ReadsOnly(ReadsOnly {})], &all);
    assert_eq!(out, [all[1]]);
}

#[test]
fn first_counts_what_reaches_it_and_reads_nothing_behind() {
    let steps = [step("writes-only"), step("first,accesses=2")];
    let mut read = 0;
    let source = (0..10u64).map(|i| {
        read += 1;
        let op = if i % 2 == 0 { Op::Read } else { Op::Write };
        access(i, op, i, 1, 0)
    });
    let out: Vec<_> = apply(&steps, plain(source))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(out.iter().map(|a| a.at.0).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(read, 4, "the access behind the last write was not read");
    let (none, _) = run(&[Step::First(First { accesses: 0 })], &[FLUSH]);
    assert!(none.is_empty());
}

#[test]
fn first_behind_split_counts_pieces() {
    let steps = [step("split,longest=4B"), step("first,accesses=3")];
    let (out, counts) = run(&steps, &[write(0, 20), write(100, 1)]);
    assert_eq!(places(&out), [(0, 4), (4, 4), (8, 4)]);
    assert_eq!((counts.entered, counts.left), (3, 3));
}

#[test]
fn a_time_window_is_half_open_and_starts_the_clock() {
    let step = step("time-window,from=10ns,until=20ns");
    // The times are out of order on purpose: an access after the window does not end the trace.
    let all = [9, 10, 25, 19, 20].map(|at| access(at, Op::Read, 0, 1, 0));
    let (out, counts) = run(&[step], &all);
    assert_eq!(out.iter().map(|a| a.at.0).collect::<Vec<_>>(), [0, 9]);
    assert_eq!((counts.dropped, counts.changed), (3, 2));
}

#[test]
fn scale_time_multiplies_and_refuses_what_cannot_be_told() {
    let all = [0, 1, 3, 1_000_000_000].map(|at| access(at, Op::Read, 0, 1, 0));
    let (out, _) = run(&[Step::ScaleTime(ScaleTime { factor: 0.5 })], &all);
    assert_eq!(
        out.iter().map(|a| a.at.0).collect::<Vec<_>>(),
        [0, 1, 2, 500_000_000]
    );
    let late = access(1 << 40, Op::Read, 0, 1, 0);
    let error = fails(Step::ScaleTime(ScaleTime { factor: 1e8 }), late);
    assert_eq!(error.problem, Problem::TooLate);
}

#[test]
fn disk_keeps_one_and_its_number() {
    let all = [
        access(0, Op::Read, 0, 1, 3),
        access(1, Op::Read, 8, 1, 4),
        FLUSH,
    ];
    let (out, counts) = run(&[Step::Disk(Disk { keep: 4 })], &all);
    assert_eq!(out, [all[1]]);
    assert_eq!(counts.dropped, 2);
}

#[test]
fn concatenate_lays_disks_behind_each_other_from_whole_pages() {
    let step = concatenate(&[(7, 10_000), (2, 5_000)], 4096);
    // Disk 7 occupies 10,000 bytes from 0, so disk 2 starts at the next multiple of 4096: 12,288.
    let all = [
        access(0, Op::Read, 100, 50, 2),
        access(0, Op::Read, 9_000, 1_000, 7),
        FLUSH,
    ];
    let (out, _) = run(std::slice::from_ref(&step), &all);
    assert_eq!(places(&out), [(12_388, 50), (9_000, 1_000), (0, 0)]);
    assert!(out.iter().all(|a| a.disk == 0));
    let unknown = fails(step.clone(), access(0, Op::Read, 0, 1, 5));
    assert_eq!(
        (unknown.problem, unknown.access.disk),
        (Problem::UnknownDisk, 5)
    );
    let behind = fails(step, access(0, Op::Read, 9_001, 1_000, 7));
    assert_eq!(behind.problem, Problem::PastSpan(Bytes(10_000)));
}

fn shrink(capacity: u64, span: u64, page: u64) -> Step {
    Step::Shrink(Shrink {
        capacity: Bytes(capacity),
        span: Some(Bytes(span)),
        page: Bytes(page),
    })
}

#[test]
fn shrink_scales_evenly_down_to_pages() {
    let all = [
        write(0, 100),
        write(1_000, 100),
        write(2_599, 1),
        write(9_900, 100),
        FLUSH,
    ];
    // 10,000 bytes are scaled to 2,500: a quarter, rounded down to a multiple of 100. 2599 / 4 = 649. The access at
    // 9,900 goes to 2,475 and is rounded down to 2,400, where its 100 bytes fit.
    let (out, counts) = run(&[shrink(2_500, 10_000, 100)], &all);
    assert_eq!(
        places(&out),
        [(0, 100), (200, 100), (600, 1), (2_400, 100), (0, 0)]
    );
    assert_eq!(counts.changed, 3);
    // An access that would end past the capacity is moved down: 9,000 / 4 = 2,250, but 1,000 bytes fit only from 1,500.
    assert_eq!(
        places(&run(&[shrink(2_500, 10_000, 100)], &[write(9_000, 1_000)]).0),
        [(1_500, 1_000)]
    );
    // A span that fits is not stretched.
    assert_eq!(
        places(&run(&[shrink(9_000, 1_000, 100)], &[write(555, 10)]).0),
        [(500, 10)]
    );
}

#[test]
fn shrink_refuses_what_contradicts_its_span() {
    let error = fails(shrink(2_500, 10_000, 100), write(9_999, 2));
    assert_eq!(error.problem, Problem::PastSpan(Bytes(10_000)));
    let error = fails(shrink(2_500, 10_000, 100), write(0, 2_501));
    assert_eq!(error.problem, Problem::LongerThan(Bytes(2_500)));
}

#[test]
fn wrap_is_modulo_byte_by_byte() {
    let step = step("wrap,capacity=100B");
    let all = [write(90, 5), write(290, 30), write(100, 100), FLUSH];
    let (out, counts) = run(std::slice::from_ref(&step), &all);
    assert_eq!(places(&out), [(90, 5), (90, 10), (0, 20), (0, 100), (0, 0)]);
    assert_eq!(
        (counts.entered, counts.left, counts.added, counts.changed),
        (4, 5, 1, 2)
    );
    let error = fails(step, write(0, 101));
    assert_eq!(error.problem, Problem::LongerThan(Bytes(100)));
}

fn round(rounding: Rounding, accesses: &[Access]) -> Vec<(u64, u64)> {
    let step = Step::RoundToPages(RoundToPages {
        page: Bytes::kib(4),
        rounding,
    });
    places(&run(&[step], accesses).0)
}

#[test]
fn pages_by_each_rounding() {
    const P: u64 = 4096;
    let all = [
        write(0, 1),
        write(P - 512, 1024),
        write(512, P + P / 2 - 1),
        write(P, P + P / 2),
        write(3 * P, 2 * P),
        FLUSH,
    ];
    assert_eq!(
        round(Rounding::Cover, &all),
        [
            (0, P),
            (0, 2 * P),
            (0, 2 * P),
            (P, 2 * P),
            (3 * P, 2 * P),
            (0, 0)
        ]
    );
    assert_eq!(
        round(Rounding::Closest, &all),
        [(0, P), (0, P), (0, P), (P, 2 * P), (3 * P, 2 * P), (0, 0)]
    );
    assert_eq!(
        round(Rounding::Up, &all),
        [
            (0, P),
            (0, P),
            (0, 2 * P),
            (P, 2 * P),
            (3 * P, 2 * P),
            (0, 0)
        ]
    );
}

#[test]
fn a_trim_becomes_the_pages_inside_of_it() {
    let trim = |offset, len| access(0, Op::Trim, offset, len, 0);
    let all = [
        trim(1, 8191),
        trim(1, 4095),
        trim(4096, 4096),
        trim(100, 8000),
    ];
    for rounding in [Rounding::Cover, Rounding::Closest, Rounding::Up] {
        assert_eq!(round(rounding, &all), [(4096, 4096), (4096, 4096)]);
    }
}

#[test]
fn rounding_up_past_the_last_byte_is_refused() {
    let step = step("round-to-pages,page=4KiB,rounding=cover");
    let error = fails(step, write(u64::MAX - 10, 10));
    assert_eq!(error.problem, Problem::TooFar);
}

#[test]
fn align_moves_starts_and_keeps_lengths() {
    let step = Step::Align(Align { to: Bytes(4096) });
    assert_eq!(
        places(&run(&[step], &[write(5_000, 700), FLUSH]).0),
        [(4_096, 700), (0, 0)]
    );
}

#[test]
fn split_cuts_from_the_start() {
    let step = step("split,longest=400B");
    let long = access(7, Op::Read, 1_000, 1_000, 3);
    let (out, counts) = run(&[step], &[long, write(0, 400)]);
    assert_eq!(
        places(&out),
        [(1_000, 400), (1_400, 400), (1_800, 200), (0, 400)]
    );
    assert!(
        out[..3]
            .iter()
            .all(|a| (a.at, a.op, a.disk) == (Time(7), Op::Read, 3))
    );
    assert_eq!(
        (counts.entered, counts.added, counts.left, counts.changed),
        (2, 2, 4, 1)
    );
}

#[test]
fn clip_refuses_by_name_or_drops_and_counts() {
    let clip = |past_end| step(&format!("clip,capacity=1000B,past-end={past_end}"));
    let all = [
        write(0, 1_000),
        write(500, 501),
        write(u64::MAX, 2),
        write(999, 1),
    ];
    let (out, counts) = run(&[clip("drop")], &all);
    assert_eq!(places(&out), [(0, 1_000), (999, 1)]);
    assert_eq!(counts.dropped, 2);

    let mut shaped = apply(&[clip("refuse")], plain(all)).unwrap();
    assert_eq!(shaped.next(), Some(Ok(all[0])));
    let error = shaped.next().unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "step 1 (clip) cannot take access 2, a write of 501 bytes at offset 500 of disk 0: it ends past the \
         capacity of 1000B: use a larger drive, make the addresses fit before (`shrink,capacity=1000B` or `wrap,capacity=1000B`), or let `clip` drop it"
    );
    assert_eq!(shaped.next(), None, "an error ends the workload");
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line 2 cannot be read")]
struct Unreadable;

#[test]
fn an_error_of_the_source_comes_through_and_ends_the_workload() {
    let source = [Ok(write(0, 1)), Err(Unreadable), Ok(write(1, 1))];
    let mut shaped = apply(&[step("split,longest=9B")], source.into_iter()).unwrap();
    assert_eq!(shaped.next(), Some(Ok(write(0, 1))));
    assert_eq!(shaped.next(), Some(Err(ShapeError::Source(Unreadable))));
    assert_eq!(shaped.next(), None);
}

#[test]
fn a_first_pass_fills_in_what_the_steps_before_leave() {
    // Two disks. Concatenated they end at 8,192 + 3,000; shrinking leaves a quarter.
    let trace = [
        access(0, Op::Write, 4_000, 1_000, 0),
        access(5, Op::Write, 2_000, 1_000, 1),
        access(6, Op::Read, 1 << 40, 512, 1),
    ];
    let steps = [
        step("writes-only"),
        step("concatenate,page=4KiB"),
        step("shrink,capacity=2798B,page=1B"),
    ];
    let message = apply(&steps, plain(trace)).err().unwrap().to_string();
    assert!(
        message.starts_with("step 2 (concatenate): `disks` is not known"),
        "{message}"
    );

    let mut passes = 0;
    let resolved = resolve(&steps, || {
        passes += 1;
        Ok(plain(trace))
    })
    .unwrap();
    assert_eq!(passes, 2, "one pass for each step that needs to know");
    let Step::Shrink(shrink) = &resolved[2] else {
        panic!()
    };
    assert_eq!(shrink.span, Some(Bytes(11_192)));
    let out: Vec<_> = apply(&resolved, plain(trace))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    // (8,192 + 2,000) / 4 = 2,548; moved down to 1,798, where the 1,000 bytes end at the capacity.
    assert_eq!(places(&out), [(1_000, 1_000), (1_798, 1_000)]);
    // Settings that are given stay unchanged.
    assert_eq!(
        resolve(&resolved, || Err::<std::iter::Empty<_>, _>(Unreadable)).unwrap(),
        resolved
    );
}

#[derive(serde::Deserialize, Debug)]
struct Study {
    steps: Vec<Step>,
    arrival: Option<Arrival>,
}

#[test]
fn a_study_file_lists_steps() {
    let study: Study = toml::from_str(
        r#"
        arrival = { closed = { outstanding = 32 } }
        steps = [
            { step = "writes-only" },
            { step = "first", accesses = 2_000_000 },
            { step = "shrink", capacity = "192GiB" },
            { step = "round-to-pages", rounding = "closest" },
            { step = "clip", capacity = "192GiB", past-end = "drop" },
            { step = "time-window", until = "60s" },
        ]
        "#,
    )
    .unwrap();
    assert_eq!(
        study.steps.iter().map(Step::name).collect::<Vec<_>>(),
        [
            "writes-only",
            "first",
            "shrink",
            "round-to-pages",
            "clip",
            "time-window"
        ]
    );
    let Some(Arrival::Closed { outstanding }) = study.arrival else {
        panic!()
    };
    assert_eq!(outstanding.get(), 32);
    for step in &study.steps {
        let text = toml::to_string(step).unwrap();
        assert_eq!(&toml::from_str::<Step>(&text).unwrap(), step, "{text}");
    }
    assert!(toml::from_str::<Study>("steps = []\narrival = \"open\"").is_ok());
}

#[test]
fn what_a_study_file_may_not_say() {
    for (wrong, hint) in [
        ("{ step = \"first\", access = 2 }", "unknown field `access`"),
        (
            "{ step = \"writes-only\", first = 2 }",
            "unknown field `first`",
        ),
        (
            "{ step = \"frist\", accesses = 2 }",
            "unknown variant `frist`",
        ),
        ("{ step = \"split\", longest = 4096 }", "longest"),
        ("{ step = \"first\", accesses = -1 }", "invalid value"),
        ("{ accesses = 1 }", "missing field `step`"),
    ] {
        let text = format!("steps = [{wrong}]");
        let error = toml::from_str::<Study>(&text).unwrap_err().to_string();
        assert!(error.contains(hint), "{wrong}: {error}");
    }
    assert!(
        toml::from_str::<Study>("steps = []\narrival = { closed = { outstanding = 0 } }").is_err()
    );
}

#[test]
fn settings_that_cannot_be_are_refused_before_the_first_access() {
    let bad = [
        shrink(0, 1, 1),
        shrink(1, 0, 1),
        shrink(1, 1, 0),
        step("wrap,capacity=0B"),
        step("round-to-pages,page=0B"),
        step("align,to=0B"),
        step("split,longest=0B"),
        step("clip,capacity=0B,past-end=drop"),
        Step::ScaleTime(ScaleTime { factor: f64::NAN }),
        Step::ScaleTime(ScaleTime { factor: -1.0 }),
        step("time-window,from=5ns,until=5ns"),
        concatenate(&[(1, 0), (1, 0)], 1),
        concatenate(&[0, 1, 2].map(|disk| (disk, u64::MAX / 2)), 1),
    ];
    for step in bad {
        let steps = [Step::WritesOnly(WritesOnly {}), step];
        let error = apply(&steps, plain([])).err();
        let part = error.map(|error| error.part);
        let second = format!("step 2 ({})", steps[1].name());
        assert_eq!(part, Some(second), "{:?}", steps[1]);
    }
}

#[test]
fn every_step_is_listed_once() {
    let mut names: Vec<_> = STEPS.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), STEPS.len());
    for entry in STEPS {
        assert!(!entry.summary.is_empty());
        let step: Step = entry.example().parse().unwrap();
        assert_eq!(step.name(), entry.name);
        let needed = |(_, default): &(Key, Unset)| matches!(default, Unset::Needed(_));
        let given = entry.example().matches('=').count();
        assert_eq!(
            entry.defaults().iter().filter(|key| needed(key)).count(),
            given
        );
    }
}

#[test]
fn an_arrival_is_written_as_it_is_read() {
    for text in ["open", "closed:16", "processes:5:4"] {
        assert_eq!(text.parse::<Arrival>().unwrap().to_string(), text);
    }
    assert_eq!(
        "processes:5".parse::<Arrival>().unwrap().to_string(),
        "processes:5:1"
    );
    for wrong in ["", "closed", "closed:0", "processes:0", "opened"] {
        assert_eq!(wrong.parse::<Arrival>().unwrap_err().found, wrong);
    }
}
