//! The workloads of a campaign of twins. The probe uses none of them: mixtures, bursts and skew.

use fathom_base::{BadValue, Bytes, Dur};
use fathom_block::Subject;
use fathom_model::Model;
use fathom_report::twin::Played;
use fathom_run::{Precondition, Totals, measure, prepare};
use fathom_ssd::Spec;
use fathom_workload::generate::{Config, Name, Pacing, Pattern, Range, Sizes};
use fathom_workload::program::{Stream, closed_loop};
use std::str::FromStr as _;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// The part of a drive that is used.
const RANGE: u64 = 1024 * MIB;

/// A workload: a generator, and the number of accesses in flight if it has no times of its own.
struct Work {
    name: &'static str,
    load: Config,
    depth: Option<u32>,
}

/// Returns the workloads on a drive of a capacity.
fn works(capacity: u64) -> Result<Vec<Work>, BadValue> {
    let of = |name: &str, accesses, read_percent| -> Result<Config, BadValue> {
        let name = Name::from_str(name).map_err(|_| BadValue::new("generator", name, "a name"))?;
        Ok(Config {
            accesses: Some(accesses),
            read_percent: Some(read_percent),
            range: Some(Range {
                start: Bytes(0),
                len: Bytes(RANGE.min(capacity / MIB * MIB)),
            }),
            align: Some(Bytes::kib(4)),
            ..Config::of(name)
        })
    };
    let zipf = Config {
        sizes: Some(Sizes::One(Bytes::kib(16))),
        pattern: Some(Pattern::Zipf {
            theta: 0.9,
            scatter: true,
        }),
        ..of("zipf", 20_000, 70.0)?
    };
    let streams = Config {
        read_sizes: Some(Sizes::weighted(&[(4 * KIB, 1.0), (64 * KIB, 1.0)])),
        write_sizes: Some(Sizes::One(Bytes::kib(64))),
        sequential_percent: Some(60.0),
        run_depth: Some(4),
        ..of("uniform", 20_000, 80.0)?
    };
    let bursts = Config {
        sizes: Some(Sizes::weighted(&[(4 * KIB, 3.0), (16 * KIB, 1.0)])),
        pacing: Some(Pacing::Bursts {
            per_second: 4000.0,
            on: Dur::ms(20),
            off: Dur::ms(80),
        }),
        ..of("uniform", 20_000, 85.0)?
    };
    let reads = Config {
        sizes: Some(Sizes::One(Bytes::kib(8))),
        ..of("hot-cold", 20_000, 100.0)?
    };
    let work = |name, load, depth| Work { name, load, depth };
    Ok(vec![
        work("hot reads, 8 KiB, depth 8", reads, Some(8)),
        work("zipf 70/30, 16 KiB, depth 4", zipf, Some(4)),
        work("streams and random 80/20, depth 8", streams, Some(8)),
        work("bursts 85/15, open loop", bursts, None),
    ])
}

/// The other chances of a drive: bits of the seed that change.
const OTHER: u64 = 0x7477_696e;

/// Plays every workload on both drives, and on the first one with other chances, each from the same state, and returns the
/// figures.
///
/// # Errors
/// A message that says what failed.
pub(super) fn play(drive: &Spec, twin: &Spec, seed: u64) -> Result<Vec<Played>, String> {
    let works = works(drive.capacity.0.min(twin.capacity.0)).map_err(|e| e.to_string())?;
    let mut all = Vec::new();
    for work in &works {
        let left = played(drive, seed, work, seed)?;
        let right = played(twin, seed, work, seed)?;
        let itself = played(drive, seed ^ OTHER, work, seed)?;
        for (figure, of) in FIGURES {
            if let (Some(drive), Some(twin), Some(itself)) = (of(&left), of(&right), of(&itself)) {
                all.push(Played {
                    workload: work.name.to_owned(),
                    figure: figure.to_owned(),
                    drive,
                    twin,
                    itself,
                });
            }
        }
    }
    Ok(all)
}

type Figure = fn(&Totals) -> Option<f64>;
const FIGURES: [(&str, Figure); 3] = [
    ("p50", |totals| Some(totals.all?.p50_ns as f64)),
    ("p99", |totals| Some(totals.all?.p99_ns as f64)),
    ("throughput", |totals| Some(totals.bytes_per_second())),
];

/// Plays a workload of `seed` on a drive with `chances` of its own.
fn played(spec: &Spec, chances: u64, work: &Work, seed: u64) -> Result<Totals, String> {
    let model = Model::Ssd(Box::new(spec.clone()));
    let mut drive = model.build(chances).map_err(|e| e.to_string())?;
    prepare(&mut drive, Precondition::Filled, seed).map_err(|e| e.to_string())?;
    let accesses = work.load.generator(seed).map_err(|e| e.to_string())?;
    let drive: &mut dyn Subject = &mut drive;
    let measured = match work.depth {
        Some(depth) => measure(drive, &mut closed_loop(accesses, depth)).map_err(|e| e.to_string()),
        None => {
            let mut open = Stream::open(accesses.map(Ok::<_, std::convert::Infallible>));
            measure(drive, &mut open).map_err(|e| e.to_string())
        }
    };
    Ok(measured?.totals)
}
