//! A reproduction as what its page shows.

use super::rows::{
    by_scheme, choice_rows, engine_rows, figure_rows, find, headline_rows, inside_rows,
    mechanism_rows, schemes, was_full, workloads,
};
use super::why::reasons;
use super::words::{rules, tally, tone};
use fathom_lab::reproduce::{Cell, Figure, Judgement, Metric, Reproduction, Results, Source};
use fathom_report::chart::{Axis, Chart, Mode, Scale, Series, Unit};
use fathom_report::study::{ClaimRow, Section, StudyPage, render};
use fathom_report::table::Table;
use std::collections::BTreeSet;

/// Means this far apart are drawn on a logarithmic axis.
pub(super) const LOG_RATIO: f64 = 20.0;
/// The most points of a line over time.
const POINTS_MAX: usize = 256;

/// What the intervals of means are.
pub(super) const INTERVAL: &str = "95 % interval";

/// A vertical axis from zero, or over decades.
pub(super) fn height(title: &str, log: bool) -> Axis {
    let scale = if log { Scale::Log } else { Scale::Zero };
    Axis::new(title, Unit::Number, scale)
}

/// The points of a figure by their numbers.
fn across(figure: &Figure) -> Axis {
    let places: Vec<f64> = figure.points.iter().map(|p| p.x).collect();
    let names = places.iter().map(f64::to_string).collect();
    Axis::places(&figure.x, places, names)
}

/// The page.
pub(super) fn page(reproduction: &Reproduction, results: &Results) -> String {
    let mut sections = Vec::from(lead(reproduction, results));
    let (full, silent): (Vec<&Source>, Vec<&Source>) =
        results.sources.iter().partition(|s| was_full(results, s));
    sections.extend(full.iter().map(|s| of_workload(reproduction, results, s)));
    sections.extend(behind(results));
    let mut claims = rows(reproduction, &results.judgements, "", &full);
    let general = &results.judgements_general;
    claims.extend(rows(reproduction, general, ", Fathom's own engine", &full));
    let mut warnings = reproduction.notes.clone();
    if !silent.is_empty() {
        let names: Vec<&str> = silent.iter().map(|s| s.name.as_str()).collect();
        warnings.push(format!(
            "Too short, so that no buffer was ever full and nothing can be told: {}.",
            names.join("; ")
        ));
    }
    let remarks = reproduction.expected.remarks.iter();
    render(&StudyPage {
        title: format!("{}, run again", reproduction.expected.paper),
        about: tally(results),
        facts: vec![("Fathom".into(), env!("CARGO_PKG_VERSION").into())],
        warnings,
        sections,
        claims,
        rules: rules(),
        notes: remarks.map(|remark| remark.text.clone()).collect(),
    })
}

/// The main claim, and why it comes out as it does.
fn lead(reproduction: &Reproduction, results: &Results) -> [Section; 2] {
    let claim = Section {
        title: "The main claim".into(),
        text: "Figure 4, on average over its buffers.".into(),
        tables: vec![table("", headline_rows(reproduction, results))],
        ..Section::default()
    };
    let why = Section {
        title: "Why it comes out so".into(),
        points: reasons(results),
        ..Section::default()
    };
    [claim, why]
}

/// What lies behind the figures: load, queue, the other engine, the inside of the drive.
fn behind(results: &Results) -> Vec<Section> {
    let mut sections = Vec::new();
    if !results.load.is_empty() {
        sections.push(Section {
            title: "Rising load".into(),
            text: "The same writes asked for faster, with so many requests at the drive at a time. Mean response times \
                   in ms, throughput in MB/s, elements at work."
                .into(),
            charts: load_charts(&results.load),
            tables: vec![table("", by_scheme(&results.load, &["queue"]))],
            ..Section::default()
        });
    }
    if !results.queue.is_empty() {
        sections.push(Section {
            title: "The driver's queue and the arrival".into(),
            text: "A batch has as many requests as there are elements; the simulator's driver hands 20 of them to \
                   the drive at a time. Mean response times in ms, throughput in MB/s, elements at work."
                .into(),
            tables: vec![table("", by_scheme(&results.queue, &["arrival", "queue"]))],
            ..Section::default()
        });
    }
    if !results.general.is_empty() {
        sections.push(Section {
            title: "Fathom's own engine beside the simulator's drive".into(),
            text: "Mean response times in ms at the default setting.".into(),
            tables: vec![table("", engine_rows(results))],
            ..Section::default()
        });
    }
    if !results.choices.is_empty() {
        let tables = workloads(&results.choices)
            .into_iter()
            .map(|name| table(name, choice_rows(name, &results.choices)));
        sections.push(Section {
            title: "What the paper leaves open".into(),
            text: "The default setting, with one choice at a time that the paper does not tell: what has an age with LRU (whole \
                   requests, or pages), which request the driver sends next (the oldest, or by address), and how a write \
                   becomes pages (the closest number, whole ones only, or all that are touched). The host waits for room: \
                   hits, and writes that find some, count as 0. Busy is the drive with at least one request; pages are those \
                   that left the buffer."
                .into(),
            tables: tables.collect(),
            ..Section::default()
        });
    }
    if !results.inside.is_empty() {
        let tables = workloads(&results.inside)
            .into_iter()
            .map(|name| table(name, inside_rows(name, &results.inside)));
        sections.push(Section {
            title: "Buffers inside the drive, over translation layers".into(),
            text: "Reads are answered from the buffer; 16 requests outstanding; the drive in use."
                .into(),
            tables: tables.collect(),
            ..Section::default()
        });
    }
    sections
}

fn rows(
    reproduction: &Reproduction,
    judgements: &[Judgement],
    on: &str,
    of: &[&Source],
) -> Vec<ClaimRow> {
    let claims = reproduction.expected.claims.iter();
    let of_claim = claims.flat_map(|claim| {
        let wanted = |j: &&Judgement| {
            j.claim == claim.id && of.iter().any(|source| source.name == j.workload)
        };
        let judged = judgements.iter().filter(wanted);
        judged.map(|judged| ClaimRow {
            text: claim.text.clone(),
            place: claim.place.clone(),
            on: format!("{}{on}", judged.workload),
            measured: judged.measured.clone(),
            verdict: judged.verdict.words().into(),
            tone: tone(judged.verdict),
        })
    });
    of_claim.collect()
}

fn table(title: &str, mut rows: Vec<Vec<String>>) -> Table {
    Table {
        title: title.to_owned(),
        note: String::new(),
        head: rows.remove(0),
        rows,
    }
}

fn of_workload(reproduction: &Reproduction, results: &Results, source: &Source) -> Section {
    let cells = &results.figures;
    let name = &source.name;
    let mut charts = Vec::new();
    let mut tables = Vec::new();
    for figure in &reproduction.expected.figures {
        charts.push(chart(figure, name, cells, Metric::MeanResponse));
        charts.push(chart(figure, name, cells, Metric::Throughput));
        tables.push(table(&figure.title, figure_rows(figure, name, cells)));
    }
    let figure_4 = reproduction.expected.figure("4");
    charts.extend(figure_4.map(|figure| padding(figure, name, cells)));
    charts.push(busy(name, cells));
    charts.push(batches(name, cells));
    charts.retain(|chart| !chart.series.is_empty());
    tables.push(table(
        "What happens at the default setting",
        mechanism_rows(name, cells),
    ));
    Section {
        title: name.clone(),
        text: format!("{}.", source.kind.words()),
        charts,
        tables,
        ..Section::default()
    }
}

fn chart(figure: &Figure, workload: &str, cells: &[Cell], metric: Metric) -> Chart {
    let scale = 1e-6;
    let (y, see) = match metric {
        Metric::MeanResponse => (
            "mean response time (ms)",
            "Of what reaches the drive; bars are the 95 % interval.",
        ),
        Metric::Throughput | Metric::Reciprocal => (
            "throughput (MB/s)",
            "Bytes of the workload a second. Where all lie on one line, the workload sets the pace.",
        ),
    };
    let line = |(look, scheme): (usize, &str)| {
        let values: Vec<Option<(f64, f64)>> = figure
            .points
            .iter()
            .map(|p| find(cells, workload, &p.setting, scheme)?.metric(metric))
            .collect();
        let halves = values.iter().map(|v| v.map_or(0.0, |(_, h)| h * scale));
        let series = Series {
            name: scheme.to_owned(),
            look,
            x: figure.points.iter().map(|p| p.x).collect(),
            y: values.iter().map(|v| v.map(|(v, _)| v * scale)).collect(),
            ..Series::default()
        };
        series.with_halves(INTERVAL, &halves.collect::<Vec<f64>>())
    };
    let lines: Vec<Series> = schemes(cells)
        .into_iter()
        .enumerate()
        .map(line)
        .filter(|line| line.y.iter().any(Option::is_some))
        .collect();
    let heights: Vec<f64> = lines.iter().flat_map(|l| &l.y).filter_map(|y| *y).collect();
    let highest = heights.iter().copied().fold(0.0, f64::max);
    let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
    Chart {
        title: figure.title.clone(),
        see: see.into(),
        x: across(figure),
        y: height(y, lowest > 0.0 && highest / lowest >= LOG_RATIO),
        series: lines,
        ..Chart::default()
    }
}

/// What padding adds to the writes, over the buffers of a figure.
fn padding(figure: &Figure, workload: &str, cells: &[Cell]) -> Chart {
    let line = |(look, scheme): (usize, &str)| {
        let at = |setting: &str| find(cells, workload, setting, scheme)?.padded;
        Series {
            name: scheme.to_owned(),
            look,
            x: figure.points.iter().map(|p| p.x).collect(),
            y: figure.points.iter().map(|p| at(&p.setting)).collect(),
            ..Series::default()
        }
    };
    let lines = schemes(cells).into_iter().enumerate().map(line);
    Chart {
        title: "Padding traffic".into(),
        see: "Pages written to the drive for each page that left the buffer; as many pages are read as are padded."
            .into(),
        x: across(figure),
        y: height("pages written per page", true),
        series: lines.filter(|l| l.y.iter().any(Option::is_some)).collect(),
        ..Chart::default()
    }
}

/// Mean response times under rising load, a figure for each generator and queue.
fn load_charts(cells: &[Cell]) -> Vec<Chart> {
    let mut charts = Vec::new();
    let names = workloads(cells);
    for generator in names.iter().filter(|name| !name.contains(',')) {
        let speeds: Vec<(f64, &str)> = names
            .iter()
            .filter_map(|name| Some((speed(name.strip_prefix(generator)?)?, *name)))
            .collect();
        for queue in ["20", "48"] {
            let line = |(look, scheme): (usize, &str)| {
                let mean = |workload: &str| {
                    let here = |c: &&Cell| {
                        c.workload == workload
                            && c.point("queue") == Some(queue)
                            && c.point("scheme") == Some(scheme)
                    };
                    let cell = cells.iter().find(here)?;
                    Some(cell.metric(Metric::MeanResponse)?.0 / 1e6)
                };
                Series {
                    name: scheme.to_owned(),
                    look,
                    x: speeds.iter().map(|(speed, _)| *speed).collect(),
                    y: speeds.iter().map(|(_, name)| mean(name)).collect(),
                    ..Series::default()
                }
            };
            let places = speeds.iter().map(|(speed, _)| *speed).collect();
            let names = speeds.iter().map(|(speed, _)| speed.to_string()).collect();
            charts.push(Chart {
                title: format!("{generator}, {queue} at the drive"),
                see: "Mean response time as the same writes are asked for faster.".into(),
                x: Axis::places("times as fast as recorded", places, names),
                y: height("mean response time (ms)", true),
                series: schemes(cells).into_iter().enumerate().map(line).collect(),
                ..Chart::default()
            });
        }
    }
    charts
}

/// How many times as fast: the number in `, N times as fast`, and 1 where there is none.
fn speed(rest: &str) -> Option<f64> {
    match rest.strip_prefix(", ") {
        Some(told) => told.split(' ').next()?.parse().ok(),
        None => rest.is_empty().then_some(1.0),
    }
}

/// Elements at work over time, at the default setting.
fn busy(workload: &str, cells: &[Cell]) -> Chart {
    let line = |(look, scheme): (usize, &str)| {
        let cell = find(cells, workload, "default", scheme)?;
        let over_time = &cell.busy_over_time;
        let each = over_time.len().div_ceil(POINTS_MAX).max(1);
        let mean = |of: fn(&fathom_lab::reproduce::Busy) -> f64| -> Vec<f64> {
            let chunks = over_time.chunks(each);
            chunks
                .map(|chunk| chunk.iter().map(of).sum::<f64>() / chunk.len() as f64)
                .collect()
        };
        Some(Series {
            name: scheme.to_owned(),
            look,
            mode: Mode::Steps,
            x: mean(|busy| busy.at_s * 1e9),
            y: mean(|busy| busy.elements).into_iter().map(Some).collect(),
            ..Series::default()
        })
    };
    let lines = schemes(cells).into_iter().enumerate().filter_map(line);
    Chart {
        title: "Elements at work".into(),
        see: "How many elements are at work on average, over the run, at the default setting."
            .into(),
        x: Axis::new("time", Unit::Ns, Scale::Zero),
        y: height("elements", false),
        series: lines.filter(|line| !line.x.is_empty()).collect(),
        ..Chart::default()
    }
}

/// How many pages leave together, at the default setting.
fn batches(workload: &str, cells: &[Cell]) -> Chart {
    let of_scheme = |scheme: &str| {
        let cell = find(cells, workload, "default", scheme)?;
        (!cell.reshaped.batch_pages.is_empty()).then_some(&cell.reshaped.batch_pages)
    };
    let each = || schemes(cells).into_iter().enumerate();
    let sizes: BTreeSet<u32> = each()
        .filter_map(|(_, scheme)| of_scheme(scheme))
        .flat_map(|batches| batches.keys().copied())
        .collect();
    let place = |pages: &u32| sizes.iter().position(|size| size == pages);
    let line = |(look, scheme): (usize, &str)| {
        let batches = of_scheme(scheme)?;
        let total: u64 = batches.values().sum();
        let share = |n: &u64| Some(100.0 * *n as f64 / total.max(1) as f64);
        (total > 0).then(|| Series {
            name: scheme.to_owned(),
            look,
            mode: Mode::Bars,
            x: batches.keys().filter_map(place).map(|i| i as f64).collect(),
            y: batches.values().map(share).collect(),
            ..Series::default()
        })
    };
    let names = sizes.iter().map(u32::to_string).collect();
    Chart {
        title: "Pages that leave together".into(),
        see: "The sizes of batches at the default setting; what pads blocks is not counted.".into(),
        x: Axis::names("pages in a batch", names),
        y: height("share of batches (%)", false),
        series: each().filter_map(line).collect(),
        ..Chart::default()
    }
}
