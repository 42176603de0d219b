//! Limits in front of a drive with hardly a burst, planted in front of modelled drives, and drives that are merely slow.

use crate::asked::{of_all, preset, quick_answer};
use crate::cases;
use fathom_base::{Bytes, Dur, Rate};
use fathom_block::layers::Limit;
use fathom_lab::accuracy::{Outcome, Truth, score};
use fathom_probe::{Level, Parameter, Verdict};
use fathom_ssd::Spec;

fn operations(per_second: u64, burst: Option<u64>) -> Limit {
    Limit {
        operations_per_second: Some(per_second),
        operations_burst: burst,
        ..Limit::default()
    }
}

/// Returns a drive behind a limit, as far away as a volume of a cloud.
fn behind(limit: &Limit) -> Spec {
    let mut spec = preset("nvme");
    spec.limit = Some(limit.clone());
    spec.host.latency = Dur::us(200);
    spec
}

#[test]
fn limits_without_a_burst_to_speak_of_are_found() {
    let bytes = Limit {
        bandwidth: Rate::new(90_000_000),
        ..Limit::default()
    };
    let planted = [
        // The burst of a tenth of a second, and one read that passes.
        (Parameter::RateLimit, operations(3000, None)),
        (Parameter::RateLimit, operations(800, Some(1))),
        // So slow that a batch of the usual length takes ten seconds.
        (Parameter::RateLimit, operations(50, Some(1))),
        (Parameter::BandwidthLimit, bytes),
    ];
    for seed in 0..cases(1, 10) {
        for (parameter, limit) in &planted {
            let spec = behind(limit);
            let found = quick_answer(&spec, *parameter, seed);
            let truth = Truth::of(&spec, *parameter);
            assert_eq!(score(&truth, &found), Outcome::Extra, "{found:?}");
        }
    }
}

#[test]
fn a_limit_of_operations_is_none_of_bytes_and_the_other_way_round() {
    let bytes = |burst| Limit {
        bandwidth: Rate::new(90_000_000),
        bandwidth_burst: Some(Bytes(burst)),
        ..Limit::default()
    };
    let planted = [
        (Parameter::BandwidthLimit, operations(500, Some(4000))),
        (Parameter::BandwidthLimit, operations(500, None)),
        (Parameter::RateLimit, bytes(400 << 20)),
        (Parameter::RateLimit, bytes(9_000_000)),
    ];
    for seed in 0..cases(1, 10) {
        for (parameter, limit) in &planted {
            let spec = behind(limit);
            let found = quick_answer(&spec, *parameter, seed);
            assert_eq!(found.verdict, Verdict::Absent, "{limit:?} {found:?}");
        }
    }
}

#[test]
fn a_rate_that_only_a_burst_gives_has_no_knee() {
    let mut spec = preset("nvme");
    spec.limit = Some(operations(5000, Some(60_000)));
    let asked = [Parameter::QueueKnee, Parameter::RateLimit];
    let knee = &of_all(Level::Quick, &spec, &asked, 1)[&Parameter::QueueKnee];
    assert_eq!(knee.verdict, Verdict::NotIdentifiable, "{knee:?}");
}

#[test]
fn a_knee_between_few_and_most_requests_is_not_named() {
    let mut spec = preset("nvme");
    spec.limit = Some(operations(7000, Some(20_000)));
    for seed in 0..3 {
        let knee = quick_answer(&spec, Parameter::QueueKnee, seed);
        let narrow = knee
            .low
            .as_ref()
            .zip(knee.high.as_ref())
            .is_none_or(|(low, high)| {
                let ends = [low, high].map(|end| end.number().unwrap_or_default());
                ends[1] <= 4.0 * ends[0]
            });
        assert!(narrow, "{knee:?}");
    }
}

#[test]
fn a_gate_that_lets_nothing_pass_ahead_of_fast_reads_looks_like_a_saturated_drive() {
    let spec = behind(&operations(20_000, Some(1)));
    let found = quick_answer(&spec, Parameter::RateLimit, 1);
    assert_eq!(found.verdict, Verdict::NotIdentifiable, "{found:?}");
}

#[test]
fn a_slow_drive_has_no_limit() {
    for seed in 0..cases(1, 10) {
        for name in ["sd-card", "nvme"] {
            let mut spec = preset(name);
            spec.capacity = Bytes(spec.capacity.0.min(1 << 30));
            for parameter in [Parameter::RateLimit, Parameter::BandwidthLimit] {
                let found = quick_answer(&spec, parameter, seed);
                assert_ne!(found.verdict, Verdict::Identified, "{name} {found:?}");
            }
        }
    }
}
