//! A reproduction as what its page shows.

use super::words::{figure_rows, find, mechanism_rows, queue_rows, schemes, tally};
use fathom_lab::reproduce::{
    Cell, Figure, Judgement, Metric, Reproduction, Results, Source, Verdict,
};
use fathom_report::run::Table;
use fathom_report::study::{Chart, ChartLine, ClaimRow, Section, Shape, StudyPage, Tone, render};

/// Means this far apart are drawn on a logarithmic axis.
const LOG_RATIO: f64 = 20.0;
/// The most points of a line over time.
const POINTS_MAX: usize = 256;

/// The page.
pub(super) fn page(reproduction: &Reproduction, results: &Results) -> String {
    let mut sections: Vec<Section> = results
        .sources
        .iter()
        .map(|source| of_workload(reproduction, results, source))
        .collect();
    if !results.queue.is_empty() {
        sections.push(Section {
            title: "The driver's queue".into(),
            text: "A batch has as many requests as there are elements; the simulator's driver hands 20 of them to \
                   the drive at a time. Mean response times in ms, throughput in MB/s, elements at work."
                .into(),
            charts: Vec::new(),
            tables: vec![table("", queue_rows(&results.queue))],
        });
    }
    let mut claims = rows(reproduction, &results.judgements, "");
    claims.extend(rows(
        reproduction,
        &results.judgements_general,
        ", Fathom's own engine",
    ));
    let remarks = reproduction.expected.remarks.iter();
    render(&StudyPage {
        title: format!("{}, run again", reproduction.expected.paper),
        about: tally(results),
        facts: vec![("Fathom".into(), env!("CARGO_PKG_VERSION").into())],
        warnings: reproduction.notes.clone(),
        claims,
        sections,
        notes: remarks.map(|remark| remark.text.clone()).collect(),
    })
}

fn rows(reproduction: &Reproduction, judgements: &[Judgement], on: &str) -> Vec<ClaimRow> {
    let claims = reproduction.expected.claims.iter();
    let of_claim = claims.flat_map(|claim| {
        let judged = judgements.iter().filter(|j| j.claim == claim.id);
        judged.map(|judged| ClaimRow {
            text: claim.text.clone(),
            place: claim.place.clone(),
            on: format!("{}{on}", judged.workload),
            measured: judged.measured.clone(),
            verdict: judged.verdict.words().into(),
            tone: match judged.verdict {
                Verdict::Holds => Tone::Good,
                Verdict::DirectionOnly => Tone::Calm,
                Verdict::DoesNotHold => Tone::Bad,
                Verdict::CannotBeTold => Tone::Dim,
            },
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
    charts.push(busy(name, cells));
    charts.push(batches(name, cells));
    charts.retain(|chart| !chart.lines.is_empty());
    tables.push(table(
        "What happens at the default setting",
        mechanism_rows(name, cells),
    ));
    Section {
        title: name.clone(),
        text: format!("{}.", source.kind.words()),
        charts,
        tables,
    }
}

fn chart(figure: &Figure, workload: &str, cells: &[Cell], metric: Metric) -> Chart {
    let (y, scale) = match metric {
        Metric::MeanResponse => ("mean response time (ms)", 1e-6),
        Metric::Throughput | Metric::Reciprocal => ("throughput (MB/s)", 1e-6),
    };
    let line = |(style, scheme): (usize, &str)| {
        let values: Vec<Option<(f64, f64)>> = figure
            .points
            .iter()
            .map(|p| find(cells, workload, &p.setting, scheme)?.metric(metric))
            .collect();
        ChartLine {
            name: scheme.to_owned(),
            style,
            x: figure.points.iter().map(|p| p.x).collect(),
            y: values.iter().map(|v| v.map(|(v, _)| v * scale)).collect(),
            half: values
                .iter()
                .map(|v| v.map_or(0.0, |(_, h)| h * scale))
                .collect(),
        }
    };
    let lines: Vec<ChartLine> = schemes(cells)
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
        see: "Bars are the 95 % interval of a mean.".into(),
        shape: match lowest > 0.0 && highest / lowest >= LOG_RATIO {
            true => Shape::LogLines,
            false => Shape::Lines,
        },
        x: figure.x.clone(),
        y: y.into(),
        lines,
    }
}

/// Elements at work over time, at the default setting.
fn busy(workload: &str, cells: &[Cell]) -> Chart {
    let line = |(style, scheme): (usize, &str)| {
        let cell = find(cells, workload, "default", scheme)?;
        let over_time = &cell.busy_over_time;
        let each = over_time.len().div_ceil(POINTS_MAX).max(1);
        let mean = |of: fn(&fathom_lab::reproduce::Busy) -> f64| -> Vec<f64> {
            let chunks = over_time.chunks(each);
            chunks
                .map(|chunk| chunk.iter().map(of).sum::<f64>() / chunk.len() as f64)
                .collect()
        };
        Some(ChartLine {
            name: scheme.to_owned(),
            style,
            x: mean(|busy| busy.at_s),
            y: mean(|busy| busy.elements).into_iter().map(Some).collect(),
            half: Vec::new(),
        })
    };
    let lines = schemes(cells).into_iter().enumerate().filter_map(line);
    Chart {
        title: "Elements at work".into(),
        see: "How many elements are at work on average, over the run, at the default setting."
            .into(),
        shape: Shape::Steps,
        x: "time (s)".into(),
        y: "elements".into(),
        lines: lines.filter(|line| !line.x.is_empty()).collect(),
    }
}

/// How many pages leave together, at the default setting.
fn batches(workload: &str, cells: &[Cell]) -> Chart {
    let line = |(style, scheme): (usize, &str)| {
        let batches = &find(cells, workload, "default", scheme)?
            .reshaped
            .batch_pages;
        let total: u64 = batches.values().sum();
        let share = |n: &u64| Some(100.0 * *n as f64 / total.max(1) as f64);
        (total > 0).then(|| ChartLine {
            name: scheme.to_owned(),
            style,
            x: batches.keys().map(|&pages| f64::from(pages)).collect(),
            y: batches.values().map(share).collect(),
            half: Vec::new(),
        })
    };
    let lines = schemes(cells).into_iter().enumerate().filter_map(line);
    Chart {
        title: "Pages that leave together".into(),
        see: "The sizes of batches at the default setting; what pads blocks is not counted.".into(),
        shape: Shape::Bars,
        x: "pages in a batch".into(),
        y: "share of batches (%)".into(),
        lines: lines.collect(),
    }
}
