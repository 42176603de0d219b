//! The drawings of a paper's figure: charts over the points of an axis, and plots over time or over the sequence of
//! accesses.

use super::expected::{Drawing, Sequence, Timeline};
use super::look::{Look, at};
use super::measured::over_seeds;
use super::statement::Selector;
use fathom_report::reproduce::{ChartFound, LineFound, SequenceFound, SequenceLine, TimelineFound};
use fathom_run::Totals;

/// Computes a chart with that title on the runs of its study, or on those of one workload that stands for `trace`.
pub(super) fn chart<'a>(
    title: &str,
    drawing: &'a Drawing,
    runs: &Look<'a>,
    on: Option<&str>,
    trace: Option<&str>,
) -> ChartFound {
    let here = runs.only(&drawing.at);
    let walked = here.walk(&drawing.x);
    let value = |line: &str, point: &str| {
        let wanted = Selector::from([
            (drawing.lines.clone(), line.to_owned()),
            (walked.axis.to_owned(), point.to_owned()),
        ]);
        over_seeds(&here.only(&wanted).each(drawing.metric).ok()?)
    };
    let printed = |line: &str, point: &str| {
        let mut all = drawing.paper.iter();
        let found = all.find(|printed| {
            let of_trace = printed.trace.as_deref().is_none_or(|of| Some(of) == trace);
            of_trace && printed.line == line && printed.at == point
        });
        found.map(|printed| printed.value)
    };
    let line = |name: &str| {
        let paper: Vec<Option<f64>> = walked.points.iter().map(|at| printed(name, at)).collect();
        LineFound {
            name: name.to_owned(),
            values: walked.points.iter().map(|at| value(name, at)).collect(),
            paper: match paper.iter().any(Option::is_some) {
                true => paper,
                false => Vec::new(),
            },
        }
    };
    let lines = here.points(&drawing.lines).into_iter().map(line);
    let places: Vec<f64> = walked.row.map_or_else(Vec::new, |row| {
        row.in_order().iter().map(|(_, place)| *place).collect()
    });
    ChartFound {
        title: match drawing.title.is_empty() {
            true => title.to_owned(),
            false => drawing.title.clone(),
        },
        on: on.map(str::to_owned),
        metric: drawing.metric.words().to_owned(),
        x: walked.row.map_or(&drawing.x, |row| &row.title).clone(),
        points: match places.is_empty() {
            true => walked.points.iter().map(|&p| p.to_owned()).collect(),
            false => places.iter().map(f64::to_string).collect(),
        },
        places,
        each: drawing.lines.clone(),
        // A workload that never fills a buffer has no values for it.
        lines: lines
            .filter(|line| on.is_none() || !line.is_empty())
            .collect(),
    }
}

/// Maximum number of points over time; neighbouring intervals are merged until there are no more than that.
const STRETCHES_MAX: usize = 128;

/// Computes the throughput of each process of a run over time.
pub(super) fn over_time(timeline: &Timeline, runs: &Look<'_>) -> TimelineFound {
    let title = timeline.title.clone();
    let Some(run) = runs.only(&timeline.at).runs.first().copied() else {
        return TimelineFound {
            title,
            ..TimelineFound::default()
        };
    };
    let totals = &run.record.totals;
    let per = totals.timeline.len().div_ceil(STRETCHES_MAX).max(1);
    let width = totals.bucket.as_secs_f64() * per as f64;
    let stretches = totals.timeline.len().div_ceil(per);
    let process = |bytes: &[u64]| -> Vec<f64> {
        let mut rates = bytes.chunks(per).map(|chunk| chunk.iter().sum::<u64>());
        let rate = |bytes: Option<u64>| bytes.unwrap_or(0) as f64 / 1e6 / width;
        (0..stretches).map(|_| rate(rates.next())).collect()
    };
    TimelineFound {
        title,
        at_s: (0..stretches).map(|i| (i as f64 + 0.5) * width).collect(),
        processes: totals
            .processes
            .iter()
            .map(|p| process(&p.timeline))
            .collect(),
    }
}

/// Computes the response times over the sequence of accesses.
pub(super) fn in_sequence(sequence: &Sequence, runs: &Look<'_>) -> SequenceFound {
    let here = runs.only(&sequence.at);
    let named = |line: &&str| sequence.among.is_empty() || sequence.among.iter().any(|a| a == line);
    let line = |name: &str| {
        let runs = here.only(&at(&sequence.lines, name)).runs;
        Some(sequence_of(name, &runs.first()?.record.totals))
    };
    let lines = here.points(&sequence.lines).into_iter().filter(named);
    SequenceFound {
        title: sequence.title.clone(),
        lines: lines.filter_map(line).collect(),
    }
}

/// Merges the intervals of a run so that each point has about as many accesses.
fn sequence_of(name: &str, totals: &Totals) -> SequenceLine {
    let all: u64 = totals.timeline.iter().map(|stretch| stretch.count).sum();
    let per = all.div_ceil(STRETCHES_MAX as u64).max(1);
    let (mut accesses, mut response_s) = (Vec::new(), Vec::new());
    let (mut done, mut count, mut ns) = (0, 0, 0);
    for (index, stretch) in totals.timeline.iter().enumerate() {
        (count, ns) = (count + stretch.count, ns + stretch.response_ns);
        if count >= per || (count > 0 && index + 1 == totals.timeline.len()) {
            accesses.push(done as f64 + count as f64 / 2.0);
            response_s.push(ns as f64 / 1e9 / count as f64);
            (done, count, ns) = (done + count, 0, 0);
        }
    }
    SequenceLine {
        name: name.to_owned(),
        accesses,
        response_s,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_run::Bucket;

    #[test]
    fn a_sequence_counts_every_access_once_and_keeps_their_mean() {
        let stretch = |count: u64| Bucket {
            count,
            response_ns: count * 2_000_000_000,
            ..Bucket::default()
        };
        let totals = Totals {
            timeline: [300, 0, 5, 700, 1, 0].map(stretch).to_vec(),
            ..Totals::default()
        };
        let line = sequence_of("noop", &totals);
        // 1,006 accesses, at least eight per point: 300, then 5 and 700 together, then the last one.
        assert_eq!(line.accesses, [150.0, 300.0 + 352.5, 1005.5]);
        assert_eq!(line.response_s, [2.0; 3]);
    }
}
