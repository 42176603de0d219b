//! Tests whether writes should be aligned to a size: compares random writes at its multiples with the same writes shifted by
//! half.
//!
//! On a drive with log blocks an aligned write of a whole block leaves nothing to copy, and a write that lies half in each
//! of two blocks leaves two merges. The merges come when the logs that it filled are reclaimed. A phase of writes of one
//! kind therefore fills half of the span. In the first phase of a kind, the first half pays for the writes before it and
//! only the later half counts; in further phases of that kind all writes count. Places are drawn with replacement, because
//! writes that cover every place exactly once complete each block sooner or later.
//!
//! The requests of a place follow one another: two in flight would mix their pages in the log. A drive whose blocks lie on
//! one lane each is then faster with shifted writes, because each write uses two lanes. So several places are also written
//! side by side.

use crate::record::Timed;
use crate::robust::units::page_part;
use crate::{Parameter, Record, Series, Session, Space, Stop};
use fathom_stats::location;
use std::ops::Range;

const PARAMETER: Parameter = Parameter::LogicalBlock;

/// The alignment that is tested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alignment {
    /// The size in bytes.
    pub(crate) size: u64,
}

/// The least bytes of one sample.
const SAMPLE: u64 = 4 << 20;
/// A phase writes the span divided by [`PHASE`], but at least [`PHASE_MIN`] bytes.
const PHASE: u64 = 2;
const PHASE_MIN: u64 = 256 << 20;
/// A phase has at least this many samples, as long as they are no more than [`PHASE_MAX`] bytes.
const SAMPLES: u64 = 32;
const PHASE_MAX: u64 = 1 << 30;
/// The most phases of shifted writes. The first one may only fill logs, and does not count if more are made.
const PHASES: u32 = 4;
/// The number of phases, aligned ones included, that are likely on a drive on which alignment matters.
const PHASES_LIKELY: u32 = 4;
/// The most places that are written side by side, and the number of the first phase in which they are.
const BESIDE: u64 = 8;
const NUMBERS: u32 = 10;
/// The number of the aligned phase that does not count, within its manner.
const BETWEEN: u32 = 5;
/// The least number of places that must fit in the span.
const PLACES_MIN: u64 = 4;
/// Shifted writes must take longer by at least this share, and by this many standard errors.
const MATTERS: f64 = 0.05;
const STRONG: f64 = 2.6;

/// Likely clustered pages: powers of two of bytes (as exponents), times these numbers of planes and dies.
const PAGES: Range<u32> = 11..18;
const PLANES: [u64; 5] = [1, 3, 5, 9, 15];

impl Alignment {
    /// The most that it writes, in bytes: in both manners, for a large size.
    pub(crate) fn bound(space: &Space) -> u64 {
        2 * u64::from(PHASES + 3) * (phase_bytes(space).max(PHASE_MAX) + SAMPLE)
    }

    /// The bytes that it writes if alignment matters.
    pub(crate) fn expected(space: &Space) -> u64 {
        u64::from(PHASES_LIKELY) * phase_bytes(space)
    }

    /// Takes the samples; none if the span is too small.
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        if self.places(session).1 < PLACES_MIN {
            return Ok(());
        }
        self.phases(session, Manner::InTurn)?;
        if session.info().queue_depth > 1 && !self.matters_there(session.record()) {
            self.phases(session, Manner::Beside)?;
        }
        Ok(())
    }

    fn phases(&self, session: &mut Session<'_>, manner: Manner) -> Result<(), Stop> {
        let first = manner.first();
        self.phase(session, Series::ALIGNED, first)?;
        for number in first..first + PHASES {
            self.phase(session, Series::SHIFTED, number)?;
            if self.matters_there(session.record()) {
                break;
            }
        }
        // The first of the two pays for the merges that the shifted phases have left.
        self.phase(session, Series::ALIGNED, first + BETWEEN)?;
        self.phase(session, Series::ALIGNED, first + BETWEEN + 1)
    }

    fn matters_there(&self, record: &Record) -> bool {
        self.matters(record).is_some_and(|(_, matters)| matters)
    }

    /// Returns the first multiple of the size in the region, in bytes, and the number of multiples.
    fn places(&self, session: &Session<'_>) -> (u64, u64) {
        let region = session.region();
        let start = region.start.next_multiple_of(self.size);
        let end = region.start + session.space().span();
        (start, end.saturating_sub(start) / self.size)
    }

    /// Executes a phase: many writes of one kind.
    fn phase(&self, session: &mut Session<'_>, series: Series, number: u32) -> Result<(), Stop> {
        let (start, places) = self.places(session);
        let block = session.space().block_bytes;
        let (shift, count) = match series {
            Series::SHIFTED => (half(self.size, block), places - 1),
            _ => (0, places),
        };
        let bytes = phase_bytes(&session.space());
        let beside = match Manner::of(number) {
            Manner::InTurn => 1,
            Manner::Beside => BESIDE.min(bytes / SAMPLES / self.size).max(2),
        };
        let group = SAMPLE.div_ceil(self.size).next_multiple_of(beside);
        let sample = group * self.size;
        let samples = (bytes / sample).max(SAMPLES.min(PHASE_MAX / sample));
        // In the first phase of a kind, the first half pays for the writes before it.
        let paying = if Manner::of(number).begins(number) {
            samples / 2
        } else {
            0
        };
        let len = length(self.size, session.info().max_request_bytes, block);
        session.step(PARAMETER, &name(series, self.size, number), |io| {
            for sample in 0..samples {
                let mark = io.mark(start);
                for _ in 0..group / beside {
                    let places =
                        (0..beside).map(|_| start + io.rng.below(count) * self.size + shift);
                    let places: Vec<u64> = places.collect();
                    let of_all = |(at, len)| places.iter().map(move |place| (place + at, len));
                    let list: Vec<_> = pieces(0, self.size, len)
                        .into_iter()
                        .flat_map(of_all)
                        .collect();
                    io.write_queued(&list, beside as u32)?;
                }
                if sample >= paying {
                    io.sample_since(&mark, Timed::Write, series, self.size, number);
                }
            }
            io.flush().map(|_| ())
        })
    }

    /// Returns the ratio of the times of shifted and aligned writes, and whether it matters; `None` if it was not measured.
    pub(crate) fn matters(&self, record: &Record) -> Option<(f64, bool)> {
        let beside = self.matters_in(record, Manner::Beside);
        let in_turn = self.matters_in(record, Manner::InTurn);
        beside.filter(|(_, matters)| *matters).or(in_turn)
    }

    fn matters_in(&self, record: &Record, manner: Manner) -> Option<(f64, bool)> {
        let of = |series| {
            let samples = record.series(PARAMETER, series);
            samples.filter(move |s| s.x == self.size && Manner::of(s.rep) == manner)
        };
        // If there are several phases of shifted writes, the first one only fills logs.
        let several = of(Series::SHIFTED).any(|s| !manner.begins(s.rep));
        let times = |series, left_out: Option<u32>| -> Vec<f64> {
            let counting = of(series).filter(|s| Some(s.rep) != left_out);
            counting.map(|s| s.ns as f64).collect()
        };
        let shifted = times(Series::SHIFTED, several.then(|| manner.first()));
        let aligned = times(Series::ALIGNED, Some(manner.first() + BETWEEN));
        // Means and not medians, because throughput depends on them: merges come in only some of the samples.
        let ((shifted, of_shifted), (aligned, of_aligned)) = (mean(&shifted)?, mean(&aligned)?);
        let strong = shifted - aligned > STRONG * (of_shifted + of_aligned).sqrt();
        let ratio = shifted / aligned;
        Some((ratio, strong && ratio > 1.0 + MATTERS))
    }
}

/// Returns the name of a step. Its random places depend on it.
fn name(series: Series, size: u64, number: u32) -> String {
    let kind = match series {
        Series::SHIFTED => "Shifted",
        _ => "Aligned",
    };
    format!("{kind} {size} number {number}")
}

/// How the places are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// One place after the other.
    InTurn,
    /// Several places side by side, in turn request by request.
    Beside,
}

impl Manner {
    /// Returns the number of its first phase.
    fn first(self) -> u32 {
        match self {
            Self::InTurn => 0,
            Self::Beside => NUMBERS,
        }
    }

    /// Returns true if the phase follows one of another kind, so that its first half does not count.
    fn begins(self, number: u32) -> bool {
        number == self.first() || number == self.first() + BETWEEN
    }

    /// Returns the manner of a phase.
    fn of(number: u32) -> Self {
        if number < NUMBERS {
            Self::InTurn
        } else {
            Self::Beside
        }
    }
}

/// Returns the mean and the square of its standard error.
fn mean(values: &[f64]) -> Option<(f64, f64)> {
    let mean = location::mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let n = values.len() as f64;
    (n > 1.0).then_some((mean, squares / (n - 1.0) / n))
}

/// The least that a phase writes, in bytes.
fn phase_bytes(space: &Space) -> u64 {
    PHASE_MIN.max(space.span() / PHASE)
}

/// Returns about half of a size, in bytes; `block` is the logical block. The result is a whole number of clustered pages if
/// the size tells what they may be: with a shift by a part of a page, every request would complete two pages.
fn half(size: u64, block: u64) -> u64 {
    let part = page_part(size);
    let unit = if part <= size / 4 && part.is_multiple_of(block) {
        part
    } else {
        block
    };
    size / 2 / unit * unit
}

/// Returns the length of the requests for blocks of a size, in bytes; `block` is the logical block. A request that ends
/// within a clustered page would fill a log before its block is written.
fn length(size: u64, longest: u64, block: u64) -> u64 {
    if size <= longest {
        return size;
    }
    let part = page_part(size);
    if part <= longest && part.is_multiple_of(block) {
        return longest / part * part;
    }
    // Choose the length that is a whole number of most of the likely pages that divide the size.
    let pages = PAGES.flat_map(|power| PLANES.map(|planes| planes << power));
    let pages: Vec<u64> = pages.filter(|page| size.is_multiple_of(*page)).collect();
    let whole = |len: &u64| {
        pages
            .iter()
            .filter(|page| len.is_multiple_of(**page))
            .count()
    };
    let lens = (1..=longest / block).map(|n| n * block);
    lens.max_by_key(|len| (whole(len), *len)).unwrap_or(longest)
}

/// Splits `bytes` at `place` into requests of `len` bytes; the last one may be shorter.
fn pieces(place: u64, bytes: u64, len: u64) -> Vec<(u64, u64)> {
    let starts = (0..bytes).step_by(len.max(1) as usize);
    starts.map(|at| (place + at, len.min(bytes - at))).collect()
}

#[cfg(test)]
mod tests {
    use super::{half, length, name};
    use crate::series::Series;

    /// With other names the same seed would write other places.
    #[test]
    fn steps_keep_their_names() {
        let names = [Series::ALIGNED, Series::SHIFTED].map(|series| name(series, 4096, 5));
        assert_eq!(names, ["Aligned 4096 number 5", "Shifted 4096 number 5"]);
    }

    #[test]
    fn blocks_are_shifted_by_whole_clustered_pages() {
        const KIB: u64 = 1 << 10;
        // 761 clustered pages of 80 KiB; 107 of 320 KiB; 48 MiB has only likely factors.
        assert_eq!(half(60_880 * KIB, 512), 380 * 80 * KIB);
        assert_eq!(half(34_240 * KIB, 4096), 53 * 320 * KIB);
        assert_eq!(half(48 << 20, 512), 24 << 20);
        assert_eq!(half(3 * 512, 512), 512);
    }

    #[test]
    fn requests_have_whole_clustered_pages() {
        const KIB: u64 = 1 << 10;
        // (pages, clustered page, longest request)
        let drives = [
            (1542, 2 * KIB, 256 * KIB),
            (532, 40 * KIB, 256 * KIB),
            (1327, 16 * KIB, 512 * KIB),
            (768, 48 * KIB, 4096 * KIB),
            (960, 80 * KIB, 256 * KIB),
            (257, 64 * KIB, 64 * KIB),
        ];
        for (pages, page, longest) in drives {
            let len = length(pages * page, longest, 512);
            assert!(
                len <= longest && len.is_multiple_of(page),
                "{pages} {page}: {len}"
            );
        }
        assert_eq!(length(4 << 20, 32 << 20, 512), 4 << 20);
    }
}
