//! Compares the pre-processing of `epo` IV.A on the first 10,000 requests of Financial1 with another program.
//!
//! The trace is read from `../shared/traces` beside the repository, if that exists; the repository contains no part of
//! it. A short Python script that shares no code with this crate computed the expected figures from the plain file.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests, and a test that is skipped says why"
)]

use fathom_base::Bytes;
use fathom_trace::{Options, Trace, TraceError};
use fathom_workload::step::{Rounding, Step, apply, resolve};
use std::fs::File;
use std::path::PathBuf;

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/traces/Financial1_first10k.spc.zst")
}

fn open() -> Result<Trace, TraceError> {
    fathom_trace::open_file(File::open(path()).unwrap(), &Options::default())
}

const STEPS: &str = r#"
    [[steps]]
    step = "writes-only"
    [[steps]]
    step = "first"
    accesses = 2_000_000
    [[steps]]
    step = "concatenate"
    [[steps]]
    step = "shrink"
    capacity = "1GiB"
    [[steps]]
    step = "round-to-pages"
    rounding = "closest"
    [[steps]]
    step = "clip"
    capacity = "1GiB"
"#;

#[derive(serde::Deserialize)]
struct Study {
    steps: Vec<Step>,
}

#[test]
fn the_pre_processing_of_epo() {
    if !path().exists() {
        eprintln!("skipped: {} is not there", path().display());
        return;
    }
    let steps = toml::from_str::<Study>(STEPS).unwrap().steps;
    let steps = resolve(&steps, open).unwrap();
    let (Step::Concatenate(disks), Step::Shrink(shrink), Step::RoundToPages(round)) =
        (&steps[2], &steps[3], &steps[4])
    else {
        panic!("{steps:?}");
    };
    assert_eq!(disks.disks.as_ref().unwrap().len(), 19);
    assert_eq!(shrink.span, Some(Bytes(4_993_838_080)));
    assert_eq!(round.rounding, Rounding::Closest);

    let mut shaped = apply(&steps, open().unwrap()).unwrap();
    let (mut offsets, mut lens, mut end) = (0, 0, 0);
    for access in shaped.by_ref() {
        let access = access.unwrap();
        offsets += access.offset;
        lens += access.len;
        end = access.end().max(end);
    }
    assert_eq!(
        (offsets, lens, end),
        (2_639_191_535_616, 39_104_512, 1_073_741_824)
    );
    let counts = shaped.counts();
    assert_eq!(
        (counts[0].counts.entered, counts[0].counts.dropped),
        (10_000, 4_077)
    );
    assert_eq!(counts[5].counts.left, 5_923);
}
