//! The drive `ms-ssd` compared with runs of the reference simulator, request by request.
//!
//! Completion times are compared per address as sorted lists, with a tolerance of 2 ns; cleaning passes are compared by
//! time, element and cost. No difference is allowed: see docs/validation.md.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod reference;

use reference::{Case, Difference, cases, compare, folder, run, seen, seen_cleanings};

fn check(case: &Case) -> Result<(), String> {
    let ours = run(case);
    let difference = compare(&ours, &seen(&case.name), &seen_cleanings(&case.name));
    let Difference {
        requests,
        beyond,
        mean_ms,
        ..
    } = difference;
    let mut wrong = Vec::new();
    if difference.ours < requests {
        wrong.push(format!(
            "{} of {requests} requests completed",
            difference.ours
        ));
    }
    if beyond > 0 {
        wrong.push(format!(
            "{beyond} requests beyond 2 ns, first (ours in ns, theirs): {:?}",
            difference.first
        ));
    }
    // Our times are rounded up to whole nanoseconds.
    if (mean_ms - case.mean_ms).abs() > 1e-6 {
        let theirs = case.mean_ms;
        wrong.push(format!("mean response {mean_ms} ms, not {theirs} ms"));
    }
    if difference.cleanings_beyond > 0 {
        wrong.push(format!(
            "cleaning (start ns, element, cost ns) {:?}",
            difference.first_cleaning
        ));
    }
    let counters = ours.counters;
    if counters.cleanings != case.cleanings || counters.erases != case.cleanings {
        wrong.push(format!(
            "{} cleanings, not {}",
            counters.cleanings, case.cleanings
        ));
    }
    let waf = case.waf.zip(counters.waf());
    // Requests that are still queued at the end of the trace are counted there and not here, or the reverse.
    if waf.is_some_and(|(theirs, ours)| (theirs / ours - 1.0).abs() > 1e-4) {
        wrong.push(format!("write amplification {waf:?} (theirs, ours)"));
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("{}: {}", case.name, wrong.join("; ")))
    }
}

#[test]
fn every_run_of_the_reference_comes_out_the_same() {
    if folder().is_none() {
        eprintln!("skipped: no reference runs in ../shared/golden/disksim");
        return;
    }
    let all = cases();
    assert_eq!(all.len(), 16);
    let wrong: Vec<String> = all.iter().filter_map(|case| check(case).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
