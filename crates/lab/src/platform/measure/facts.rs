//! Facts about the machine, and what it lacks.

use super::bench::Bench;
use fathom_hostio::load::ClockFacts;
use fathom_report::platform::{Fact, Missing};
use std::collections::BTreeSet;
use std::fs;

/// The facts, in the order in which they are shown.
pub(super) fn facts(bench: &Bench<'_>, clock: &ClockFacts) -> Vec<Fact> {
    let fact = |name: &str, value: String| Fact {
        name: name.to_owned(),
        value,
    };
    let mut facts: Vec<Fact> = bench
        .targets
        .iter()
        .map(|target| fact("target", target.describe().swap_remove(0)))
        .collect();
    let kinds: BTreeSet<&str> = bench
        .targets
        .iter()
        .filter_map(|t| t.file_system.as_deref())
        .collect();
    let kinds: Vec<&str> = kinds.into_iter().collect();
    facts.push(fact("file system", kinds.join(", ")));
    facts.push(fact("processor", processor()));
    facts.push(fact("processors used", bench.cpus.len().to_string()));
    facts.push(fact("kernel", kernel()));
    let source = clock.source.clone().unwrap_or_else(|| "unknown".into());
    facts.push(fact("clock source", source));
    facts
}

/// What the clocks lack.
pub(super) fn missing(bench: &Bench<'_>, clock: &ClockFacts) -> Vec<Missing> {
    let mut missing = Vec::new();
    if bench.clock_hz().is_none() {
        let what = match clock.tsc_hz {
            None => "clocks: this processor has no time-stamp counter that programs can read",
            Some(_) => {
                "clocks: the time-stamp counter is not invariant, or the kernel does not use it"
            }
        };
        missing.push(Missing {
            what: format!("{what}; costs are nanoseconds of processor time instead"),
            help: String::new(),
        });
    }
    missing
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = text
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let name = named.map(|rest| rest.trim_start_matches([' ', '\t', ':']));
    let virtual_machine = text.lines().any(|line| {
        line.starts_with("flags") && line.split_whitespace().any(|flag| flag == "hypervisor")
    });
    let within = if virtual_machine {
        ", in a virtual machine"
    } else {
        ""
    };
    format!("{}{within}", name.unwrap_or("unknown"))
}

fn kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("Linux {}", release.trim())
}
