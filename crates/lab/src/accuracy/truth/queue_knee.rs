//! Ground truth of the queue's knee, the least depth with 95 % of the highest rate of small random reads.
//!
//! The rate over the depth follows from the queueing network of [`super::reads`]. It is flat near the knee, so every depth
//! with 92 to 98 % of the highest rate is right. A drive whose deepest queue still brings more than 5 % over half of it has
//! no knee within its queue; one whose rate does not grow has none at all.

use super::reads::Reads;
use super::right::{EFFECT_MIN, Right, Sight, Truth};
use fathom_probe::Value;
use fathom_ssd::Spec;

/// The deepest queue that counts.
const DEPTH_MAX: u32 = 1024;
/// The gain of the last doubling up to which the curve is flat, and from which on it rises.
const FLAT: f64 = 1.03;
const RISES: f64 = 1.08;
const SHARES: [f64; 2] = [0.92, 0.98];

pub(super) fn truth(spec: &Spec) -> Truth {
    let native = of(spec);
    let Some(cache) = &spec.fast_cache else {
        return native;
    };
    // What was filled last may lie in the fast cache, whose reads are shorter.
    let mut cached = spec.clone();
    cached.flash.read = cache.read;
    either(native, of(&cached))
}

/// Returns the truth of a drive that may be in either of two states: the less visible one, with the answers of both.
fn either(one: Truth, other: Truth) -> Truth {
    let sight = one.sight.max(other.sight);
    let why = match sight == one.sight {
        true => one.why,
        false => other.why,
    };
    let counts = one.right.iter().chain(&other.right);
    let ends: Vec<(u64, u64)> = counts
        .filter_map(|right| match right {
            Right::Between(Value::Count(low), Value::Count(high)) => Some((*low, *high)),
            _ => None,
        })
        .collect();
    let low = ends.iter().map(|end| end.0).min();
    let high = ends.iter().map(|end| end.1).max();
    let right = low
        .zip(high)
        .map(|(low, high)| Right::Between(Value::Count(low), Value::Count(high)));
    Truth::new(sight, right.into_iter().collect(), why)
}

/// Returns the small reads a second that the limits of a volume let through.
fn limited(spec: &Spec) -> f64 {
    let small = 4096.max(spec.host.logical_block.0);
    let limit = spec.limit.as_ref();
    let operations = limit.and_then(|limit| {
        let counted = limit
            .operation_size
            .map_or(1, |size| small.div_ceil(size.0.max(1)));
        Some(limit.operations_per_second? as f64 / counted as f64)
    });
    let bytes =
        limit.and_then(|limit| Some(limit.bandwidth?.bytes_per_second() as f64 / small as f64));
    operations
        .unwrap_or(f64::MAX)
        .min(bytes.unwrap_or(f64::MAX))
}

fn of(spec: &Spec) -> Truth {
    let deepest = spec.host.queue_depth.clamp(1, DEPTH_MAX);
    if deepest < 2 {
        return Truth::missing();
    }
    let reads = Reads::of(spec);
    let depths = depths(deepest);
    let rates: Vec<f64> = depths.iter().map(|depth| reads.rate(*depth)).collect();
    let through = limited(spec);
    let peak = rates.iter().copied().fold(0.0, f64::max);
    let gain = peak / rates[0];
    let half = depths
        .iter()
        .rposition(|depth| 2 * depth <= deepest)
        .unwrap_or(0);
    let last = peak / rates[..=half].iter().copied().fold(0.0, f64::max);
    let [low, high] = SHARES.map(|share| least(deepest, |depth| reads.rate(depth) >= share * peak));
    let right = vec![Right::Between(
        Value::Count(u64::from(low.saturating_sub(1).max(1))),
        Value::Count(u64::from(high)),
    )];
    // A limit is reached at some depth, even where the drive itself could serve more.
    if through < 1.1 * peak || spec.thermal.is_some() {
        let why = "a limit or heat changes the rate during the measurement";
        return Truth::new(
            Sight::Faint,
            vec![Right::Between(
                Value::Count(1),
                Value::Count(u64::from(deepest)),
            )],
            why,
        );
    }
    if last > RISES {
        return Truth::new(Sight::Hidden, right, "the queue ends before the rate does");
    }
    let effect = match last < FLAT && gain > 1.0 + EFFECT_MIN {
        true => 1.0,
        false => 0.0,
    };
    Truth::by_effect(
        effect,
        right,
        "the rate hardly depends on the depth, or still grows a little at its end",
    )
}

fn depths(deepest: u32) -> Vec<u32> {
    let powers = std::iter::successors(Some(1u32), |depth| depth.checked_mul(2));
    let fits = powers.take_while(|depth| *depth <= deepest);
    let mut all: Vec<u32> = fits.flat_map(|d| [d, d + d / 2]).chain([deepest]).collect();
    all.retain(|depth| *depth <= deepest);
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the least depth up to `deepest` that is deep enough, by bisection: no line between a few depths tells it, because
/// the rate bends where the last dies become busy.
fn least(deepest: u32, enough: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (1, deepest);
    while low < high {
        let middle = low.midpoint(high);
        match enough(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    high
}
