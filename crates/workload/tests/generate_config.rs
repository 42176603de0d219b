//! Tests of generators in study files, of the parameters that they refuse, and of the bounds of their accesses.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::{Bytes, Dur};
use fathom_workload::generate::{
    Config, GENERATORS, Generator, Load, Name, Pacing, Pattern, Range, Side, Size, Sizes,
};
use proptest::prelude::*;

#[test]
fn a_study_file_names_a_generator_and_what_is_different() {
    let config: Config = toml::from_str(
        r#"
        generator = "financial1-like"
        accesses = 1_000
        read-percent = 0
        sizes = "8KiB"
        write-sizes = [{ bytes = "4KiB", weight = 3 }, { bytes = "16KiB", weight = 1 }]
        range = { start = "1GiB", len = "2GiB" }
        align = "4KiB"
        pattern = { hot-cold = { accesses-percent = 90, space-percent = 10 } }
        sequential-percent = 20
        repeat-percent = 0
        pacing = { bursts = { per-second = 1000, on = "10ms", off = "90ms" } }
        "#,
    )
    .unwrap();
    let load = config.load().unwrap();
    assert_eq!((load.accesses, load.read_percent), (1_000, 0.0));
    assert_eq!(load.reads.sizes, Sizes::One(Bytes::kib(8)));
    assert_eq!(load.writes.sizes.mean(), 7168.0);
    assert_eq!(load.writes.sequential_percent, 20.0);
    assert_eq!(
        load.pattern,
        Pattern::HotCold {
            accesses_percent: 90.0,
            space_percent: 10.0,
            scatter: true
        }
    );
    assert_eq!(
        load.repeat_depth,
        Name::Financial1Like.load().repeat_depth,
        "what is not said stays"
    );
    assert_eq!(config.generator(0).unwrap().count(), 1_000);
    // The resolved load survives a round trip through a record.
    let text = toml::to_string(&load).unwrap();
    assert_eq!(toml::from_str::<Load>(&text).unwrap(), load);
    assert_eq!(
        toml::from_str::<Config>(&toml::to_string(&config).unwrap()).unwrap(),
        config
    );
}

#[test]
fn every_form_of_pattern_and_pacing_has_a_text() {
    for setting in [
        "pattern = \"uniform\"",
        "pattern = \"sequential\"",
        "pattern = { zipf = { theta = 1.1, scatter = false } }",
        "pattern = { pareto = { space-percent = 20 } }",
        "pacing = \"closed\"",
        "pacing = { fixed = { per-second = 100 } }",
        "pacing = { poisson = { per-second = 100 } }",
    ] {
        let config: Config =
            toml::from_str(&format!("generator = \"uniform\"\n{setting}")).unwrap();
        config.load().unwrap();
    }
}

#[test]
fn what_a_study_file_may_not_say() {
    for (wrong, hint) in [
        ("generator = \"financial1\"", "unknown variant `financial1`"),
        ("generator = \"zipf\"\ntheta = 1", "unknown field `theta`"),
        (
            "generator = \"zipf\"\nsizes = 4096",
            "lengths are one, such as",
        ),
        (
            "generator = \"zipf\"\npattern = { zipf = { theta = 1, skew = 2 } }",
            "skew",
        ),
        (
            "generator = \"zipf\"\npacing = { poisson = { per_second = 2 } }",
            "per_second",
        ),
    ] {
        let error = toml::from_str::<Config>(wrong).unwrap_err().to_string();
        assert!(error.contains(hint), "{wrong}: {error}");
    }
}

/// The key that the error names, and a change that makes a load invalid.
type Spoil = (&'static str, fn(&mut Load));

fn assert_refused(spoils: &[Spoil]) {
    for (index, (key, spoil)) in spoils.iter().enumerate() {
        let mut load = Name::Uniform.load();
        spoil(&mut load);
        let error = Generator::new(&load, 0).err();
        assert_eq!(error.map(|error| error.key), Some(*key), "case {index}");
    }
}

fn weights(weights: &[f64]) -> Sizes {
    let size = |&weight| Size {
        bytes: Bytes(512),
        weight,
    };
    Sizes::Weighted(weights.iter().map(size).collect())
}

#[test]
fn sides_that_cannot_be_are_refused() {
    assert_refused(&[
        ("read-percent", |load| load.read_percent = 101.0),
        ("read-percent", |load| load.read_percent = f64::NAN),
        ("reads", |load| load.reads.sizes = Sizes::One(Bytes(0))),
        ("reads", |load| load.reads.sizes = weights(&[])),
        ("writes", |load| load.writes.sizes = weights(&[0.0, 0.0])),
        ("writes", |load| load.writes.sizes = weights(&[1.0, -0.5])),
        ("writes", |load| {
            load.writes.sizes = weights(&[f64::INFINITY])
        }),
        ("writes", |load| load.writes.sequential_percent = -1.0),
        ("writes", |load| {
            load.writes.sequential_percent = 60.0;
            load.writes.repeat_percent = 60.0;
        }),
    ]);
}

fn hot_cold(accesses_percent: f64, space_percent: f64) -> Pattern {
    Pattern::HotCold {
        accesses_percent,
        space_percent,
        scatter: true,
    }
}

fn pareto(space_percent: f64) -> Pattern {
    Pattern::Pareto {
        space_percent,
        scatter: true,
    }
}

fn zipf(theta: f64) -> Pattern {
    Pattern::Zipf {
        theta,
        scatter: true,
    }
}

fn bursts(per_second: f64, on: u64) -> Pacing {
    let (on, off) = (Dur(on), Dur(1));
    Pacing::Bursts {
        per_second,
        on,
        off,
    }
}

#[test]
fn patterns_and_pacings_that_cannot_be_are_refused() {
    assert_refused(&[
        ("pattern", |load| load.pattern = zipf(-1.0)),
        ("pattern", |load| load.pattern = zipf(f64::NAN)),
        ("pattern", |load| load.pattern = pareto(50.0)),
        ("pattern", |load| load.pattern = hot_cold(80.0, 0.0)),
        ("pattern", |load| load.pattern = hot_cold(101.0, 10.0)),
        ("pacing", |load| {
            load.pacing = Pacing::Poisson { per_second: 0.0 }
        }),
        ("pacing", |load| {
            load.pacing = Pacing::Fixed {
                per_second: f64::INFINITY,
            }
        }),
        ("pacing", |load| load.pacing = bursts(1.0, 1)),
        ("pacing", |load| load.pacing = bursts(-1e12, 1_000_000)),
    ]);
}

fn range(start: u64, len: u64) -> Range {
    let (start, len) = (Bytes(start), Bytes(len));
    Range { start, len }
}

#[test]
fn ranges_and_depths_that_cannot_be_are_refused() {
    assert_refused(&[
        ("run-depth", |load| load.run_depth = 0),
        ("repeat-depth", |load| load.repeat_depth = u32::MAX),
        ("range", |load| load.align = Bytes(0)),
        ("range", |load| load.range = range(1, 1 << 20)),
        ("range", |load| load.range = range(0, 4095)),
        ("range", |load| load.range = range(4096, u64::MAX)),
        ("range", |load| {
            load.align = Bytes(1);
            load.range = range(0, u64::MAX);
        }),
    ]);
}

#[test]
fn every_generator_is_listed_and_works_as_it_is() {
    assert_eq!(GENERATORS.len(), Name::ALL.len());
    for name in Name::ALL {
        let entry = name.named();
        let config: Config = toml::from_str(&format!("generator = \"{}\"", entry.name)).unwrap();
        assert_eq!(config.generator, name);
        config.load().unwrap();
        assert!(!entry.summary.is_empty() && entry.text.len() > entry.summary.len());
        // Generators that resemble a trace end in `-like`; none has the name of the trace itself.
        let named = entry.summary.contains("like ") || entry.name.ends_with("-like");
        assert!(!named || entry.name.ends_with("-like"));
    }
}

fn sizes() -> impl Strategy<Value = Sizes> {
    prop::collection::vec((1u64..40_000, 0.01..10.0f64), 1..6)
        .prop_map(|sizes| Sizes::weighted(&sizes))
}

fn side() -> impl Strategy<Value = Side> {
    (sizes(), 0.0..50.0f64, 0.0..50.0f64).prop_map(|(sizes, sequential_percent, repeat_percent)| {
        Side {
            sizes,
            sequential_percent,
            repeat_percent,
        }
    })
}

fn pattern() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        Just(Pattern::Uniform),
        Just(Pattern::Sequential),
        (0.0..4.0f64, any::<bool>()).prop_map(|(theta, scatter)| Pattern::Zipf { theta, scatter }),
        (0.0..=100.0f64, 0.001..=100.0f64, any::<bool>()).prop_map(
            |(accesses_percent, space_percent, scatter)| {
                Pattern::HotCold {
                    accesses_percent,
                    space_percent,
                    scatter,
                }
            }
        ),
        (0.1..49.9f64, any::<bool>()).prop_map(|(space_percent, scatter)| Pattern::Pareto {
            space_percent,
            scatter
        }),
    ]
}

fn pacing() -> impl Strategy<Value = Pacing> {
    let per_second = 0.1..1e9f64;
    prop_oneof![
        Just(Pacing::Closed),
        per_second
            .clone()
            .prop_map(|per_second| Pacing::Fixed { per_second }),
        per_second
            .clone()
            .prop_map(|per_second| Pacing::Poisson { per_second }),
        (per_second, 10_000_000u64..1 << 40, 0u64..1 << 40).prop_map(|(per_second, on, off)| {
            Pacing::Bursts {
                per_second,
                on: Dur(on),
                off: Dur(off),
            }
        }),
    ]
}

proptest! {
    /// For every load that is accepted, each access lies in the range, is aligned and has one of the lengths, and times
    /// do not decrease.
    #[test]
    fn accesses_are_where_they_may_be(
        (reads, writes, pattern, pacing) in (side(), side(), pattern(), pacing()),
        (start, more, align) in (0u64..1000, 0u64..200_000, 1u64..5000),
        (run_depth, repeat_depth, seed) in (1u32..20, 1u32..20, any::<u64>()),
        read_percent in 0.0..=100.0f64,
    ) {
        let lens: Vec<u64> = [&reads, &writes].iter()
            .flat_map(|side| side.sizes.list())
            .map(|size| size.bytes.0)
            .collect();
        let len = lens.iter().max().unwrap() + more;
        let range = Range { start: Bytes(start * align), len: Bytes(len) };
        let load = Load {
            accesses: 300, read_percent, reads, writes, range, align: Bytes(align), pattern, run_depth, repeat_depth, pacing,
        };
        let all: Vec<_> = Generator::new(&load, seed).unwrap().collect();
        prop_assert_eq!(all.len(), 300);
        prop_assert_eq!(all[0].at.0, 0);
        for access in &all {
            prop_assert!(access.offset >= start * align && access.end() <= start * align + len);
            prop_assert_eq!(access.offset % align, 0);
            prop_assert!(lens.contains(&access.len));
        }
        prop_assert!(all.windows(2).all(|pair| pair[0].at <= pair[1].at));
    }
}

/// A workload file as in the documentation: generator, steps, and arrival of requests.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Workload {
    #[serde(rename = "name")]
    _name: Option<String>,
    #[serde(rename = "arrival")]
    _arrival: Option<fathom_workload::step::Arrival>,
    #[serde(default)]
    steps: Vec<fathom_workload::step::Step>,
    generate: Option<Config>,
}

/// A study whose workloads are programs.
#[derive(serde::Deserialize)]
struct Programs {
    workload: Vec<OfProgram>,
}

#[derive(serde::Deserialize)]
struct OfProgram {
    program: fathom_workload::program::Config,
}

#[test]
fn the_examples_of_the_documentation_are_right() {
    let page = include_str!("../../../docs/workloads.md");
    let blocks: Vec<&str> = page
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert_eq!(blocks.len(), 3);
    let (programs, others): (Vec<_>, Vec<_>) = blocks
        .into_iter()
        .partition(|block| block.contains("[workload.program]"));
    assert_eq!(programs.len(), 1);
    for block in programs {
        let study: Programs = toml::from_str(block).unwrap();
        assert!(study.workload[0].program.build(4 << 30, 1).is_ok());
    }
    for block in others {
        let file: Workload = toml::from_str(block).unwrap();
        assert!(!file.steps.is_empty() || file.generate.is_some());
        if let Some(config) = file.generate {
            config.load().unwrap();
        }
    }
    for name in fathom_workload::step::STEPS
        .iter()
        .map(|step| step.name)
        .chain(GENERATORS.iter().map(|g| g.name))
    {
        assert!(
            page.contains(&format!("`{name}`")),
            "{name} is not on the page"
        );
    }
}
