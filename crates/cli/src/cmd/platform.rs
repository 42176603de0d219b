//! `fathom platform`: what an I/O costs a machine.

use super::save::written;
use crate::args::PlatformArgs;
use crate::failure::{Exit, Failure};
use crate::{out, watch};
use fathom_lab::platform::{ModelOptions, StandError, model, platform};
use fathom_lab::replay::RunError;
use fathom_lab::store::{self, PLATFORM_FILE, REPORT_FILE, SetKind};
use fathom_platform::Platform;
use fathom_report::platform::{PlatformReport, page, text};
use std::path::Path;

pub(super) fn run(args: &PlatformArgs) -> Result<Exit, Failure> {
    if let Some(dir) = &args.out {
        store::check_output(dir, SetKind::Platform)?;
    }
    let platform = behind(&args.model, args.drive.as_deref())?;
    watch::listen()?;
    let options = ModelOptions {
        block: args.bs,
        seed: args.seed,
        stop: watch::interrupted,
    };
    match model(&platform, options, &part(args.quiet)) {
        Ok(found) => show(args, &found),
        Err(error) => ended(error),
    }
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
        error => Err(Failure::input("fathom::platform::drive", error.to_string())
            .help("name another drive: `fathom list drives` shows all")),
    }
}

/// Prints and saves the result. Prints it even if it cannot be saved.
fn show(args: &PlatformArgs, found: &PlatformReport) -> Result<Exit, Failure> {
    let saved = args.out.as_deref().map(|dir| save(dir, found));
    let after = match &saved {
        Some(Ok(message)) => format!("\n{message}\n"),
        _ => String::new(),
    };
    match args.json {
        true => out::json(found)?,
        false => out::text(&(text(found, out::screen()) + &after))?,
    }
    saved.transpose()?;
    Ok(Exit::Done)
}

fn save(dir: &Path, found: &PlatformReport) -> Result<String, Failure> {
    let (json, html) = (out::versioned(found)?, page(found));
    let files = [
        (PLATFORM_FILE, json.as_bytes()),
        (REPORT_FILE, html.as_bytes()),
    ];
    store::write_whole(dir, &files)?;
    Ok(written(dir, &files.map(|(name, _)| name)))
}
