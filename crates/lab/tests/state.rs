//! Parameters of a drive's state, planted in modelled drives of several geometries and noises: what a flush and a TRIM cost,
//! whether content shrinks, and the fast cache.

use crate::asked::answer;
use crate::cases;
use fathom_base::{Bytes, Dur, Rate, Rng};
use fathom_block::layers::Limit;
use fathom_lab::accuracy::{Family, Outcome, Truth, draw, score};
use fathom_model::{Model, find};
use fathom_probe::{Estimate, Parameter, Value, Verdict};
use fathom_ssd::Spec;
use fathom_ssd::spec::{
    Compression, FastCache, Fold, Log, Thermal, WhenFull, WriteBuffer, WritePolicy,
};
use rayon::prelude::*;

/// Returns a preset with a small capacity and changes.
fn drive(name: &str, change: impl FnOnce(&mut Spec)) -> Spec {
    let Model::Ssd(mut spec) = Model::from_toml(find(name).unwrap().text).unwrap() else {
        panic!("{name} is a drive of flash");
    };
    change(&mut spec);
    let block = spec.flash.clustered_block.0;
    spec.capacity = Bytes(spec.capacity.0.min(512 << 20) / block * block);
    spec.check().unwrap();
    *spec
}

/// Returns a page-mapped drive that is drawn from a seed: geometry, unit, times, memory and noise.
fn drawn(seed: u64, change: impl FnOnce(&mut Spec)) -> Spec {
    let mut rng = Rng::new(seed, 77);
    drive("nvme", |spec| {
        let page = 4096 << rng.below(3);
        let flash = &mut spec.flash;
        flash.page = Bytes(page);
        flash.planes_per_die = 1 << rng.below(3);
        flash.channels = 1 << (1 + rng.below(3));
        flash.clustered_page = Bytes(page * u64::from(flash.planes_per_die));
        let pages = u64::from(flash.pages_per_block);
        flash.clustered_block = Bytes(flash.clustered_page.0 * pages);
        flash.program = Dur::us(200 + rng.below(1500));
        spec.mapping.over_provisioning_percent = 20.0;
        spec.noise.command_percent = 10.0 * rng.uniform();
        spec.noise.flash_percent = 10.0 * rng.uniform();
        change(spec);
    })
}

fn buffer(capacity: u64, battery: bool) -> WriteBuffer {
    WriteBuffer {
        battery,
        ..WriteBuffer::new(WritePolicy::Fifo, Bytes(capacity))
    }
}

/// The answer must be right where the rule says that the parameter can be seen, and never wrong.
fn is_right(spec: &Spec, parameter: Parameter, seed: u64) -> Estimate {
    let (truth, found) = (Truth::of(spec, parameter), answer(spec, parameter, seed));
    let outcome = score(&truth, &found);
    let right = match truth.is_identifiable() {
        true => outcome == Outcome::Found,
        false => outcome != Outcome::Wrong,
    };
    assert!(right, "{parameter} of {}: {truth}: {found:?}", spec.name);
    found
}

#[test]
fn a_flush_costs_the_program_of_what_is_volatile() {
    for seed in 0..cases(3, 40) {
        let spec = drawn(seed, |spec| {
            spec.write_buffer = Some(buffer(1 << 20, false));
        });
        let found = is_right(&spec, Parameter::Flush, seed);
        let figures = &found.evidence.figures;
        assert!(figures["dirty_n_ns"] > figures["clean_ns"], "{found:?}");
    }
}

#[test]
fn a_flush_of_protected_or_no_memory_costs_nothing() {
    for seed in 0..cases(2, 20) {
        for memory in [None, Some(buffer(1 << 20, true))] {
            let spec = drawn(seed, |spec| spec.write_buffer = memory);
            let found = answer(&spec, Parameter::Flush, seed);
            assert_eq!(found.verdict, Verdict::Absent, "{found:?}");
            assert!(found.evidence.reason.contains("no volatile cache"));
        }
    }
}

#[test]
fn a_trim_costs_its_command_and_is_seen_by_reads() {
    for seed in 0..cases(2, 20) {
        let spec = drawn(seed, |_| {});
        let found = is_right(&spec, Parameter::Trim, seed);
        let figures = &found.evidence.figures;
        assert!(
            figures["read_trimmed_ns"] < 0.9 * figures["read_written_ns"],
            "{found:?}"
        );
    }
}

#[test]
fn contents_that_shrink_are_told() {
    for seed in 0..cases(2, 20) {
        for deduplicates in [false, true] {
            let spec = drawn(seed, |spec| {
                spec.compression = Some(Compression {
                    deduplicates,
                    ..Compression::default()
                });
                spec.host.log = [Log::None, Log::Media][seed as usize % 2];
            });
            is_right(&spec, Parameter::Compression, seed);
        }
    }
}

#[test]
fn a_drive_that_programs_everything_does_not_compress() {
    for seed in 0..cases(2, 20) {
        for log in [Log::None, Log::Host, Log::Media] {
            let spec = drawn(seed, |spec| spec.host.log = log);
            let found = answer(&spec, Parameter::Compression, seed);
            assert_ne!(found.verdict, Verdict::Identified, "{found:?}");
        }
    }
}

#[test]
fn presets_get_no_wrong_answer() {
    let all = [Parameter::Flush, Parameter::Trim, Parameter::Compression];
    for name in ["ssd-a", "ssd-c", "null-write-buffer", "nvme", "epo"] {
        let spec = drive(name, |_| {});
        for parameter in all {
            is_right(&spec, parameter, 1);
        }
    }
}

/// Returns a fast cache of a drawn size in a drive of a drawn geometry.
fn cached(seed: u64, change: impl FnOnce(&mut Spec)) -> Spec {
    let mut rng = Rng::new(seed, 78);
    drawn(seed, |spec| {
        let capacity = 512 << 20;
        let dynamic = rng.chance(0.5);
        spec.fast_cache = Some(FastCache {
            bits_per_cell: 2 + rng.below(3) as u32,
            static_capacity: Bytes(match dynamic {
                true => 0,
                false => capacity / 20 + rng.below(capacity / 5),
            }),
            dynamic_percent: match dynamic {
                true => 30.0 + 70.0 * rng.uniform(),
                false => 0.0,
            },
            read: Dur::us(25),
            program: Dur(spec.flash.program.0 / (4 + rng.below(4))),
            erase: spec.flash.erase,
            fold: [Fold::Idle, Fold::Pressure][rng.below(2) as usize],
            idle_delay: Dur::ms(100 + rng.below(1000)),
            when_full: [WhenFull::Bypass, WhenFull::Fold][rng.below(2) as usize],
        });
        change(spec);
    })
}

#[test]
fn the_fast_cache_is_found() {
    for seed in 0..cases(4, 60) {
        let spec = cached(seed, |_| {});
        let found = is_right(&spec, Parameter::FastCache, seed);
        if let Some(Value::Bytes(_)) = found.value {
            let figures = &found.evidence.figures;
            assert!(
                figures["fast_bytes_per_s"] > 1.2 * figures["slow_bytes_per_s"],
                "{found:?}"
            );
        }
    }
}

#[test]
fn a_drive_without_a_fast_cache_has_none() {
    for seed in 0..cases(3, 40) {
        let memory = [Some(buffer(16 << 20, seed % 2 == 0)), None][seed as usize % 2].clone();
        // A small cache looks like protected memory.
        let verdict = match memory {
            Some(_) => Verdict::Inconclusive,
            None => Verdict::Absent,
        };
        let spec = drawn(seed, |spec| spec.write_buffer = memory);
        let found = answer(&spec, Parameter::FastCache, seed);
        assert_eq!(found.verdict, verdict, "{found:?}");
    }
}

#[test]
fn heat_and_a_limit_are_no_fast_cache() {
    let hot = |spec: &mut Spec| {
        spec.thermal = Some(Thermal {
            degrees_per_gib_programmed: 300.0,
            ..Thermal::default()
        });
    };
    let limited = |spec: &mut Spec| {
        spec.limit = Some(Limit {
            bandwidth: Rate::new(20_000_000),
            bandwidth_burst: Some(Bytes(100 << 20)),
            ..Limit::default()
        });
    };
    for seed in 0..cases(2, 20) {
        for spec in [drawn(seed, hot), drawn(seed, limited)] {
            let found = answer(&spec, Parameter::FastCache, seed);
            assert_ne!(found.verdict, Verdict::Identified, "{found:?}");
        }
    }
}

/// Drives as they are drawn for the accuracy of today's drives: at most one answer in fifty is wrong, and nine tenths of what
/// can be seen is found.
#[test]
fn drives_of_today() {
    let all = [
        Parameter::FastCache,
        Parameter::Flush,
        Parameter::Trim,
        Parameter::Compression,
    ];
    let judged = |index: u64| {
        let drawn = draw(Family::Modern, 11, index);
        let spec = drawn.target.spec().unwrap().clone();
        all.map(|parameter| {
            let (truth, found) = (
                drawn.target.truth(parameter),
                answer(&spec, parameter, index),
            );
            let outcome = score(&truth, &found);
            let good = matches!(outcome, Outcome::Found | Outcome::Rejected | Outcome::Extra);
            if !good {
                eprintln!("{index} {parameter} {outcome:?}: {truth}: {found:?}");
            }
            (outcome, truth.is_identifiable())
        })
    };
    let drives: Vec<u64> = (0..cases(1, 60)).collect();
    let outcomes: Vec<_> = drives.into_par_iter().flat_map_iter(judged).collect();
    let count = |of: &dyn Fn(&(Outcome, bool)) -> bool| outcomes.iter().filter(|o| of(o)).count();
    let (wrong, visible) = (count(&|o| o.0 == Outcome::Wrong), count(&|o| o.1));
    let found = count(&|o| o.0 == Outcome::Found);
    eprintln!(
        "{} answers, {wrong} wrong, {found} of {visible} found",
        outcomes.len()
    );
    assert!(50 * wrong <= outcomes.len(), "{wrong} wrong");
    assert!(10 * found >= 9 * visible, "{found} of {visible} found");
}
