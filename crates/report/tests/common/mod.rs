//! A synthetic drive for the tests: pages of 16 KiB, blocks of 4 MiB, a read buffer of 256 KiB and a write buffer of 255
//! KiB. Its times are simple arithmetic on these numbers plus some noise; it is no model of a drive.

#![allow(dead_code, reason = "every test binary uses a part of it")]

use fathom_base::Rng;
use fathom_probe::profile::Evidence;
use fathom_probe::record::{Target, Timed};
use fathom_probe::{
    Cost, Estimate, Method, Parameter, Profile, Record, RecordMeta, Sample, Series, Step, Unit,
    Value, Verdict,
};
use std::collections::BTreeMap;

pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;

/// A name that breaks the page wherever it is not escaped.
pub(crate) const NASTY: &str = "</script><script>alert(1)</script><b>&\"'";

pub(crate) fn target() -> Target {
    Target {
        name: "model:paper-a".to_owned(),
        identity: "16 KiB pages, 4 MiB blocks".to_owned(),
        modelled: true,
        capacity_bytes: 8 << 30,
        logical_block_bytes: 512,
        max_request_bytes: 128 * MIB,
        queue_depth: 32,
        volatile_cache: true,
        spec: Some("[nand]\npage = \"4KiB\" # <physical> & so on\nchannels = 4\n".to_owned()),
        reported: None,
    }
}

pub(crate) struct Builder {
    pub(crate) record: Record,
    rng: Rng,
    now_ns: u64,
}

impl Builder {
    pub(crate) fn new() -> Builder {
        let meta = RecordMeta {
            fathom: "0.1.0".to_owned(),
            seed: 42,
            method: Method::Robust,
            parameters: Parameter::PAPERS.to_vec(),
            read_only: false,
            budget_bytes: None,
            budget_ns: None,
            cheapest_first: false,
            region: None,
            level: fathom_probe::Level::Full,
            fitting: false,
            look: None,
            log: None,
            references: Vec::new(),
            thin: 1,
            target: target(),
            complete: true,
        };
        let (steps, samples) = (Vec::new(), Vec::new());
        let record = Record {
            meta,
            steps,
            samples,
        };
        Builder {
            record,
            rng: Rng::new(42, 0),
            now_ns: 0,
        }
    }

    /// Adds a step of `reps` samples at each size. `ns` is the time without noise; one in 97 samples is slowed by cleaning.
    pub(crate) fn series(
        &mut self,
        (parameter, series): (Parameter, Series),
        sizes: &[u64],
        reps: u32,
        ns: impl Fn(u64) -> u64,
    ) {
        let read = matches!(
            series,
            Series::MISS
                | Series::HIT
                | Series::RANDOM_READ
                | Series::SEQUENTIAL_READ
                | Series::SCATTERED
                | Series::CONSECUTIVE
        );
        let step = self.record.steps.len() as u32;
        let mut cost = Cost::default();
        for &x in sizes {
            for rep in 0..reps {
                let base = ns(x);
                let noise = base * self.rng.below(60) / 1000;
                let spike = if self.rng.below(97) == 0 { 4 * base } else { 0 };
                let sample = Sample {
                    step,
                    parameter,
                    series,
                    x,
                    rep,
                    timed: if read { Timed::Read } else { Timed::Write },
                    offset: self.rng.below(1 << 14) * 512,
                    bytes: x,
                    ns: base + noise + spike,
                    at_ns: self.now_ns,
                };
                self.now_ns += sample.ns;
                let moved = if read {
                    &mut cost.bytes_read
                } else {
                    &mut cost.bytes_written
                };
                *moved += x;
                cost.requests += 1;
                cost.device_ns += sample.ns;
                self.record.samples.push(sample);
            }
        }
        let name = format!("{} of {parameter}", series.name().replace('_', ""));
        self.record.steps.push(Step {
            parameter,
            name,
            cost,
            logs: Vec::new(),
            marks: Default::default(),
        });
    }
}

fn doublings(first: u64, last: u64) -> Vec<u64> {
    std::iter::successors(Some(first), |x| Some(x * 2))
        .take_while(|x| *x <= last)
        .collect()
}

fn even(step: u64, last: u64) -> Vec<u64> {
    (1..=last / step).map(|i| i * step).collect()
}

/// 20 us, 4 ns per byte for the transfer and 25 us per page, plus 60 us for a partial page.
fn flushed_write_ns(size: u64) -> u64 {
    let pages = size.div_ceil(16 * KIB);
    let partial = if size.is_multiple_of(16 * KIB) {
        0
    } else {
        60_000
    };
    20_000 + size * 4 + pages * 25_000 + partial
}

fn pages(b: &mut Builder) {
    let p = Parameter::ClusteredPage;
    b.series((p, Series::ACROSS), &[KIB; 300], 1, |_| 340_000);
    for (i, sample) in (0u64..).zip(b.record.samples.iter_mut()) {
        sample.offset = (1 + i * 37 % 512) * 16 * KIB - sample.bytes / 2;
    }
    b.series((p, Series::WITHIN), &[KIB; 300], 1, |_| 210_000);
    b.series(
        (p, Series::SWEEP),
        &even(2 * KIB, 256 * KIB),
        24,
        flushed_write_ns,
    );
    let sizes = even(16 * KIB, 128 * KIB);
    b.series((p, Series::ALIGNED), &sizes, 16, flushed_write_ns);
    b.series((p, Series::SHIFTED), &sizes, 16, |x| {
        flushed_write_ns(x) + 145_000
    });
}

fn blocks(b: &mut Builder) {
    for p in [Parameter::ClusteredBlock, Parameter::LogicalBlock] {
        let sizes = doublings(32 * KIB, 64 * MIB);
        b.series((p, Series::SEQUENTIAL), &sizes, 12, |x| x * 11 + 40_000);
        let random = |x: u64| x * 11 + 40_000 + (4 * MIB).saturating_sub(x) * 9;
        b.series((p, Series::RANDOM), &sizes, 12, random);
    }
    let p = Parameter::LogicalBlock;
    let sizes = doublings(32 * KIB, 64 * MIB);
    b.series((p, Series::SEQUENTIAL_READ), &sizes, 6, |x| x * 6 + 60_000);
    b.series((p, Series::RANDOM_READ), &sizes, 6, |x| x * 6 + 95_000);
    b.series((p, Series::ALIGNED), &[4 * MIB], 32, |x| x * 11);
    b.series((p, Series::SHIFTED), &[4 * MIB], 32, |x| x * 28);
    let p = Parameter::ClusteredBlock;
    b.series((p, Series::PLACE), &[MIB; 600], 1, |x| x * 3);
    // Reads across the end of a block take two thirds of the time.
    for (i, sample) in b.record.samples.iter_mut().rev().take(600).enumerate() {
        sample.offset = i as u64 * 507_904;
        let middle = sample.offset + MIB / 2;
        if middle.abs_diff(middle.next_multiple_of(4 * MIB)) < MIB / 2 {
            sample.ns -= sample.ns / 3;
        }
    }
}

fn buffers(b: &mut Builder) {
    let sizes = even(8 * KIB, 512 * KIB);
    let p = Parameter::ReadBuffer;
    b.series((p, Series::MISS), &sizes, 10, |x| 90_000 + x * 8);
    let hit = |x: u64| 25_000 + x * 4 + if x > 256 * KIB { 65_000 + x * 4 } else { 0 };
    b.series((p, Series::HIT), &sizes, 10, hit);
    let p = Parameter::WriteBuffer;
    let empty = |x: u64| 25_000 + x * 4 + x.saturating_sub(255 * KIB) * 12;
    b.series((p, Series::EMPTY_BUFFER), &sizes, 10, empty);
    b.series((p, Series::FULL_BUFFER), &sizes, 10, |x| 25_000 + x * 14);
    b.series((p, Series::FLUSH_AFTER), &sizes, 10, |x| {
        30_000 + x.min(255 * KIB) * 12
    });
}

fn policies(b: &mut Builder) {
    let p = Parameter::Prefetch;
    let sizes = [4 * KIB, 16 * KIB, 64 * KIB];
    b.series((p, Series::SCATTERED), &sizes, 60, |x| 90_000 + x * 6);
    b.series((p, Series::CONSECUTIVE), &sizes, 60, |x| 88_000 + x * 6);
    let p = Parameter::WritePolicy;
    b.series((p, Series::REWRITE), &[4 * KIB], 200, |_| 310_000);
    b.series((p, Series::DISTINCT), &[4 * KIB], 200, |_| 308_000);
}

/// Returns a record with every series that a probe takes, and more samples in the sweep than are drawn.
pub(crate) fn record() -> Record {
    let mut b = Builder::new();
    pages(&mut b);
    blocks(&mut b);
    buffers(&mut b);
    policies(&mut b);
    b.record
}

pub(crate) fn estimate(
    value: Option<Value>,
    interval: Option<(u64, u64)>,
    verdict: Verdict,
) -> Estimate {
    Estimate {
        unit: value.as_ref().map_or(Unit::Bytes, Value::unit),
        value,
        low: interval.map(|i| Value::Bytes(i.0)),
        high: interval.map(|i| Value::Bytes(i.1)),
        verdict,
        method: Method::Robust,
        cost: Cost::default(),
        evidence: Evidence::default(),
    }
}

pub(crate) fn size(value: u64, low: u64, high: u64) -> Estimate {
    estimate(
        Some(Value::Bytes(value)),
        Some((low, high)),
        Verdict::Identified,
    )
}

pub(crate) fn because(mut estimate: Estimate, reason: &str, figures: &[(&str, f64)]) -> Estimate {
    estimate.evidence.reason = reason.to_owned();
    estimate.evidence.figures = figures.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect();
    estimate
}

/// Returns the sizes that would be found on such a drive.
fn sizes() -> [(Parameter, Estimate); 4] {
    let page = because(
        size(16 * KIB, 16 * KIB, 16 * KIB),
        "The latency drops by 60 us at every multiple of 16 KiB and nowhere else.",
        &[
            ("bic_gain", 812.4375),
            ("drop_ns", 60_012.0),
            ("permutation_p", 0.0005),
        ],
    );
    let block = because(
        size(4 * MIB, 4 * MIB, 4 * MIB + 512 * KIB),
        "Random and sequential writes are equally fast within 5 % from 4 MiB on; at 2 MiB random writes are still \
         44 % slower.",
        &[("ratio_below", 0.56), ("ratio_at", 0.993)],
    );
    let logical = because(
        size(4 * MIB, 2 * MIB, 8 * MIB),
        "Random and sequential throughput meet between 2 MiB and 8 MiB.",
        &[("ratio_at", 0.991)],
    );
    let buffer = because(
        size(256 * KIB, 256 * KIB, 264 * KIB),
        "Up to 256 KiB a second read takes half of the first one's time, above it the same.",
        &[("hit_to_miss", 0.51)],
    );
    [
        (Parameter::ClusteredPage, page),
        (Parameter::ClusteredBlock, block),
        (Parameter::LogicalBlock, logical),
        (Parameter::ReadBuffer, buffer),
    ]
}

/// Returns the other answers for such a drive.
fn others() -> [(Parameter, Estimate); 3] {
    let open = Some((248 * KIB, 272 * KIB));
    let buffer = because(
        estimate(None, open, Verdict::Inconclusive),
        "The budget was spent before the end of the buffer was found to better than 24 KiB.",
        &[],
    );
    let prefetch = because(
        estimate(None, None, Verdict::Absent),
        "Consecutive reads are as fast as scattered ones within 3 % at every size.",
        &[("ratio", 0.986)],
    );
    let fifo = Some(Value::Word("buffer".to_owned()));
    let policy = because(
        estimate(fifo, None, Verdict::Identified),
        "Coming back to the same places brings no gain.",
        &[],
    );
    [
        (Parameter::WriteBuffer, buffer),
        (Parameter::Prefetch, prefetch),
        (Parameter::WritePolicy, policy),
    ]
}

/// Returns the profile of such a drive.
pub(crate) fn profile(record: &Record) -> Profile {
    let mut parameters: BTreeMap<Parameter, Estimate> =
        sizes().into_iter().chain(others()).collect();
    let mut cost = Cost::default();
    for (parameter, estimate) in &mut parameters {
        estimate.cost = record.cost_of(*parameter);
        cost += estimate.cost;
    }
    Profile {
        skipped: Default::default(),
        marked: Default::default(),
        fathom: record.meta.fathom.clone(),
        seed: record.meta.seed,
        method: record.meta.method,
        target: record.meta.target.clone(),
        cost,
        parameters,
    }
}
