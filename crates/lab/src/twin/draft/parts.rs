//! What the parts of a draft share: the list of assumptions, the layout, the rate of the link, and quantities.

use crate::twin::seen::{Seen, deviation};
use crate::twin::series;
use fathom_base::{Dur, Rate};
use fathom_probe::Parameter;
use fathom_report::twin::Assumed;
use fathom_ssd::spec::MappingKind;
use fathom_stats::location::{median, quantile};
use std::fmt::Display;

/// The assumptions, in the order in which they are made.
#[derive(Debug, Default)]
pub(super) struct Assumptions(pub(super) Vec<Assumed>);

impl Assumptions {
    pub(super) fn add(&mut self, key: &str, value: impl Display, why: impl Into<String>) {
        self.0.push(Assumed {
            key: key.to_owned(),
            value: value.to_string(),
            why: why.into(),
        });
    }
}

/// The layout of a drive: single planes of the size of the clustered page, one clustered block on one die.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) capacity: u64,
    pub(super) unit: u64,
    pub(super) page: u64,
    pub(super) dies: u64,
    pub(super) channels: u64,
    pub(super) pages_per_block: u64,
    pub(super) kind: MappingKind,
}

/// The length of a small write, in bytes, if the logical block is not longer.
const SMALL: u64 = 4096;
/// A rate of the link that is below this share of the highest one that was seen is none: memory delays writes.
const PLAUSIBLE: f64 = 0.9;
/// The largest standard error of a known rate, as a share of it; that of a rate so many times as high as any that was seen,
/// which hardly matters.
const EXACT: f64 = 0.04;
const ROUGH: f64 = 0.25;
const FAST: f64 = 2.0;

/// Returns the rate of the link, in bytes per second, if small writes tell it, which go into memory, or else reads of places that
/// hold nothing: both take longer than a flush of nothing by their transfer.
pub(in crate::twin) fn wire(seen: &Seen<'_>) -> Option<f64> {
    let told = [
        (Parameter::Flush, series::PLAIN),
        (Parameter::MapReach, series::NOTHING),
    ];
    let mut told = told
        .into_iter()
        .skip(usize::from(seen.waits_for_programs()));
    told.find_map(|(parameter, series)| {
        let block = u64::from(seen.record.meta.target.logical_block_bytes).max(1);
        let bytes = SMALL.next_multiple_of(block) as f64;
        transferred(seen, &seen.times(parameter, series, None), bytes)
    })
}

/// Returns the rate of the link, in bytes per second, if it is what `times` are longer than those of a flush of nothing.
fn transferred(seen: &Seen<'_>, times: &[f64], bytes: f64) -> Option<f64> {
    let clean = seen.times(Parameter::Flush, series::CLEAN, None);
    let took = median(times)? - median(&clean)?;
    let error = |times: &[f64]| Some(deviation(times)? / (times.len() as f64).sqrt());
    let error = error(times)?.hypot(error(&clean)?);
    let rate = bytes / took * 1e9;
    let seen_rate = link(seen).unwrap_or(0.0);
    let least = if rate > FAST * seen_rate {
        ROUGH
    } else {
        EXACT
    };
    let exact = took > 0.0 && error < least * took;
    (exact && rate > PLAUSIBLE * seen_rate).then_some(rate.max(seen_rate))
}

/// Returns the highest rate of long reads or writes.
pub(super) fn link(seen: &Seen<'_>) -> Option<f64> {
    let long = [
        (Parameter::BandwidthLimit, series::BATCH),
        (Parameter::FastCache, series::EMPTY),
    ];
    let rates = long.into_iter().filter_map(|(parameter, series)| {
        let samples = seen.series(parameter, series).iter();
        let rates: Vec<f64> = samples
            .map(|sample| sample.bytes as f64 / sample.ns.max(1) as f64 * 1e9)
            .collect();
        quantile(&rates, 0.9)
    });
    rates.reduce(f64::max)
}

/// Returns a duration of a positive number of nanoseconds, rounded.
pub(in crate::twin) fn dur(ns: f64) -> Dur {
    Dur(ns.max(0.0).round() as u64)
}

/// Returns a rate of at least one byte per second, with at least four digits of it.
pub(in crate::twin) fn rate(bytes_per_second: f64) -> Rate {
    let step = match bytes_per_second {
        fast if fast >= 1e9 => 1e6,
        fast if fast >= 1e6 => 1e3,
        _ => 1.0,
    };
    let whole = ((bytes_per_second / step).round() * step).max(1.0) as u64;
    Rate::new(whole).unwrap_or_else(|| rate(1.0))
}

#[cfg(test)]
mod tests {
    use super::{rate, wire};
    use crate::twin::seen::Seen;
    use fathom_base::{Bytes, Rate};
    use fathom_probe::run::{self, RunConfig};
    use fathom_probe::{Parameter, Unobserved};
    use fathom_ssd::Spec;

    /// Writes of a card without a write buffer wait for their program.
    #[test]
    fn reads_of_nothing_tell_the_link_where_writes_do_not() {
        let mut spec = Spec::from_toml(fathom_model::find("sd-card").unwrap().text).unwrap();
        spec.capacity = Bytes::mib(512);
        spec.write_buffer = None;
        spec.host.bandwidth = Rate::new(300_000_000).unwrap();
        spec.host.queue_depth = 32;
        spec.noise.command_percent = 2.0;
        spec.check().unwrap();
        let mut drive = fathom_model::Model::Ssd(Box::new(spec)).build(1).unwrap();
        let config = RunConfig {
            seed: 1,
            parameters: vec![
                Parameter::MapReach,
                Parameter::Flush,
                Parameter::WriteBuffer,
            ],
            ..RunConfig::default()
        };
        let record = run::run(&mut drive, &config, None, &mut Unobserved).unwrap();
        let profile = run::solve(&record);
        let rate = wire(&Seen::new(&record, &profile)).unwrap();
        assert!((rate / 300e6 - 1.0).abs() < 0.1, "{rate}");
    }

    #[test]
    fn rates_have_at_least_four_digits() {
        let of = |rate_: f64| rate(rate_).to_string();
        assert_eq!(of(4_467_880_134.2), "4468MB/s");
        assert_eq!(of(158_898_268.0), "158898kB/s");
        assert_eq!(of(998_268.4), "998268B/s");
        assert_eq!(of(0.0), "1B/s");
    }
}
