//! The charts of a reproduced paper.

use super::found::{
    ChartFound, Judged, LineFound, PanelFound, SequenceFound, SequenceLine, TimelineFound, Verdict,
};
use super::tally::Group;
use crate::chart::{Axis, Chart, Mode, Scale, Series, Unit};

/// Ratio between means from which the axis is logarithmic.
const LOG_RATIO: f64 = 20.0;
/// Label of the paper's own values.
const PAPER: &str = "the paper";

/// Returns the chart of the paper's statements by verdict.
pub(super) fn lead(groups: &[Group]) -> Chart {
    let bars = |(look, group): (usize, &Group)| {
        let counts = Verdict::ALL.map(|verdict| Some(group.count(verdict) as f64));
        let name = format!("{} {}", group.verdicts.len(), group.name);
        Series::new(name, look, Mode::Bars, side_by_side().zip(counts))
    };
    Chart {
        title: "The paper's statements by verdict".into(),
        x: Axis::names("", Verdict::ALL.map(|v| v.plural().to_owned()).to_vec()),
        y: Axis::new("statements", Unit::Number, Scale::Zero),
        series: groups
            .iter()
            .filter(|group| group.first)
            .enumerate()
            .map(bars)
            .collect(),
        ..Chart::default()
    }
}

/// Returns the positions of names.
fn side_by_side() -> impl Iterator<Item = f64> {
    (0..).map(f64::from)
}

/// Returns all charts of a figure.
pub(super) fn charts(found: &PanelFound) -> Vec<Chart> {
    let drawn = found.charts.iter().filter(|chart| !chart.is_empty());
    let drawn = drawn.map(draw);
    drawn
        .chain(sizes(found))
        .chain(found.timelines.iter().filter_map(over_time))
        .chain(found.sequences.iter().filter_map(in_sequence))
        .collect()
}

/// Returns the title of a chart, with its workload.
pub(super) fn title(found: &ChartFound) -> String {
    match &found.on {
        Some(on) => format!("{}; {on}", found.title),
        None => found.title.clone(),
    }
}

fn draw(found: &ChartFound) -> Chart {
    let places = match found.places.is_empty() {
        true => positions(&found.points),
        false => Some(found.places.clone()),
    };
    let (mode, log) = match places {
        Some(_) => (Mode::Line, far_apart(found)),
        None => (Mode::Bars, false),
    };
    let names = side_by_side().take(found.points.len());
    let at = places.clone().unwrap_or_else(|| names.collect());
    let lines = || found.lines.iter().enumerate();
    let measured = lines().map(|(look, line)| measured(look, line, mode, &at));
    let printed = lines().filter(|(_, line)| !line.paper.is_empty());
    let printed = printed.map(|(look, line)| printed_by_the_paper(look, line, &at));
    let names = found.points.clone();
    let scale = if log { Scale::Log } else { Scale::Zero };
    Chart {
        title: title(found),
        y: Axis::new(&found.metric, Unit::Number, scale),
        x: match places {
            Some(places) => Axis::places(&found.x, places, names),
            None => Axis::names(&found.x, names),
        },
        series: measured.chain(printed).collect(),
        ..Chart::default()
    }
}

fn measured(look: usize, line: &LineFound, mode: Mode, at: &[f64]) -> Series {
    let halves = line.values.iter().map(|v| v.map_or(0.0, |v| v.half));
    let means = line.values.iter().map(|v| v.map(|v| v.mean));
    let points = at.iter().copied().zip(means);
    Series::new(&line.name, look, mode, points).with_halves(&halves.collect::<Vec<f64>>())
}

fn printed_by_the_paper(look: usize, line: &LineFound, at: &[f64]) -> Series {
    let points = at.iter().copied().zip(line.paper.iter().copied());
    Series::new(format!("{}, {PAPER}", line.name), look, Mode::Marks, points)
}

/// Returns charts of the labelled sizes that the paper claims, beside the measured ones: a chart for each workload and
/// study.
fn sizes(found: &PanelFound) -> Vec<Chart> {
    let mut groups: Vec<Vec<&Judged>> = Vec::new();
    let sized = |judged: &&Judged| !judged.label.is_empty() && judged.number.is_some();
    for judged in found.judged.iter().filter(sized) {
        let same =
            |group: &&mut Vec<&Judged>| group[0].on == judged.on && group[0].study == judged.study;
        match groups.iter_mut().find(same) {
            Some(group) => group.push(judged),
            None => groups.push(vec![judged]),
        }
    }
    groups.iter().map(|group| beside(group)).collect()
}

fn beside(group: &[&Judged]) -> Chart {
    let ours = group.iter().map(|j| j.number.map(|number| number.mean));
    let halves = group.iter().map(|j| j.number.map_or(0.0, |n| n.half));
    let ours = Series::new("here", 0, Mode::Bars, side_by_side().zip(ours));
    let theirs = side_by_side().zip(group.iter().map(|j| j.size));
    let place = match &group[0].on {
        Some(on) => format!("; {on}, study {}", group[0].study),
        None => String::new(),
    };
    Chart {
        title: format!("Sizes that the paper claims, and ours{place}"),
        x: Axis::names("", group.iter().map(|j| j.label.clone()).collect()),
        y: Axis::new("difference (%)", Unit::Number, Scale::Linear),
        series: vec![
            ours.with_halves(&halves.collect::<Vec<f64>>()),
            Series::new(PAPER, 1, Mode::Marks, theirs),
        ],
        ..Chart::default()
    }
}

fn over_time(found: &TimelineFound) -> Option<Chart> {
    let line = |(look, rates): (usize, &Vec<f64>)| {
        let rates = rates.iter().map(|rate| Some(rate * 1e6));
        let points = found.at_s.iter().map(|s| s * 1e9).zip(rates);
        Series::new(format!("process {}", look + 1), look, Mode::Steps, points)
    };
    (!found.processes.is_empty()).then(|| Chart {
        title: found.title.clone(),
        see: "What each process got, over time; one seed.".into(),
        x: Axis::new("time", Unit::Ns, Scale::Zero),
        y: Axis::new("throughput", Unit::Rate, Scale::Zero),
        series: found.processes.iter().enumerate().map(line).collect(),
        ..Chart::default()
    })
}

fn in_sequence(found: &SequenceFound) -> Option<Chart> {
    let line = |(look, line): (usize, &SequenceLine)| {
        let times = line.response_s.iter().map(|s| Some(s * 1e9));
        let points = line.accesses.iter().copied().zip(times);
        Series::new(&line.name, look, Mode::Steps, points)
    };
    (!found.lines.is_empty()).then(|| Chart {
        title: found.title.clone(),
        see: "The mean of some accesses after one another; one seed.".into(),
        x: Axis::new("reads and writes done", Unit::Number, Scale::Zero),
        y: Axis::new("response time", Unit::Ns, Scale::Zero),
        series: found.lines.iter().enumerate().map(line).collect(),
        ..Chart::default()
    })
}

/// Returns true if the lowest mean would look flat on a linear axis.
fn far_apart(found: &ChartFound) -> bool {
    let values = found.lines.iter().flat_map(|line| &line.values);
    let means: Vec<f64> = values.flatten().map(|value| value.mean).collect();
    let highest = means.iter().copied().fold(0.0, f64::max);
    let lowest = means.iter().copied().fold(f64::INFINITY, f64::min);
    lowest > 0.0 && highest / lowest >= LOG_RATIO
}

/// Returns the positions of points that are numbers, with or without a unit; `None` for names.
fn positions(points: &[String]) -> Option<Vec<f64>> {
    let number = |point: &String| {
        let digits =
            point.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ' || c == '%');
        let unit = point[digits.len()..].trim();
        let scale = match unit {
            "" | "%" | "ms" | "B" => 1.0,
            "KiB" => 1024.0,
            "MiB" => 1024.0 * 1024.0,
            _ => return None,
        };
        digits.parse::<f64>().ok().map(|number| number * scale)
    };
    points.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_that_are_numbers_have_a_place() {
        let of =
            |points: &[&str]| positions(&points.iter().map(|&p| p.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["50 %", "90 %"]), Some(vec![50.0, 90.0]));
        assert_eq!(of(&["4KiB", "1MiB"]), Some(vec![4096.0, 1_048_576.0]));
        assert_eq!(of(&["124ms", "4ms"]), Some(vec![124.0, 4.0]));
        assert_eq!(of(&["noop", "cfq"]), None);
        assert_eq!(of(&["mtron-2"]), None);
    }
}
