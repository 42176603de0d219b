//! Prints the table of docs/validation.md as Markdown: the drive `ms-ssd` compared with every run of the reference.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a tool for developers"
)]

#[path = "../tests/reference/mod.rs"]
mod reference;

use reference::{Case, cases, compare, folder, run, seen, seen_cleanings};

const HEADER: &str =
    "| case | requests | largest difference (ns) | beyond 2 ns | passes of cleaning that differ \
| cleanings, ours / reference | WAF, ours / reference | mean response (ms), ours / reference |
|---|--:|--:|--:|--:|--:|--:|--:|";

fn row(case: &Case) -> String {
    let ours = run(case);
    let difference = compare(&ours, &seen(&case.name), &seen_cleanings(&case.name));
    let waf = |waf: Option<f64>| waf.map_or("-".to_owned(), |waf| format!("{waf:.4}"));
    format!(
        "| {} | {} | {:.1} | {} | {} | {} / {} | {} / {} | {:.6} / {:.6} |",
        case.name,
        difference.requests,
        difference.largest_ns,
        difference.beyond,
        difference.cleanings_beyond,
        ours.counters.cleanings,
        case.cleanings,
        waf(ours.counters.waf()),
        waf(case.waf),
        difference.mean_ms,
        case.mean_ms,
    )
}

fn main() {
    if folder().is_none() {
        println!("skipped: no reference runs in ../shared/golden/disksim");
        return;
    }
    println!("{HEADER}");
    for case in cases() {
        println!("{}", row(&case));
    }
}
