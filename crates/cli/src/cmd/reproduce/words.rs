//! What came of a reproduction, for the terminal; its tables are those of the page, too.

use super::super::table::table;
use fathom_lab::reproduce::{
    Cell, Expected, Figure, Judgement, Kind, Reproduction, Results, Source, Verdict,
};
use std::fmt::Write as _;

/// The whole text.
pub(super) fn text(reproduction: &Reproduction, results: &Results) -> String {
    let expected = &reproduction.expected;
    let mut text = format!("{}, run again\n\n", expected.paper);
    for note in &reproduction.notes {
        let _ = writeln!(text, "{note}");
    }
    for source in &results.sources {
        let _ = writeln!(text, "{}: {}.", source.name, source.kind.words());
    }
    for figure in &expected.figures {
        for source in &results.sources {
            let _ = writeln!(text, "\n{}; {}", figure.title, source.name);
            text += &table(&figure_rows(figure, &source.name, &results.figures));
        }
    }
    for source in &results.sources {
        let _ = writeln!(
            text,
            "\nWhat happens at the default setting; {}",
            source.name
        );
        text += &table(&mechanism_rows(&source.name, &results.figures));
    }
    if !results.queue.is_empty() {
        text += "\nThe driver's queue; mean response (ms), throughput (MB/s), elements at work\n";
        text += &table(&queue_rows(&results.queue));
    }
    text += "\nWhat the paper says\n";
    text += &claims(expected, &results.judgements);
    if !results.judgements_general.is_empty() {
        text += "\nWhere Fathom's own engine parts from the simulator's drive\n";
        text += &partings(results);
    }
    let _ = writeln!(text, "\n{}", tally(results));
    for remark in &expected.remarks {
        let _ = writeln!(text, "\n{}", remark.text);
    }
    text
}

fn claims(expected: &Expected, judgements: &[Judgement]) -> String {
    let mut text = String::new();
    for claim in &expected.claims {
        let _ = writeln!(text, "{}: {}", claim.place, claim.text);
        for judged in judgements.iter().filter(|j| j.claim == claim.id) {
            let verdict = judged.verdict.words();
            let _ = writeln!(
                text,
                "  {}: {verdict}: {}",
                judged.workload, judged.measured
            );
        }
    }
    text
}

/// Claims that come out otherwise on the general engine.
fn partings(results: &Results) -> String {
    let mut text = String::new();
    for (ms, general) in results.judgements.iter().zip(&results.judgements_general) {
        if ms.verdict != general.verdict {
            let _ = writeln!(
                text,
                "{} on {}: {} ({}) there, {} ({}) on the simulator's drive",
                ms.claim,
                ms.workload,
                general.verdict.words(),
                general.measured,
                ms.verdict.words(),
                ms.measured
            );
        }
    }
    match text.is_empty() {
        true => "Nowhere: every claim comes out the same.\n".into(),
        false => text,
    }
}

/// How many claims came out how, by kind of workload.
pub(super) fn tally(results: &Results) -> String {
    let kinds = [Kind::Generator, Kind::Part, Kind::Whole].map(|kind| {
        let names: Vec<&str> = names(&results.sources, kind);
        let of_kind = |j: &&Judgement| names.contains(&j.workload.as_str());
        let verdicts: Vec<Verdict> = results
            .judgements
            .iter()
            .filter(of_kind)
            .map(|j| j.verdict)
            .collect();
        let label = match kind {
            Kind::Generator => "On generators",
            Kind::Part => "On parts of traces",
            Kind::Whole => "On whole traces",
        };
        (label, verdicts)
    });
    let lines = kinds.into_iter().filter(|(_, v)| !v.is_empty());
    let line = |(label, verdicts): (&str, Vec<Verdict>)| {
        let all = [
            Verdict::Holds,
            Verdict::DirectionOnly,
            Verdict::DoesNotHold,
            Verdict::CannotBeTold,
        ];
        let counts = all.map(|v| {
            let count = verdicts.iter().filter(|w| **w == v).count();
            format!("{count} {}", v.words())
        });
        let total = verdicts.len();
        format!("{label}: of {total} tests {}.", counts.join(", "))
    };
    lines.map(line).collect::<Vec<_>>().join("\n")
}

fn names(sources: &[Source], kind: Kind) -> Vec<&str> {
    let of_kind = sources.iter().filter(|s| s.kind == kind);
    of_kind.map(|s| s.name.as_str()).collect()
}

/// The schemes of some runs, in the order of the study.
pub(super) fn schemes(cells: &[Cell]) -> Vec<&str> {
    let mut schemes = Vec::new();
    for scheme in cells.iter().filter_map(|cell| cell.point("scheme")) {
        if !schemes.contains(&scheme) {
            schemes.push(scheme);
        }
    }
    schemes
}

/// The run of a workload at a setting.
pub(super) fn find<'a>(
    cells: &'a [Cell],
    workload: &str,
    setting: &str,
    scheme: &str,
) -> Option<&'a Cell> {
    cells.iter().find(|cell| {
        cell.workload == workload
            && cell.point("setting") == Some(setting)
            && cell.point("scheme") == Some(scheme)
    })
}

/// Mean response times and throughput of a figure.
pub(super) fn figure_rows(figure: &Figure, workload: &str, cells: &[Cell]) -> Vec<Vec<String>> {
    let mut head = vec!["scheme".to_owned()];
    for unit in ["ms", "MB/s"] {
        head.extend(figure.points.iter().map(|p| format!("{unit} at {}", p.x)));
    }
    let mut rows = vec![head];
    for scheme in schemes(cells) {
        let at = |setting: &str| find(cells, workload, setting, scheme);
        let means = figure.points.iter().map(|p| mean(at(&p.setting)));
        let rates = figure.points.iter().map(|p| rate(at(&p.setting)));
        let cells: Vec<String> = means.chain(rates).collect();
        rows.push([vec![scheme.to_owned()], cells].concat());
    }
    rows
}

/// What lies behind the figures, at the default setting.
pub(super) fn mechanism_rows(workload: &str, cells: &[Cell]) -> Vec<Vec<String>> {
    let head = [
        "scheme",
        "requests",
        "mean ms",
        "hits %",
        "pages a batch",
        "padding %",
        "padding reads %",
        "elements at work",
        "write amplification",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for scheme in schemes(cells) {
        let Some(cell) = find(cells, workload, "default", scheme) else {
            continue;
        };
        let through = &cell.reshaped;
        let share = |part: u64, whole: u64| match whole {
            0 => "-".to_owned(),
            _ => format!("{:.1}", 100.0 * part as f64 / whole as f64),
        };
        let left: u64 = left(cell);
        rows.push(vec![
            scheme.to_owned(),
            cell.requests.to_string(),
            mean(Some(cell)),
            share(through.hits, through.pages),
            match through.batches {
                0 => "-".into(),
                batches => format!("{:.1}", left as f64 / batches as f64),
            },
            share(through.pages_written.saturating_sub(left), left),
            share(through.pages_read, left),
            cell.busy.map_or("-".into(), |busy| format!("{busy:.2}")),
            cell.write_amplification
                .map_or("-".into(), |waf| format!("{waf:.3}")),
        ]);
    }
    rows
}

/// Pages that left the buffer.
fn left(cell: &Cell) -> u64 {
    let batches = cell.reshaped.batch_pages.iter();
    batches.map(|(&pages, &n)| u64::from(pages) * n).sum()
}

/// Queue lengths and arrivals.
pub(super) fn queue_rows(cells: &[Cell]) -> Vec<Vec<String>> {
    let schemes = schemes(cells);
    let mut head = vec!["workload, arrival, queue".to_owned()];
    for unit in ["ms", "MB/s", "at work"] {
        head.extend(schemes.iter().map(|scheme| format!("{scheme} {unit}")));
    }
    let mut rows = vec![head];
    let key = |cell: &Cell| {
        let point = |axis| cell.point(axis).unwrap_or_default().to_owned();
        (cell.workload.clone(), point("arrival"), point("queue"))
    };
    let mut keys: Vec<(String, String, String)> = Vec::new();
    for cell in cells {
        if !keys.contains(&key(cell)) {
            keys.push(key(cell));
        }
    }
    for wanted in keys {
        let here = |scheme: &&str| {
            let fits = |c: &&Cell| key(c) == wanted && c.point("scheme") == Some(scheme);
            cells.iter().find(fits)
        };
        let found: Vec<Option<&Cell>> = schemes.iter().map(here).collect();
        let busy = |cell: &Option<&Cell>| {
            let busy = cell.and_then(|cell| cell.busy);
            busy.map_or("-".to_owned(), |busy| format!("{busy:.2}"))
        };
        let (workload, arrival, queue) = &wanted;
        let mut row = vec![format!("{workload}, {arrival}, {queue}")];
        row.extend(found.iter().map(|cell| mean(*cell)));
        row.extend(found.iter().map(|cell| rate(*cell)));
        row.extend(found.iter().map(busy));
        rows.push(row);
    }
    rows
}

fn mean(cell: Option<&Cell>) -> String {
    let mean = cell.and_then(|cell| cell.mean_ns);
    mean.map_or("-".into(), |mean| format!("{:.4}", mean.mean / 1e6))
}

fn rate(cell: Option<&Cell>) -> String {
    let cell = cell.filter(|cell| cell.requests > 0);
    cell.map_or("-".into(), |cell| {
        format!("{:.3}", cell.bytes_per_second / 1e6)
    })
}
