//! Ground truth of the stalls: background work of the dies, and repeated reads.
//!
//! A read at a random time finds its die busy with background work in a share of the cases: the length of a piece over the
//! interval between two, over the number of stations. Lengths are exponential, so the rest of a piece is as long as a whole
//! one. The rule counts the stalls in ten minutes of reads at even intervals, as the definition of the parameter has them.

use super::right::{Right, Sight, Truth};
use super::speeds::Speeds;
use fathom_probe::Value;
use fathom_ssd::Spec;

/// A read counts as stalled from this many times a typical one, and this many standard deviations of its logarithm.
const TIMES: f64 = 3.0;
const DEVIATIONS: f64 = 8.0;
/// The shares of reads from which stalls are identifiable, and below which there are none.
const SHARE_CLEAR: f64 = 5e-5;
/// The stalls in ten minutes that are identifiable.
const STALLS_CLEAR: f64 = 24.0;
const SECONDS: f64 = 600.0;

pub(super) fn truth(spec: &Spec) -> Truth {
    let speeds = Speeds::of(spec);
    let bytes = 4096.max(spec.host.logical_block.0);
    let flash = speeds.read + speeds.bus(bytes);
    let typical = speeds.command() + speeds.link(bytes) + flash;
    let noise = &spec.noise;
    let spread = (noise.command_percent * speeds.command() + noise.flash_percent * speeds.read)
        / typical
        / 100.0;
    let wait_min = typical * TIMES.max((DEVIATIONS * spread).exp()) - typical;
    let apart = (4.0 * typical).max(200_000.0);
    let background = background(spec, &speeds, wait_min, apart);
    let retries = retries(spec, wait_min);
    let silent = spec.gc.background_percent == 0.0 && spec.gc.wear_gap == 0;
    if background.is_none() && retries.is_none() {
        return match silent {
            true => Truth::missing(),
            false => collected(spec, wait_min),
        };
    }
    let all = [background, retries];
    let clear = all.iter().flatten().any(|stall| stall.clear);
    let longest = all.iter().flatten().map(|stall| stall.longest_ns);
    let longest = longest.fold(0.0, f64::max);
    let right = vec![between(wait_min, longest.max(2.0 * wait_min))];
    match clear {
        true => Truth::new(Sight::Identifiable, right, ""),
        false => Truth::new(Sight::Faint, right, "stalls are rare"),
    }
}

/// Stalls of one cause.
struct Stall {
    clear: bool,
    longest_ns: f64,
}

fn background(spec: &Spec, speeds: &Speeds<'_>, wait_min: f64, apart: f64) -> Option<Stall> {
    let (interval, length) = (
        spec.noise.background_interval.0 as f64,
        spec.noise.background_duration.0 as f64,
    );
    if interval == 0.0 || length == 0.0 {
        return None;
    }
    let long = (-wait_min / length).exp();
    let share = length / interval / speeds.stations * long;
    let met = (length / apart / speeds.stations).min(1.0);
    let stalls = SECONDS * 1e9 / interval * met * long;
    Some(Stall {
        clear: share >= SHARE_CLEAR && stalls >= STALLS_CLEAR,
        longest_ns: wait_min + 6.0 * length,
    })
}

fn retries(spec: &Spec, wait_min: f64) -> Option<Stall> {
    let faults = &spec.faults;
    if faults.read_retry == 0.0 || faults.read_retries_max == 0 {
        return None;
    }
    let needed = (wait_min / spec.flash.read.0 as f64).ceil().max(1.0);
    let most = f64::from(faults.read_retries_max);
    let share = faults.read_retry.powf(needed);
    Some(Stall {
        clear: needed <= most && share >= SHARE_CLEAR,
        longest_ns: wait_min + (most + 1.0) * spec.flash.read.0 as f64,
    })
}

/// Collection and wear levelling in idle time keep a die busy for copies and erases.
fn collected(spec: &Spec, wait_min: f64) -> Truth {
    let flash = &spec.flash;
    let longest = wait_min + (flash.erase.0 + 64 * flash.program.0) as f64;
    let why = "collection in idle time may come to an end before the measurement";
    Truth::new(Sight::Faint, vec![between(wait_min, longest)], why)
}

fn between(low: f64, high: f64) -> Right {
    let ns = |ns: f64| Value::Nanoseconds(ns as u64);
    Right::Between(ns(low), ns(high))
}
