//! Read-only runs. A region that was never written gives no answer, and a written one gives the same answers as a run that
//! writes.
//!
//! The drives are modelled; reads of unwritten data touch no flash.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::cases;
use fathom_base::{Dur, Rng, Time};
use fathom_block::devices::modelled_info;
use fathom_block::layers::Latencies;
use fathom_block::{Device, Noisy, NullDevice, Op, Request};
use fathom_lab::accuracy::{Family, draw};
use fathom_lab::target::fill;
use fathom_probe::run::{RunConfig, run, solve};
use fathom_probe::session::Unobserved;
use fathom_probe::{Estimate, Method, Parameter, Value, Verdict};
use fathom_ssd::{Spec, Ssd, presets};
use rayon::prelude::*;
use std::collections::BTreeMap;

const MIB: u64 = 1 << 20;
/// The parameters that can be measured without writing.
const READ: [Parameter; 2] = [Parameter::ReadBuffer, Parameter::Prefetch];
/// Presets that each lack one of the parameters, and several that have both; one of them reads its map from flash.
const DRIVES: [&str; 9] = [
    "ssd-a",
    "ssd-b",
    "ssd-c",
    "ssd-d",
    "sata-cache",
    "nvme",
    "mtron-sata7035",
    "null-read-buffer",
    "null-block",
];

fn drive(name: &str, seed: u64) -> Ssd {
    let spec = Spec::from_toml(presets::find(name).unwrap().text).unwrap();
    Ssd::new(&spec, seed).unwrap()
}

fn probe(
    device: &mut dyn Device,
    (method, read_only): (Method, bool),
    seed: u64,
) -> BTreeMap<Parameter, Estimate> {
    let config = RunConfig {
        seed,
        method,
        read_only,
        parameters: READ.to_vec(),
        thin: if method == Method::Paper { 64 } else { 1 },
        ..RunConfig::default()
    };
    let record = run(device, &config, None, &mut Unobserved).unwrap();
    let profile = solve(&record);
    assert!(!read_only || profile.cost.bytes_written == 0);
    profile.parameters
}

/// Writes the stretches of one MiB for which `wanted` returns true.
fn write_where(device: &mut dyn Device, wanted: impl Fn(u64) -> bool) {
    let stretches = device.info().capacity_bytes / MIB;
    let mut done = Vec::new();
    let pieces = (0..stretches)
        .filter(|i| wanted(*i))
        .flat_map(|i| (0..8).map(move |part| i * MIB + part * (MIB / 8)));
    for at in pieces {
        device
            .submit(Request::new(at, Op::Write, at, MIB / 8))
            .unwrap();
        device.wait(Time::MAX, &mut done);
    }
    device.submit(Request::new(1, Op::Flush, 0, 0)).unwrap();
    device.wait(Time::MAX, &mut done);
    assert!(done.iter().all(|completion| completion.result.is_ok()));
}

fn none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns true if two answers agree: for sizes, if their intervals overlap.
fn agree(a: &Estimate, b: &Estimate) -> bool {
    let apart = match (a.interval(), b.interval()) {
        (Some((low, high)), Some((l, h))) => h < low || high < l,
        _ => a.value != b.value,
    };
    a.verdict == b.verdict && !apart
}

/// Returns the answers that are not inconclusive.
fn settled(name: &str, answers: &BTreeMap<Parameter, Estimate>) -> Vec<String> {
    let settled = answers
        .iter()
        .filter(|(_, e)| e.verdict != Verdict::Inconclusive);
    settled
        .map(|(parameter, e)| format!("{name} {parameter}: {e:?}"))
        .collect()
}

#[test]
fn of_a_drive_that_was_never_written_nothing_is_said() {
    let runs: Vec<(&str, Method, u64)> = DRIVES
        .iter()
        .flat_map(|name| {
            let methods = [Method::Robust, Method::Paper];
            methods.map(|method| (1..=cases(2, 5)).map(move |seed| (*name, method, seed)))
        })
        .flatten()
        .collect();
    let wrong: Vec<String> = runs
        .par_iter()
        .flat_map_iter(|(name, method, seed)| {
            let answers = probe(&mut drive(name, *seed), (*method, true), *seed);
            assert!(
                answers
                    .values()
                    .all(|e| e.evidence.reason.contains("read-only")),
                "{name}: {answers:?}"
            );
            settled(&format!("{name} {method:?} seed {seed}"), &answers)
        })
        .collect();
    none(&wrong);
}

#[test]
fn of_a_drive_that_was_written_in_part_nothing_is_said() {
    type Part = (&'static str, fn(u64) -> bool);
    let parts: [Part; 4] = [
        ("first half", |i| i < 1024),
        ("every other", |i| i % 2 == 0),
        ("three of four", |i| i % 4 != 0),
        ("one in ten", |i| i % 10 == 0),
    ];
    let runs: Vec<(&str, usize, u64)> = ["ssd-a", "ssd-c", "sata-cache", "null-read-buffer"]
        .iter()
        .flat_map(|name| (0..parts.len()).map(move |part| (*name, part)))
        .flat_map(|(name, part)| (1..=cases(1, 3)).map(move |seed| (name, part, seed)))
        .collect();
    let wrong: Vec<String> = runs
        .par_iter()
        .flat_map_iter(|(name, part, seed)| {
            let mut device = drive(name, *seed);
            write_where(&mut device, parts[*part].1);
            let mut answers = probe(&mut device, (Method::Robust, true), *seed);
            let drive_name = format!("{name}, {} seed {seed}", parts[*part].0);
            // A second read that is faster shows flash; the edge of the buffer may be found if enough was written.
            let own = Spec::from_toml(presets::find(name).unwrap().text)
                .unwrap()
                .read_buffer;
            let own = own.map(|buffer| Value::Bytes(buffer.capacity.0));
            let right = |e: &Estimate| e.value.is_some() && e.value == own;
            answers.retain(|_, e| !right(e));
            settled(&drive_name, &answers)
        })
        .collect();
    none(&wrong);
}

#[test]
fn a_drive_that_was_written_is_answered_as_in_a_run_that_writes() {
    let runs: Vec<(&str, u64)> = DRIVES
        .iter()
        .flat_map(|name| (1..=cases(1, 5)).map(move |seed| (*name, seed)))
        .collect();
    let wrong: Vec<String> = runs
        .par_iter()
        .flat_map_iter(|(name, seed)| {
            let writes = probe(&mut drive(name, *seed), (Method::Robust, false), *seed);
            let mut device = drive(name, *seed);
            fill(&mut device, &|_| true).unwrap();
            let reads = probe(&mut device, (Method::Robust, true), *seed);
            READ.into_iter().filter_map(move |parameter| {
                let (wrote, read) = (&writes[&parameter], &reads[&parameter]);
                let same = (wrote.verdict, &wrote.value) == (read.verdict, &read.value);
                (!same).then(|| {
                    format!(
                        "{name} seed {seed} {parameter}: {:?} but {}",
                        wrote.verdict, read.evidence.reason
                    )
                })
            })
        })
        .collect();
    none(&wrong);
}

/// Drives of every kind, two of which have a map cache that is not a read buffer: written data are answered as in a run
/// that writes, or not at all.
#[test]
fn random_drives_are_answered_as_in_a_run_that_writes_or_not_at_all() {
    let drives = cases(12, 40);
    let compared: Vec<(bool, Option<String>)> = (0..drives)
        .into_par_iter()
        .flat_map_iter(|index| {
            let drawn = draw(Family::Wide, 4242, index);
            let fresh = || Ssd::new(drawn.target.spec().unwrap(), index).unwrap();
            let writes = probe(&mut fresh(), (Method::Robust, false), index);
            let bare = probe(&mut fresh(), (Method::Robust, true), index);
            let mut device = fresh();
            fill(&mut device, &|_| true).unwrap();
            let reads = probe(&mut device, (Method::Robust, true), index);
            READ.into_iter().map(move |parameter| {
                let (wrote, read) = (&writes[&parameter], &reads[&parameter]);
                let same = agree(wrote, read);
                let open = |e: &Estimate| e.verdict == Verdict::Inconclusive;
                let wrong = !(same || open(read) || open(wrote)) || !open(&bare[&parameter]);
                let what = || format!("{index} {parameter}: {wrote:?}, {read:?}, {bare:?}");
                (same, wrong.then(what))
            })
        })
        .collect();
    let same = compared.iter().filter(|(same, _)| *same).count();
    none(
        &compared
            .into_iter()
            .filter_map(|(_, wrong)| wrong)
            .collect::<Vec<_>>(),
    );
    assert!(
        4 * same as u64 >= 5 * drives,
        "{same} of {drives} drives, two answers each"
    );
}

/// Reads that touch no flash, on a host that is busy now and then.
struct Busy {
    rng: Rng,
    busy_until: Time,
}

impl Latencies for Busy {
    fn next(&mut self, _: Op, len: u64, now: Time) -> Dur {
        if now >= self.busy_until && self.rng.chance(0.002) {
            self.busy_until = now + Dur::us(1_000 + self.rng.below(20_000));
        }
        let burst = if now < self.busy_until { 5.0 } else { 1.0 };
        let typical = 20_000.0 + len as f64 / 4.0;
        Dur((typical * burst * (0.4 * self.rng.normal()).exp()) as u64)
    }
}

#[test]
fn bursts_of_noise_are_no_flash() {
    let wrong: Vec<String> = (1..=20)
        .into_par_iter()
        .flat_map_iter(|seed| {
            let busy = Busy {
                rng: Rng::new(seed, 0),
                busy_until: Time::ZERO,
            };
            let mut device = Noisy::new(
                NullDevice::new(modelled_info("nothing", 1 << 30), Dur::ZERO),
                busy,
            );
            let answers = probe(&mut device, (Method::Robust, true), seed);
            settled(&format!("seed {seed}"), &answers)
        })
        .collect();
    none(&wrong);
}
