//! What a TRIM costs and changes, by pairs: reads and writes of trimmed places against written ones, in random order.
//!
//! The latency is that of the command. A drive may carry a TRIM out later, so the second part looks at what a trimmed
//! place does: its reads are faster than those of a written one, at once or after a pause, or it says that it holds nothing,
//! or writes into it are faster. A drive that shows none of it has dropped the TRIM, or does the work later; a thin volume may
//! pass it on in larger pieces only.

use super::measure::{Layout, PARAMETER, during, lengths, reads, rewrites};
use super::series::{
    DURING, INTO_TRIMMED, INTO_WRITTEN, QUIET, TRIM, TRIMMED, TRIMMED_LATER, WRITTEN,
};
use crate::robust::prepare::prepare;
use crate::robust::samples::at;
use crate::robust::size::{size, time};
use crate::{Answers, Estimate, Probe, Quick, Record, Series, Session, Space, Stop, Value};
use fathom_stats::line;
use fathom_stats::location::{median, median_interval};
use fathom_stats::separate::{Decision, separate};

/// The confidence of a comparison, and the relative difference that does not matter.
const CONFIDENCE: f64 = 0.99;
const MARGIN: f64 = 0.1;

pub(crate) struct Trim;

/// What a TRIM changed, from the comparisons of trimmed with written places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// A trimmed place differs from a written one at once.
    AtOnce,
    /// It differs only after a pause.
    Later,
    /// It does not differ.
    None,
    Undecided,
}

/// The times of reads at the same distance from each other, in nanoseconds.
#[derive(Clone, Debug, Default)]
struct Reads {
    trimmed: Vec<f64>,
    later: Vec<f64>,
    written: Vec<f64>,
}

fn change(reads: &Reads) -> Change {
    // Reads of written places before and after the pause are the same population.
    let of = |times: &[f64]| separate(times, &reads.written, CONFIDENCE, MARGIN);
    let decisions = [of(&reads.trimmed), of(&reads.later)].map(|c| match c {
        Some(c) if c.decision == Decision::Less && c.ratio > 1.0 - MARGIN / 2.0 => {
            Decision::NotDifferent
        }
        Some(c) => c.decision,
        None => Decision::Undecided,
    });
    match decisions {
        [Decision::Less, _] => Change::AtOnce,
        [Decision::NotDifferent, Decision::Less] => Change::Later,
        [Decision::NotDifferent, Decision::NotDifferent] => Change::None,
        _ => Change::Undecided,
    }
}

fn ratio(record: &Record, layout: &Layout) -> Option<(f64, Decision)> {
    let of = |series: Series| -> Vec<f64> {
        let samples = record.series(PARAMETER, series);
        samples.map(|s| s.ns as f64).collect()
    };
    debug_assert!(layout.small > 0);
    let compared = separate(&of(INTO_TRIMMED), &of(INTO_WRITTEN), CONFIDENCE, MARGIN)?;
    Some((compared.ratio, compared.decision))
}

/// Says what a trimmed place holds, as far as the drive tells.
fn holds(record: &Record) -> Option<&'static str> {
    let count = |series| record.series(PARAMETER, series).count();
    let told = [Series::HOLE, Series::BLANK, Series::DATA].map(count);
    match told {
        [0, 0, 0] => None,
        [_, 0, 0] => Some("the drive says that it holds nothing"),
        [_, _, 0] => Some("its bytes are all equal"),
        [0, 0, _] => Some("it still reads as data"),
        _ => Some("parts of it still read as data"),
    }
}

fn reason(record: &Record, layout: &Layout, reads: &Reads, latency: f64) -> String {
    let mut text = format!(
        "a TRIM of {} takes {}",
        size(layout.typical()),
        time(latency)
    );
    let typical = |times: &[f64]| time(median(times).unwrap_or_default());
    let (trimmed, written) = (typical(&reads.trimmed), typical(&reads.written));
    text.push_str(&match change(reads) {
        Change::AtOnce => format!("; a trimmed place is read in {trimmed}, a written one in {written}"),
        Change::Later => format!(
            "; a trimmed place is read like a written one at first, and in {} a second later: the TRIM is carried out later",
            typical(&reads.later)
        ),
        Change::None => format!(
            "; a trimmed place is read in the same time as a written one ({written}), also a second later"
        ),
        Change::Undecided => format!(
            "; whether a trimmed place ({trimmed}) is read faster than a written one ({written}) is not settled"
        ),
    });
    if let Some(holds) = holds(record) {
        text.push_str(", and ");
        text.push_str(holds);
    }
    text
}

impl Probe for Trim {
    fn bound(&self, space: &Space) -> u64 {
        Layout::of(space).map_or(0, |layout| layout.bound())
    }

    fn reach(&self, space: &Space) -> u64 {
        space.bytes().min(1 << 30)
    }

    fn quick(&self) -> Quick {
        // It fills and trims two thirds of a gigabyte.
        Quick {
            bytes_percent: 17,
            ..Quick::default()
        }
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        if !session.info().trim {
            return Ok(());
        }
        let Some(layout) = Layout::of(&session.space()) else {
            return Ok(());
        };
        prepare(session, PARAMETER)?;
        lengths(session, &layout)?;
        reads(session, &layout)?;
        during(session, &layout)?;
        rewrites(session, &layout)
    }

    fn solve(&self, record: &Record, _: &Answers<'_>) -> Estimate {
        let Some(layout) = Layout::of(&Space::of(record)) else {
            return Estimate::inconclusive("the region is too small");
        };
        let of = |series| at(record, PARAMETER, series, layout.small);
        let times = at(record, PARAMETER, TRIM, layout.typical());
        let (Some(latency), Some((low, high))) = (median(&times), median_interval(&times)) else {
            return match record.steps.iter().any(|step| step.parameter == PARAMETER) {
                true => Estimate::inconclusive("too few TRIMs were timed"),
                false => Estimate::absent("the drive does not support TRIM"),
            };
        };
        let reads = Reads {
            trimmed: of(TRIMMED),
            later: of(TRIMMED_LATER),
            written: of(WRITTEN),
        };
        let mut text = reason(record, &layout, &reads, latency);
        let value = |ns: f64| Value::Nanoseconds(ns as u64);
        let rewrite = ratio(record, &layout);
        match rewrite {
            Some((ratio, Decision::Less)) => {
                let faster = format!(
                    "; small writes into it take {:.0} % of the time",
                    100.0 * ratio
                );
                text.push_str(&faster);
            }
            Some((_, Decision::NotDifferent)) => {
                text.push_str("; small writes into it are no faster")
            }
            _ => {}
        }
        let points: Vec<(f64, f64)> = (layout.lengths.iter())
            .filter_map(|len| Some((*len as f64, median(&at(record, PARAMETER, TRIM, *len))?)))
            .collect();
        let slope = line::fit(&points).map(|line| line.slope.value.max(0.0) * (1u64 << 30) as f64);
        let figures = [
            ("ns_per_gib", slope),
            ("read_trimmed_ns", median(&reads.trimmed)),
            ("read_written_ns", median(&reads.written)),
            ("read_quiet_ns", median(&of(QUIET))),
            ("read_during_ns", median(&of(DURING))),
            ("rewrite_ratio", rewrite.map(|(ratio, _)| ratio)),
        ];
        let answer = Estimate::identified(value(latency), text).between(value(low), value(high));
        figures
            .into_iter()
            .fold(answer, |answer, (name, figure)| match figure {
                Some(figure) => answer.figure(name, figure),
                None => answer,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, Reads, change};
    use fathom_base::Rng;

    fn reads(at_once: f64, later: f64) -> Reads {
        let mut rng = Rng::new(1, 4);
        let mut around = |ns: f64, n: usize| -> Vec<f64> {
            (0..n).map(|_| ns * (0.05 * rng.normal()).exp()).collect()
        };
        Reads {
            trimmed: around(at_once, 48),
            later: around(later, 48),
            written: around(8e4, 96),
        }
    }

    #[test]
    fn a_trim_that_is_carried_out_later_is_told_from_one_at_once() {
        assert_eq!(change(&reads(1e4, 1e4)), Change::AtOnce);
        assert_eq!(change(&reads(8e4, 1e4)), Change::Later);
        assert_eq!(change(&reads(8e4, 8e4)), Change::None);
    }
}
