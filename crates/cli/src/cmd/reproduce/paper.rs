//! A paper about schedulers that was run again, as its page and as text: each figure with what the paper says of it, what
//! was measured, and what came of it.

use super::grids::grids;
use super::page::{INTERVAL, LOG_RATIO, height};
use super::words::{counts, tone};
use fathom_lab::reproduce::paper::{
    ChartFound, Drawing, Found, Judged, LineFound, Measured, Panel, PanelFound, Prepared, Sequence,
    SequenceFound, SequenceLine, Tested, Timeline, TimelineFound,
};
use fathom_lab::reproduce::{Paper, Verdict};
use fathom_report::chart::{Axis, Chart, Mode, Scale, Series, Unit};
use fathom_report::screen::Screen;
use fathom_report::study::{ClaimRow, Section, StudyPage, render};
use fathom_report::table::Table;
use std::fmt::Write as _;

/// Every panel with what came of it.
fn panels<'a>(
    prepared: &'a Prepared,
    found: &'a Found,
) -> impl Iterator<Item = (&'a Panel, &'a PanelFound)> {
    prepared.statements.figures.iter().zip(&found.panels)
}

/// How many claims came out how: the paper's, and ours, which go past it.
fn tally(prepared: &Prepared, found: &Found) -> String {
    let verdicts = |ours: bool| -> Vec<Verdict> {
        let judged = panels(prepared, found)
            .flat_map(|(panel, found)| panel.claims.iter().zip(&found.judged));
        let of_it = judged.filter(|(claim, _)| claim.ours == ours);
        of_it.map(|(_, judged)| judged.verdict).collect()
    };
    let line = |whose: &str, verdicts: &[Verdict]| {
        let total = verdicts.len();
        format!(
            "{total} statements {whose} were tested: {}.",
            counts(verdicts)
        )
    };
    let (paper, ours) = (verdicts(false), verdicts(true));
    let mut text = line("of the paper", &paper);
    if !ours.is_empty() {
        let _ = write!(text, " {}", line("of ours, beyond the paper,", &ours));
    }
    text
}

/// What is said of a claim: whose it is where it is not the paper's.
fn said(claim: &Tested) -> String {
    match claim.ours {
        true => format!("ours: {}", claim.text),
        false => claim.text.clone(),
    }
}

/// Whether no run of a chart was made: a quick reproduction leaves some out.
fn was_left_out(chart: &ChartFound) -> bool {
    let mut values = chart.lines.iter().flat_map(|line| &line.values);
    values.all(Option::is_none)
}

/// The charts of a figure that have runs.
fn drawn<'a>(
    panel: &'a Panel,
    found: &'a PanelFound,
) -> impl Iterator<Item = (&'a Drawing, &'a ChartFound)> {
    let all = panel.charts.iter().zip(&found.charts);
    all.filter(|(_, chart)| !was_left_out(chart))
}

/// Which charts of a figure have none, in a sentence.
fn left_out(panel: &Panel, found: &PanelFound) -> Option<String> {
    let all = panel.charts.iter().zip(&found.charts);
    let titles: Vec<String> = all
        .filter(|(_, chart)| was_left_out(chart))
        .map(|(drawing, _)| format!("{}, {}", title(panel, drawing), drawing.metric.words()))
        .collect();
    (!titles.is_empty()).then(|| format!("Not run, and not shown: {}.", titles.join("; ")))
}

/// The page.
pub(super) fn page(paper: &Paper, prepared: &Prepared, found: &Found) -> String {
    let sections = panels(prepared, found).map(|(panel, found)| section(panel, found));
    let claims = panels(prepared, found).flat_map(|(panel, found)| {
        let judged = panel.claims.iter().zip(&found.judged);
        judged.map(|(claim, judged)| claim_row(panel, &said(claim), judged))
    });
    let remarks = prepared.statements.remarks.iter();
    render(&StudyPage {
        title: format!("{}, run again", paper.name),
        about: format!("{} {}", paper.title, tally(prepared, found)),
        facts: vec![("Fathom".into(), env!("CARGO_PKG_VERSION").into())],
        warnings: prepared.notes.clone(),
        sections: sections.collect(),
        claims: claims.collect(),
        rules: "Every number is computed for each seed from runs that saw the same workload; what is shown is the mean \
                over seeds, with its 95 % interval. Less than 1 % is no difference. Sizes come with a tolerance of ours, \
                which stands beside them."
            .into(),
        notes: remarks.map(|remark| remark.text.clone()).collect(),
    })
}

fn claim_row(panel: &Panel, text: &str, judged: &Judged) -> ClaimRow {
    ClaimRow {
        text: text.to_owned(),
        place: place(panel),
        on: judged.claimed.clone(),
        measured: judged.measured.clone(),
        verdict: judged.verdict.words().into(),
        tone: tone(judged.verdict),
    }
}

/// A number is a figure's; a name is a question of ours.
fn place(panel: &Panel) -> String {
    let numbered = panel.id.starts_with(|c: char| c.is_ascii_digit());
    match numbered {
        true => format!("Figure {}", panel.id),
        false => panel.id.clone(),
    }
}

fn heading(panel: &Panel) -> String {
    format!("{}: {}", place(panel), panel.title)
}

fn section(panel: &Panel, found: &PanelFound) -> Section {
    let mut points = vec![
        format!("The paper: {}", panel.says),
        format!("Here: {}", panel.found),
    ];
    let judged = panel.claims.iter().zip(&found.judged);
    points.extend(judged.map(|(claim, judged)| sentence(&said(claim), judged)));
    points.extend(left_out(panel, found));
    Section {
        title: heading(panel),
        text: String::new(),
        points,
        charts: drawn(panel, found)
            .map(|(drawing, chart)| draw(panel, drawing, chart))
            .chain(over_time(panel, found))
            .chain(in_sequence(panel, found))
            .collect(),
        tables: grids(panel, found)
            .into_iter()
            .chain(drawn(panel, found).map(|(drawing, chart)| table(panel, drawing, chart)))
            .collect(),
    }
}

fn sentence(text: &str, judged: &Judged) -> String {
    let Judged {
        claimed, measured, ..
    } = judged;
    let came = match judged.assumed.is_empty() {
        true => format!("{}; measured {measured}", judged.verdict.words()),
        false => measured.clone(),
    };
    format!("\u{201c}{text}\u{201d} ({claimed}): {came}.")
}

fn draw(panel: &Panel, drawing: &Drawing, found: &ChartFound) -> Chart {
    let places = positions(&found.points);
    let mode = match places {
        Some(_) => Mode::Line,
        None => Mode::Bars,
    };
    let at = places.clone();
    let at = at.unwrap_or_else(|| (0..found.points.len()).map(|index| index as f64).collect());
    let line = |(look, line): (usize, &LineFound)| {
        let halves = line.values.iter().map(|v| v.map_or(0.0, |v| v.half));
        let series = Series {
            name: line.name.clone(),
            look,
            mode,
            x: at.clone(),
            y: line.values.iter().map(|v| v.map(|v| v.mean)).collect(),
            ..Series::default()
        };
        series.with_halves(INTERVAL, &halves.collect::<Vec<f64>>())
    };
    let names = found.points.clone();
    Chart {
        title: title(panel, drawing),
        y: height(drawing.metric.words(), places.is_some() && far_apart(found)),
        x: match places {
            Some(places) => Axis::places(&drawing.x, places, names),
            None => Axis::names(&drawing.x, names),
        },
        series: found.lines.iter().enumerate().map(line).collect(),
        ..Chart::default()
    }
}

fn over_time(panel: &Panel, found: &PanelFound) -> Vec<Chart> {
    let each = panel.timelines.iter().zip(&found.timelines);
    let each = each.filter(|(_, found)| !found.processes.is_empty());
    let chart = |(timeline, found): (&Timeline, &TimelineFound)| {
        let line = |(look, rates): (usize, &Vec<f64>)| Series {
            name: format!("process {}", look + 1),
            look,
            mode: Mode::Steps,
            x: found.at_s.iter().map(|s| s * 1e9).collect(),
            y: rates.iter().map(|rate| Some(rate * 1e6)).collect(),
            ..Series::default()
        };
        Chart {
            title: timeline.title.clone(),
            see: "What each process got, over time; one seed.".into(),
            x: Axis::new("time", Unit::Ns, Scale::Zero),
            y: Axis::new("throughput", Unit::Rate, Scale::Zero),
            series: found.processes.iter().enumerate().map(line).collect(),
            ..Chart::default()
        }
    };
    each.map(chart).collect()
}

fn in_sequence(panel: &Panel, found: &PanelFound) -> Vec<Chart> {
    let each = panel.sequences.iter().zip(&found.sequences);
    let each = each.filter(|(_, found)| !found.lines.is_empty());
    let chart = |(sequence, found): (&Sequence, &SequenceFound)| {
        let line = |(look, line): (usize, &SequenceLine)| Series {
            name: line.name.clone(),
            look,
            mode: Mode::Steps,
            x: line.accesses.clone(),
            y: line.response_s.iter().map(|s| Some(s * 1e9)).collect(),
            ..Series::default()
        };
        Chart {
            title: sequence.title.clone(),
            see: "The mean of some accesses after one another; one seed.".into(),
            x: Axis::new("reads and writes done", Unit::Number, Scale::Zero),
            y: Axis::new("response time", Unit::Ns, Scale::Zero),
            series: found.lines.iter().enumerate().map(line).collect(),
            ..Chart::default()
        }
    };
    each.map(chart).collect()
}

fn title(panel: &Panel, drawing: &Drawing) -> String {
    match drawing.title.is_empty() {
        true => panel.title.clone(),
        false => drawing.title.clone(),
    }
}

/// Whether the lowest would be flat beside the highest.
fn far_apart(found: &ChartFound) -> bool {
    let values = found.lines.iter().flat_map(|line| &line.values);
    let means: Vec<f64> = values.flatten().map(|value| value.mean).collect();
    let highest = means.iter().copied().fold(0.0, f64::max);
    let lowest = means.iter().copied().fold(f64::INFINITY, f64::min);
    lowest > 0.0 && highest / lowest >= LOG_RATIO
}

/// Where points stand that are numbers, with a unit or without; `None` for names.
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

fn table(panel: &Panel, drawing: &Drawing, found: &ChartFound) -> Table {
    let mut rows = rows(drawing, found);
    Table {
        title: format!("{}: {}", title(panel, drawing), drawing.metric.words()),
        note: String::new(),
        head: rows.remove(0),
        rows,
    }
}

/// A row for each line, a column for each point.
fn rows(drawing: &Drawing, found: &ChartFound) -> Vec<Vec<String>> {
    let mut rows = vec![vec![drawing.lines.clone()]];
    rows[0].extend(found.points.iter().cloned());
    rows.extend(found.lines.iter().map(|line| {
        let mut row = vec![line.name.clone()];
        row.extend(line.values.iter().map(|value| cell(*value)));
        row
    }));
    rows
}

fn cell(value: Option<Measured>) -> String {
    value.map_or_else(|| "-".into(), |value| value.words(""))
}

/// The same for the terminal.
pub(super) fn text(paper: &Paper, prepared: &Prepared, found: &Found, screen: Screen) -> String {
    let mut text = format!("{}, run again\n{}\n", paper.name, tally(prepared, found));
    for note in &prepared.notes {
        let _ = writeln!(text, "{note}");
    }
    for (panel, found) in panels(prepared, found) {
        let _ = writeln!(text, "\n{}\n  the paper: {}", heading(panel), panel.says);
        let judged = panel.claims.iter().zip(&found.judged);
        for (claim, judged) in judged {
            let _ = writeln!(text, "  {}", sentence(&said(claim), judged));
        }
        if let Some(left_out) = left_out(panel, found) {
            let _ = writeln!(text, "  {left_out}");
        }
        for Table {
            title,
            head,
            mut rows,
            ..
        } in grids(panel, found)
        {
            rows.insert(0, head);
            let _ = writeln!(text, "\n{title}");
            text += &super::super::table::table(&rows, screen);
        }
        for (drawing, chart) in drawn(panel, found) {
            let _ = writeln!(
                text,
                "\n{}, {}",
                title(panel, drawing),
                drawing.metric.words()
            );
            text += &super::super::table::table(&rows(drawing, chart), screen);
        }
    }
    text
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
