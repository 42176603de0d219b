//! Figure 1 of `greedy-space`: the response time of every request, its band, and the cause of every spike.
//!
//! The paper sees a band along the axis and spikes above it, and conjectures that they are merges. Here the band is that of
//! sequential writes of the same size, which rarely merge: otherwise a drive on which every random write merges would have
//! a band of merges and no spike. The cause is what the drive counted between a request's submission and its completion;
//! nothing else was in flight. Work that began in an earlier request shows as erased blocks and as programs beyond those
//! of a request in the band.

use super::sets::Space;
use super::types::{Cause, Causes, Config, CostError, Figure, Order, Response};
use super::writer::Writer;
use fathom_base::Rng;
use fathom_block::DriveStats;
use fathom_stats::location;

/// The band ends this many standard deviations above the median, estimated from the median absolute deviation,
const DEVIATIONS: f64 = 6.0 * 1.4826;
/// and at least this share of the median above it.
const SHARE_MIN: f64 = 0.25;

/// A request as it was measured.
#[derive(Clone, Copy, Debug, Default)]
struct Timed {
    ns: u64,
    /// The work that the drive did meanwhile, if it reports any.
    work: Option<DriveStats>,
}

/// Returns the request sizes of the panels: well below the logical block, below it, and the logical block.
pub(super) fn sizes(config: &Config, space: &Space) -> Vec<u64> {
    if !config.figure_sizes.is_empty() {
        return config.figure_sizes.clone();
    }
    let sector = space.sector_bytes;
    let part = |of: u64| (space.block_bytes / of / sector).max(1) * sector;
    let mut sizes = vec![part(64), part(8), space.block_bytes];
    sizes.dedup();
    sizes
}

/// Measures the panels, random and sequential of each size.
pub(super) fn figures(
    writer: &mut Writer<'_>,
    config: &Config,
    space: &Space,
    rng: &mut Rng,
) -> Result<Vec<Figure>, CostError> {
    let total = config.figure_bytes.min(space.blocks * space.block_bytes);
    let mut figures = Vec::new();
    for bytes in sizes(config, space) {
        let mut places: Vec<u64> = (0..total / bytes).map(|i| i * bytes).collect();
        let sequential = run(writer, &places, bytes)?;
        let band_ns = band(&sequential);
        rng.shuffle(&mut places);
        let random = run(writer, &places, bytes)?;
        figures.push(figure(bytes, Order::Random, band_ns, &random));
        figures.push(figure(bytes, Order::Sequential, band_ns, &sequential));
    }
    Ok(figures)
}

fn run(writer: &mut Writer<'_>, places: &[u64], bytes: u64) -> Result<Vec<Timed>, CostError> {
    let mut before = writer.work();
    let each = places.iter().map(|&at| {
        let ns = writer.write(at, bytes)?;
        let after = writer.work();
        let work = after
            .zip(before)
            .map(|(after, before)| after.since(&before));
        before = after;
        Ok(Timed { ns, work })
    });
    each.collect()
}

/// Returns the upper end of the band.
fn band(sequential: &[Timed]) -> f64 {
    let times: Vec<f64> = sequential.iter().map(|timed| timed.ns as f64).collect();
    let median = location::median(&times).unwrap_or_default();
    let spread = location::mad(&times).unwrap_or_default();
    median + (DEVIATIONS * spread).max(SHARE_MIN * median)
}

fn figure(bytes: u64, order: Order, band_ns: f64, timed: &[Timed]) -> Figure {
    let responses = traced(timed, band_ns);
    let causes = Cause::ALL.into_iter().filter_map(|cause| {
        let spikes = responses.iter().filter(|r| r.spike == Some(cause));
        let times: Vec<f64> = spikes.map(|r| r.ns as f64).collect();
        Some(Causes {
            cause,
            spikes: times.len() as u64,
            median_ns: location::median(&times)?,
        })
    });
    Figure {
        bytes,
        order,
        requests: responses.len() as u64,
        band_ns,
        in_band: responses.iter().filter(|r| r.spike.is_none()).count() as u64,
        causes: causes.collect(),
        responses,
    }
}

/// Returns every request with the cause of its spike, if it is one.
fn traced(timed: &[Timed], band_ns: f64) -> Vec<Response> {
    let in_band = |timed: &&Timed| timed.ns as f64 <= band_ns;
    let programmed = |work: DriveStats| work.flash_bytes_programmed as f64;
    let usual: Vec<f64> = timed
        .iter()
        .filter(in_band)
        .filter_map(|timed| timed.work.map(programmed))
        .collect();
    let usual = location::median(&usual).unwrap_or(f64::INFINITY);
    let mut earlier = false;
    timed
        .iter()
        .map(|timed| {
            let own = timed.work.as_ref().and_then(own_cause);
            let more = timed.work.is_some_and(|work| programmed(work) > usual);
            let erased = timed.work.is_some_and(|work| work.erases > 0);
            let cause = match own {
                Some(cause) => cause,
                None if erased || (more && earlier) => Cause::Earlier,
                None if more => Cause::BufferStall,
                None => Cause::Untraced,
            };
            earlier = own.is_some() || (earlier && (more || erased));
            Response {
                ns: timed.ns,
                spike: (!in_band(&timed)).then_some(cause),
            }
        })
        .collect()
}

/// Returns the most expensive work that began in a request; `None` if none did.
fn own_cause(work: &DriveStats) -> Option<Cause> {
    let causes = [
        (work.full_merges, Cause::FullMerge),
        (work.partial_merges, Cause::PartialMerge),
        (work.switch_merges, Cause::SwitchMerge),
        (work.collected + work.moved_units, Cause::Collection),
        (work.map_reads + work.map_programs, Cause::MappingTable),
    ];
    causes
        .into_iter()
        .find(|(count, _)| *count > 0)
        .map(|(_, cause)| cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BAND_NS: f64 = 100.0;

    fn timed(ns: u64, change: impl Fn(&mut DriveStats)) -> Timed {
        let mut work = DriveStats {
            flash_bytes_programmed: 4096,
            ..DriveStats::default()
        };
        change(&mut work);
        Timed {
            ns,
            work: Some(work),
        }
    }

    fn causes(timed: &[Timed]) -> Vec<Option<Cause>> {
        traced(timed, BAND_NS).iter().map(|r| r.spike).collect()
    }

    #[test]
    fn a_spike_has_the_most_expensive_work_that_began_in_it() {
        let plain = timed(90, |_| {});
        let full = timed(500, |w| {
            w.full_merges = 1;
            w.switch_merges = 2;
            w.moved_units = 30;
        });
        let partial = timed(300, |w| w.partial_merges = 1);
        let collected = timed(300, |w| w.moved_units = 8);
        let map = timed(150, |w| w.map_reads = 1);
        // A merge that hides in the band is no spike.
        let hidden = timed(100, |w| w.switch_merges = 1);
        let found = causes(&[
            plain,
            full,
            partial,
            hidden,
            collected,
            map,
            timed(101, |_| {}),
        ]);
        let expected = [
            None,
            Some(Cause::FullMerge),
            Some(Cause::PartialMerge),
            None,
            Some(Cause::Collection),
            Some(Cause::MappingTable),
            Some(Cause::Untraced),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn work_of_an_earlier_request_is_told_from_a_full_buffer() {
        let plain = timed(90, |_| {});
        let merge = timed(90, |w| w.full_merges = 1);
        let more = timed(400, |w| w.flash_bytes_programmed = 65536);
        let erase = timed(200, |w| w.erases = 1);
        let found = causes(&[
            plain, more, merge, more, more, erase, plain, more, plain, plain,
        ]);
        let stall = Some(Cause::BufferStall);
        let left = Some(Cause::Earlier);
        assert_eq!(
            found,
            [None, stall, None, left, left, left, None, stall, None, None]
        );
    }

    #[test]
    fn a_drive_without_counters_has_spikes_without_a_cause() {
        let silent = |ns| Timed { ns, work: None };
        assert_eq!(
            causes(&[silent(100), silent(101)]),
            [None, Some(Cause::Untraced)]
        );
    }

    #[test]
    fn the_band_is_wide_where_the_times_scatter() {
        let even: Vec<Timed> = (0..9).map(|_| timed(1000, |_| {})).collect();
        assert_eq!(band(&even), 1250.0);
        // The median is 1000 and the median deviation 100: 6 x 1.4826 x 100.
        let uneven = [800, 900, 1000, 1100, 1200].map(|ns| timed(ns, |_| {}));
        assert!((band(&uneven) - 1889.56).abs() < 1e-6);
    }
}
