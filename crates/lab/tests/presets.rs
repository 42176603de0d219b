//! Probes every preset as a black box on one seed, and on twenty in the long form: planted values must be found and
//! missing ones must not.
//!
//! The truth is listed here, from the papers and from what each null drive leaves out; the probe never sees it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::cases;
use fathom_block::{Device as _, Limited};
use fathom_lab::accuracy::{self, Outcome, score};
use fathom_probe::run::{Announcement, RunConfig, announce, run, solve};
use fathom_probe::session::Unobserved;
use fathom_probe::{Estimate, Parameter, Value, Verdict};
use fathom_ssd::{Spec, Ssd, presets};
use rayon::prelude::*;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
#[derive(Clone, Copy, Debug, PartialEq)]
enum Truth {
    Size(u64),
    Is(&'static str),
    /// Missing, or present but not visible from outside.
    NotThere,
    /// Missing, and the probe may also leave it open.
    Open,
    /// Present, and the probe does not find it: it must not deny it.
    Missed,
}
use Truth::{Is, Missed, NotThere, Open, Size};

/// The parameters that the papers measure. Any other is judged by its rule (`fathom_lab::accuracy::truth`).
const TOLD: [Parameter; 7] = [
    Parameter::ClusteredPage,
    Parameter::ClusteredBlock,
    Parameter::LogicalBlock,
    Parameter::ReadBuffer,
    Parameter::WriteBuffer,
    Parameter::Prefetch,
    Parameter::WritePolicy,
];

/// The truth for each of these parameters.
const TRUTH: &[(&str, [Truth; 7])] = &[
    (
        "ssd-a",
        [
            Size(16 * KIB),
            Size(4 * MIB),
            Size(4 * MIB),
            Size(256 * KIB),
            Size(255 * KIB),
            NotThere,
            Is("buffer"),
        ],
    ),
    (
        "ssd-b",
        [
            Size(128 * KIB),
            Size(16 * MIB),
            Size(16 * MIB),
            NotThere,
            Size(128 * KIB),
            NotThere,
            Is("buffer"),
        ],
    ),
    (
        "ssd-c",
        [
            NotThere,
            Size(5 * MIB),
            Size(5 * MIB),
            Size(3072 * KIB),
            Size(112 * KIB),
            NotThere,
            Is("buffer"),
        ],
    ),
    (
        "ssd-d",
        [
            Size(128 * KIB),
            Size(16 * MIB),
            Size(16 * MIB),
            Size(64 * KIB),
            NotThere,
            NotThere,
            NotThere,
        ],
    ),
    (
        "sandisk-sdu5b",
        [
            Size(32 * KIB),
            Size(4 * MIB),
            Size(4 * MIB),
            NotThere,
            NotThere,
            NotThere,
            NotThere,
        ],
    ),
    (
        "samsung-mccoe64g",
        [
            Size(64 * KIB),
            Size(8 * MIB),
            Size(8 * MIB),
            NotThere,
            NotThere,
            NotThere,
            NotThere,
        ],
    ),
    (
        "mtron-sata7035",
        [
            Size(32 * KIB),
            Size(2 * MIB),
            Size(2 * MIB),
            NotThere,
            NotThere,
            NotThere,
            NotThere,
        ],
    ),
    (
        "mtron-sata3025",
        [
            Size(32 * KIB),
            Size(4 * MIB),
            Size(4 * MIB),
            NotThere,
            NotThere,
            NotThere,
            NotThere,
        ],
    ),
    (
        "intel-x25e",
        [
            Size(4 * KIB),
            NotThere,
            NotThere,
            NotThere,
            Size(256 * KIB),
            NotThere,
            Is("buffer"),
        ],
    ),
    (
        "nvme",
        [
            NotThere,
            NotThere,
            NotThere,
            NotThere,
            Size(16 * MIB),
            NotThere,
            Is("cache"),
        ],
    ),
    (
        "sata-cache",
        [
            Size(32 * KIB),
            Size(4 * MIB),
            Size(4 * MIB),
            Size(512 * KIB),
            Size(2 * MIB),
            Is("read-ahead"),
            Is("cache"),
        ],
    ),
    (
        "null-rmw",
        [
            NotThere,
            Size(4 * MIB),
            Size(4 * MIB),
            Size(256 * KIB),
            Size(255 * KIB),
            NotThere,
            Is("buffer"),
        ],
    ),
    (
        "null-block",
        [
            Size(16 * KIB),
            NotThere,
            NotThere,
            Size(256 * KIB),
            Size(255 * KIB),
            NotThere,
            Is("buffer"),
        ],
    ),
    (
        "null-read-buffer",
        [
            Size(16 * KIB),
            Size(4 * MIB),
            Size(4 * MIB),
            NotThere,
            Size(255 * KIB),
            NotThere,
            Is("buffer"),
        ],
    ),
    (
        "null-write-buffer",
        [
            Size(16 * KIB),
            Size(4 * MIB),
            Size(4 * MIB),
            Size(256 * KIB),
            NotThere,
            NotThere,
            NotThere,
        ],
    ),
];

/// The same for the classes of today. What the papers do not measure is judged by the rules, as above.
///
/// Memory that survives a power cut hides what the flash does from flushed writes, and so the clustered page. A map in flash
/// varies the time of writes. The limits of a volume hide when its buffer is full.
const CLASSES: &[(&str, [Truth; 7])] = &[
    (
        "tlc-dram",
        [
            NotThere,
            NotThere,
            NotThere,
            NotThere,
            Size(16 * MIB),
            NotThere,
            Is("cache"),
        ],
    ),
    (
        "tlc-dramless",
        [
            Open,
            NotThere,
            NotThere,
            NotThere,
            Size(MIB),
            NotThere,
            Is("cache"),
        ],
    ),
    (
        "tlc-enterprise",
        [
            Open,
            NotThere,
            NotThere,
            NotThere,
            Size(16 * MIB),
            NotThere,
            Is("buffer"),
        ],
    ),
    (
        "qlc-16k",
        [
            Missed,
            NotThere,
            NotThere,
            NotThere,
            Size(16 * MIB),
            NotThere,
            Is("buffer"),
        ],
    ),
    (
        "qlc-64k",
        [
            Missed,
            NotThere,
            NotThere,
            NotThere,
            Size(16 * MIB),
            NotThere,
            Is("buffer"),
        ],
    ),
    (
        "sd-card",
        [
            Size(32 * KIB),
            Size(4 * MIB),
            Size(4 * MIB),
            NotThere,
            NotThere,
            NotThere,
            NotThere,
        ],
    ),
    (
        "emmc",
        [
            Open,
            NotThere,
            NotThere,
            NotThere,
            Size(512 * KIB),
            NotThere,
            Is("cache"),
        ],
    ),
    (
        "fdp",
        [
            Open,
            NotThere,
            NotThere,
            NotThere,
            Size(16 * MIB),
            NotThere,
            Is("buffer"),
        ],
    ),
    (
        "cloud-volume",
        [Open, NotThere, NotThere, NotThere, Missed, NotThere, Missed],
    ),
];

/// Returns a description of each wrong answer.
fn wrong(spec: &Spec, told: &[Truth; 7], answers: &[(Parameter, Estimate)]) -> Vec<String> {
    let judged = answers.iter().filter_map(|(parameter, answer)| {
        let (right, expected) = match TOLD.iter().position(|told| told == parameter) {
            Some(at) => (agrees(told[at], answer), format!("{:?}", told[at])),
            None => {
                let truth = accuracy::Truth::of(spec, *parameter);
                let wrong = [Outcome::Wrong, Outcome::Denied, Outcome::Open];
                (!wrong.contains(&score(&truth, answer)), truth.to_string())
            }
        };
        let said = format!(
            "{parameter}: {expected} but {:?} {:?} {:?}..{:?}: {}",
            answer.verdict, answer.value, answer.low, answer.high, answer.evidence.reason
        );
        (!right).then_some(said)
    });
    judged.collect()
}

fn agrees(truth: Truth, estimate: &Estimate) -> bool {
    let identified = estimate.verdict == Verdict::Identified;
    match (truth, &estimate.value) {
        (Size(bytes), Some(value)) => {
            let ends = [&estimate.low, &estimate.high].map(|end| end.as_ref()?.bytes());
            let holds = |low, high| (low..=high).contains(&bytes);
            identified
                && value.bytes() == Some(bytes)
                && matches!(ends, [Some(l), Some(h)] if holds(l, h))
        }
        (Is(name), Some(value)) => identified && *value == Value::Word(name.to_owned()),
        (NotThere, None) => {
            matches!(estimate.verdict, Verdict::Absent | Verdict::NotIdentifiable)
        }
        (Open, None) => true,
        (Missed, None) => estimate.verdict != Verdict::Absent,
        _ => false,
    }
}

fn probe(spec: &Spec, seed: u64) -> Vec<(Parameter, Estimate)> {
    let drive = Ssd::new(spec, seed).unwrap();
    let mut drive = Limited::new(drive, spec.limit.as_ref());
    let config = RunConfig {
        seed,
        ..RunConfig::default()
    };
    let announced = announce(&config, drive.info());
    let record = run(&mut drive, &config, None, &mut Unobserved).unwrap();
    let profile = solve(&record);
    keeps(announced, profile.cost.bytes_written, &spec.name);
    profile.parameters.into_iter().collect()
}

/// Asserts that the announced amount of writes is useful for planning: close to the actual amount, with a bound of the same
/// order.
fn keeps(announced: Announcement, written: u64, name: &str) {
    let (expected, bound) = (announced.expected_bytes, announced.bound_bytes);
    assert!(written <= bound, "{name}: {written} of at most {bound}");
    assert!(bound <= 8 * written, "{name}: {written} of at most {bound}");
    let share = written as f64 / expected as f64;
    assert!(
        (0.5..2.0).contains(&share),
        "{name}: {written} of about {expected}"
    );
}

fn spec(name: &str) -> Spec {
    Spec::from_toml(presets::find(name).unwrap().text).unwrap()
}

#[test]
fn every_preset_has_a_truth() {
    for (truth, list) in [(TRUTH, presets::PRESETS), (CLASSES, presets::CLASSES)] {
        let named: Vec<&str> = truth.iter().map(|(name, _)| *name).collect();
        let presets = list.iter().map(|p| p.name);
        // The probe writes anywhere, which a zoned drive does not take.
        let presets: Vec<&str> = presets.filter(|name| *name != "zns").collect();
        assert_eq!(named, presets);
    }
}

#[test]
fn planted_values_are_found_and_missing_ones_are_not() {
    // The long form is the campaign of docs/accuracy.md.
    judge(TRUTH, cases(1, 20));
}

#[test]
fn classes_of_today_are_probed_as_well() {
    judge(CLASSES, cases(1, 20));
}

fn judge(table: &[(&str, [Truth; 7])], seeds: u64) {
    let runs: Vec<(&str, [Truth; 7], u64)> = table
        .iter()
        .flat_map(|(name, truth)| (1..=seeds).map(move |seed| (*name, *truth, seed)))
        .collect();
    let wrong: Vec<String> = runs
        .par_iter()
        .flat_map_iter(|(name, told, seed)| {
            let spec = spec(name);
            let wrong = wrong(&spec, told, &probe(&spec, *seed)).into_iter();
            wrong.map(move |said| format!("{name} seed {seed} {said}"))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        runs.len() * Parameter::PAPERS.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_capacity_of_a_preset_changes_none_of_its_answers() {
    for (name, truth) in TRUTH
        .iter()
        .filter(|(name, _)| ["ssd-a", "ssd-c", "mtron-sata7035"].contains(name))
    {
        let mut larger = spec(name);
        larger.capacity.0 *= 4;
        let wrong = wrong(&larger, truth, &probe(&larger, 1));
        assert!(wrong.is_empty(), "{name} at {}: {wrong:?}", larger.capacity);
    }
}
