//! Study and drive files of every kind, truncated, mixed up and wrong: each gives an error with its place, and never a
//! panic.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::Rng;
use fathom_lab::study::{Study, StudyError, plan};
use fathom_model::{Model, catalog};

const STUDY: &str = include_str!("../../../examples/study.toml");

/// Returns the text with a few bytes changed, lines swapped or its end cut off.
fn mutated(text: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=rng.below(3) {
        let at = rng.below(lines.len() as u64) as usize;
        let other = rng.below(lines.len() as u64) as usize;
        match rng.below(5) {
            0 => lines.swap(at, other),
            1 => lines[at] = lines[other].clone(),
            2 => {
                lines.truncate(at + 1);
                let cut = rng.below(lines[at].len() as u64 + 1) as usize;
                lines[at] = lines[at].chars().take(cut).collect();
            }
            _ => {
                let mut chars: Vec<char> = lines[at].chars().collect();
                if !chars.is_empty() {
                    let i = rng.below(chars.len() as u64) as usize;
                    chars[i] = *rng
                        .pick(&['0', '9', '-', '"', 'x', '=', '.', '[', 'ü'])
                        .unwrap();
                }
                lines[at] = chars.into_iter().collect();
            }
        }
    }
    lines.join("\n")
}

#[test]
fn the_study_of_schedulers_has_a_block_layer_for_each_of_its_points_but_one() {
    let text = include_str!("../../../examples/schedulers.toml");
    let runs = plan(&Study::from_toml(text).unwrap()).unwrap();
    assert_eq!(runs.len(), 12);
    for run in runs {
        let point = &run.points[1].1;
        let scheduler = run.plan.queue.as_ref().map(|queue| queue.scheduler.name());
        assert_eq!(scheduler, (point != "none").then_some(point.as_str()));
    }
}

/// docs/studies.md and docs/schedulers.md: anything that no run of a study can have is reported before the first run, with
/// its place.
#[test]
fn what_no_run_can_have_is_refused_when_the_study_is_read() {
    let top = "name = \"s\"\ndrive = \"model:nvme\"\n";
    let uniform = "[[workload]]\nname = \"u\"\ngenerate = { generator = \"uniform\", accesses = 9, \
                   range = { len = \"1MiB\" } }\n";
    let axis = |name: &str, key: &str| {
        format!("[[axis]]\nname = \"{name}\"\nkey = \"{key}\"\nvalues = [\"20us\", \"30us\"]\n")
    };
    let planned = |arrival: &str, middle: &str| {
        let text = format!("{top}{arrival}\n{middle}{uniform}");
        plan(&Study::from_toml(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}")))
            .map(|runs| runs.len())
            .map_err(|error| error.to_string())
    };
    let two = |one: &str, other: &str| axis(one, "flash.read") + &axis(other, "flash.program");
    assert_eq!(planned("", &two("read", "program")), Ok(4));
    let error = planned("", &two("time", "time")).unwrap_err();
    assert!(
        error.contains("axis 1 and axis 2") && error.contains("`time`"),
        "{error}"
    );
    for key in ["depth", "requests"] {
        let error = planned("", &format!("[queue]\n{key} = 0\n")).unwrap_err();
        assert!(error.contains(&format!("`{key}` is 0")), "{error}");
        assert_eq!(planned("", &format!("[queue]\n{key} = 1\n")), Ok(1));
    }
    let three = "arrival = { processes = { processes = 3, outstanding = 2 } }";
    let of = |process: u32| format!("[queue]\npriorities = {{ {process} = \"idle\" }}\n");
    assert_eq!(planned(three, &of(2)), Ok(1));
    for (arrival, process) in [(three, 3), (three, 7), ("", 1)] {
        let error = planned(arrival, &of(process)).unwrap_err();
        assert!(error.contains(&format!("process {process}")), "{error}");
    }
}

/// docs/studies.md: all errors are reported before the first run, each with its line.
#[test]
fn all_faults_of_a_study_are_told_together_each_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let faults = |lines: &[&str]| {
        let path = dir.path().join("study.toml");
        std::fs::write(&path, lines.join("\n")).unwrap();
        let StudyError::Faults { faults, .. } =
            Study::from_file(&path).and_then(|s| plan(&s)).unwrap_err()
        else {
            panic!("not the faults")
        };
        faults
    };
    let text = [
        "name = 's'",
        "drive = 'model:ssd-a'",
        "seeds = [1, 2]",
        "[set]",
        "'flash.raed' = '3us'",
        "[queue]",
        "scheduler = { name = 'noop', spam = 1 }",
        "[[axis]]",
        "name = 'b'",
        "key = 'write_buffer.policy'",
        "values = ['lru',",
        "  'eppo']",
        "[[workload]]",
        "name = 'u'",
        "generate = { generator = 'uniform', accesses = 9 }",
        "[[workload]]",
        "name = 'v'",
        "trace = 'missing.spc'",
    ];
    let lines = |found: &[fathom_lab::study::Fault]| -> Vec<Option<usize>> {
        found.iter().map(|fault| fault.line).collect()
    };
    let found = faults(&text);
    assert_eq!(
        lines(&found),
        [Some(5), Some(6), Some(12), Some(18)],
        "{found:?}"
    );
    for (fault, words) in found.iter().zip([
        "flash.raed",
        "no key `spam` here: it takes none",
        "eppo",
        "missing.spc",
    ]) {
        assert!(fault.detail.contains(words), "{fault:?}");
    }
    // With a key that is wrong, and one that only that one makes wrong.
    let mut more = text;
    more[2] = "sedes = [1, 2]";
    more[10] = "value = ['lru',";
    let found = faults(&more);
    assert_eq!(
        lines(&found),
        [Some(3), Some(5), Some(6), Some(11), Some(18)],
        "{found:?}"
    );
}

#[test]
fn a_study_file_that_is_wrong_never_panics() {
    let runs = plan(&Study::from_toml(STUDY).unwrap()).unwrap();
    assert_eq!(runs.len(), 18);
    let (mut refused, mut resolved) = (0, 0);
    for seed in 0..1500 {
        let text = mutated(STUDY, &mut Rng::new(seed, 0));
        match Study::from_toml(&text) {
            Err((line, detail)) => {
                assert!(
                    line.is_some_and(|line| line >= 1) && !detail.is_empty(),
                    "seed {seed}"
                );
                refused += 1;
            }
            Ok(study) => match plan(&study) {
                Err(error) => assert!(!error.to_string().is_empty(), "seed {seed}"),
                Ok(_) => resolved += 1,
            },
        }
    }
    assert!(
        refused > 200 && resolved > 50,
        "{refused} refused, {resolved} resolved"
    );
}

#[test]
fn a_drive_file_of_any_kind_that_is_wrong_never_panics() {
    for entry in catalog() {
        let model = Model::from_toml(entry.text).unwrap();
        assert_eq!(
            Model::from_toml(&model.to_toml()).unwrap(),
            model,
            "{}",
            entry.name
        );
        let (mut refused, mut fine) = (0, 0);
        for seed in 0..300 {
            match Model::from_toml(&mutated(entry.text, &mut Rng::new(seed, 1))) {
                Ok(_) => fine += 1,
                Err(_) => refused += 1,
            }
        }
        assert!(
            refused > 20 && fine > 5,
            "{}: {refused} refused, {fine} fine",
            entry.name
        );
    }
}
