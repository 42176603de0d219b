//! Runs stored on disk are read back unchanged, or give an error that says what is wrong.

use fathom_lab::store::{
    PROFILE_FILE, RECORD_FILE, REPORT_FILE, SUMS_FILE, SetKind, Staging, StoreError, check_output,
    encode_record, load_profile, load_record, save_record, save_run,
};
use fathom_probe::profile::{Estimate, Evidence};
use fathom_probe::record::{Target, Timed};
use fathom_probe::{
    Cost, Method, Parameter, Profile, Record, RecordMeta, Sample, Series, Step, Unit, Value,
    Verdict,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn meta(modelled: bool) -> RecordMeta {
    RecordMeta {
        fathom: "0.1.0".into(),
        seed: 7,
        method: Method::Robust,
        parameters: Parameter::PAPERS.to_vec(),
        read_only: false,
        budget_bytes: Some(1 << 30),
        budget_ns: None,
        cheapest_first: false,
        region: Some([0, 1 << 30]),
        level: fathom_probe::Level::Full,
        fitting: false,
        look: None,
        log: None,
        references: Vec::new(),
        thin: 1,
        target: Target {
            name: "model:ssd-a".into(),
            identity: "with \"quotes\", ünicode\nand a line".into(),
            modelled,
            capacity_bytes: u64::MAX,
            spec: Some("# a drive\nname = 'x'\n".into()),
            ..Target::default()
        },
        complete: true,
    }
}

/// A record of these samples, in the order of their steps as a measurement takes them.
fn record_of(mut samples: Vec<Sample>, steps: usize, modelled: bool) -> Record {
    samples.sort_by_key(|sample| sample.step);
    let step = |i| Step {
        parameter: Parameter::ClusteredPage,
        name: format!("sweep {i}"),
        cost: Cost {
            bytes_written: i,
            ..Cost::default()
        },
        logs: Vec::new(),
        marks: Default::default(),
    };
    Record {
        meta: meta(modelled),
        steps: (0..steps as u64).map(step).collect(),
        samples,
    }
}

fn sample(i: u64) -> Sample {
    Sample {
        step: (i % 3) as u32,
        parameter: Parameter::PAPERS[(i % 7) as usize],
        series: [Series::SWEEP, Series::RANDOM_READ, Series::FULL_BUFFER][(i % 3) as usize],
        x: i << 12,
        rep: (i % 5) as u32,
        timed: [Timed::Read, Timed::WriteFlush][(i % 2) as usize],
        offset: u64::MAX - i,
        bytes: i,
        ns: i * i,
        at_ns: i * 1_000_003,
    }
}

fn small(modelled: bool) -> Record {
    record_of((0..50).map(sample).collect(), 3, modelled)
}

pub(crate) fn profile() -> Profile {
    let meta = meta(true);
    let estimate = Estimate {
        value: Some(Value::Bytes(16384)),
        unit: Unit::Bytes,
        low: Some(Value::Bytes(16384)),
        high: Some(Value::Bytes(16384)),
        verdict: Verdict::Identified,
        method: Method::Robust,
        cost: Cost::default(),
        evidence: Evidence {
            reason: "the latency drops every 16384 bytes".into(),
            figures: BTreeMap::from([("drop_ns".into(), 1.5e5)]),
        },
    };
    let absent = Estimate {
        value: None,
        low: None,
        high: None,
        verdict: Verdict::Absent,
        ..estimate.clone()
    };
    Profile {
        skipped: Default::default(),
        marked: Default::default(),
        fathom: meta.fathom,
        seed: meta.seed,
        method: meta.method,
        target: Target {
            capacity_bytes: 1 << 36,
            ..meta.target
        },
        cost: Cost::default(),
        parameters: BTreeMap::from([
            (Parameter::ClusteredPage, estimate),
            (Parameter::ReadBuffer, absent),
        ]),
    }
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_run_comes_back_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("new/run");
    save_run(&run, &small(true), &profile(), "<html>").unwrap();
    assert_eq!(
        names(&run),
        [PROFILE_FILE, RECORD_FILE, REPORT_FILE, SUMS_FILE]
    );
    for path in [&run, &run.join(RECORD_FILE)] {
        let record = load_record(path).unwrap();
        assert_eq!((record.value, record.notes.len()), (small(true), 0));
    }
    for path in [&run, &run.join(PROFILE_FILE)] {
        let read = load_profile(path).unwrap();
        assert_eq!((read.value, read.notes.len()), (profile(), 0));
    }
    assert_eq!(
        encode_record(&small(true)).unwrap(),
        fs::read(run.join(RECORD_FILE)).unwrap()
    );
}

#[test]
fn a_value_of_every_unit_comes_back() {
    let values = [
        (
            Value::Bytes(16384),
            "value = 16384\nunit = \"B\"\nlow = 16384",
        ),
        (Value::Count(32), "value = 32\nunit = \"count\"\nlow = 32"),
        (
            Value::Ratio(1.0),
            "value = 1.0\nunit = \"ratio\"\nlow = 1.0",
        ),
        (
            Value::Nanoseconds(1_500),
            "value = 1500\nunit = \"ns\"\nlow = 1500",
        ),
        (
            Value::BytesPerSecond(1 << 29),
            "value = 536870912\nunit = \"B/s\"\nlow = 536870912",
        ),
        (
            Value::PerSecond(0.1),
            "value = 0.1\nunit = \"1/s\"\nlow = 0.1",
        ),
        (
            Value::Word("buffer".into()),
            "value = \"buffer\"\nunit = \"\"\nverdict",
        ),
    ];
    let answers = values
        .iter()
        .map(|(value, _)| Estimate::identified(value.clone(), "found"));
    let parameters = Parameter::PAPERS.into_iter().zip(answers).collect();
    let profile = Profile {
        parameters,
        ..profile()
    };
    let dir = tempfile::tempdir().unwrap();
    save_run(dir.path(), &small(true), &profile, "<html>").unwrap();
    assert_eq!(load_profile(dir.path()).unwrap().value, profile);
    let text = fs::read_to_string(dir.path().join(PROFILE_FILE)).unwrap();
    for (_, written) in &values {
        assert!(text.contains(written), "{written} in\n{text}");
    }
    let json = serde_json::to_string(&profile).unwrap();
    assert_eq!(serde_json::from_str::<Profile>(&json).unwrap(), profile);
    // A number is invalid in a unit that it cannot have.
    for (from, to) in [
        ("16384", "\"x\""),
        ("\"ratio\"", "\"B\""),
        ("\"ns\"", "\"h\""),
    ] {
        assert!(
            toml::from_str::<Profile>(&text.replacen(from, to, 1)).is_err(),
            "{from}"
        );
    }
}

/// A profile of an older version, which knew only sizes and words.
#[test]
fn an_older_profile_is_read_and_written_as_it_was() {
    let cost = "cost]\nbytes_written = 0\nbytes_read = 0\nrequests = 0\ndevice_ns = 0\n";
    let answer = |name: &str, keys: &str| {
        format!(
            "\n[parameters.{name}]\n{keys}verdict = \"identified\"\nmethod = \"robust\"\n\n[parameters.{name}.{cost}\n\
             [parameters.{name}.evidence]\nreason = \"\"\n\n[parameters.{name}.evidence.figures]\n"
        )
    };
    let text = format!(
        "fathom = \"0.1.0\"\nseed = 0\nmethod = \"robust\"\n\n[target]\nname = \"x\"\nidentity = \"\"\nmodelled = true\n\
         capacity_bytes = 1\nlogical_block_bytes = 512\nmax_request_bytes = 512\nqueue_depth = 1\nvolatile_cache = false\n\n[{cost}{}{}",
        answer(
            "read_buffer",
            "value = 262144\nunit = \"B\"\nlow = 262144\nhigh = 270336\n"
        ),
        answer("write_policy", "value = \"cache\"\nunit = \"\"\n"),
    );
    let profile: Profile = toml::from_str(&text).unwrap();
    let buffer = profile.parameters[&Parameter::ReadBuffer]
        .interval()
        .unwrap();
    assert_eq!(buffer, (&Value::Bytes(262_144), &Value::Bytes(270_336)));
    assert_eq!(toml::to_string(&profile).unwrap(), text);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_record_round_trips(
        rows in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u32>(), 0..3u32), 0..200),
    ) {
        let samples = rows
            .iter()
            .map(|&(a, b, rep, step)| Sample { x: a, ns: b, at_ns: a ^ b, rep, step, ..sample(a % 210) })
            .collect();
        let record = record_of(samples, 3, true);
        let dir = tempfile::tempdir().unwrap();
        save_record(dir.path(), &record).unwrap();
        prop_assert_eq!(load_record(dir.path()).unwrap().value, record);
    }

    #[test]
    fn a_record_with_one_wrong_byte_is_an_error(at in any::<prop::sample::Index>(), flip in 1..=255u8) {
        let mut bytes = encode_record(&small(true)).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(RECORD_FILE);
        fs::write(&path, &bytes).unwrap();
        prop_assert!(load_record(&path).is_err());
    }

    #[test]
    fn a_record_cut_anywhere_is_truncated(cut in any::<prop::sample::Index>()) {
        let bytes = encode_record(&small(true)).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(RECORD_FILE);
        fs::write(&path, &bytes[..cut.index(bytes.len())]).unwrap();
        let error = load_record(dir.path()).unwrap_err();
        prop_assert!(matches!(error, StoreError::Truncated { .. }), "{error:?}");
    }
}

#[test]
fn what_is_no_record_is_named_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(RECORD_FILE);
    assert!(matches!(
        load_record(dir.path()),
        Err(StoreError::Missing { .. })
    ));
    fs::write(&path, "hello, world").unwrap();
    assert!(matches!(
        load_record(dir.path()),
        Err(StoreError::Foreign { .. })
    ));
    fs::write(&path, b"PAR1\xff\xff\xff\xffPAR1").unwrap();
    assert!(matches!(
        load_record(dir.path()),
        Err(StoreError::Foreign { .. })
    ));
}

#[test]
fn samples_out_of_the_order_of_their_steps_are_damage() {
    let mut record = small(true);
    record.samples.swap(0, 49);
    let dir = tempfile::tempdir().unwrap();
    save_record(dir.path(), &record).unwrap();
    let error = load_record(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

#[test]
fn a_sample_without_its_step_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    save_record(
        dir.path(),
        &record_of((0..50).map(sample).collect(), 2, true),
    )
    .unwrap();
    assert!(matches!(
        load_record(dir.path()),
        Err(StoreError::Damaged { .. })
    ));
}

#[test]
fn a_set_is_written_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let old = small(true);
    save_run(dir.path(), &old, &profile(), "old").unwrap();
    fs::remove_file(dir.path().join(REPORT_FILE)).unwrap();
    fs::create_dir(dir.path().join(REPORT_FILE)).unwrap();
    let new = record_of(vec![], 0, true);
    assert!(save_run(dir.path(), &new, &profile(), "new").is_err());
    assert_eq!(load_record(dir.path()).unwrap().value, old);
    assert_eq!(
        names(dir.path()),
        [PROFILE_FILE, RECORD_FILE, REPORT_FILE, SUMS_FILE]
    );
}

#[test]
fn every_seed_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let profile = Profile {
        seed: u64::MAX,
        ..profile()
    };
    save_run(dir.path(), &small(true), &profile, "").unwrap();
    assert_eq!(load_profile(dir.path()).unwrap().value, profile);
}

#[test]
fn a_directory_made_in_vain_is_taken_away() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "x").unwrap();
    let mut set = Staging::new(&dir.path().join("a/b/run")).unwrap();
    set.add(REPORT_FILE, b"x").unwrap();
    drop(set);
    let below = dir.path().join("file/run");
    let refused = save_run(&below, &small(true), &profile(), "");
    assert!(matches!(refused, Err(StoreError::NotADirectory { .. })));
    assert_eq!(names(dir.path()), ["file"]);
}

#[test]
fn an_interrupted_run_leaves_no_answers() {
    let dir = tempfile::tempdir().unwrap();
    save_run(dir.path(), &small(true), &profile(), "old").unwrap();
    save_record(dir.path(), &small(true)).unwrap();
    assert_eq!(names(dir.path()), [RECORD_FILE, SUMS_FILE]);
}

#[test]
fn a_measurement_is_not_overwritten_and_a_model_run_may_be() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    check_output(&run, SetKind::Measurement).unwrap();
    assert!(!run.exists());
    save_record(&run, &small(true)).unwrap();
    check_output(&run, SetKind::Measurement).unwrap();
    save_record(&run, &small(false)).unwrap();
    assert!(matches!(
        check_output(&run, SetKind::Measurement),
        Err(StoreError::Occupied { complete: true, .. })
    ));
    let file = dir.path().join("file");
    fs::write(&file, "x").unwrap();
    assert!(matches!(
        check_output(&file.join("run"), SetKind::Measurement),
        Err(StoreError::NotADirectory { .. })
    ));
}

/// A record of format 3 is read and checked against its checksum: `fathom probe model:null-block --read-only --size 8MiB
/// --budget 24MiB` of the commit before format 4, 7,712 reads.
#[test]
fn a_record_of_an_older_format_is_read() {
    let bytes = include_bytes!("data/record-format-3.parquet");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(RECORD_FILE);
    fs::write(&path, bytes).unwrap();
    let record = load_record(&path).unwrap().value;
    assert_eq!(record.meta.target.name, "model:null-block");
    let reads: u64 = record.steps.iter().map(|step| step.cost.requests).sum();
    assert_eq!(reads, 7_712);
    assert!(record.samples.iter().all(|sample| sample.ns > 0));
    for at in (0..bytes.len()).step_by(97) {
        let mut damaged = bytes.to_vec();
        damaged[at] ^= 0x10;
        fs::write(&path, damaged).unwrap();
        assert!(load_record(&path).is_err(), "byte {at}");
    }
}
