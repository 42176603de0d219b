//! Budgets on shipped drives: a parameter answered with a smaller budget is also answered with a larger one, and a small
//! budget answers something.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::cases;
use fathom_base::Dur;
use fathom_block::Device as _;
use fathom_probe::run::{RunConfig, announce, run, solve};
use fathom_probe::session::Unobserved;
use fathom_probe::{Parameter, Profile, Verdict};
use fathom_ssd::{Spec, Ssd, presets};
use rayon::prelude::*;

const MIB: u64 = 1 << 20;
const DRIVES: [&str; 4] = ["ssd-a", "ssd-c", "nvme", "sata-cache"];
const BYTES: [u64; 8] = [64, 256, 512, 2048, 8192, 128, 1024, 4096];
const SECONDS: [u64; 7] = [5, 60, 180, 1000, 1, 20, 400];

fn measured(name: &str, config: &RunConfig) -> Profile {
    let spec = Spec::from_toml(presets::find(name).unwrap().text).unwrap();
    let mut drive = Ssd::new(&spec, config.seed).unwrap();
    let announced = announce(config, drive.info());
    let profile = solve(&run(&mut drive, config, None, &mut Unobserved).unwrap());
    let written = profile.cost.bytes_written;
    assert!(
        written <= announced.bound_bytes,
        "{name}: {written} of {announced:?}"
    );
    profile
}

fn answered(profile: &Profile) -> Vec<Parameter> {
    let answers = profile.parameters.iter();
    answers
        .filter(|(_, e)| matches!(e.verdict, Verdict::Identified | Verdict::Absent))
        .map(|(parameter, _)| *parameter)
        .collect()
}

/// Returns the answered parameters for each budget, smallest first, and last without a budget.
fn ladder(name: &str, seed: u64, budgets: &[RunConfig]) -> Vec<Vec<Parameter>> {
    let none = RunConfig::default();
    let all = budgets.iter().chain([&none]);
    all.map(|config| {
        let config = RunConfig {
            seed,
            ..config.clone()
        };
        answered(&measured(name, &config))
    })
    .collect()
}

/// Returns the answers that a larger budget loses.
fn lost(ladder: &[Vec<Parameter>]) -> Vec<(usize, Parameter)> {
    let pairs = ladder.windows(2).enumerate();
    pairs
        .flat_map(|(at, pair)| {
            let gone = pair[0].iter().filter(|p| !pair[1].contains(p));
            gone.map(move |p| (at, *p))
        })
        .collect()
}

fn nothing_is_lost(budgets: &[RunConfig]) {
    let runs: Vec<(&str, u64)> = DRIVES.into_iter().zip(1..).collect();
    let wrong: Vec<String> = runs
        .par_iter()
        .filter_map(|&(name, seed)| {
            let ladder = ladder(name, seed, budgets);
            let lost = lost(&ladder);
            (!lost.is_empty()).then(|| format!("{name} seed {seed}: {lost:?} of {ladder:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the first budgets of a list, in ascending order.
fn ascending(budgets: &[u64], count: u64) -> Vec<u64> {
    let mut chosen = budgets[..count as usize].to_vec();
    chosen.sort_unstable();
    chosen
}

fn of_bytes(bytes: u64) -> RunConfig {
    RunConfig {
        budget_bytes: Some(bytes),
        ..RunConfig::default()
    }
}

#[test]
fn more_bytes_never_answer_less() {
    let bytes = ascending(&BYTES, cases(5, 8));
    let budgets: Vec<RunConfig> = bytes.iter().map(|mib| of_bytes(mib * MIB)).collect();
    nothing_is_lost(&budgets);
}

#[test]
fn a_little_more_never_answers_less() {
    // Near the total cost, a small change of the budget decides whether one more parameter is reached.
    let steps = cases(2, 12);
    for name in ["ssd-a", "sata-cache"] {
        let seed = 1;
        let all = RunConfig {
            seed,
            ..of_bytes(1 << 40)
        };
        let written = measured(name, &all).cost.bytes_written;
        let budgets: Vec<RunConfig> = (0..steps)
            .rev()
            .map(|less| of_bytes(written - less * 8 * MIB))
            .collect();
        let ladder = ladder(name, seed, &budgets);
        assert_eq!(lost(&ladder), [], "{name}: {ladder:?}");
    }
}

#[test]
fn more_time_never_answers_less() {
    let of_seconds = |seconds: &u64| RunConfig {
        budget_time: Some(Dur::ms(seconds * 1000)),
        ..RunConfig::default()
    };
    let seconds = ascending(&SECONDS, cases(4, 7));
    let budgets: Vec<RunConfig> = seconds.iter().map(of_seconds).collect();
    nothing_is_lost(&budgets);
}

#[test]
fn a_small_budget_answers_what_costs_little() {
    use Parameter::{ClusteredPage, Prefetch, ReadBuffer, WriteBuffer, WritePolicy};
    let at = |mib: u64| {
        let config = RunConfig {
            seed: 1,
            ..of_bytes(mib * MIB)
        };
        answered(&measured("ssd-a", &config))
    };
    assert_eq!(at(256), [Prefetch]);
    assert_eq!(at(512), [ClusteredPage, WriteBuffer, Prefetch, WritePolicy]);
    assert!(at(2400).contains(&ReadBuffer));
    assert_eq!(at(8192).len(), Parameter::PAPERS.len());
}

#[test]
fn what_a_budget_does_not_reach_says_what_would() {
    let profile = measured("ssd-a", &of_bytes(512 * MIB));
    let needs = &profile.parameters[&Parameter::LogicalBlock].evidence;
    assert!(needs.reason.contains("about 4096 MiB"), "{needs:?}");
    let reason = &profile.parameters[&Parameter::ClusteredBlock]
        .evidence
        .reason;
    assert!(reason.contains("allow at least"), "{reason}");
    let mib = |after: &str| -> u64 {
        let rest = reason.split(after).nth(1).unwrap().trim_start();
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    let allowed = mib("allow at least");
    assert!(reason.contains("need the whole budget"), "{reason}");
    assert!(allowed > 512 && allowed >= mib("needs about"), "{reason}");
    let more = measured("ssd-a", &of_bytes(allowed * MIB));
    let block = &more.parameters[&Parameter::ClusteredBlock];
    assert_eq!(
        block.verdict,
        Verdict::Identified,
        "{allowed} MiB: {block:?}"
    );
}

#[test]
fn memory_that_holds_much_of_what_is_prepared_is_not_absent() {
    let mut spec = Spec::from_toml(presets::find("null-write-buffer").unwrap().text).unwrap();
    let memory = spec.read_buffer.as_mut().unwrap();
    memory.capacity.0 = 90 * MIB;
    for budget in [256, 1024, 3072] {
        let mut drive = Ssd::new(&spec, 1).unwrap();
        let record = run(&mut drive, &of_bytes(budget * MIB), None, &mut Unobserved).unwrap();
        let memory = &solve(&record).parameters[&Parameter::ReadBuffer];
        let expected = match budget {
            3072 => Verdict::Identified,
            _ => Verdict::Inconclusive,
        };
        assert_eq!(memory.verdict, expected, "{budget} MiB: {memory:?}");
    }
}

/// Memory of this drive hides the clustered page, which would take half of the bytes of a quick run.
#[test]
fn one_of_many_parameters_takes_a_part_of_the_bytes_at_the_quick_level() {
    let config = |bytes: u64| RunConfig {
        seed: 1,
        level: fathom_probe::Level::Quick,
        budget_time: Some(Dur::ms(120_000)),
        parameters: Parameter::ALL.to_vec(),
        ..of_bytes(bytes)
    };
    let profile = measured("tlc-enterprise", &config(4096 * MIB));
    let written = |parameter| profile.parameters[&parameter].cost.bytes_written;
    assert!(written(Parameter::ClusteredPage) <= 4096 * MIB * 12 / 100);
    let page = &profile.parameters[&Parameter::ClusteredPage].evidence;
    assert!(page.reason.contains("left to the full level"), "{page:?}");
    let trim = &profile.parameters[&Parameter::Trim];
    assert_eq!(trim.verdict, Verdict::Identified, "{trim:?}");
}
