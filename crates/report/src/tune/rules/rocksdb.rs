//! RocksDB's options (rocksdb, include/rocksdb/options.h, table.h, rate_limiter.h).

use super::family::{Family, Rule};
use crate::tune::advice::{Decided, Decision, Undecided};
use crate::tune::case::Case;
use crate::words::bytes;

pub(super) const FAMILY: Family = Family {
    name: "rocksdb",
    rules: &[
        Rule {
            setting: "compaction_readahead_size",
            decide: readahead,
        },
        Rule {
            setting: "bytes_per_sync",
            decide: bytes_per_sync,
        },
        Rule {
            setting: "rate_bytes_per_sec",
            decide: rate_limit,
        },
        Rule {
            setting: "block_size",
            decide: block_size,
        },
    ],
};

/// RocksDB's own read-ahead of a compaction.
const READAHEAD: u64 = 2 << 20;

fn readahead(case: &Case<'_>) -> Decision {
    let stripe = case.stripe()?;
    let readahead = READAHEAD.max(2 * stripe.bytes);
    let reason = match readahead == READAHEAD {
        true => format!("the default: it covers {} twice", stripe.said),
        false => format!("two requests of {} keep all of the drive busy", stripe.said),
    };
    Ok(Decided::new(readahead, stripe.parameter, reason))
}

const SYNC_MAX: u64 = 1 << 20;

fn bytes_per_sync(case: &Case<'_>) -> Decision {
    let buffer = case.measured.known("write_buffer")?;
    let sync = SYNC_MAX.min(buffer.value / 2) / 4096 * 4096;
    if sync == 0 {
        let why = format!("a write buffer of {} takes no file", buffer.said);
        return Err(Undecided::identified(buffer.parameter, why));
    }
    let reason = format!(
        "a file is written back in parts of {}, which the write buffer of {} takes, and not all at once at its end",
        bytes(sync),
        buffer.said
    );
    Ok(Decided::new(sync, buffer.parameter, reason))
}

fn rate_limit(case: &Case<'_>) -> Decision {
    let cache = case.measured.known("fast_cache")?;
    let Some(slow) = case.measured.figure(cache.parameter, "slow_bytes_per_s") else {
        let why = "the fast cache has no rate behind it";
        return Err(Undecided::identified(cache.parameter, why));
    };
    let rate = slow as u64;
    let reason = format!(
        "behind a fast cache of {} the drive writes {}/s: compactions beyond that rate fill the cache and then stall the rest",
        cache.said,
        bytes(rate)
    );
    Ok(Decided::new(rate, cache.parameter, reason))
}

/// The default block, and a bound: a longer one is decompressed for every key.
const BLOCK: u64 = 4 << 10;
const BLOCK_MAX: u64 = 32 << 10;

fn block_size(case: &Case<'_>) -> Decision {
    let unit = case.measured.known("read_unit")?;
    let why = match unit.value {
        bytes if bytes <= BLOCK => {
            "the default of 4 KiB is no shorter than the read unit".to_owned()
        }
        bytes if bytes <= BLOCK_MAX => {
            let reason = format!("the drive reads {} for a shorter block, too", unit.said);
            return Ok(Decided::new(unit.value, unit.parameter, reason));
        }
        _ => format!(
            "a block as long as the read unit of {} would be decompressed for every key; the default is 4 KiB",
            unit.said
        ),
    };
    Err(Undecided::identified(unit.parameter, why))
}
