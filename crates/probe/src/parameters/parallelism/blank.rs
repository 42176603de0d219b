//! What reads take: of data, and of nothing, which is all but the flash.

use super::take::{FIRST, PAIR, SECOND, SOLO, TOGETHER};
use crate::robust::blank::{NOTHING, NOTHING_PAIR};
use crate::robust::pace;
use crate::{Parameter, Record, Sample, Series};
use fathom_stats::location::{median, quantile};
use std::collections::BTreeMap;

/// The ratio of a second read to a first one below which something of the first was kept.
pub(super) const KEPT: f64 = 0.93;
/// The least time of the flash, as a share of the time of a read.
pub(super) const FLASH_MIN: f64 = 0.08;

/// Returns the samples of a series of a parameter that no limit delayed.
fn samples(record: &Record, of: Parameter, series: Series) -> impl Iterator<Item = &Sample> {
    let since = pace::since(record, of);
    record.series(of, series).filter(move |s| s.step >= since)
}

/// Returns the times of a series of a parameter.
pub(crate) fn times(record: &Record, of: Parameter, series: Series) -> Vec<f64> {
    samples(record, of, series).map(|s| s.ns as f64).collect()
}

/// Returns the times of a series with their places.
pub(super) fn times_by_place(record: &Record, of: Parameter, series: Series) -> Vec<(u64, f64)> {
    samples(record, of, series)
        .map(|s| (s.offset, s.ns as f64))
        .collect()
}

/// Returns the times of a series by their sizes.
pub(crate) fn by_size(record: &Record, of: Parameter, series: Series) -> BTreeMap<u64, Vec<f64>> {
    let mut all: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for sample in samples(record, of, series) {
        all.entry(sample.x).or_default().push(sample.ns as f64);
    }
    all
}

/// What reads take without the flash: alone, and two at once.
pub(super) struct Blank {
    pub(super) alone: Vec<f64>,
    pub(super) two: Vec<f64>,
}

impl Blank {
    /// Returns the part of the spread of two reads that the first one's time on the host's side adds: the second read has the
    /// noise of one read alone.
    pub(super) fn uneven_by_host(&self) -> f64 {
        let spread = |times: &[f64]| {
            let ends = quantile(times, 0.8).zip(quantile(times, 0.2));
            ends.map_or(0.0, |(high, low)| high - low)
        };
        let (two, alone) = (spread(&self.two), spread(&self.alone));
        let part = (1.0 - (alone / two).powi(2)).max(0.0).sqrt();
        if part.is_finite() { part } else { 0.0 }
    }
}

/// Returns what reads take without the flash. A stripe's reads of nothing are those of the parallelism.
pub(super) fn blank(record: &Record, of: Parameter) -> Option<Blank> {
    let measured = [of, Parameter::Parallelism].map(|of| Blank {
        alone: times(record, of, NOTHING),
        two: times(record, of, NOTHING_PAIR),
    });
    let measured = measured.into_iter().find(|blank| !blank.alone.is_empty());
    measured.or_else(|| derived(record, of))
}

/// Derives what reads take without the flash on a drive that shows no reads of nothing. Of two reads of one page, which
/// surely collide, the second waits for as long as the flash takes. Nothing is known if memory may answer the second: then
/// it answers a read that is made again, too.
fn derived(record: &Record, of: Parameter) -> Option<Blank> {
    let typical = |series| median(&times(record, of, series));
    let solos = times(record, of, SOLO);
    let (solo, together) = (median(&solos)?, typical(TOGETHER)?);
    let flash = together - solo;
    let kept = typical(SECOND)? < KEPT * typical(FIRST)?;
    if kept || flash < FLASH_MIN * solo {
        return None;
    }
    // Most of the faster half of random pairs do not collide.
    let host = (quantile(&times(record, of, PAIR), 0.25)? - solo).max(0.0);
    let alone: Vec<f64> = solos.iter().map(|ns| (ns - flash).max(1.0)).collect();
    let two = alone.iter().map(|ns| ns + host).collect();
    Some(Blank { alone, two })
}

/// Returns the time below which a read is one without the flash: nine in ten are.
pub(crate) fn without_flash(record: &Record, of: Parameter, share: f64) -> Option<f64> {
    quantile(&blank(record, of)?.alone, share)
}
