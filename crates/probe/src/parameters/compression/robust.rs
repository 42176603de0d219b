//! Whether zeros or repeated bytes cost less than bytes that occur nowhere else, by pairs in random order.
//!
//! Two signals: the time of writes with their flush, and the media bytes in the drive's own log. Where the log tells, it
//! decides, and writes that are faster without fewer media bytes are a contradiction. A drive whose link is the limit shows
//! only the second.

use super::judge::{Pair, Shrinks, shrinks};
use super::measure::{ARMS, Arm, Lengths, PARAMETER, batch, logged, logged_names};
use crate::robust::limits;
use crate::robust::prepare::prepare;
use crate::{Answers, Estimate, Probe, Record, Series, Session, Space, Stop, Value};
use fathom_block::DriveLog;
use fathom_stats::location::median;

/// The batches before anything is decided.
const BATCHES_MIN: u32 = 2;
/// The share of a limit in front of the drive from which on it sets the time of writes.
const BOUND: f64 = 0.8;

pub(crate) struct Compression;

/// The times of a content, in order, at random places, and of reads.
fn times(record: &Record, arm: Arm) -> [Vec<f64>; 3] {
    let of = |series: Series| {
        let samples = record.series(PARAMETER, series);
        samples.map(|s| s.ns as f64).collect()
    };
    [arm.long, arm.small, arm.read].map(of)
}

/// Returns the media bytes for each byte of a content, by the drive's own log: the least of all times. What a drive moves of
/// its own (collection, folding) comes on top and differs.
fn media(record: &Record, arm: Arm) -> Option<f64> {
    logged_names(arm)
        .filter_map(|name| {
            let mut steps = record.steps.iter();
            let step = steps.find(|step| step.parameter == PARAMETER && step.name == name)?;
            let (first, last) = (step.logs.get(1)?, step.logs.get(2)?);
            let bytes = |of: fn(&DriveLog) -> Option<u64>| of(last)?.checked_sub(of(first)?);
            let host = bytes(|log| log.host_bytes_written).filter(|host| *host > 0)?;
            Some(bytes(|log| log.media_bytes_written)? as f64 / host as f64)
        })
        .reduce(f64::min)
}

/// Decides about repeated bytes and about zeros.
fn decided(record: &Record) -> [Shrinks; 2] {
    let unique = times(record, ARMS[0]);
    [ARMS[1], ARMS[2]].map(|arm| {
        let content = times(record, arm);
        let pair = |i: usize| Pair {
            content: &content[i],
            unique: &unique[i],
        };
        let media = media(record, arm).zip(media(record, ARMS[0]));
        shrinks([pair(0), pair(1)], media.map(|(one, all)| [one, all]))
    })
}

/// Zeros are repeated bytes as well: a drive that stores the same 4 KiB once, or packs them, does so with zeros.
const IMPOSSIBLE: [Shrinks; 2] = [Shrinks::Yes, Shrinks::No];

fn settled(decided: [Shrinks; 2]) -> bool {
    !decided.contains(&Shrinks::Undecided) && decided != IMPOSSIBLE
}

fn answer(decided: [Shrinks; 2], told: &str) -> Estimate {
    let word = |word: &str, what: &str| {
        let reason = format!("{what} cost less than bytes that occur nowhere else: {told}");
        Estimate::identified(Value::Word(word.to_owned()), reason)
    };
    match decided {
        [Shrinks::Contradicted, _] | [_, Shrinks::Contradicted] => Estimate::inconclusive(format!(
            "one content is written faster, but the drive's own log does not count clearly fewer bytes for it: {told}"
        )),
        [Shrinks::Yes, Shrinks::Yes] => word("repeats", "zeros and repeated bytes"),
        IMPOSSIBLE => Estimate::inconclusive(format!(
            "repeated bytes seem to cost less, but zeros, which repeat as well, do not: something other than the content makes \
             the difference: {told}"
        )),
        [Shrinks::No, Shrinks::Yes] => word("zeros", "zeros"),
        [Shrinks::No, Shrinks::No] => Estimate::absent(format!(
            "zeros and repeated bytes cost as much as bytes that occur nowhere else: {told}"
        )),
        _ => Estimate::inconclusive(format!("the writes vary too much: {told}")),
    }
}

/// Returns the bytes a second of a limit in front of the drive if unique bytes are written nearly so fast.
fn bound(record: &Record, others: &Answers<'_>, unique: Option<f64>) -> Option<f64> {
    let limit = limits::bytes_per_second(others, record.meta.target.max_request_bytes as f64)?;
    (unique? > BOUND * limit).then_some(limit)
}

/// Says how each content compares.
fn told(speeds: [Option<f64>; 2], media: [Option<f64>; 3]) -> String {
    let times = |ratio: Option<f64>| ratio.map_or_else(|| "?".to_owned(), |r| format!("{r:.2}"));
    let [repeated, zeros] = speeds.map(times);
    let mut text =
        format!("repeated bytes are written at {repeated} times the speed and zeros at {zeros}");
    if let [Some(unique), Some(repeated), Some(zeros)] = media {
        text.push_str(&format!(
            "; by the drive's log, {unique:.2}, {repeated:.2} and {zeros:.2} bytes are programmed for each byte of unique, \
             repeated and zero data"
        ));
    }
    text
}

impl Probe for Compression {
    fn bound(&self, space: &Space) -> u64 {
        Lengths::of(space, false).bound()
    }

    fn reach(&self, space: &Space) -> u64 {
        space.bytes().min(512 << 20)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Stop> {
        prepare(session, PARAMETER)?;
        let lengths = Lengths::of(&session.space(), session.info().volatile_cache);
        logged(session, lengths)?;
        for number in 0..lengths.batches {
            batch(session, lengths, number)?;
            if number + 1 >= BATCHES_MIN && settled(decided(session.record())) {
                break;
            }
        }
        Ok(())
    }

    fn solve(&self, record: &Record, others: &Answers<'_>) -> Estimate {
        let all = ARMS.map(|arm| times(record, arm));
        if all[0][0].is_empty() {
            return Estimate::inconclusive("no content was written");
        }
        let ratio = |arm: usize, kind: usize| {
            let pair = Pair {
                content: &all[arm][kind],
                unique: &all[0][kind],
            };
            pair.speed_ratio()
        };
        let media = ARMS.map(|arm| media(record, arm));
        let told = told([ratio(1, 0), ratio(2, 0)], media);
        let bytes = record.series(PARAMETER, ARMS[0].long).next();
        let per_second = bytes.zip(median(&all[0][0]));
        let unique = per_second.map(|(sample, ns)| sample.bytes as f64 / ns.max(1.0) * 1e9);
        let figures = [
            ("repeated_ratio", ratio(1, 0)),
            ("zeros_ratio", ratio(2, 0)),
            ("small_repeated_ratio", ratio(1, 1)),
            ("small_zeros_ratio", ratio(2, 1)),
            ("read_repeated_ratio", ratio(1, 2)),
            ("read_zeros_ratio", ratio(2, 2)),
            ("unique_media_ratio", media[0]),
            ("repeated_media_ratio", media[1]),
            ("zeros_media_ratio", media[2]),
            ("unique_bytes_per_s", unique),
        ];
        let answer = match bound(record, others, unique) {
            Some(limit) if media.contains(&None) => Estimate::not_identifiable(format!(
                "a limit in front of the drive lets {:.1} MB/s pass, which sets the time of writes, whatever they hold; the drive's \
                 log does not tell: {told}",
                limit / 1e6
            )),
            _ => answer(decided(record), &told),
        };
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
    use super::{Shrinks, answer};
    use crate::{Value, Verdict};

    #[test]
    fn the_word_is_that_of_the_contents_that_shrink() {
        use Shrinks::{Contradicted, No, Undecided, Yes};
        let word = |decided| match answer(decided, "").value {
            Some(Value::Word(word)) => word,
            _ => String::new(),
        };
        assert_eq!(word([No, Yes]), "zeros");
        assert_eq!(word([Yes, Yes]), "repeats");
        assert_eq!(answer([No, No], "").verdict, Verdict::Absent);
        // Zeros repeat as well.
        let open = [
            [Contradicted, Yes],
            [Undecided, Yes],
            [No, Undecided],
            [Yes, No],
        ];
        for open in open {
            assert_eq!(answer(open, "").verdict, Verdict::Inconclusive);
        }
    }
}
