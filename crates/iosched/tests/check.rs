//! Every scheduler in the list passes the check suite, alone and in a queue.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::config;
use fathom_iosched::check::{Options, check};
use fathom_iosched::{Config, Pick, SCHEDULERS, Scheduler};

#[test]
fn every_scheduler_gives_everything_once_and_keeps_nothing_back() {
    for entry in SCHEDULERS {
        let config = config(entry.name);
        for (seed, depth) in [(1, 1), (2, 4), (3, 32), (4, 2), (5, 8)] {
            let options = Options {
                seed,
                requests: 2000,
                depth,
                starvation: config.starvation(),
            };
            let make = || config.build().unwrap();
            let decisions = check(&make, &options)
                .unwrap_or_else(|failure| panic!("{}: {failure}", entry.name));
            assert!(
                decisions.len() > 1000,
                "{}: {}",
                entry.name,
                decisions.len()
            );
        }
    }
}

#[test]
fn names_are_unique_and_lead_to_their_scheduler() {
    for entry in SCHEDULERS {
        assert_eq!(config(entry.name).name(), entry.name);
        let same = SCHEDULERS.iter().filter(|other| other.name == entry.name);
        assert_eq!(same.count(), 1);
    }
    let unknown = "mq-deadlin".parse::<Config>().unwrap_err();
    assert_eq!(unknown.near, ["mq-deadline"]);
}

#[test]
fn a_function_that_picks_the_oldest_is_a_scheduler_and_one_that_picks_the_shortest_starves() {
    let options = Options {
        seed: 1,
        requests: 2000,
        depth: 4,
        starvation: config("noop").starvation(),
    };
    let oldest = || -> Box<dyn Scheduler> { Box::new(Pick::new(|_, held| held.first().copied())) };
    assert!(check(&oldest, &options).unwrap().len() > 1000);
    let shortest = || -> Box<dyn Scheduler> {
        Box::new(Pick::new(|_, held| {
            held.iter().min_by_key(|io| io.len).copied()
        }))
    };
    let failure = check(&shortest, &options).unwrap_err();
    assert!(failure.what.contains("wait"), "{failure}");
}
