//! A/B comparisons of block layers on one drive: a stack against itself shows no difference, and a better stack is
//! recognised.

use fathom_base::Bytes;
use fathom_iosched::QueueConfig;
use fathom_lab::ab::ab;
use fathom_lab::replay::{Plan, Watch, prepared};
use fathom_lab::source::Workload;
use fathom_model::{Drive, Model, find};
use fathom_run::Precondition;
use fathom_run::ab::{Ab, Difference, Stack};
use fathom_workload::generate::{Config, Name, Range};
use fathom_workload::step::Arrival;

fn drive() -> Drive {
    let model = Model::from_toml(find("mtron-sata3025").unwrap().text).unwrap();
    prepared(model.build(1).unwrap(), Precondition::Filled, 1).unwrap()
}

fn plan() -> Plan {
    let config = Config {
        accesses: Some(1500),
        read_percent: Some(20.0),
        range: Some(Range {
            start: Bytes(0),
            len: Bytes::mib(256),
        }),
        ..Config::of(Name::Uniform)
    };
    Plan {
        target: "model:mtron-sata3025".into(),
        workload: Workload::of_generator(config),
        arrival: Arrival::Closed {
            outstanding: 64.try_into().unwrap(),
        },
        precondition: Precondition::Filled,
        seed: 7,
        queue: None,
        depth: None,
        platform: None,
    }
}

fn stack(toml: Option<&str>) -> Stack {
    Stack {
        name: toml.unwrap_or("none").into(),
        queue: toml.map(|toml| toml::from_str::<QueueConfig>(toml).unwrap()),
        kernel: None,
    }
}

fn measured(a: Option<&str>, b: Option<&str>) -> (Ab, Difference) {
    let found = ab(
        &mut drive(),
        &plan(),
        [stack(a), stack(b)],
        None,
        6,
        Watch {
            stop: || false,
            seen: None,
        },
    )
    .unwrap();
    let rate = found.differences[0].clone();
    (found, rate)
}

#[test]
fn bundles_are_told_from_first_come_first_served() {
    let bundles = "scheduler = { name = \"irbw-fifo\", bundle = \"4MiB\" }";
    let noop = "scheduler = { name = \"noop\" }";
    let (found, rate) = measured(Some(noop), Some(bundles));
    assert_eq!(found.rounds.len(), 6);
    assert!(rate.interval.unwrap()[0] > 10.0, "{rate:?}");
    // Over all rounds both played the same accesses, but never in the same round.
    let seeds = |stack: usize| {
        let all = found.rounds.iter().map(|round| round[stack].plan.seed);
        all.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(seeds(0), seeds(1));
    assert_eq!(seeds(0).len(), 6);
    for [a, b] in &found.rounds {
        assert_ne!(a.plan.seed, b.plan.seed);
    }
    // With the stacks exchanged the result is negative.
    let (_, back) = measured(Some(bundles), Some(noop));
    assert!(back.interval.unwrap()[1] < -10.0, "{back:?}");
}

#[test]
fn a_stack_against_itself_is_no_difference() {
    let (_, rate) = measured(None, None);
    let [low, high] = rate.interval.unwrap();
    assert!(low < 0.5 && high > -0.5, "{rate:?}");
    assert!(rate.percent.abs() < 5.0, "{rate:?}");
}
