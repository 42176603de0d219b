//! The block layer above a drive, as flags say it; and what went through it, in words.

use super::outcome::count;
use super::workload::table;
use crate::args::QueueArgs;
use crate::failure::Failure;
use crate::{input, out};
use fathom_iosched::{Bundled, Dispatched, QueueConfig, QueueStats};
use fathom_lab::queue::{QueueError, from_table};
use fathom_lab::store;
use fathom_lab::target::QueueDepth;
use fathom_report::screen::Screen;
use fathom_report::text::human_bytes;

/// The share of requests up to this size is told, as `parameter-aware-io` tells it.
const SHORT_BYTES: u64 = 256 << 10;

/// What stands for no block layer at all.
pub(super) const NONE: &str = "none";

/// The block layer that the flags describe, if any does.
pub(super) fn of(args: &QueueArgs) -> Result<Option<QueueConfig>, Failure> {
    if args.sched.as_deref() == Some(NONE) {
        if args.split.is_some() {
            let message = "`--sched none` is no block layer, and splits nothing";
            return Err(Failure::input("fathom::queue", message)
                .help("leave out `--split`, or take `--sched noop`"));
        }
        return Ok(None);
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
    args.profile.as_deref().map_or(Ok(()), input::run)?;
    let profile = args
        .profile
        .as_deref()
        .map(store::load_profile)
        .transpose()?
        .map(out::loaded);
    Ok(Some(from_table(queue, profile.as_ref())?))
}

/// How many requests a real drive has at a time: as many as it takes, or as the flag says.
pub(super) fn real_depth(args: &QueueArgs) -> QueueDepth {
    args.depth
        .map_or(QueueDepth::Drive, |depth| QueueDepth::Fixed(depth.get()))
}

impl From<QueueError> for Failure {
    fn from(error: QueueError) -> Self {
        Self::input("fathom::queue", error.to_string()).help(error.help())
    }
}

/// What the scheduler and the splitter are called.
pub(super) fn name(config: &QueueConfig) -> String {
    format!("{}, {}", config.split.name(), config.scheduler.name())
}

/// What was merged and split, in a sentence.
fn through(stats: &QueueStats) -> String {
    format!(
        "{} in {}, {} of them merged, {} held back behind an overlap; the drive had {:.1} at a \
         time on average.",
        count(stats.submitted, "read or write", "reads and writes"),
        count(stats.pieces, "piece", "pieces"),
        stats.back_merges + stats.front_merges,
        stats.held_back,
        stats.mean_depth(),
    )
}

/// What the drive was given, with a heading.
fn given(config: &QueueConfig, stats: &QueueStats) -> Vec<Vec<String>> {
    let aligned = format!("aligned to {}", human_bytes(config.alignment.0));
    let head = [
        "given to the drive",
        "count",
        "mean length",
        "longest",
        "up to 256 KiB",
        &aligned,
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let sides = [("reads", &stats.reads), ("writes", &stats.writes)];
    let some = sides.into_iter().filter(|(_, side)| side.count > 0);
    rows.extend(some.map(|(name, side)| row(name, side)));
    rows
}

fn row(name: &str, side: &Dispatched) -> Vec<String> {
    vec![
        name.to_owned(),
        side.count.to_string(),
        human_bytes(side.bytes / side.count.max(1)),
        longest(side),
        short(side),
        aligned(side),
    ]
}

/// The longest request.
pub(super) fn longest(side: &Dispatched) -> String {
    human_bytes(side.by_len.keys().next_back().copied().unwrap_or(0))
}

/// How many were short.
pub(super) fn short(side: &Dispatched) -> String {
    let short = side.by_len.range(..=SHORT_BYTES);
    percent(short.map(|(_, count)| count).sum(), side.count)
}

/// How many began at the alignment.
pub(super) fn aligned(side: &Dispatched) -> String {
    percent(side.aligned, side.count)
}

fn percent(part: u64, of: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / of.max(1) as f64)
}

/// What was bundled, in a line.
fn bundled(bundles: &Bundled) -> String {
    let count = bundles.count.max(1);
    format!(
        "{} bundles of writes, with {:.2} writes and {} in one on average\n",
        bundles.count,
        bundles.writes as f64 / count as f64,
        human_bytes(bundles.bytes / count)
    )
}

/// Both, for the terminal.
pub(super) fn text(config: &QueueConfig, stats: &QueueStats, screen: Screen) -> String {
    let table = super::table::table(&given(config, stats), screen);
    let bundles = stats.bundles.as_ref().map(bundled).unwrap_or_default();
    format!(
        "block layer ({}): {}\n{table}{bundles}",
        name(config),
        through(stats)
    )
}
