//! Whether writes should be aligned to a size: random ones at its multiples against the same shifted by half.
//!
//! On a drive with log blocks an aligned write of a whole block leaves nothing to copy, and one that lies half in each of
//! two leaves two merges. They come when the logs that it filled are given up. So writes of one kind fill half of the
//! span, the first half of them pays for what was before, and the later half counts; of further phases of that kind all do. Places
//! are drawn with repetition: what covers every place once completes each block sooner or later.
//!
//! Requests follow one another: two at a time would mix their pages in the log. A drive whose blocks lie on one lane each
//! is faster shifted then, because each write uses two lanes, so that several places are also written side by side.

use crate::record::Timed;
use crate::robust::units::page_part;
use crate::{Parameter, Record, Series, Session, Space, Stop};
use fathom_stats::location;
use std::ops::Range;

const PARAMETER: Parameter = Parameter::LogicalBlock;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alignment {
    /// In bytes.
    pub(crate) size: u64,
}

/// Bytes of one sample at least.
const SAMPLE: u64 = 4 << 20;
/// The share of the span that a phase writes, as a divisor; its bytes at least.
const PHASE: u64 = 2;
const PHASE_MIN: u64 = 256 << 20;
/// A phase has so many samples, if they are no more bytes than this.
const SAMPLES: u64 = 32;
const PHASE_MAX: u64 = 1 << 30;
/// Phases of shifted writes at most: the first ones may only fill logs, and do not count where more of them are made.
const PHASES: u32 = 4;
/// What is written of them where alignment matters, with those of aligned ones.
const PHASES_LIKELY: u32 = 4;
/// Places that are written side by side at most, and phases are numbered from here on then.
const BESIDE: u64 = 8;
const NUMBERS: u32 = 10;
/// The number of the aligned phase that does not count.
const BETWEEN: u32 = 5;
/// Places that must fit into the span.
const PLACES_MIN: u64 = 4;
/// Shifted writes take longer by this share at least, and by so many standard errors.
const MATTERS: f64 = 0.05;
const STRONG: f64 = 2.6;

/// Likely clustered pages: powers of two of bytes, times planes and dies that are none.
const PAGES: Range<u32> = 11..18;
const PLANES: [u64; 5] = [1, 3, 5, 9, 15];

impl Alignment {
    /// The most that it writes, in bytes: in both manners, for a large size.
    pub(crate) fn bound(space: &Space) -> u64 {
        2 * u64::from(PHASES + 3) * (phase_bytes(space).max(PHASE_MAX) + SAMPLE)
    }

    /// What it writes where alignment matters, in bytes.
    pub(crate) fn expected(space: &Space) -> u64 {
        u64::from(PHASES_LIKELY) * phase_bytes(space)
    }

    /// Takes the samples; none where the span is too small.
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
        // The one between pays for what the shifted ones have left.
        self.phase(session, Series::ALIGNED, first + BETWEEN)?;
        self.phase(session, Series::ALIGNED, first + BETWEEN + 1)
    }

    fn matters_there(&self, record: &Record) -> bool {
        self.matters(record).is_some_and(|(_, matters)| matters)
    }

    /// The first multiple of the size in the region, in bytes, and how many of it there are.
    fn places(&self, session: &Session<'_>) -> (u64, u64) {
        let region = session.region();
        let start = region.start.next_multiple_of(self.size);
        let end = region.start + session.space().span();
        (start, end.saturating_sub(start) / self.size)
    }

    /// Many writes of one kind.
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
        // Of the first phase of a kind, the first half pays for what was before.
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

    /// How many times as long shifted writes take, and whether that matters; `None` where it was not measured.
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
        // The first phase of shifted writes only fills logs, where others follow.
        let several = of(Series::SHIFTED).any(|s| !manner.begins(s.rep));
        let times = |series, left_out: Option<u32>| -> Vec<f64> {
            let counting = of(series).filter(|s| Some(s.rep) != left_out);
            counting.map(|s| s.ns as f64).collect()
        };
        let shifted = times(Series::SHIFTED, several.then(|| manner.first()));
        let aligned = times(Series::ALIGNED, Some(manner.first() + BETWEEN));
        // Means, because throughput depends on them: merges come in some of the samples only.
        let ((shifted, of_shifted), (aligned, of_aligned)) = (mean(&shifted)?, mean(&aligned)?);
        let strong = shifted - aligned > STRONG * (of_shifted + of_aligned).sqrt();
        let ratio = shifted / aligned;
        Some((ratio, strong && ratio > 1.0 + MATTERS))
    }
}

/// The name of a step. Its random places follow from it.
fn name(series: Series, size: u64, number: u32) -> String {
    let kind = match series {
        Series::SHIFTED => "Shifted",
        _ => "Aligned",
    };
    format!("{kind} {size} number {number}")
}

/// How places are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// One after the other.
    InTurn,
    /// Several at a time, request by request.
    Beside,
}

impl Manner {
    /// The number of its first phase.
    fn first(self) -> u32 {
        match self {
            Self::InTurn => 0,
            Self::Beside => NUMBERS,
        }
    }

    /// Whether a phase is the first of its kind.
    fn begins(self, number: u32) -> bool {
        number == self.first() || number == self.first() + BETWEEN
    }

    /// That of a phase.
    fn of(number: u32) -> Self {
        if number < NUMBERS {
            Self::InTurn
        } else {
            Self::Beside
        }
    }
}

/// The mean and the square of its standard error.
fn mean(values: &[f64]) -> Option<(f64, f64)> {
    let mean = location::mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let n = values.len() as f64;
    (n > 1.0).then_some((mean, squares / (n - 1.0) / n))
}

/// What a phase writes at least, in bytes.
fn phase_bytes(space: &Space) -> u64 {
    PHASE_MIN.max(space.span() / PHASE)
}

/// About half of a size, in bytes, `block` the smallest: whole clustered pages where the size tells what they may be. Shifted by
/// a part of one, every request would complete two of them.
fn half(size: u64, block: u64) -> u64 {
    let part = page_part(size);
    let unit = if part <= size / 4 && part.is_multiple_of(block) {
        part
    } else {
        block
    };
    size / 2 / unit * unit
}

/// The length of requests for blocks of a size, in bytes, `block` the smallest. One that ends within a clustered page fills a
/// log before its block is written.
fn length(size: u64, longest: u64, block: u64) -> u64 {
    if size <= longest {
        return size;
    }
    let part = page_part(size);
    if part <= longest && part.is_multiple_of(block) {
        return longest / part * part;
    }
    // The one that is whole for most of the pages that divide the size.
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

/// Requests of a length over so many bytes, in bytes; the last one may be shorter.
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
        // 761 clustered pages of 80 KiB, 107 of 320 KiB; all that 48 MiB has are likely factors.
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
