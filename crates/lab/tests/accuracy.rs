//! A small campaign: the probes against random drives. The large one is `fathom accuracy` (docs/accuracy.md).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use fathom_lab::accuracy::{Answer, Outcome, Plan, Unwatched, Watcher, run, tally};
use fathom_probe::{Method, Parameter};
use std::sync::atomic::{AtomicU64, Ordering};

fn plan(drives: u64, parameters: &[Parameter]) -> Plan {
    Plan {
        seed: 5,
        skip: 0,
        drives,
        methods: vec![Method::Robust],
        thin: 1,
        parameters: parameters.to_vec(),
    }
}

fn on_threads(threads: usize, plan: &Plan) -> Vec<Answer> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap().install(|| run(plan, &Unwatched)).unwrap()
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let quick = [Parameter::ReadBuffer, Parameter::Prefetch];
    let plan = Plan {
        methods: vec![Method::Robust, Method::Paper],
        thin: 64,
        ..plan(4, &quick)
    };
    let answers = on_threads(1, &plan);
    assert_eq!(answers.len(), 4 * 2 * 2);
    assert_eq!(answers, on_threads(2, &plan));
    // A drive by itself is the same drive.
    let third = Plan {
        skip: 2,
        drives: 1,
        ..plan.clone()
    };
    assert_eq!(run(&third, &Unwatched).unwrap(), answers[8..12]);
    let other = Plan { seed: 6, ..plan };
    assert_ne!(run(&other, &Unwatched).unwrap(), answers);
}

#[test]
fn an_interrupted_campaign_has_no_answers() {
    struct AfterTheSecond(AtomicU64);
    impl Watcher for AfterTheSecond {
        fn drive_done(&self, done: u64, of: u64) {
            assert_eq!(of, 4);
            self.0.fetch_max(done, Ordering::SeqCst);
        }
        fn interrupted(&self) -> bool {
            self.0.load(Ordering::SeqCst) >= 2
        }
    }
    let plan = plan(4, &[Parameter::Prefetch]);
    assert_eq!(run(&plan, &AfterTheSecond(AtomicU64::new(0))), None);
}

#[test]
fn a_dozen_random_drives() {
    let answers = run(&plan(12, &Parameter::ALL), &Unwatched).unwrap();
    let tallies = tally(&answers);
    let all = &tallies[0].all;
    let missed: Vec<String> = answers
        .iter()
        .filter(|a| !matches!(a.outcome, Outcome::Found | Outcome::Rejected))
        .map(|a| {
            format!(
                "drive {}: {} is {}, found {:?} {:?}",
                a.drive, a.parameter, a.truth, a.estimate.verdict, a.estimate.value
            )
        })
        .collect();
    let missed = missed.join("\n");
    assert_eq!(all.answers, 12 * Parameter::ALL.len() as u64);
    // Looser than what is promised of a hundred drives: a dozen may hold one that is hard.
    assert!(all.recall() >= Some(0.9), "{missed}");
    assert!(all.wrong <= 2, "{missed}");
    // At most a tenth of what the papers' procedures write.
    assert!(all.bytes_written.1 <= all.printed_bytes_max / 10);
}
