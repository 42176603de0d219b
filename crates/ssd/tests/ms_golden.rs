//! The drive `ms-ssd` against runs of the simulator that it models, request by request.
//!
//! Completion times are compared for each address as sorted lists, to 2 ns; every pass of cleaning by time, element and
//! cost. What may differ, and why, is in docs/validation.md: where two things fall on the same instant, the reference
//! decides by the last bit of a floating-point sum.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod reference;

use reference::{Case, Difference, cases, compare, folder, run, seen, seen_cleanings};

/// Requests in a thousand whose ties may fall otherwise.
fn ties_per_mille(case: &Case) -> usize {
    match case.name.as_str() {
        // Saturated: the channel, the driver and twenty requests move in steps of one transfer.
        "s48_burst_fcfs_q20" => 10,
        // Writes arrive on the very instants at which passes of cleaning end.
        "sm_gc_par2" | "sm_gc_wear" => 2,
        _ => 0,
    }
}

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
    // A tie that falls otherwise sends the elevator another way for good; what is left to compare is the average.
    if case.name == "s48_burst_elev_q20" {
        if (mean_ms / case.mean_ms - 1.0).abs() > 1e-3 {
            wrong.push(format!(
                "mean response {mean_ms} ms, not {} ms",
                case.mean_ms
            ));
        }
    } else if beyond > requests * ties_per_mille(case) / 1000 {
        wrong.push(format!(
            "{beyond} requests beyond 2 ns, first (ours in ns, theirs): {:?}",
            difference.first
        ));
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
    // Requests that are still in the queue at the end of the trace are counted there and not here, or the reverse.
    if waf.is_some_and(|(theirs, ours)| (theirs / ours - 1.0).abs() > 1e-3) {
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
