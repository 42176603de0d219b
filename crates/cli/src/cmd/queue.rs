//! Builds the block layer above a drive from the options.

use super::made;
use super::workload::table;
use crate::args::QueueArgs;
use crate::failure::Failure;
use crate::{input, out};
use fathom_iosched::QueueConfig;
use fathom_lab::queue::{QueueError, from_table};
use fathom_lab::source::Workload;
use fathom_lab::store::{self, Loaded, SetKind};
use fathom_lab::target::QueueDepth;
use fathom_probe::Profile;

/// Name that stands for no block layer.
pub(super) const NONE: &str = "none";

/// Returns the block layer that the options describe; `None` if there is none.
pub(super) fn of(args: &QueueArgs) -> Result<Option<QueueConfig>, Failure> {
    described(args, QueueError::help)
}

/// As [`of`], for a stack of `--ab`, whose names take no keys.
pub(super) fn of_stack(args: &QueueArgs) -> Result<Option<QueueConfig>, Failure> {
    described(args, QueueError::help_by_name)
}

/// Reads the profile of the drive, if one is given.
fn profile(args: &QueueArgs) -> Result<Option<Loaded<Profile>>, Failure> {
    let Some(path) = args.profile.as_deref() else {
        return Ok(None);
    };
    input::profile(path)?;
    made::only(&[SetKind::Measurement], path, "--profile")
        .map_err(|failure| failure.help("measure the drive: fathom probe TARGET --out DIR"))?;
    Ok(Some(store::load_profile(path)?))
}

/// Gives a program what its allocator needs of the drive's profile.
pub(super) fn tell(workload: &mut Workload, args: &QueueArgs) -> Result<(), Failure> {
    if workload.lacks_logical_block()
        && let Some(profile) = profile(args)?
    {
        workload.take_logical_block(&out::loaded(profile));
    }
    Ok(())
}

fn described(
    args: &QueueArgs,
    help: fn(&QueueError) -> String,
) -> Result<Option<QueueConfig>, Failure> {
    let profile = profile(args)?;
    if args.sched.as_deref() == Some(NONE) {
        if args.split.is_some() {
            let message = "`--sched none` is no block layer, and splits nothing";
            return Err(Failure::input("fathom::queue", message)
                .help("leave out `--split`, or take `--sched noop`"));
        }
        return Ok(None);
    }
    if let Some((NONE, _)) = args
        .sched
        .as_deref()
        .and_then(|sched| sched.split_once(','))
    {
        let message = "`--sched none` is no scheduler, and takes no keys";
        return Err(Failure::input("fathom::queue", message)
            .help("leave them out, or name a scheduler: `fathom list schedulers` shows all"));
    }
    let mut queue = toml::Table::new();
    for (key, text) in [("scheduler", &args.sched), ("split", &args.split)] {
        if let Some(text) = text {
            queue.insert(key.into(), table("name", text)?);
        }
    }
    if let Some(depth) = args.depth {
        queue.insert("depth".into(), i64::from(depth.get()).into());
    }
    if queue.is_empty() {
        return Ok(None);
    }
    let profile = profile.map(out::loaded);
    let config = from_table(queue, profile.as_ref())
        .map_err(|error| Failure::input("fathom::queue", error.to_string()).help(help(&error)))?;
    Ok(Some(config))
}

/// Returns the queue depth of a real drive: as given, or as large as the drive allows.
pub(super) fn real_depth(args: &QueueArgs) -> QueueDepth {
    args.depth
        .map_or(QueueDepth::Drive, |depth| QueueDepth::Fixed(depth.get()))
}
