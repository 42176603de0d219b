//! The block layer above a drive, as flags say it; and what went through it, in words.

use super::workload::table;
use crate::args::QueueArgs;
use crate::failure::Failure;
use fathom_iosched::{Dispatched, QueueConfig, QueueStats};
use fathom_lab::queue::{QueueError, from_table};
use fathom_lab::store;
use fathom_report::text::human_bytes;

/// The block layer that the flags describe, if any does.
pub(super) fn of(args: &QueueArgs) -> Result<Option<QueueConfig>, Failure> {
    let mut queue = toml::Table::new();
    for (key, text) in [("scheduler", &args.sched), ("split", &args.split)] {
        if let Some(text) = text {
            queue.insert(key.into(), table("name", text)?);
        }
    }
    if let Some(depth) = args.depth {
        queue.insert("depth".into(), i64::from(depth).into());
    }
    if queue.is_empty() {
        return Ok(None);
    }
    let profile = args
        .profile
        .as_deref()
        .map(store::load_profile)
        .transpose()?;
    Ok(Some(from_table(queue, profile.as_ref())?))
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

/// What was merged and split, and what the drive was given, a line each.
pub(super) fn text(config: &QueueConfig, stats: &QueueStats) -> String {
    let merged = stats.back_merges + stats.front_merges;
    let mut text = format!(
        "block layer ({}): {} reads and writes in {} pieces, {merged} of them merged, {} held back behind an overlap; \
         {:.1} at the drive on average\n",
        name(config),
        stats.submitted,
        stats.pieces,
        stats.held_back,
        stats.mean_depth(),
    );
    for (kind, side) in [("reads", &stats.reads), ("writes", &stats.writes)] {
        if side.count > 0 {
            text += &given(kind, side, config.alignment.0);
        }
    }
    text
}

fn given(kind: &str, side: &Dispatched, alignment: u64) -> String {
    format!(
        "the drive was given {} {kind} of {} on average, {:.0} % of them aligned to {}\n",
        side.count,
        human_bytes(side.bytes / side.count.max(1)),
        100.0 * side.aligned as f64 / side.count.max(1) as f64,
        human_bytes(alignment),
    )
}
