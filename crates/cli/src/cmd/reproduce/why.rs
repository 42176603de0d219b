//! Why the schemes come out as they do, in sentences with the figures of the runs in them.

use super::rows::{find, workloads};
use fathom_lab::reproduce::{Cell, Metric, NO_DIFFERENCE_PERCENT, Results, Why};

/// The other schemes of the paper.
const OTHERS: [(&str, &str); 3] = [("no-cache", "NoCache"), ("lru", "LRU"), ("bplru", "BPLRU")];
/// How far arithmetic may be off before something else must be at work.
const AGREES_PERCENT: f64 = 5.0;

/// One reason a sentence or two.
pub(super) fn reasons(results: &Results) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(why) = results.why.first() {
        out.push(least(why));
    }
    out.extend(idle(results));
    out.extend(results.why.first().map(|why| batch(why, results)));
    out.extend(padding(results));
    out.extend(pace(results));
    out.extend(load(results));
    out.extend(closed(results));
    out
}

fn ms(ns: f64) -> String {
    format!("{:.4} ms", ns / 1e6)
}

fn least(why: &Why) -> String {
    let cost = why.page_write;
    format!(
        "No write of a page takes less than {}: {} on the one channel to the host, {} over the element's pins, {} to \
         program. No buffer can make what reaches the drive faster than that.",
        ms(cost.total_ns()),
        ms(cost.channel_ns),
        ms(cost.pins_ns),
        ms(cost.program_ns)
    )
}

/// How long writes take without a buffer, and how many elements are at work.
fn idle(results: &Results) -> Option<String> {
    let of = |why: &Why| {
        let cell = find(&results.figures, &why.workload, "default", "no-cache")?;
        let mean = cell.mean_ns?.mean;
        let busy = cell.busy?;
        Some(format!("{} {} ({busy:.2})", why.workload, ms(mean)))
    };
    let all: Vec<String> = results.why.iter().filter_map(of).collect();
    (!all.is_empty()).then(|| {
        format!(
            "Without a buffer a write takes, with so many of 48 elements at work on average: {}. Where elements are idle \
             nothing waits, and a scheme that spreads writes over elements has nothing to gain.",
            all.join("; ")
        )
    })
}

/// What EPO's batches cost.
fn batch(first: &Why, results: &Results) -> String {
    let each: Vec<String> = results
        .why
        .iter()
        .map(|why| {
            let off = 100.0 * (why.measured_ns / why.reckoned_ns - 1.0);
            let more = match off.abs() < AGREES_PERCENT {
                true => String::new(),
                false => format!(", {off:+.0} %: batches wait for one another, too"),
            };
            format!(
                "{} {} (reckoned {}{more})",
                why.workload,
                ms(why.measured_ns),
                ms(why.reckoned_ns)
            )
        })
        .collect();
    format!(
        "When EPO's buffer is full, {} writes come at one instant. The driver has {} requests at the drive at a time, so \
         that they go in {} rounds, and within a round they cross the channel one after another. Mean response time: \
         {}. With a driver that holds nothing back the arithmetic gives {}, still more than one write alone.",
        first.batch,
        first.queue,
        first.batch.div_ceil(first.queue.max(1)),
        each.join("; "),
        ms(first.reckoned_without_queue_ns)
    )
}

/// What BPLRU pads.
fn padding(results: &Results) -> Option<String> {
    let of = |why: &Why| {
        let cell = find(&results.figures, &why.workload, "default", "bplru")?;
        Some(format!("{} {:.1}", why.workload, cell.padded?))
    };
    let all: Vec<String> = results.why.iter().filter_map(of).collect();
    (!all.is_empty()).then(|| {
        format!(
            "BPLRU writes whole blocks, and reads what is missing; on a striped drive neighbouring pages lie on different \
             elements, so that nothing is merged and nothing saved. Pages written for each page that left: {}.",
            all.join("; ")
        )
    })
}

/// What sets the throughput.
fn pace(results: &Results) -> Option<String> {
    let slowed = |why: &&Why| {
        let rate = |scheme| {
            let cell = find(&results.figures, &why.workload, "default", scheme)?;
            Some(cell.bytes_per_second)
        };
        let Some(free) = rate("no-cache") else {
            return false;
        };
        let mut rates = OTHERS.iter().filter_map(|(scheme, _)| rate(scheme));
        rates.any(|rate| rate < 0.99 * free)
    };
    let slowed: Vec<&str> = results
        .why
        .iter()
        .filter(slowed)
        .map(|why| why.workload.as_str())
        .collect();
    let but = match slowed.is_empty() {
        true => String::new(),
        false => format!(
            ", but where a scheme cannot keep up ({})",
            slowed.join(", ")
        ),
    };
    (!results.why.is_empty()).then(|| {
        format!(
            "Requests come when the trace says, so that bytes a second are those of the trace whatever the scheme{but}. \
             They grow with the page because sizes are rounded up to pages, not because anything is faster."
        )
    })
}

/// How much lower a response time, or higher a rate, is than another, in percent.
fn gain(metric: Metric, of: &Cell, than: &Cell) -> Option<f64> {
    let (of, than) = (of.metric(metric)?.0, than.metric(metric)?.0);
    let ratio = 100.0 * (of / than - 1.0);
    Some(match metric {
        Metric::MeanResponse => -ratio,
        Metric::Throughput | Metric::Reciprocal => ratio,
    })
}

fn at<'a>(cells: &'a [Cell], workload: &str, points: &[(&str, &str)]) -> Option<&'a Cell> {
    cells.iter().find(|cell| {
        let fits = |(axis, point): &(&str, &str)| cell.point(axis) == Some(point);
        cell.workload == workload && points.iter().all(fits)
    })
}

/// EPO against the other schemes at some points: in the order of [`OTHERS`].
fn gains(
    cells: &[Cell],
    workload: &str,
    points: &[(&str, &str)],
    metric: Metric,
) -> Option<[f64; 3]> {
    let of = |scheme| at(cells, workload, &[points, &[("scheme", scheme)]].concat());
    let epo = of("epo")?;
    let mut out = [0.0; 3];
    for (gain_of, (scheme, _)) in out.iter_mut().zip(OTHERS) {
        *gain_of = gain(metric, epo, of(scheme)?)?;
    }
    Some(out)
}

fn told(gains: [f64; 3], (more, less): (&str, &str)) -> String {
    let each = gains.iter().zip(OTHERS).map(|(gain, (_, name))| {
        let word = if *gain < 0.0 { less } else { more };
        format!("{:.1} % {word} than {name}", gain.abs())
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Where EPO is the best under rising load, for each queue of the driver and generator.
fn load(results: &Results) -> Vec<String> {
    let cells = &results.load;
    let names = workloads(cells);
    let generators = names.iter().filter(|name| !name.contains(','));
    let cases = generators.flat_map(|generator| ["20", "48"].map(|queue| (*generator, queue)));
    let case = |(generator, queue): (&str, &str)| {
        let of_it = names.iter().filter(|name| name.starts_with(generator));
        let best: Vec<String> = of_it
            .filter_map(|workload| {
                let gains = gains(cells, workload, &[("queue", queue)], Metric::MeanResponse)?;
                let lowest = gains.iter().all(|gain| *gain >= NO_DIFFERENCE_PERCENT);
                let speed = workload.strip_prefix(generator)?.trim_start_matches(", ");
                let speed = if speed.is_empty() {
                    "as recorded"
                } else {
                    speed
                };
                let [no_cache, lru, bplru] = gains;
                lowest.then(|| format!("{speed} by {no_cache:.1}, {lru:.1} and {bplru:.1} %"))
            })
            .collect();
        match best.is_empty() {
            true => format!(
                "{generator} asked for faster and faster, {queue} requests at the drive: EPO never has the lowest mean \
                 response time of the four."
            ),
            false => format!(
                "{generator} asked for faster and faster, {queue} requests at the drive: EPO's mean response time is lower \
                 than those of NoCache, LRU and BPLRU {}.",
                best.join("; ")
            ),
        }
    };
    cases.map(case).collect()
}

/// What comes of it when the drive sets the pace.
fn closed(results: &Results) -> Vec<String> {
    let cells = &results.queue;
    let mut out = Vec::new();
    for workload in workloads(cells) {
        for queue in ["20", "48"] {
            let points = [("arrival", "closed 48"), ("queue", queue)];
            let gains = |metric| gains(cells, workload, &points, metric);
            let (Some(mean), Some(rate)) = (gains(Metric::MeanResponse), gains(Metric::Throughput))
            else {
                continue;
            };
            out.push(format!(
                "{workload}, 48 outstanding at any time, {queue} requests at the drive: EPO's mean response time is {}; its \
                 throughput {}.",
                told(mean, ("lower", "higher")),
                told(rate, ("higher", "lower"))
            ));
        }
    }
    if !out.is_empty() {
        out.push(
            "With so many outstanding at any time the mean is their number divided by the rate of requests. A request \
             of EPO is one page, those of the others are several: a lower mean is no higher throughput."
                .into(),
        );
    }
    out
}
