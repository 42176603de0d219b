//! The runs of the reference simulator of `ms-ssd`: reading them, running our model, comparing.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(dead_code, reason = "not every user needs all of it")]

use fathom_base::Time;
use fathom_block::{Completion, Device, Op, Request};
use fathom_disksim::spec::{PlaneMapping, Policy, Pool};
use fathom_disksim::{Counters, MsSsd, Spec};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

/// Returns the directory of the runs, if it exists.
pub(crate) fn folder() -> Option<PathBuf> {
    let folder = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/golden/disksim"
    ));
    folder.is_dir().then_some(folder)
}

/// One run of the reference.
pub(crate) struct Case {
    pub name: String,
    pub spec: Spec,
    /// Number of cleanings, write amplification and mean response (ms) according to the reference.
    pub cleanings: u64,
    pub waf: Option<f64>,
    pub mean_ms: f64,
}

fn text(name: &str) -> String {
    let file = std::fs::File::open(folder().unwrap().join(name)).unwrap();
    let mut text = String::new();
    ruzstd::decoding::StreamingDecoder::new(file)
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    text
}

/// Returns the cases of the summary, in its order.
pub(crate) fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(folder().unwrap().join("summary.json")).unwrap();
    let all: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    let case = |(name, value): (&String, &serde_json::Value)| Case {
        name: name.clone(),
        spec: spec(name, &value["cfg"]),
        cleanings: value["cleans"].as_u64().unwrap(),
        waf: value["waf"].as_f64(),
        mean_ms: value["mean"].as_f64().unwrap(),
    };
    all.iter().map(case).collect()
}

fn spec(name: &str, cfg: &serde_json::Value) -> Spec {
    let n = |key: &str| cfg[key].as_u64().unwrap() as u32;
    let mut spec = Spec {
        name: name.to_owned(),
        elements: n("elements"),
        stride: n("stride"),
        ..Spec::default()
    };
    let e = &mut spec.element;
    e.planes = n("planes");
    e.parallel_units = n("parunits");
    e.blocks_per_plane = n("bpp");
    e.pages_per_block = n("ppb");
    e.page = fathom_base::Bytes(u64::from(n("page")) * 512);
    e.plane_mapping = match n("mapping") {
        1 => PlaneMapping::Concatenate,
        3 => PlaneMapping::Stripe,
        other => panic!("{name}: plane mapping {other}"),
    };
    e.copy_back = n("copyback") == 1;
    spec.allocation.reserve_percent = f64::from(n("reserve"));
    spec.allocation.pool = [Pool::Gang, Pool::Chip, Pool::Plane][n("alloc") as usize];
    spec.allocation.gang = n("gang");
    spec.cleaning.min_free_percent = f64::from(n("minfree"));
    spec.cleaning.background = n("bg") == 1;
    spec.cleaning.wear_aware = n("clean") == 3;
    spec.driver.queue_length = n("qlen");
    spec.driver.policy = match n("sched") {
        1 => Policy::Fcfs,
        3 => Policy::Elevator,
        other => panic!("{name}: driver policy {other}"),
    };
    if let Some(ms) = cfg["overhead"].as_str() {
        spec.timing.command_overhead = format!("{ms}ms").parse().unwrap();
    }
    spec
}

/// A request as recorded by the reference; times in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub arrival: f64,
    pub complete: f64,
    pub lba: u64,
    pub write: bool,
}

fn fields(line: &str) -> Vec<&str> {
    line.split([',', ' ']).collect()
}

fn ns(ms: &str) -> f64 {
    ms.parse::<f64>().unwrap() * 1e6
}

/// Returns the requests recorded by the reference.
pub(crate) fn seen(name: &str) -> Vec<Seen> {
    let text = text(&format!("{name}.csv.zst"));
    let rows = text.lines().skip(1).map(fields);
    rows.map(|row| Seen {
        arrival: ns(row[1]),
        complete: ns(row[3]),
        lba: row[5].parse().unwrap(),
        write: row[7] == "W",
    })
    .collect()
}

/// Returns start (ns), element and cost (ns) of each cleaning pass of the reference.
pub(crate) fn seen_cleanings(name: &str) -> Vec<(f64, u32, f64)> {
    let text = text(&format!("{name}.gc.csv.zst"));
    let rows = text.lines().skip(1).map(fields);
    rows.map(|row| (ns(row[0]), row[1].parse().unwrap(), ns(row[2])))
        .collect()
}

/// The result of our model for a case.
pub(crate) struct Ours {
    /// Completions by sequence number.
    pub completed: Vec<Completion>,
    pub cleanings: Vec<(f64, u32, f64)>,
    pub counters: Counters,
}

/// Runs the requests of a case on our model.
pub(crate) fn run(case: &Case) -> Ours {
    let mut drive = MsSsd::new(&case.spec).unwrap().keep_cleanings();
    let text = text(&format!("{}.trace.zst", case.name));
    let mut done = Vec::new();
    for (id, line) in (0..).zip(text.lines()) {
        let row = fields(line);
        let at = Time(ns(row[0]).round() as u64);
        while drive.now() < at {
            drive.wait(at, &mut done);
        }
        let number = |i: usize| row[i].parse::<u64>().unwrap();
        let op = if number(4) == 1 { Op::Read } else { Op::Write };
        drive
            .submit(Request::new(id, op, number(2) * 512, number(3) * 512))
            .unwrap();
    }
    done.sort_by_key(|completion| completion.id.0);
    let cleanings = drive.cleanings().iter();
    let cleanings = cleanings
        .map(|c| (c.start_ms * 1e6, c.element, c.cost_ms * 1e6))
        .collect();
    Ours {
        completed: done,
        cleanings,
        counters: drive.counters(),
    }
}

/// The differences between our model and the reference.
#[derive(Debug, Default)]
pub(crate) struct Difference {
    pub requests: usize,
    pub ours: usize,
    /// Largest difference, in nanoseconds.
    pub largest_ns: f64,
    /// Number of requests that differ by more than 2 ns.
    pub beyond: usize,
    /// The first of them by arrival: our completion time (ns) and the reference's request.
    pub first: Vec<(f64, Seen)>,
    /// Number of cleaning passes that differ in time, element or cost.
    pub cleanings_beyond: usize,
    pub first_cleaning: Option<String>,
    pub mean_ms: f64,
}

type ByAddress = BTreeMap<u64, (Vec<f64>, Vec<Seen>)>;

/// Compares completion times per address as sorted lists.
pub(crate) fn compare(ours: &Ours, seen: &[Seen], cleanings: &[(f64, u32, f64)]) -> Difference {
    let mut difference = Difference {
        requests: seen.len(),
        ours: ours.completed.len(),
        ..Difference::default()
    };
    let mut by: ByAddress = BTreeMap::new();
    for request in seen {
        by.entry(request.lba).or_default().1.push(*request);
    }
    for (completion, request) in ours.completed.iter().zip(seen) {
        by.entry(request.lba)
            .or_default()
            .0
            .push(completion.completed.0 as f64);
    }
    for (ours, reference) in by.values_mut() {
        ours.sort_by(f64::total_cmp);
        reference.sort_by(|a, b| a.complete.total_cmp(&b.complete));
        ours.resize(reference.len(), f64::INFINITY);
        for (&ours, reference) in ours.iter().zip(reference) {
            let off = (ours - reference.complete).abs();
            difference.largest_ns = difference.largest_ns.max(off);
            if off > 2.0 {
                difference.beyond += 1;
                difference.first.push((ours, *reference));
            }
        }
    }
    difference
        .first
        .sort_by(|a, b| a.1.arrival.total_cmp(&b.1.arrival));
    difference.first.truncate(5);
    // The reference writes no list of cleanings for gangs.
    let listed = if cleanings.is_empty() {
        0
    } else {
        cleanings.len().max(ours.cleanings.len())
    };
    for i in 0..listed {
        let (a, b) = (ours.cleanings.get(i), cleanings.get(i));
        let same = matches!((a, b), (Some(a), Some(b)) if (a.0 - b.0).abs() < 2.0 && a.1 == b.1 && (a.2 - b.2).abs() < 2.0);
        if !same {
            difference.cleanings_beyond += 1;
            difference
                .first_cleaning
                .get_or_insert_with(|| format!("{i}: {a:?} / {b:?}"));
        }
    }
    let latencies = ours
        .completed
        .iter()
        .take(seen.len())
        .map(|c| c.latency().0 as f64);
    difference.mean_ms = latencies.sum::<f64>() / seen.len() as f64 / 1e6;
    difference
}
