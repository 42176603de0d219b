//! The rate over threads, processors and drives until something limits it.

use super::bench::{Bench, Way};
use super::error::{MeasureError, or_missing};
use fathom_hostio::load::{Engine, Latency, LoadConfig, LoadReport};
use fathom_report::platform::{Limit, Limited, PlatformReport, Scaling};

/// Most threads that are tried.
const THREADS_MAX: u32 = 256;
/// The rate has stopped rising below this.
const RISE_MIN: f64 = 0.03;
/// Processors are the limit if they are busy for this share of the time.
const BUSY: f64 = 0.95;
/// Most that other programs may use of the processors, for these to be called the limit.
const OTHERS_MAX: f64 = 0.1;
/// I/Os in flight of a thread of an asynchronous interface.
const DEPTH: u32 = 32;

/// Adds the rates.
pub(super) fn scaling(
    bench: &Bench<'_>,
    report: &mut PlatformReport,
    part: &dyn Fn(&str),
) -> Result<(), MeasureError> {
    let cores = bench.cpus.len();
    for engine in [Engine::Pread, Engine::IoUring] {
        threads(bench, engine, cores, report, part)?;
    }
    let most = report
        .scaling
        .iter()
        .map(|row| row.threads)
        .max()
        .unwrap_or(1);
    for count in 1..cores {
        part(&format!("rate with {count} of {cores} processors"));
        row(
            bench,
            Engine::Pread,
            Setting {
                threads: most,
                cores: count,
                drives: bench.targets.len(),
            },
            report,
        )?;
    }
    for drives in 1..bench.targets.len() {
        part(&format!(
            "rate with {drives} of {} drives",
            bench.targets.len()
        ));
        row(
            bench,
            Engine::Pread,
            Setting {
                threads: most,
                cores,
                drives,
            },
            report,
        )?;
    }
    Ok(())
}

/// How many of each are used.
#[derive(Clone, Copy)]
struct Setting {
    threads: u32,
    cores: usize,
    drives: usize,
}

/// Doubles the threads until the rate no longer rises, and says what limits it.
fn threads(
    bench: &Bench<'_>,
    engine: Engine,
    cores: usize,
    report: &mut PlatformReport,
    part: &dyn Fn(&str),
) -> Result<(), MeasureError> {
    let mut setting = Setting {
        threads: 1,
        cores,
        drives: bench.targets.len(),
    };
    let mut before = 0.0;
    loop {
        part(&format!("rate of {} threads, {engine}", setting.threads));
        let Some(mut row) = measured(bench, engine, setting, report)? else {
            return Ok(());
        };
        let ends = row.iops < before * (1.0 + RISE_MIN) || setting.threads >= THREADS_MAX;
        if ends {
            row.limit = Some(limited(&row, before, bench.others.programs()));
        }
        before = row.iops;
        report.scaling.push(row);
        if ends {
            return Ok(());
        }
        setting.threads *= 2;
    }
}

fn row(
    bench: &Bench<'_>,
    engine: Engine,
    setting: Setting,
    report: &mut PlatformReport,
) -> Result<(), MeasureError> {
    let found = measured(bench, engine, setting, report)?;
    report.scaling.extend(found);
    Ok(())
}

/// Measures a rate; `None`, with a note in the report, if it cannot be measured.
fn measured(
    bench: &Bench<'_>,
    engine: Engine,
    setting: Setting,
    report: &mut PlatformReport,
) -> Result<Option<Scaling>, MeasureError> {
    bench.go_on()?;
    let depth = if engine == Engine::Pread { 1 } else { DEPTH };
    let targets = bench.targets.iter().take(setting.drives);
    let config = LoadConfig {
        targets: targets.map(|target| target.path.clone()).collect(),
        threads: setting.threads,
        depth,
        cpus: bench.cpus[..setting.cores.min(bench.cpus.len())].to_vec(),
        ..bench.load(engine, Way::Direct)
    };
    let found = or_missing(bench.plain(&config), "scaling", &mut report.missing)?;
    Ok(found.map(|found| Scaling {
        path: bench.path(engine, Way::Direct),
        block_bytes: bench.options.block.0,
        threads: setting.threads,
        depth,
        cores: setting.cores as u32,
        adapters: None,
        drives: setting.drives as u32,
        iops: rate(&found),
        utilisation: utilisation(&found, &config.cpus),
        latency_ns: latency(&found),
        limit: None,
    }))
}

fn rate(report: &LoadReport) -> f64 {
    let of = |thread: &fathom_hostio::load::ThreadLoad| {
        thread.ios as f64 * 1e9 / thread.usage.wall_ns.max(1) as f64
    };
    report.threads.iter().map(of).sum()
}

fn latency(report: &LoadReport) -> f64 {
    let mut threads = report.threads.iter();
    let Some(mut all): Option<Latency> = threads.next().map(|thread| thread.latency.clone()) else {
        return 0.0;
    };
    threads.for_each(|thread| all.merge(&thread.latency));
    all.mean_ns().unwrap_or_default()
}

/// The share of the time for which the processors of a load were not idle, whoever used them.
fn utilisation(report: &LoadReport, cpus: &[u32]) -> f64 {
    let of_load = report.cpus.iter().filter(|times| cpus.contains(&times.cpu));
    let idle: u64 = of_load.map(|times| times.idle_ns).sum();
    let all = report.cpus_wall_ns as f64 * cpus.len() as f64;
    if all > 0.0 {
        (1.0 - idle as f64 / all).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// Says what limits a rate that no longer rises. `others` is the share of the processors that other programs use.
fn limited(row: &Scaling, before: f64, others: f64) -> Limited {
    let busy = 100.0 * row.utilisation;
    let rise = 100.0 * (row.iops / before.max(1.0) - 1.0);
    if row.utilisation >= BUSY && others > OTHERS_MAX {
        let evidence = format!(
            "the {} processors are busy for {busy:.0} % of the time, but other programs used {:.0} % before",
            row.cores,
            100.0 * others
        );
        return Limited {
            by: Limit::Unknown,
            evidence,
        };
    }
    if row.utilisation >= BUSY {
        let evidence = format!(
            "the {} processors are busy for {busy:.0} % of the time",
            row.cores
        );
        return Limited {
            by: Limit::Cores,
            evidence,
        };
    }
    Limited {
        by: Limit::Drives,
        evidence: format!(
            "twice the threads change the rate by {rise:+.0} %, and the processors are busy for {busy:.0} % of the time"
        ),
    }
}
