//! Heat and slowness, planted in modelled drives: the record marks the steps, the answer says so, a comparison sees it.

use fathom_base::{Bytes, Dur};
use fathom_model::{Model, find};
use fathom_probe::run::{run, solve};
use fathom_probe::{Marks, Parameter, Profile, Record, RunConfig, Unobserved};
use fathom_report::{diff, html};
use fathom_ssd::spec::{Log, Thermal};
use fathom_ssd::{Spec, Ssd};

/// Returns a small drive of today with a log or without one.
fn drive(log: Log, thermal: Option<Thermal>) -> Spec {
    let Model::Ssd(mut spec) = Model::from_toml(find("nvme").unwrap().text).unwrap() else {
        panic!("a drive of flash");
    };
    spec.capacity = Bytes(256 << 20);
    spec.host.log = log;
    spec.thermal = thermal;
    spec.check().unwrap();
    *spec
}

/// Heat that a fill of the drive brings about, for as long as a run takes.
fn heat() -> Thermal {
    Thermal {
        degrees_per_gib_programmed: 250.0,
        light_speed_percent: 40.0,
        heavy_speed_percent: 40.0,
        heavy_celsius: 200.0,
        time_constant: Dur::ms(600_000),
        ..Thermal::default()
    }
}

fn measured(spec: &Spec, references: bool, parameters: &[Parameter]) -> (Record, Profile) {
    let config = RunConfig {
        seed: 3,
        parameters: parameters.to_vec(),
        references,
        ..RunConfig::default()
    };
    let mut drive = Ssd::new(spec, 3).unwrap();
    let record = run(&mut drive, &config, None, &mut Unobserved).unwrap();
    let profile = solve(&record);
    (record, profile)
}

const BOTH: [Parameter; 2] = [Parameter::ReadUnit, Parameter::Flush];
const HOT: Marks = Marks {
    hot: true,
    slow: false,
};

#[test]
fn a_hot_drive_is_noticed_by_its_log() {
    let (record, profile) = measured(&drive(Log::Host, Some(heat())), false, &BOTH);
    // The preparation of the first parameter warms it, and it stays hot.
    for parameter in BOTH {
        assert_eq!(profile.marked.get(&parameter), Some(&HOT), "{parameter}");
        let reason = &profile.parameters[&parameter].evidence.reason;
        assert!(
            reason.contains("measured while the drive was hot (up to ")
                && reason.contains("it warns from 70 °C on"),
            "{reason}"
        );
    }
    assert!(record.steps.iter().all(|step| step.marks == HOT));
    let page = html::render(&record, &profile);
    assert!(page.contains("Measured while the drive was hot: read unit, flush."));
    // A comparison with a cool drive says which one was hot.
    let (_, cool) = measured(&drive(Log::Host, Some(Thermal::default())), false, &BOTH);
    assert!(cool.marked.is_empty(), "{:?}", cool.marked);
    let compared = diff::diff(&cool, &profile);
    let why = |one: &diff::ParameterDiff| one.why.ends_with("; the second drive was hot");
    assert!(compared.parameters.iter().all(why), "{compared:?}");
}

#[test]
fn a_drive_without_a_log_is_noticed_by_its_slowness() {
    let (record, profile) = measured(&drive(Log::None, Some(heat())), true, &BOTH);
    let after: Vec<Option<Parameter>> = record.meta.references.iter().map(|r| r.after).collect();
    assert_eq!(after, [None, Some(BOTH[0]), Some(BOTH[1])]);
    for parameter in BOTH {
        let marks = profile.marked.get(&parameter).copied().unwrap_or_default();
        assert!(marks.slow && !marks.hot, "{parameter}: {marks:?}");
        let reason = &profile.parameters[&parameter].evidence.reason;
        assert!(
            reason.contains("times as long as at the beginning"),
            "{reason}"
        );
    }
    let page = html::render(&record, &profile);
    assert!(page.contains("Measured while the drive was slow") && page.contains("state-0"));
}

/// A steady drive has no marks, and a record without references has the keys that it always had.
#[test]
fn a_steady_drive_is_not_marked() {
    let (record, profile) = measured(&drive(Log::None, None), true, &BOTH);
    assert!(profile.marked.is_empty(), "{:?}", profile.marked);
    assert!(
        record
            .meta
            .references
            .iter()
            .all(|one| one.cost.bytes_written == 4 << 20)
    );
    let (plain, without) = measured(&drive(Log::None, None), false, &BOTH);
    let meta = serde_json::to_string(&plain.meta).unwrap();
    let steps = serde_json::to_string(&plain.steps).unwrap();
    assert!(!meta.contains("references") && !steps.contains("marks"));
    let values = |profile: &Profile| -> Vec<_> {
        let each = profile.parameters.values();
        each.map(|answer| answer.verdict).collect()
    };
    assert_eq!(
        values(&profile),
        values(&without),
        "the references change no answer"
    );
}
