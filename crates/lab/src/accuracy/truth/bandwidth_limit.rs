//! Ground truth of the limit of bytes. See the limit of operations; reads are long.

use super::rate_limit::{reads_per_second, seen};
use super::right::{Right, Truth};
use fathom_probe::Value;
use fathom_ssd::Spec;

const LONG: u64 = 256 << 10;

pub(super) fn truth(spec: &Spec) -> Truth {
    let limit = spec.limit.as_ref();
    let Some((limit, rate)) = limit.and_then(|l| Some((l, l.bandwidth?))) else {
        return operations_as_bytes(spec);
    };
    let bytes = LONG.min(spec.host.max_request.0) as f64;
    let refill = rate.bytes_per_second() as f64;
    let burst = limit.bandwidth_burst.map_or(refill / 10.0, |n| n.0 as f64);
    let other = limit.operations_per_second.map_or(f64::MAX, |n| n as f64);
    let near = near(refill);
    let fast = reads_per_second(spec, bytes as u64);
    // A burst is seen from a few batches of long reads on; the rule of small reads counts 512 of them as one.
    let batches = burst / bytes * 8.0;
    seen(near, batches, refill / bytes, fast, other)
}

/// A limit of operations alone bounds bytes if it counts long reads as several operations: half of a read as half as many.
fn operations_as_bytes(spec: &Spec) -> Truth {
    let limit = spec.limit.as_ref();
    let Some((limit, refill)) = limit.and_then(|l| Some((l, l.operations_per_second?))) else {
        return Truth::missing();
    };
    let bytes = LONG.min(spec.host.max_request.0);
    let counted = |bytes: u64| {
        let size = limit.operation_size.map_or(u64::MAX, |size| size.0.max(1));
        bytes.div_ceil(size).max(1)
    };
    let counted = match counted(bytes) > counted(bytes / 2) {
        true => counted(bytes),
        false => return Truth::missing(),
    };
    let right = near(refill as f64 / counted as f64 * bytes as f64);
    let why = "a limit of operations bounds the bytes of long reads";
    Truth::new(super::right::Sight::Faint, vec![right], why)
}

fn near(refill: f64) -> Right {
    let value = |x: f64| Value::BytesPerSecond(x as u64);
    Right::Between(value(refill * 0.98), value(refill * 1.02))
}
