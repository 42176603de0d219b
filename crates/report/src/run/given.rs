//! Describes the block layer's work in words.

use super::words::count;
use crate::screen::Screen;
use crate::table::Table;
use crate::words::bytes;
use fathom_iosched::{Bundled, Dispatched, QueueConfig, QueueStats};

/// Size in bytes up to which requests count as short, as in `parameter-aware-io`.
const SHORT_BYTES: u64 = 256 << 10;

/// Returns the names of the splitter and the scheduler.
pub(crate) fn name(config: &QueueConfig) -> String {
    format!("{}, {}", config.split.name(), config.scheduler.name())
}

/// Returns a sentence on merging and splitting.
fn through(stats: &QueueStats) -> String {
    format!(
        "{} in {}, {} of them merged, {} held back behind an overlap; the drive had {:.1} at a \
         time on average.",
        count(stats.submitted, "read or write", "reads and writes"),
        count(stats.pieces, "piece", "pieces"),
        stats.back_merges + stats.front_merges,
        stats.held_back,
        stats.mean_in_flight(),
    )
}

/// Returns the table of the requests dispatched to the drive.
fn given(config: &QueueConfig, stats: &QueueStats) -> Table {
    let aligned = format!("aligned to {}", bytes(config.alignment.0));
    let head = [
        "given to the drive",
        "count",
        "mean length",
        "longest",
        "up to 256 KiB",
        &aligned,
    ];
    let sides = [("reads", &stats.reads), ("writes", &stats.writes)];
    let some = sides.into_iter().filter(|(_, side)| side.count > 0);
    Table {
        rows: some.map(|(name, side)| row(name, side)).collect(),
        ..Table::new("", "", head)
    }
}

fn row(name: &str, side: &Dispatched) -> Vec<String> {
    vec![
        name.to_owned(),
        side.count.to_string(),
        bytes(side.bytes / side.count.max(1)),
        longest(side),
        short(side),
        aligned(side),
    ]
}

/// Returns the length of the longest request.
pub(super) fn longest(side: &Dispatched) -> String {
    bytes(side.by_len.keys().next_back().copied().unwrap_or(0))
}

/// Returns the share of short requests.
pub(super) fn short(side: &Dispatched) -> String {
    let short = side.by_len.range(..=SHORT_BYTES);
    percent(short.map(|(_, count)| count).sum(), side.count)
}

/// Returns the share of requests that began at a multiple of the alignment.
pub(super) fn aligned(side: &Dispatched) -> String {
    percent(side.aligned, side.count)
}

fn percent(part: u64, of: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / of.max(1) as f64)
}

/// Returns a line on bundles of writes.
fn bundled(bundles: &Bundled) -> String {
    let count = bundles.count.max(1);
    format!(
        "{} bundles of writes, with {:.2} writes and {} in one on average\n",
        bundles.count,
        bundles.writes as f64 / count as f64,
        bytes(bundles.bytes / count)
    )
}

/// Returns the block layer's statistics for the terminal.
pub(crate) fn text(config: &QueueConfig, stats: &QueueStats, screen: Screen) -> String {
    let table = given(config, stats).text(screen);
    let bundles = stats.bundles.as_ref().map(bundled).unwrap_or_default();
    format!(
        "block layer ({}): {}\n{table}{bundles}",
        name(config),
        through(stats)
    )
}
