//! The tables of a reproduction, for the terminal and the page, and how runs are looked up.

use fathom_lab::reproduce::{Cell, Figure, Metric, Reproduction, Results, Source, Test, Verdict};

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
        "written per page",
        "read per page",
        "elements at work",
        "write amplification",
        "host waits ms",
        "pages per busy s",
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
        let left = through.left();
        let per_page = |pages: u64| match left {
            0 => "-".to_owned(),
            _ => format!("{:.2}", pages as f64 / left as f64),
        };
        rows.push(vec![
            scheme.to_owned(),
            cell.requests.to_string(),
            mean(Some(cell)),
            share(through.hits, through.pages),
            match through.batches {
                0 => "-".into(),
                batches => format!("{:.1}", left as f64 / batches as f64),
            },
            per_page(through.pages_written),
            per_page(through.pages_read),
            cell.busy.map_or("-".into(), |busy| format!("{busy:.2}")),
            cell.write_amplification
                .map_or("-".into(), |waf| format!("{waf:.3}")),
            host_wait(Some(cell)),
            pages_per_busy_second(Some(cell)),
        ]);
    }
    rows
}

/// What the host waits for room on average per original write, in milliseconds.
fn host_wait(cell: Option<&Cell>) -> String {
    let wait = cell.and_then(|cell| cell.host_wait_ns);
    wait.map_or("-".into(), |ns| format!("{:.4}", ns / 1e6))
}

/// Pages that left the buffer for each second that the drive was busy.
fn pages_per_busy_second(cell: Option<&Cell>) -> String {
    let pages = cell.and_then(|cell| cell.pages_per_busy_second);
    pages.map_or("-".into(), |pages| format!("{pages:.0}"))
}

/// What each choice does to EPO against the others: mean response times, how far EPO's is from each, what the host waits and
/// pages for each second that the drive is busy.
pub(super) fn choice_rows(workload: &str, cells: &[Cell]) -> Vec<Vec<String>> {
    const SCHEMES: [&str; 4] = ["no-cache", "lru", "bplru", "epo"];
    let mut rows = vec![vec!["queue".to_owned(), "choice".to_owned()]];
    let units: [(&str, &[&str]); 4] = [
        ("ms", &SCHEMES),
        ("EPO against, %", &SCHEMES[..3]),
        ("host waits ms", &SCHEMES),
        ("pages per busy s", &SCHEMES),
    ];
    for (unit, schemes) in units {
        rows[0].extend(schemes.iter().map(|scheme| match unit {
            "EPO against, %" => format!("EPO against {scheme}, %"),
            _ => format!("{scheme} {unit}"),
        }));
    }
    let here = || cells.iter().filter(|c| c.workload == workload);
    for epo in here().filter(|c| c.point("scheme") == Some("epo")) {
        let point = |axis| epo.point(axis).unwrap_or_default().to_owned();
        let like = |scheme: &str| {
            here().find(|c| {
                c.point("scheme") == Some(scheme)
                    && ["queue", "choice"]
                        .iter()
                        .all(|axis| c.point(axis) == epo.point(axis))
            })
        };
        let all = SCHEMES.map(like);
        let mut row = vec![point("queue"), point("choice")];
        row.extend(all.iter().map(|cell| mean(*cell)));
        row.extend(all[..3].iter().map(|cell| against(epo, *cell)));
        row.extend(all.iter().map(|cell| host_wait(*cell)));
        row.extend(all.iter().map(|cell| pages_per_busy_second(*cell)));
        rows.push(row);
    }
    rows
}

/// How much longer the mean response time is than another's, in percent of that.
fn against(epo: &Cell, other: Option<&Cell>) -> String {
    let of = |cell: &Cell| cell.mean_ns.map(|mean| mean.mean);
    let ratio = of(epo).zip(other.and_then(of));
    ratio.map_or("-".into(), |(epo, other)| {
        format!("{:+.1}", 100.0 * (epo / other - 1.0))
    })
}

/// Mean response time, throughput and elements at work of every scheme, a row for each workload and point of `axes`.
pub(super) fn by_scheme(cells: &[Cell], axes: &[&str]) -> Vec<Vec<String>> {
    let schemes = schemes(cells);
    let mut head = vec![
        ["workload"]
            .iter()
            .chain(axes)
            .copied()
            .collect::<Vec<_>>()
            .join(", "),
    ];
    for unit in ["ms", "MB/s", "at work"] {
        head.extend(schemes.iter().map(|scheme| format!("{scheme} {unit}")));
    }
    let mut rows = vec![head];
    let key = |cell: &Cell| {
        let points = axes.iter().map(|axis| cell.point(axis).unwrap_or_default());
        let parts: Vec<&str> = [cell.workload.as_str()].into_iter().chain(points).collect();
        parts.join(", ")
    };
    let mut keys: Vec<String> = Vec::new();
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
        let mut row = vec![wanted.clone()];
        row.extend(found.iter().map(|cell| mean(*cell)));
        row.extend(found.iter().map(|cell| rate(*cell)));
        row.extend(found.iter().map(busy));
        rows.push(row);
    }
    rows
}

/// A mean response time in milliseconds.
pub(super) fn mean(cell: Option<&Cell>) -> String {
    let mean = cell.and_then(|cell| cell.mean_ns);
    mean.map_or("-".into(), |mean| format!("{:.4}", mean.mean / 1e6))
}

fn rate(cell: Option<&Cell>) -> String {
    let cell = cell.filter(|cell| cell.requests > 0);
    cell.map_or("-".into(), |cell| {
        format!("{:.3}", cell.bytes_per_second / 1e6)
    })
}

/// Buffers inside the drive: reads, writes and write amplification of every layer and buffer.
pub(super) fn inside_rows(workload: &str, cells: &[Cell]) -> Vec<Vec<String>> {
    let here: Vec<&Cell> = cells.iter().filter(|c| c.workload == workload).collect();
    let points = |axis: &str| {
        let mut names: Vec<String> = Vec::new();
        for name in here.iter().filter_map(|cell| cell.point(axis)) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    };
    let (layers, buffers) = (points("layer"), points("buffer"));
    let mut rows = vec![[vec!["layer".to_owned(), String::new()], buffers.clone()].concat()];
    let ms = |ns: Option<f64>| ns.map_or("-".into(), |ns| format!("{:.2}", ns / 1e6));
    for layer in &layers {
        let find = |buffer: &String| {
            let fits =
                |c: &&&Cell| c.point("layer") == Some(layer) && c.point("buffer") == Some(buffer);
            here.iter().find(fits)
        };
        let cells: Vec<_> = buffers.iter().map(find).collect();
        let mut row = |name: &str, what: &str, value: &dyn Fn(&Cell) -> String| {
            let values = cells.iter().map(|c| c.map_or("-".into(), |c| value(c)));
            let head = vec![name.to_owned(), what.to_owned()];
            rows.push([head, values.collect()].concat());
        };
        row(layer, "writes ms", &|c| ms(c.writes_ns));
        row("", "reads ms", &|c| ms(c.reads_ns));
        row("", "accesses/s", &|c| {
            format!("{:.0}", c.accesses_per_second)
        });
        row("", "write amplification", &|c| {
            let waf = c.write_amplification;
            waf.map_or("-".into(), |waf| format!("{waf:.2}"))
        });
    }
    rows
}

/// The workloads of some runs, in the order of the study.
pub(super) fn workloads(cells: &[Cell]) -> Vec<&str> {
    let mut names = Vec::new();
    for cell in cells {
        if !names.contains(&cell.workload.as_str()) {
            names.push(cell.workload.as_str());
        }
    }
    names
}

/// Whether a buffer was full on a workload, so that anything can be said about schemes.
pub(super) fn was_full(results: &Results, source: &Source) -> bool {
    let reached = |cell: &Cell| cell.point("scheme") == Some("epo") && cell.requests > 0;
    let mut cells = results.figures.iter();
    cells.any(|cell| cell.workload == source.name && reached(cell))
}

/// The paper's main claim: EPO's mean response time in Figure 4 against each other scheme, of the paper and measured.
pub(super) fn headline_rows(reproduction: &Reproduction, results: &Results) -> Vec<Vec<String>> {
    let others = ["no-cache", "lru", "bplru"];
    let head = ["EPO's mean response time is, than that of"];
    let head = head.iter().chain(&others).map(|s| (*s).to_owned());
    let mut rows = vec![head.collect::<Vec<_>>()];
    for (trace, name) in [("financial1", "Financial1"), ("tpcc", "TPC-C")] {
        let claim = |other: &&str| {
            reproduction.expected.claims.iter().find(|claim| {
                let gain = matches!(&claim.test, Test::Gain { metric: Metric::MeanResponse, than, .. } if than == other);
                gain && claim.figure == "4"
                    && claim.trace.as_deref() == Some(trace)
                    && claim.place.starts_with("IV.B")
            })
        };
        let claims = others.iter().map(claim).collect::<Vec<_>>();
        let printed = claims.iter().map(|claim| match claim.map(|c| &c.test) {
            Some(Test::Gain {
                percent: Some(percent),
                ..
            }) => format!("{percent:.1} % lower"),
            _ => "-".to_owned(),
        });
        let first = vec![format!("{name} in the paper")];
        rows.push(first.into_iter().chain(printed).collect());
        for source in results.sources.iter().filter(|s| s.of == trace) {
            let measured = claims.iter().map(|claim| {
                let id = claim.map(|claim| claim.id.as_str());
                let fits = |j: &&fathom_lab::reproduce::Judgement| {
                    Some(j.claim.as_str()) == id && j.workload == source.name
                };
                let judged = results.judgements.iter().find(fits);
                match judged {
                    Some(judged) if !judged.measured.starts_with("nothing") => {
                        judged.measured.clone()
                    }
                    _ => Verdict::CannotBeTold.words().to_owned(),
                }
            });
            let first = vec![format!("  {}", source.name)];
            rows.push(first.into_iter().chain(measured).collect());
        }
    }
    rows
}

/// Mean response times at the default setting on both drives.
pub(super) fn engine_rows(results: &Results) -> Vec<Vec<String>> {
    let schemes = schemes(&results.general);
    let head = ["workload, drive"]
        .into_iter()
        .chain(schemes.iter().copied());
    let mut rows = vec![head.map(str::to_owned).collect::<Vec<_>>()];
    for source in results.sources.iter().filter(|s| was_full(results, s)) {
        for (drive, cells) in [
            ("simulator's drive", &results.figures),
            ("own engine", &results.general),
        ] {
            let at = |scheme: &&str| mean(find(cells, &source.name, "default", scheme));
            let name = vec![format!("{}, {drive}", source.name)];
            rows.push([name, schemes.iter().map(at).collect()].concat());
        }
    }
    rows
}
