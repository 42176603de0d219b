//! Twins of modelled drives: planted times are found, the drive file in a record is not looked at, and a record that says
//! too little is refused.

use fathom_lab::twin::{TwinError, Watcher, twin};
use fathom_model::Model;
use fathom_probe::run::{self, RunConfig};
use fathom_probe::{Level, Method, Parameter, Record, Unobserved};
use fathom_ssd::Spec;

/// A watcher that interrupts, or not.
struct Watched(bool);

impl Watcher for Watched {
    fn interrupted(&self) -> bool {
        self.0
    }
}

fn drive() -> Spec {
    let text = include_str!("../../../examples/drive.toml");
    let mut spec = Spec::from_toml(text).unwrap();
    spec.host.queue_depth = 64;
    spec.host.protocol = fathom_ssd::spec::Protocol::Nvme;
    spec.host.latency = fathom_base::Dur::us(9);
    spec.host.command_overhead = fathom_base::Dur::us(3);
    spec.mapping = fathom_ssd::spec::Mapping {
        unit: Some(fathom_base::Bytes::kib(4)),
        over_provisioning_percent: 10.0,
        ..fathom_ssd::spec::Mapping::new(fathom_ssd::spec::MappingKind::Page)
    };
    spec.read_buffer = None;
    let buffer = spec.write_buffer.as_mut().unwrap();
    buffer.drain = fathom_ssd::spec::Drain::Idle;
    buffer.idle_delay = fathom_base::Dur::us(3100);
    spec.noise.background_interval = fathom_base::Dur::ZERO;
    spec.noise.background_duration = fathom_base::Dur::ZERO;
    spec
}

fn record(level: Level, spec: &Spec, parameters: &[Parameter]) -> Record {
    spec.check().unwrap();
    let mut device = Model::Ssd(Box::new(spec.clone())).build(3).unwrap();
    let config = RunConfig {
        seed: 3,
        level,
        parameters: parameters.to_vec(),
        ..RunConfig::default()
    };
    run::run(&mut device, &config, None, &mut Unobserved).unwrap()
}

const ENOUGH: [Parameter; 4] = [
    Parameter::Parallelism,
    Parameter::QueueKnee,
    Parameter::Flush,
    Parameter::Stalls,
];

fn near(found: u64, planted: u64, percent: f64) {
    let off = (found as f64 / planted as f64 - 1.0) * 100.0;
    assert!(off.abs() <= percent, "{found} instead of {planted}");
}

/// One record serves all of it: a search takes seconds.
#[test]
fn planted_times_are_found_and_the_drive_file_in_a_record_does_not_count() {
    let spec = drive();
    let mut record = record(Level::Quick, &spec, &ENOUGH);
    let made = twin(&record, &run::solve(&record), &Watched(false)).unwrap();
    let found = &made.spec;
    near(found.flash.read.0, spec.flash.read.0, 5.0);
    near(
        found.host.command_overhead.0,
        spec.host.command_overhead.0,
        10.0,
    );
    let delay = |spec: &Spec| spec.write_buffer.as_ref().unwrap().idle_delay.0;
    near(delay(found), delay(&spec), 5.0);
    let dies = |spec: &Spec| u64::from(spec.flash.channels * spec.flash.dies_per_package);
    assert_eq!(dies(found), dies(&spec));
    let is_assumed = |key: &str| made.assumed.iter().any(|one| one.key == key);
    assert!(is_assumed("host.protocol") && !is_assumed("write_buffer.idle_delay"));
    // A search is a function of the samples.
    record.meta.target.spec = Some("no drive file".to_owned());
    let again = twin(&record, &run::solve(&record), &Watched(false)).unwrap();
    assert_eq!(made, again);
    let ended = twin(&record, &run::solve(&record), &Watched(true)).unwrap_err();
    assert!(matches!(ended, TwinError::Interrupted));
}

#[test]
fn a_record_that_cannot_be_fitted_is_refused() {
    let whole = record(Level::Quick, &drive(), &[Parameter::Flush]);
    let of = |record: &Record| twin(record, &run::solve(record), &Watched(false)).unwrap_err();
    assert!(matches!(of(&whole), TwinError::Little { .. }));
    let mut other = whole.clone();
    other.meta.complete = false;
    assert!(matches!(of(&other), TwinError::Unfinished { .. }));
    other.meta.method = Method::Paper;
    assert!(matches!(of(&other), TwinError::Paper));
    let mut old = whole;
    old.meta.fathom = "0.0.0".to_owned();
    assert!(matches!(of(&old), TwinError::Version { .. }));
}

/// Returns a small card whose blocks share one log.
fn card(log_blocks: u32, queue_depth: u32) -> Spec {
    let text = fathom_model::find("sd-card").unwrap().text;
    let mut spec = Spec::from_toml(text).unwrap();
    spec.capacity = fathom_base::Bytes::mib(512);
    spec.mapping.kind = fathom_ssd::spec::MappingKind::Fast;
    spec.mapping.unit = Some(spec.flash.clustered_page);
    spec.mapping.log_blocks = log_blocks;
    spec.host.queue_depth = queue_depth;
    spec
}

/// Merges whose block no answer tells show in random writes, and how long they take in the loops of reads and writes.
#[test]
fn a_card_whose_merges_are_not_seen_gets_log_blocks() {
    let spec = card(3, 32);
    let mut parameters = ENOUGH.to_vec();
    parameters.extend([Parameter::FastCache, Parameter::OverProvisioning]);
    let record = record(Level::Full, &spec, &parameters);
    let made = twin(&record, &run::solve(&record), &Watched(false)).unwrap();
    assert_eq!(made.spec.mapping.kind, spec.mapping.kind);
}

/// A card without a write buffer: what the stream in order waits for, its writes, and overwrites in turns tell its layout.
#[test]
fn a_card_has_the_blocks_and_log_blocks_of_its_record() {
    let spec = card(5, 1);
    assert_eq!(spec.write_buffer, None);
    let parameters = [
        Parameter::ClusteredPage,
        Parameter::ReadUnit,
        Parameter::WriteBuffer,
        Parameter::Flush,
        Parameter::Stalls,
        Parameter::IndirectionUnit,
        Parameter::FastCache,
        Parameter::ReclaimUnit,
        Parameter::OverProvisioning,
    ];
    let record = record(Level::Full, &spec, &parameters);
    let made = twin(&record, &run::solve(&record), &Watched(false)).unwrap();
    let of = |spec: &Spec| {
        let flash = &spec.flash;
        let dies = flash.channels * flash.packages_per_channel * flash.dies_per_package;
        (
            dies,
            flash.clustered_page,
            flash.clustered_block,
            spec.mapping.kind,
            spec.mapping.log_blocks,
        )
    };
    assert_eq!(of(&made.spec), of(&spec));
}

const MEMORY: [Parameter; 9] = [
    Parameter::WriteBuffer,
    Parameter::WritePolicy,
    Parameter::ReadUnit,
    Parameter::Parallelism,
    Parameter::StripeUnit,
    Parameter::QueueKnee,
    Parameter::Flush,
    Parameter::Stalls,
    Parameter::FastCache,
];

/// Fills, loops and reads during writes tell that a buffer is emptied when it is full.
#[test]
fn a_buffer_that_is_emptied_when_it_is_full_is_told_from_an_idle_one() {
    use fathom_ssd::spec::Drain;
    for drain in [Drain::OnFull, Drain::Idle] {
        let mut spec = drive();
        let buffer = spec.write_buffer.as_mut().unwrap();
        (buffer.drain, buffer.capacity) = (drain, fathom_base::Bytes::kib(64));
        // With a delay as long as the next write is away both behave alike.
        buffer.idle_delay = fathom_base::Dur::us(300);
        let mut parameters = MEMORY.to_vec();
        parameters.push(Parameter::ClusteredPage);
        let record = record(Level::Full, &spec, &parameters);
        let made = twin(&record, &run::solve(&record), &Watched(false)).unwrap();
        assert_eq!(made.spec.write_buffer.unwrap().drain, drain);
    }
}

/// Behind protected memory no flushed write shows the mapping unit; loops that write do, if it costs much.
#[test]
fn a_long_unit_behind_protected_memory_follows_from_loops_that_write() {
    let mut spec = drive();
    let flash = &mut spec.flash;
    flash.page.0 *= 4;
    flash.clustered_page.0 *= 4;
    flash.clustered_block.0 *= 4;
    flash.program = fathom_base::Dur::us(2200);
    (flash.channels, flash.dies_per_package) = (8, 1);
    flash.arbitration = fathom_ssd::spec::Arbitration::Suspend;
    spec.mapping.unit = Some(spec.flash.clustered_page);
    let buffer = spec.write_buffer.as_mut().unwrap();
    (buffer.battery, buffer.capacity) = (true, fathom_base::Bytes::mib(8));
    buffer.drain = fathom_ssd::spec::Drain::OnFull;
    let record = record(Level::Full, &spec, &MEMORY);
    let made = twin(&record, &run::solve(&record), &Watched(false)).unwrap();
    assert_eq!(made.spec.mapping.unit, spec.mapping.unit);
}
