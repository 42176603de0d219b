//! Discards: how long one may be (`queue/discard_max_bytes`), and when they are sent (mount(8), fstrim(8)).

use super::family::{Family, Rule};
use crate::tune::advice::{Decided, Decision, Undecided};
use crate::tune::case::Case;
use crate::words::{bytes, duration};

pub(super) const FAMILY: Family = Family {
    name: "discard",
    rules: &[
        Rule {
            setting: LONGEST,
            decide: longest,
        },
        Rule {
            setting: "when",
            decide: when,
        },
    ],
};

/// The attribute of the request queue (Linux, Documentation/ABI/stable/sysfs-block).
pub(super) const LONGEST: &str = "discard_max_bytes";
/// A discard should take no longer than this, in nanoseconds, because reads may wait for it. Assumption: the time that an
/// interactive program does not notice.
const LONGEST_NS: f64 = 10e6;
const GIB: f64 = (1_u64 << 30) as f64;
/// No bound below this helps: the fixed cost of a discard would dominate.
const LEAST: u64 = 1 << 20;
/// Linux sends no discard as long as this: a bio has 32 bits for its bytes (block/blk-lib.c).
const NEVER_SENT: u64 = 1 << 32;

fn longest(case: &Case<'_>) -> Decision {
    let trim = case.measured.known("trim")?;
    let Some(per_gib) = case.measured.figure(trim.parameter, "ns_per_gib") else {
        let why = "the time of a TRIM does not grow with its length, so none is too long";
        return Err(Undecided::identified(trim.parameter, why));
    };
    let hard = case.reported.size("discard_max_hw_bytes");
    let length = ((LONGEST_NS / per_gib * GIB) as u64).max(LEAST);
    let length = 1 << length.ilog2();
    if let Some(hard) = hard.filter(|&hard| hard <= length) {
        let why = format!(
            "the longest TRIM of the drive, {}, takes about {}, which is short enough",
            bytes(hard),
            duration((per_gib * hard as f64 / GIB) as u64)
        );
        return Err(Undecided::identified(trim.parameter, why));
    }
    if length >= NEVER_SENT {
        let why = format!(
            "each GiB makes a TRIM {} longer, and Linux sends none of {}: none is too long",
            duration(per_gib as u64),
            bytes(NEVER_SENT)
        );
        return Err(Undecided::identified(trim.parameter, why));
    }
    let reason = format!(
        "each GiB makes a TRIM {} longer, and reads may wait for it; {} do so by at most {}",
        duration(per_gib as u64),
        bytes(length),
        duration(LONGEST_NS as u64)
    );
    Ok(Decided::new(length, trim.parameter, reason))
}

/// A TRIM of 1 MiB is cheap up to this, in nanoseconds. Assumption: about ten random reads of a drive of today.
const CHEAP_NS: u64 = 1_000_000;
/// Reads beside TRIMs may take this many times as long.
const DISTURBS: f64 = 1.25;

fn when(case: &Case<'_>) -> Decision {
    let trim = case.measured.known("trim")?;
    let figure = |name| case.measured.figure(trim.parameter, name);
    let reads = figure("read_during_ns").zip(figure("read_quiet_ns"));
    let slower = reads.map(|(during, quiet)| during / quiet);
    let beside = match slower {
        Some(ratio) if ratio > DISTURBS => {
            format!("reads beside TRIMs take {ratio:.1} times as long")
        }
        Some(_) => "reads beside TRIMs take no longer".to_owned(),
        None => "reads beside TRIMs were not measured".to_owned(),
    };
    let cheap = trim.value <= CHEAP_NS && slower.is_some_and(|ratio| ratio <= DISTURBS);
    let takes = format!("a TRIM of 1 MiB takes {}, and {beside}", trim.said);
    Ok(match cheap {
        true => Decided::new(
            "mount -o discard",
            trim.parameter,
            format!("{takes}: the drive may learn at once what is free"),
        ),
        false => Decided::new(
            "fstrim.timer",
            trim.parameter,
            format!("{takes}: discard in batches, when nobody waits"),
        ),
    })
}
