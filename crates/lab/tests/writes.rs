//! Parameters that writes show, planted in modelled drives of several geometries, mappings and noises.

use crate::asked::{answer, preset};
use crate::cases;
use fathom_base::Bytes;
use fathom_lab::accuracy::{Outcome, Truth, score};
use fathom_probe::run::{run, solve};
use fathom_probe::{Level, Parameter, RunConfig, Unobserved, Value, Verdict};
use fathom_ssd::spec::MappingKind;
use fathom_ssd::{Spec, Ssd};

const KIB: u64 = 1 << 10;

/// Returns a page-mapped drive with pages of `page` and units of `unit` bytes, and jitter of `percent`.
fn page_mapped(page: u64, unit: u64, percent: f64) -> Spec {
    let mut spec = preset("null-block");
    spec.mapping.kind = MappingKind::Page;
    spec.flash.page = Bytes(page);
    spec.flash.clustered_page = Bytes(page);
    spec.flash.clustered_block = Bytes(page * u64::from(spec.flash.pages_per_block));
    spec.capacity =
        Bytes((512 << 20) / spec.flash.clustered_block.0 * spec.flash.clustered_block.0);
    spec.mapping.unit = (unit != page).then_some(Bytes(unit));
    spec.noise.flash_percent = percent;
    spec.noise.command_percent = percent;
    spec.check().unwrap();
    spec
}

#[test]
fn units_of_page_mapped_drives_are_found() {
    for (page, unit, percent) in [(16, 16, 0.0), (16, 4, 10.0), (64, 16, 5.0), (12, 12, 20.0)] {
        let spec = page_mapped(page * KIB, unit * KIB, percent);
        for seed in 0..cases(1, 5) {
            let found = answer(&spec, Parameter::IndirectionUnit, seed);
            assert_eq!(
                found.value,
                Some(Value::Bytes(unit * KIB)),
                "{page} {unit}: {found:?}"
            );
        }
    }
}

#[test]
fn a_stripe_is_no_unit() {
    for page in [8, 32] {
        let spec = page_mapped(page * KIB, 512, 5.0);
        for seed in 0..cases(1, 5) {
            let found = answer(&spec, Parameter::IndirectionUnit, seed);
            assert_ne!(found.verdict, Verdict::Identified, "{page}: {found:?}");
        }
    }
}

/// Returns a page-mapped drive of one die with `percent` spare.
fn spare(percent: f64, mebibytes: u64) -> Spec {
    let mut spec = preset("null-block");
    spec.capacity = Bytes(mebibytes << 20);
    spec.flash.pages_per_block = 64;
    spec.flash.clustered_block = Bytes(spec.flash.clustered_page.0 * 64);
    spec.mapping.over_provisioning_percent = percent;
    spec.check().unwrap();
    spec
}

#[test]
fn over_provisioning_is_a_range_that_holds_the_truth() {
    for percent in [7.0, 25.0] {
        for seed in 0..cases(1, 5) {
            let found = answer(&spare(percent, 256), Parameter::OverProvisioning, seed);
            let (low, high) = found.interval().unwrap();
            let [low, high] = [low, high].map(|end| end.number().unwrap());
            // The drive keeps five of 256 blocks more.
            let (named, all) = (percent / 100.0, percent / 100.0 + 5.0 / 256.0);
            let right = low <= 1.1 * all && 0.9 * named <= high;
            assert!(right, "{percent}: {found:?}");
        }
    }
}

#[test]
fn a_part_of_a_drive_has_no_over_provisioning_and_a_quick_run_does_not_measure_it() {
    let spec = spare(10.0, 128);
    let verdict = |change: &dyn Fn(&mut RunConfig)| {
        let mut config = RunConfig {
            parameters: vec![Parameter::OverProvisioning],
            ..RunConfig::default()
        };
        change(&mut config);
        let mut drive = Ssd::new(&spec, 1).unwrap();
        let record = run(&mut drive, &config, None, &mut Unobserved).unwrap();
        let found = solve(&record)
            .parameters
            .remove(&Parameter::OverProvisioning);
        let found = found.unwrap();
        assert_eq!(found.cost.bytes_written, 0, "{found:?}");
        found.verdict
    };
    let part = verdict(&|config| config.region = Some(0..64 << 20));
    assert_eq!(part, Verdict::NotIdentifiable);
    assert_eq!(
        verdict(&|config| config.level = Level::Quick),
        Verdict::Inconclusive
    );
    // Merges are not collection.
    let found = answer(&preset("mtron-sata7035"), Parameter::OverProvisioning, 1);
    assert_eq!(found.verdict, Verdict::NotIdentifiable, "{found:?}");
}

/// Presets have no wrong answer.
#[test]
fn presets_get_no_wrong_answer() {
    for name in ["ssd-c", "null-rmw", "nvme", "intel-x25e"] {
        let spec = preset(name);
        let found = answer(&spec, Parameter::IndirectionUnit, 1);
        let truth = Truth::of(&spec, Parameter::IndirectionUnit);
        assert_ne!(score(&truth, &found), Outcome::Wrong, "{name}: {found:?}");
    }
}
