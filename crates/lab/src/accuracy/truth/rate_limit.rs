//! Ground truth of the limit of operations.
//!
//! The probe sees a limit by its burst: small reads at depth 32 must be faster than the refill, and empty the bucket. The
//! speed without the limit is that of the slowest stage: flash, bus, link or controller.

use super::right::{Right, Sight, Truth};
use super::speeds::Speeds;
use fathom_probe::Value;
use fathom_ssd::Spec;

/// The depth of the reads, and the most of them in a run.
const DEPTH: f64 = 32.0;
const READS_MAX: f64 = 1_000_000.0;
const SMALL: u64 = 4096;
/// Without the limit reads are at least so many times as fast as the refill where a drop is clear.
const FASTER: f64 = 1.5;
/// A burst that lasts for fewer reads than this has no level of its own.
const BURST_MIN: f64 = 2_048.0;

pub(super) fn truth(spec: &Spec) -> Truth {
    let limit = spec.limit.as_ref();
    let Some((limit, refill)) = limit.and_then(|l| Some((l, l.operations_per_second?))) else {
        return Truth::missing();
    };
    let refill = refill as f64;
    let counted = match limit.operation_size {
        Some(size) => SMALL.div_ceil(size.0.max(1)).max(1) as f64,
        None => 1.0,
    };
    let value = |x: f64| Value::PerSecond(x);
    let near = Right::Between(
        value(refill / counted * 0.98),
        value(refill / counted * 1.02),
    );
    let burst = limit.operations_burst.map_or(refill / 10.0, |n| n as f64);
    let fast = reads_per_second(spec, SMALL);
    let other = limit.bandwidth.map_or(f64::MAX, |rate| {
        rate.bytes_per_second() as f64 / SMALL as f64
    });
    // Reads of twice the length take twice the tokens: such a limit counts bytes.
    if limit.operation_size.is_some_and(|size| size.0 <= SMALL) {
        return Truth::missing();
    }
    seen(near, burst / counted, refill / counted, fast, other)
}

/// Returns the truth of a limit of `refill` reads a second with a burst, on a drive that could do `fast`, beside another
/// limit.
pub(super) fn seen(right: Right, burst: f64, refill: f64, fast: f64, other: f64) -> Truth {
    let why = match () {
        () if refill >= fast || refill >= other => "something else is slower than the limit",
        () if fast < FASTER * refill || other < FASTER * refill => "the drop is small",
        () if burst * fast / (fast - refill) > READS_MAX => "the burst is longer than the run",
        () if burst < BURST_MIN => "the burst is too short to be seen",
        () => return Truth::new(Sight::Identifiable, vec![right], ""),
    };
    Truth::new(Sight::Faint, vec![right], why)
}

/// Returns how many random reads a second the drive does at the probe's depth without a limit.
pub(super) fn reads_per_second(spec: &Spec, bytes: u64) -> f64 {
    let speeds = Speeds::of(spec);
    let page = bytes.min(speeds.page());
    let parts = bytes as f64 / page as f64;
    let flash = parts * (speeds.read + speeds.bus(page));
    let depth = DEPTH.min(f64::from(spec.host.queue_depth));
    let one = speeds.command() + speeds.link(bytes) + flash;
    let stage = speeds.host(bytes).max(flash / speeds.stations);
    1e9 / stage.max(one / depth)
}
