//! `fathom platform`: what an I/O costs a machine.

use super::save::{shown, written};
use crate::args::PlatformArgs;
use crate::failure::{Exit, Failure};
use crate::{out, watch};
use fathom_base::{Bytes, Dur};
use fathom_lab::platform::{
    MeasureError, MeasureOptions, ModelOptions, Sample, StandError, measure, measured_platform,
    model, platform, table,
};
use fathom_lab::replay::RunError;
use fathom_lab::store::{self, PLATFORM_FILE, PLATFORM_TOML, REPORT_FILE, SAMPLES_FILE, SetKind};
use fathom_lab::target::TargetError;
use fathom_platform::Platform;
use fathom_report::platform::{PlatformReport, page, text};
use std::path::Path;

/// Longest read, in bytes.
const BLOCK_MAX: u64 = 1 << 20;
/// A shorter part measures too few reads.
const TIME_MIN: Dur = Dur::ms(10);

pub(super) fn run(args: &PlatformArgs) -> Result<Exit, Failure> {
    check_block(args.bs)?;
    if args.time < TIME_MIN {
        let message = format!("`--time {}` is too short", args.time);
        return Err(Failure::input("fathom::platform::time", message).help("give at least 10ms"));
    }
    if let Some(dir) = &args.out {
        store::check_output(dir, SetKind::Platform)?;
    }
    let Some(name) = &args.model else {
        return here(args);
    };
    let platform = behind(name, args.drive.as_deref())?;
    watch::listen()?;
    let options = ModelOptions {
        block: args.bs,
        seed: args.asked.seed,
        stop: watch::interrupted,
    };
    match model(&platform, options, &part(args.asked.quiet)) {
        Ok(found) => {
            let file = platform.to_toml();
            show(args, &found, Some(file), &[])
        }
        Err(error) => ended(error),
    }
}

/// Measures this machine.
fn here(args: &PlatformArgs) -> Result<Exit, Failure> {
    watch::listen()?;
    let options = MeasureOptions {
        targets: args.target.clone(),
        block: args.bs,
        time: args.time,
        trace: !args.no_trace,
        seed: args.asked.seed,
        stop: watch::interrupted,
        before_the_end: watch::before_the_end,
    };
    match measure(&options, &part(args.asked.quiet)) {
        Ok(found) => {
            let file = measured_platform(&found.report);
            show(args, &found.report, file, &found.samples)
        }
        Err(MeasureError::Interrupted) => {
            out::note("Interrupted; nothing is kept.");
            Ok(Exit::Negative)
        }
        Err(MeasureError::Host(error)) => Err(TargetError::from(error).into()),
        Err(error) => Err(Failure::input(
            "fathom::platform::failed",
            error.to_string(),
        )),
    }
}

/// Checks the length of an I/O.
pub(super) fn check_block(block: Bytes) -> Result<(), Failure> {
    let fits = (512..=BLOCK_MAX).contains(&block.0) && block.0.is_multiple_of(512);
    if fits {
        return Ok(());
    }
    let message = format!("`--bs {block}` is no length of an I/O");
    Err(Failure::input("fathom::platform::block", message)
        .help("give a multiple of 512B, from 512B to 1MiB"))
}

/// Returns the platform, with another drive if one is given.
pub(super) fn behind(name: &str, drive: Option<&str>) -> Result<Platform, Failure> {
    let mut platform = platform(name)?;
    if let Some(drive) = drive {
        drive.clone_into(&mut platform.drive);
    }
    if platform.drive.is_empty() {
        let message = format!("the platform `{name}` names no drive");
        return Err(Failure::input("fathom::platform::drive", message)
            .help("give one: --drive model:NAME (`fathom list drives`)"));
    }
    Ok(platform)
}

/// Returns a function that names each part as it begins.
pub(super) fn part(quiet: bool) -> impl Fn(&str) {
    move |name| {
        if !quiet {
            out::note(name);
        }
    }
}

/// Handles the end without a result.
pub(super) fn ended(error: StandError) -> Result<Exit, Failure> {
    match error {
        StandError::Run(RunError::Interrupted) => {
            out::note("Interrupted; nothing is kept.");
            Ok(Exit::Negative)
        }
        StandError::Run(error) => Err(error.into()),
        StandError::Target(error) => Err(error.into()),
        error @ StandError::Block { .. } => {
            Err(Failure::input("fathom::platform::block", error.to_string())
                .help("give another `--bs`, or name another drive"))
        }
        error => Err(Failure::input("fathom::platform::drive", error.to_string())
            .help("name another drive: `fathom list drives` shows all")),
    }
}

/// Prints and saves the result. Prints it even if it cannot be saved.
fn show(
    args: &PlatformArgs,
    found: &PlatformReport,
    file: Option<String>,
    samples: &[Sample],
) -> Result<Exit, Failure> {
    let out = args.out.as_deref();
    let saved = out.map(|dir| save(dir, found, file, samples));
    shown(args.asked.json, found, || text(found, out::screen()), saved)
}

/// Writes the report and the page, the platform file, and the samples of a measurement.
fn save(
    dir: &Path,
    found: &PlatformReport,
    file: Option<String>,
    samples: &[Sample],
) -> Result<String, Failure> {
    let (json, html) = (out::versioned(found)?, page(found));
    let mut files = vec![(PLATFORM_FILE, json.into_bytes())];
    files.extend(file.map(|text| (PLATFORM_TOML, text.into_bytes())));
    if !samples.is_empty() {
        let table = table(samples);
        let table = table
            .map_err(|error| Failure::input("fathom::platform::samples", error.to_string()))?;
        files.push((SAMPLES_FILE, table));
    }
    files.push((REPORT_FILE, html.into_bytes()));
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let bytes: Vec<(&'static str, &[u8])> = files
        .iter()
        .map(|(name, bytes)| (*name, &bytes[..]))
        .collect();
    // Those of an earlier result in the same place do not belong to this one.
    let gone = [PLATFORM_TOML, SAMPLES_FILE].into_iter();
    let gone: Vec<&str> = gone.filter(|name| !names.contains(name)).collect();
    store::put(dir, &bytes, &gone)?;
    Ok(written(dir, &names))
}
