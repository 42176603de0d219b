//! Flips bits of every stored file, one after the other: the data read must then be equal to those written, or there must
//! be an error or a note. The long form flips every bit.

use crate::cases;
use fathom_lab::replay::{Plan, Watch, prepared, run_model};
use fathom_lab::source::Workload;
use fathom_lab::store::{
    Loaded, RECORD_FILE, SUMS_FILE, Staging, StoreError, load_measurement, load_record, load_run,
    save_run, save_run_record,
};
use fathom_model::{Model, find};
use fathom_probe::Parameter;
use fathom_probe::run::{RunConfig, run, solve};
use fathom_probe::session::{Observer, Progress};
use fathom_run::Precondition;
use fathom_workload::generate::{Config, Name};
use fathom_workload::step::Arrival;
use std::fmt::Debug;
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

struct Quiet;

impl Observer for Quiet {
    fn progress(&mut self, _progress: &Progress<'_>) {}

    fn interrupted(&self) -> bool {
        false
    }
}

fn drive() -> Model {
    Model::from_toml(find("null-write-buffer").unwrap().text).unwrap()
}

/// Stores a measurement of one parameter with a few samples.
fn measurement(dir: &Path) {
    let config = RunConfig {
        parameters: vec![Parameter::Prefetch],
        ..RunConfig::default()
    };
    let mut record = run(&mut drive().build(1).unwrap(), &config, None, &mut Quiet).unwrap();
    record.samples.truncate(40);
    record.meta.target.spec = Some("# a drive\n".into());
    save_run(dir, &record, &solve(&record), "<html>").unwrap();
}

/// Stores a short workload run.
fn workload(dir: &Path) {
    let plan = Plan {
        target: "model:null-write-buffer".into(),
        workload: Workload::of_generator(Config {
            accesses: Some(30),
            ..Config::of(Name::Uniform)
        }),
        arrival: Arrival::Open,
        precondition: Precondition::Fresh,
        seed: 1,
        queue: None,
        depth: None,
        platform: None,
    };
    let mut set = Staging::new(dir).unwrap();
    let fresh = prepared(drive().build(1).unwrap(), plan.precondition, 1).unwrap();
    let mut record = run_model(
        &drive(),
        fresh,
        &plan,
        Some(&mut set),
        Watch {
            stop: || false,
            seen: None,
        },
    )
    .unwrap();
    record.totals.timeline.truncate(4);
    record.drive = Some("# a drive\n".into());
    save_run_record(set, &record, Some("<html>")).unwrap();
}

/// Asserts that the value read is the one written, or that there is an error or a note.
fn judge<T: Debug + PartialEq>(
    read: Result<Loaded<T>, StoreError>,
    whole: &T,
    which: impl Fn() -> String,
) {
    match read {
        Err(error) => assert!(!error.to_string().is_empty() && !error.help().is_empty()),
        Ok(loaded) => assert!(
            !loaded.notes.is_empty() || loaded.value == *whole,
            "{}: another answer and not a word",
            which()
        ),
    }
}

/// Flips every seventh bit of every file of a directory, at least one of each byte; in the long form every bit.
fn every_bit<T: Debug + PartialEq>(dir: &Path, read: impl Fn() -> Result<Loaded<T>, StoreError>) {
    let whole = read().unwrap();
    assert_eq!(whole.notes, [""; 0]);
    let mut files: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() >= 2, "{files:?}");
    for path in files {
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.len() < 16_000, "{}: {}", path.display(), bytes.len());
        let file = fs::File::options().write(true).open(&path).unwrap();
        let put = |at: usize, byte: u8| file.write_all_at(&[byte], at as u64).unwrap();
        for bit in (0..8 * bytes.len()).step_by(cases(7, 1) as usize) {
            let at = bit / 8;
            put(at, bytes[at] ^ (1 << (bit % 8)));
            judge(read(), &whole.value, || {
                format!("{}, bit {bit}", path.display())
            });
            put(at, bytes[at]);
        }
    }
    assert_eq!(read().unwrap().value, whole.value);
}

#[test]
fn a_flipped_bit_in_a_measurement_is_told_or_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    measurement(dir.path());
    every_bit(dir.path(), || load_measurement(dir.path()));
}

#[test]
fn a_flipped_bit_in_a_run_of_a_workload_is_told_or_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    workload(dir.path());
    every_bit(dir.path(), || load_run(dir.path()));
}

/// A record that was copied away from its set has a checksum of its own.
#[test]
fn a_flipped_bit_in_a_record_alone_is_told() {
    let dir = tempfile::tempdir().unwrap();
    measurement(dir.path());
    let record = dir.path().join(RECORD_FILE);
    let copied = dir.path().join("copied");
    fs::create_dir(&copied).unwrap();
    let alone = copied.join("some.parquet");
    fs::copy(record, &alone).unwrap();
    fs::write(copied.join("beside.txt"), "not looked at").unwrap();
    every_bit(&copied, || load_record(&alone));
    every_pair(
        &copied,
        || format!("{:?}", load_record(&alone)),
        |name| name == "some.parquet",
    );
}

/// Flips the highest bits of two 64-bit words in every file, a change that the checksum of the first format does not
/// detect.
fn every_pair(dir: &Path, read: impl Fn() -> String, is_read: impl Fn(&str) -> bool) {
    let whole = read();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        let put = |at: usize, bit: u8| file.write_all_at(&[bytes[at] ^ bit], at as u64).unwrap();
        let highest: Vec<usize> = (7..bytes.len()).step_by(8).collect();
        let pairs = highest.windows(2).map(|pair| (pair[0], pair[1]));
        let far = highest.iter().skip(2).map(|other| (highest[0], *other));
        for (first, second) in pairs.chain(far) {
            put(first, 0x80);
            put(second, 0x80);
            let told = read() != whole;
            put(first, 0);
            put(second, 0);
            let wanted = is_read(path.file_name().unwrap().to_str().unwrap());
            assert_eq!(told, wanted, "{}: {first} and {second}", path.display());
        }
    }
    assert_eq!(read(), whole);
}

#[test]
fn two_flipped_bits_are_told() {
    for make in [measurement as fn(&Path), workload] {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path());
        let read = || format!("{:?}", (load_measurement(dir.path()), load_run(dir.path())));
        every_pair(dir.path(), read, |name| name != "report.html");
    }
}

/// A run of a version without sums is read, with a warning.
#[test]
fn a_run_without_sums_is_read_with_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    for (make, name) in [
        (measurement as fn(&Path), "profile.toml"),
        (workload, "run.json"),
    ] {
        let dir = dir.path().join(name);
        make(&dir);
        let told = || match name {
            "run.json" => load_run(&dir).unwrap().notes,
            _ => load_measurement(&dir).unwrap().notes,
        };
        assert_eq!(told(), [""; 0]);
        fs::remove_file(dir.join(SUMS_FILE)).unwrap();
        let notes = told();
        assert!(notes.iter().any(|note| note.contains(name)), "{notes:?}");
    }
}
