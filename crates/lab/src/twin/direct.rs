//! Times that follow from one figure of the record each. A time is changed by what the candidate's figure is off, which has
//! the same effect on it, and the candidate is measured again.

use super::draft::rate;
use super::figures::{Samples, What};
use super::seen::deviation;
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
    /// What a longer read takes longer.
    longer: Option<f64>,
}

/// The largest standard error of what a longer read takes longer, as a share of it, if the rate of a bus follows from it.
const EXACT: f64 = 0.06;
const SMALL: u64 = 4096;

/// The reads whose difference shows the rate of a bus, and by how many bytes the second one is longer.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Longer {
    what: What,
    bytes: f64,
}

/// Returns the reads that show the rate of a bus of the recorded drive.
fn longer(recorded: &Samples, block: u64) -> Option<Longer> {
    let small = What::Small;
    let all = [(small, SMALL.saturating_sub(block)), (What::Two, block)];
    let error = |times: &[f64]| Some(deviation(times)? / (times.len().max(1) as f64).sqrt());
    let one = recorded.get(&(What::One, 0))?;
    let exact = |what: What| {
        let other = recorded.get(&(what, 0))?;
        let more = quantile(other, 0.5)? - quantile(one, 0.5)?;
        // The median is less exact than the mean by a quarter.
        let error = 1.25 * error(one)?.hypot(error(other)?);
        Some(more > 0.0 && error < EXACT * more)
    };
    let exact = all
        .into_iter()
        .find(|(what, bytes)| *bytes > 0 && exact(*what) == Some(true));
    exact.map(|(what, bytes)| Longer {
        what,
        bytes: bytes as f64,
    })
}

/// Returns true if single reads of a drive with this logical block tell the rate of a bus.
pub(super) fn tells_bus(recorded: &Samples, block: u64) -> bool {
    longer(recorded, block).is_some()
}

impl Marks {
    /// Returns the figures of samples, of the same kinds as those of the `recorded` ones.
    fn of(samples: &Samples, recorded: &Samples, longer: Option<Longer>) -> Self {
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
            longer: longer.and_then(|longer| {
                let other = samples.get(&(longer.what, 0));
                Some(middle(other)? - middle(read)?)
            }),
            read_spread: spread(read),
        }
    }
}

/// Changes the times of a candidate by what its figures are off from the recorded ones.
pub(super) fn nearer(spec: &mut Spec, recorded: &Samples, measured: &Samples) {
    let longer = longer(recorded, spec.host.logical_block.0);
    let goal = Marks::of(recorded, recorded, longer);
    let met = Marks::of(measured, recorded, longer);
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
        // A read whose part of a map in flash is not in memory takes two reads of the flash.
        let off = if spec.mapping.map_cache.is_some() {
            0.5 * off
        } else {
            off
        };
        spec.flash.read = Dur((read + off).max(0.5 * read).round() as u64);
    }
    if let (Some(longer), Some(off)) = (longer, off(|marks| marks.longer)) {
        let bus = spec.flash.bus.bytes_per_second() as f64;
        let each = longer.bytes / bus * 1e9;
        spec.flash.bus = rate(longer.bytes / (each + off).max(0.4 * each) * 1e9);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The samples of a drive by formulas: nothing takes l + o + b/w, a second command o more, a read tR + b/bus more, and a
    /// longer one its longer transfers. Two values each have the spreads of the drive.
    fn samples(spec: &Spec) -> Samples {
        let (host, flash) = (&spec.host, &spec.flash);
        let wire = |bytes: f64| bytes / host.bandwidth.bytes_per_second() as f64 * 1e9;
        let bus = |bytes: f64| bytes / flash.bus.bytes_per_second() as f64 * 1e9;
        let block = host.logical_block.0 as f64;
        let nothing = host.latency.0 as f64 + host.command_overhead.0 as f64 + wire(block);
        let one = nothing + flash.read.0 as f64 + bus(block);
        let two = one + wire(block) + bus(block);
        let command = spec.noise.command_percent / 100.0 * host.command_overhead.0 as f64;
        let array = spec.noise.flash_percent / 100.0 * flash.read.0 as f64;
        let around = |middle: f64, spread: f64| {
            let tenths = (0..=100).map(|i| (f64::from(i) - 50.0) / 80.0 * TENTHS);
            tenths.map(|x| middle + x * spread).collect::<Vec<f64>>()
        };
        [
            ((What::Nothing, 0), around(nothing, command)),
            (
                (What::NothingPair, 0),
                vec![nothing + host.command_overhead.0 as f64],
            ),
            ((What::One, 0), around(one, command.hypot(array))),
            ((What::Two, 0), around(two, 1.0)),
        ]
        .into()
    }

    #[test]
    fn planted_times_follow_from_the_figures_of_single_commands() {
        let text = include_str!("../../../../examples/drive.toml");
        let mut planted = Spec::from_toml(text).unwrap();
        planted.host.logical_block = fathom_base::Bytes::kib(4);
        planted.host.latency = Dur::us(9);
        planted.host.command_overhead = Dur::us(12);
        planted.host.bandwidth = rate(5e9);
        planted.flash.bus = rate(400e6);
        planted.noise.command_percent = 4.0;
        planted.noise.flash_percent = 3.0;
        let recorded = samples(&planted);
        assert!(tells_bus(&recorded, 4096));
        let mut found = planted.clone();
        found.host.latency = Dur::us(2);
        found.host.command_overhead = Dur::us(20);
        found.flash.read = Dur::us(140);
        found.flash.bus = rate(800e6);
        found.noise.command_percent = 1.0;
        found.noise.flash_percent = 9.0;
        for _ in 0..4 {
            let measured = samples(&found);
            nearer(&mut found, &recorded, &measured);
        }
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 0.02, "{a} instead of {b}");
        near(found.host.latency.0 as f64, 9_000.0);
        near(found.host.command_overhead.0 as f64, 12_000.0);
        near(found.flash.read.0 as f64, planted.flash.read.0 as f64);
        near(found.flash.bus.bytes_per_second() as f64, 400e6);
        near(found.noise.command_percent, 4.0);
        near(found.noise.flash_percent, 3.0);
    }

    /// A few noisy reads do not tell the rate of a bus.
    #[test]
    fn a_difference_that_noise_hides_tells_no_bus() {
        let noisy = |at: f64| {
            (0..9)
                .map(|i| at + f64::from(i) * 2_000.0)
                .collect::<Vec<f64>>()
        };
        let recorded: Samples = [
            ((What::One, 0), noisy(60_000.0)),
            ((What::Two, 0), noisy(63_000.0)),
        ]
        .into();
        assert!(!tells_bus(&recorded, 4096));
    }
}
