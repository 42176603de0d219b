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
    let bars = |(look, group): (usize, &Group)| Series {
        name: format!("{} {}", group.verdicts.len(), group.name),
        look,
        mode: Mode::Bars,
        x: (0..Verdict::ALL.len()).map(|i| i as f64).collect(),
        y: Verdict::ALL.map(|v| Some(group.count(v) as f64)).to_vec(),
        ..Series::default()
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
    let side_by_side = || (0..found.points.len()).map(|index| index as f64);
    let at = places.clone().unwrap_or_else(|| side_by_side().collect());
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
    let series = Series {
        name: line.name.clone(),
        look,
        mode,
        x: at.to_vec(),
        y: line.values.iter().map(|v| v.map(|v| v.mean)).collect(),
        ..Series::default()
    };
    series.with_halves(&halves.collect::<Vec<f64>>())
}

fn printed_by_the_paper(look: usize, line: &LineFound, at: &[f64]) -> Series {
    Series {
        name: format!("{}, {PAPER}", line.name),
        look,
        mode: Mode::Marks,
        x: at.to_vec(),
        y: line.paper.clone(),
        ..Series::default()
    }
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
    let series = |name: &str, mode, y: Vec<Option<f64>>| Series {
        name: name.to_owned(),
        look: usize::from(mode == Mode::Marks),
        mode,
        x: (0..group.len()).map(|index| index as f64).collect(),
        y,
        ..Series::default()
    };
    let ours = group.iter().map(|j| j.number.map(|number| number.mean));
    let halves = group
        .iter()
        .map(|j| j.number.map_or(0.0, |number| number.half));
    let halves: Vec<f64> = halves.collect();
    let place = match &group[0].on {
        Some(on) => format!("; {on}, study {}", group[0].study),
        None => String::new(),
    };
    Chart {
        title: format!("Sizes that the paper claims, and ours{place}"),
        x: Axis::names("", group.iter().map(|j| j.label.clone()).collect()),
        y: Axis::new("difference (%)", Unit::Number, Scale::Linear),
        series: vec![
            series("here", Mode::Bars, ours.collect()).with_halves(&halves),
            series(PAPER, Mode::Marks, group.iter().map(|j| j.size).collect()),
        ],
        ..Chart::default()
    }
}

fn over_time(found: &TimelineFound) -> Option<Chart> {
    let line = |(look, rates): (usize, &Vec<f64>)| Series {
        name: format!("process {}", look + 1),
        look,
        mode: Mode::Steps,
        x: found.at_s.iter().map(|s| s * 1e9).collect(),
        y: rates.iter().map(|rate| Some(rate * 1e6)).collect(),
        ..Series::default()
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
    let line = |(look, line): (usize, &SequenceLine)| Series {
        name: line.name.clone(),
        look,
        mode: Mode::Steps,
        x: line.accesses.clone(),
        y: line.response_s.iter().map(|s| Some(s * 1e9)).collect(),
        ..Series::default()
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
