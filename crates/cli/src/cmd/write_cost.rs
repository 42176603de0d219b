//! `fathom write-cost`: fits the write-cost model of `greedy-space` to a drive and tests it.

use super::confirm::{Bound, Consent, confirm};
use super::made;
use super::prepare::prepared;
use super::save::{shown, written};
use super::unfit;
use crate::args::WriteCostArgs;
use crate::failure::{Exit, Failure};
use crate::{input, out, watch};
use fathom_block::{Device as _, Subject};
use fathom_lab::store::{self, COST_FILE, REPORT_FILE, SetKind};
use fathom_lab::target::{OpenOptions, Opened, TargetError, TargetName, fill};
use fathom_model::{Drive, Model};
use fathom_probe::cost::{self, Config, CostError, Hooks, Source, WriteCost};
use fathom_probe::{Parameter, Profile, Value};
use fathom_report::cost::{page, text};
use fathom_run::Precondition;
use std::path::Path;

pub(super) fn run(args: &WriteCostArgs) -> Result<Exit, Failure> {
    if let Some(dir) = &args.out {
        store::check_output(dir, SetKind::WriteCost)?;
    }
    let name = input::target(&args.target)?;
    let config = config(args)?;
    let found = match name.model(&[])? {
        Some(model) => {
            let mut drive = modelled(args, model)?;
            measured(&mut drive, args, &config)
        }
        None => {
            let mut opened = real(args, &name, &config)?;
            measured(&mut opened.device, args, &config)
        }
    };
    match found {
        Ok(found) => show(args, &found),
        Err(CostError::Interrupted) => {
            out::note(
                "Interrupted; nothing is kept of a measurement that did not come to its end.",
            );
            Ok(Exit::Negative)
        }
        Err(error) => Err(failure(error)),
    }
}

fn measured(
    drive: &mut dyn Subject,
    args: &WriteCostArgs,
    config: &Config,
) -> Result<WriteCost, CostError> {
    let part = |name: &str| {
        if !args.asked.quiet {
            out::note(name);
        }
    };
    let hooks = Hooks {
        stopped: &watch::interrupted,
        part: &part,
    };
    cost::measure(drive, config, hooks)
}

/// Prints and saves the result. Prints it even if it cannot be saved.
fn show(args: &WriteCostArgs, found: &WriteCost) -> Result<Exit, Failure> {
    let saved = args.out.as_deref().map(|dir| save(dir, found));
    shown(args.asked.json, found, || text(found, out::screen()), saved)
}

fn save(dir: &Path, found: &WriteCost) -> Result<String, Failure> {
    let (json, html) = (out::versioned(found)?, page(found));
    let files = [(COST_FILE, json.as_bytes()), (REPORT_FILE, html.as_bytes())];
    store::write_whole(dir, &files)?;
    Ok(written(dir, &files.map(|(name, _)| name)))
}

fn config(args: &WriteCostArgs) -> Result<Config, Failure> {
    let profile = args.profile.as_deref().map(profile).transpose()?;
    let given = args.block.map(|bytes| (bytes.0, Source::Given));
    let block = match &profile {
        Some(profile) => Some((logical_block(profile)?, Source::Profile)),
        None => given,
    };
    Ok(Config {
        target: args.target.clone(),
        seed: args.asked.seed,
        block,
        clustered_bytes: profile.and_then(|profile| bytes_of(&profile, Parameter::ClusteredBlock)),
        figure_bytes: args.total.0,
        figure_sizes: args.sizes.iter().map(|bytes| bytes.0).collect(),
    })
}

fn profile(path: &Path) -> Result<Profile, Failure> {
    input::profile(path)?;
    made::only(&[SetKind::Measurement], path, "--profile")
        .map_err(|failure| failure.help("measure the drive: fathom probe TARGET --out DIR"))?;
    Ok(out::loaded(store::load_profile(path)?))
}

fn bytes_of(profile: &Profile, parameter: Parameter) -> Option<u64> {
    match profile.parameters.get(&parameter)?.value {
        Some(Value::Bytes(bytes)) => Some(bytes),
        _ => None,
    }
}

/// Returns the logical block of a profile, or its clustered block, which a merge rewrites.
fn logical_block(profile: &Profile) -> Result<u64, Failure> {
    let known = |parameter| bytes_of(profile, parameter);
    known(Parameter::LogicalBlock)
        .or_else(|| known(Parameter::ClusteredBlock))
        .ok_or_else(|| {
            let message = "the profile has neither a logical nor a clustered block";
            Failure::input("fathom::cost::profile", message)
                .help("leave `--profile` out to search it, or give it with `--block`")
        })
}

fn modelled(args: &WriteCostArgs, mut model: Model) -> Result<Drive, Failure> {
    if let Some(destroy) = &args.destroy {
        return Err(TargetError::DestroyModel {
            destroy: destroy.clone(),
            target: args.target.clone(),
        }
        .into());
    }
    if let Some(size) = args.size {
        model
            .resize(size)
            .map_err(|error| TargetError::Size { size, error })?;
    }
    watch::listen()?;
    let drive = model
        .build(args.asked.seed)
        .map_err(|error| Failure::input("fathom::target::drive", error.to_string()))?;
    unfit::zoned(drive.info())?;
    prepared(
        drive,
        Precondition::of(None, model.starts_empty()),
        args.asked.seed,
    )
}

/// Opens a real drive with the safety checks of `fathom probe`, and fills a scratch file.
fn real(args: &WriteCostArgs, name: &TargetName, config: &Config) -> Result<Opened, Failure> {
    let options = OpenOptions {
        size: args.size,
        destroy: args.destroy.clone(),
        seed: args.asked.seed,
        ..OpenOptions::default()
    };
    let mut opened = name.open(&args.target, &options)?;
    unfit::zoned(opened.device.info())?;
    let mut bytes = cost::bound(config, opened.device.info());
    if opened.scratch() {
        let scratch = opened.target.capacity_bytes;
        bytes.expected_bytes = bytes.expected_bytes.saturating_add(scratch);
        bytes.bound_bytes = bytes.bound_bytes.saturating_add(scratch);
    }
    let consent = Consent {
        destroy: args.destroy.as_deref(),
        yes: args.yes,
        read_only: false,
        rated_bytes: None,
    };
    confirm(&opened, Bound::Bytes(bytes), consent)?;
    watch::listen()?;
    if opened.scratch() {
        fill(&mut *opened.device, &|_| !watch::interrupted())
            .map_err(|error| Failure::input("fathom::real::fill", error.to_string()))?;
    }
    Ok(opened)
}

fn failure(error: CostError) -> Failure {
    let help = match &error {
        CostError::Small { .. } => "use a larger drive (`--size`), or give a smaller `--block`",
        CostError::Size {
            option: "--sizes", ..
        } => "the largest size is half of `--total`, or of the drive if that is less",
        CostError::Size { .. } => "choose another size, or leave it out for the paper's search",
        CostError::Search(_) => "give the logical block with `--block` or `--profile`",
        CostError::Io(error) if error.kind == fathom_block::IoErrorKind::ReadOnly => {
            "an existing file is only read until `--destroy` names it"
        }
        CostError::Io(_)
        | CostError::Bound { .. }
        | CostError::Stopped
        | CostError::Interrupted => "use another drive",
    };
    Failure::input("fathom::cost", error.to_string()).help(help)
}
