//! Times that follow from one figure of the record each. A time is changed by what the candidate's figure is off, which has
//! the same effect on it, and the candidate is measured again.

use super::figures::{Samples, What};
use fathom_base::Dur;
use fathom_ssd::Spec;
use fathom_stats::location::quantile;

/// The distance of the 10 % and the 90 % quantile of a normal distribution, in standard deviations.
const TENTHS: f64 = 2.563;
/// A second command that is seen later than the first one by no more than this many times the transfer of a block waits for
/// the link, and not for the controller.
const WIRE: f64 = 1.15;
const COMMAND_PERCENT_MAX: f64 = 90.0;
const FLASH_PERCENT_MAX: f64 = 60.0;

/// The figures that times follow from, in nanoseconds. Spreads are standard deviations.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Marks {
    /// A command that needs no flash, and its spread.
    empty: Option<f64>,
    empty_spread: Option<f64>,
    /// What a second one at once takes longer.
    second: Option<f64>,
    /// A read of the flash, and its spread.
    read: Option<f64>,
    read_spread: Option<f64>,
}

impl Marks {
    /// Returns the figures of samples, of the same kinds as those of the `recorded` ones.
    fn of(samples: &Samples, recorded: &Samples) -> Self {
        let first = |kinds: [What; 2]| {
            let known = kinds.into_iter();
            let mut known = known.filter(|what| recorded.contains_key(&(*what, 0)));
            known.next().and_then(|what| samples.get(&(what, 0)))
        };
        let middle = |times: Option<&Vec<f64>>| quantile(times?, 0.5);
        let spread = |times: Option<&Vec<f64>>| {
            let times = times?;
            Some((quantile(times, 0.9)? - quantile(times, 0.1)?) / TENTHS)
        };
        let empty = first([What::Nothing, What::Clean]);
        let read = first([What::One, What::Small]);
        let both = samples.get(&(What::NothingPair, 0));
        Self {
            empty: middle(empty),
            empty_spread: spread(empty),
            second: middle(both).zip(middle(empty)).map(|(two, one)| two - one),
            read: middle(read),
            read_spread: spread(read),
        }
    }
}

/// Changes the times of a candidate by what its figures are off from the recorded ones.
pub(super) fn nearer(spec: &mut Spec, recorded: &Samples, measured: &Samples) {
    let goal = Marks::of(recorded, recorded);
    let met = Marks::of(measured, recorded);
    let off = |of: fn(&Marks) -> Option<f64>| Some(of(&goal)? - of(&met)?);
    let block = spec.host.logical_block.0 as f64;
    let wire = block / spec.host.bandwidth.bytes_per_second() as f64 * 1e9;
    let mut overhead = spec.host.command_overhead.0 as f64;
    let mut latency = spec.host.latency.0 as f64;
    if let (Some(second), Some(off)) = (goal.second, off(|marks| marks.second))
        && second > WIRE * wire
    {
        let before = overhead;
        overhead = (overhead + off).max(0.5 * overhead);
        latency -= overhead - before;
    }
    if let Some(off) = off(|marks| marks.empty) {
        latency += off;
    }
    // What is left over of a negative latency belongs to the command.
    overhead = (overhead + latency.min(0.0)).max(1.0);
    spec.host.command_overhead = Dur(overhead.round() as u64);
    spec.host.latency = Dur(latency.max(0.0).round() as u64);
    if let Some(off) = off(|marks| marks.read) {
        let read = spec.flash.read.0 as f64;
        spec.flash.read = Dur((read + off).max(0.5 * read).round() as u64);
    }
    let percent = |now: f64, of: fn(&Marks) -> Option<f64>, mean: f64, most: f64| {
        let squares = of(&goal)
            .zip(of(&met))
            .map(|(goal, met)| goal * goal - met * met);
        let square = now * now + squares.unwrap_or(0.0) / (mean * mean) * 1e4;
        (square.max(0.0).sqrt().min(most) * 10.0).round() / 10.0
    };
    let noise = &mut spec.noise;
    let command = |marks: &Marks| marks.empty_spread;
    let flash = |marks: &Marks| {
        Some(
            (marks.read_spread?.powi(2) - marks.empty_spread?.powi(2))
                .max(0.0)
                .sqrt(),
        )
    };
    noise.command_percent = percent(
        noise.command_percent,
        command,
        overhead,
        COMMAND_PERCENT_MAX,
    );
    noise.flash_percent = percent(
        noise.flash_percent,
        flash,
        spec.flash.read.0 as f64,
        FLASH_PERCENT_MAX,
    );
}
