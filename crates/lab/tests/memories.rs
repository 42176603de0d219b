//! Write and read buffers that earlier probes mistook for something else, each with the cause.

use crate::{asked, cases};
use fathom_base::{Bytes, Dur, Rate};
use fathom_lab::accuracy::{Family, Outcome, Target, Truth, draw, score};
use fathom_model::{Model, find};
use fathom_probe::run::{run, solve};
use fathom_probe::{Estimate, Parameter, RunConfig, Unobserved, Value, Verdict};
use fathom_ssd::spec::{MappingKind, ReadBuffer, WriteBuffer, WritePolicy};
use fathom_ssd::{Spec, Ssd};

/// Returns a small `ssd-a` with changes.
fn drive(change: impl Fn(&mut Spec)) -> Spec {
    let model = Model::from_toml(find("ssd-a").unwrap().text).unwrap();
    let Model::Ssd(mut spec) = model else {
        panic!("ssd-a is a drive of flash");
    };
    spec.capacity = Bytes::mib(512);
    change(&mut spec);
    spec.check().unwrap();
    *spec
}

fn answers(spec: &Spec, parameter: Parameter) -> Vec<Estimate> {
    let needs = [parameter, Parameter::WriteBuffer];
    let of_seed = |seed| {
        let config = RunConfig {
            seed,
            parameters: needs.to_vec(),
            ..RunConfig::default()
        };
        let mut drive = Ssd::new(spec, seed).unwrap();
        let record = run(&mut drive, &config, None, &mut Unobserved).unwrap();
        solve(&record).parameters.remove(&parameter).unwrap()
    };
    (0..cases(3, 8)).map(of_seed).collect()
}

fn all_are(spec: &Spec, parameter: Parameter, value: &Value) {
    for answer in answers(spec, parameter) {
        assert_eq!(answer.value.as_ref(), Some(value), "{answer:?}");
    }
}

fn all_absent(spec: &Spec, parameter: Parameter) {
    for answer in answers(spec, parameter) {
        assert_eq!(answer.verdict, Verdict::Absent, "{answer:?}");
    }
}

#[test]
fn a_flush_that_takes_no_time_is_none_that_drains() {
    let model = Model::from_toml(find("epo").unwrap().text).unwrap();
    let Model::Ssd(spec) = model else {
        panic!("epo is a drive of flash");
    };
    assert!(spec.write_buffer.is_none());
    all_absent(&spec, Parameter::WriteBuffer);
}

fn memory(capacity: Bytes, policy: WritePolicy) -> impl Fn(&mut WriteBuffer) {
    move |buffer| (buffer.capacity, buffer.policy) = (capacity, policy)
}

fn with_memory(spec: &mut Spec, change: impl Fn(&mut WriteBuffer)) {
    change(spec.write_buffer.as_mut().unwrap());
}

#[test]
fn a_stall_of_the_flash_is_no_edge_where_it_is_faster_than_the_link() {
    let spec = drive(|spec| {
        spec.host.bandwidth = Rate::new(60_000_000).unwrap();
        spec.flash.program = Dur::us(200);
        spec.noise.background_interval = Dur::ms(50);
        spec.noise.background_duration = Dur::ms(5);
        with_memory(spec, memory(Bytes::mib(2), WritePolicy::Fifo));
    });
    all_are(&spec, Parameter::WriteBuffer, &Value::Bytes(2 << 20));
    all_are(&spec, Parameter::WritePolicy, &Value::Word("buffer".into()));
}

#[test]
fn jitter_of_25_and_100_percent_moves_no_edge() {
    for (percent, capacity) in [(25.0, Bytes::kib(256)), (100.0, Bytes::kib(128))] {
        let spec = drive(|spec| {
            spec.noise.command_percent = percent;
            spec.noise.flash_percent = percent;
            with_memory(spec, memory(capacity, WritePolicy::Fifo));
        });
        all_are(&spec, Parameter::WriteBuffer, &Value::Bytes(capacity.0));
    }
}

#[test]
fn memory_behind_a_battery_is_emptied_and_measured() {
    let spec = drive(|spec| {
        with_memory(spec, memory(Bytes::kib(640), WritePolicy::Lru));
        with_memory(spec, |buffer| buffer.battery = true);
    });
    all_are(&spec, Parameter::WriteBuffer, &Value::Bytes(640 << 10));
    all_are(&spec, Parameter::WritePolicy, &Value::Word("cache".into()));
}

/// A drive behind a fast link, whose protected memory is programmed as soon as it holds something.
const AT_ONCE: &str = r#"
kind = "ssd"
name = "at-once"
capacity = "512MiB"
[host]
protocol = "nvme"
bandwidth = "2GB/s"
command_overhead = "3us"
queue_depth = 128
logical_block = "4KiB"
[flash]
channels = 4
packages_per_channel = 1
dies_per_package = 2
planes_per_die = 2
pages_per_block = 128
page = "16KiB"
bus = "800MT/s"
read = "55us"
program = "200us"
erase = "3ms"
clustered_page = "16KiB"
clustered_block = "2MiB"
[mapping]
kind = "page"
unit = "16KiB"
over_provisioning_percent = 10.0
[write_buffer]
policy = "fifo"
capacity = "768KiB"
drain = "idle"
idle_delay = "0ns"
battery = true
"#;

fn at_once(capacity: Bytes, program: Dur) -> Spec {
    let mut spec = Spec::from_toml(AT_ONCE).unwrap();
    spec.flash.program = program;
    with_memory(&mut spec, |buffer| buffer.capacity = capacity);
    spec
}

/// Checks that the capacity lies within the answer's interval, and that the value is within 5 % of it.
fn about(answer: &Estimate, capacity: Bytes) {
    let ends = answer.interval().unwrap();
    let (low, high) = (ends.0.bytes().unwrap(), ends.1.bytes().unwrap());
    assert!((low..=high).contains(&capacity.0), "{answer:?}");
    let off = answer.bytes().unwrap() as f64 / capacity.0 as f64 - 1.0;
    assert!(off.abs() < 0.05, "{answer:?}");
}

#[test]
fn memory_that_is_emptied_while_it_is_filled_holds_less_than_it_takes() {
    let capacity = Bytes::kib(768);
    let spec = at_once(capacity, Dur::us(200));
    for answer in answers(&spec, Parameter::WriteBuffer) {
        about(&answer, capacity);
        let high = answer.interval().unwrap().1.bytes().unwrap();
        assert!(high as f64 > 1.03 * capacity.0 as f64, "{answer:?}");
    }
    all_are(&spec, Parameter::WritePolicy, &Value::Word("buffer".into()));
}

#[test]
fn memory_that_leaves_slowly_is_empty_before_the_next_run() {
    let capacity = Bytes::kib(3072);
    for answer in answers(&at_once(capacity, Dur::us(1500)), Parameter::WriteBuffer) {
        about(&answer, capacity);
    }
}

#[test]
fn a_line_of_a_buffer_is_no_reading_ahead() {
    let spec = drive(|spec| {
        spec.read_buffer = Some(ReadBuffer {
            capacity: Bytes::kib(128),
            line: Bytes::kib(64),
            min_request: Bytes(512),
            prefetch: None,
        });
    });
    all_absent(&spec, Parameter::Prefetch);
    all_are(&spec, Parameter::ReadBuffer, &Value::Bytes(128 << 10));
}

#[test]
fn a_map_that_is_read_from_flash_is_no_buffer_for_data() {
    let spec = drive(|spec| {
        spec.read_buffer = None;
        spec.mapping.kind = MappingKind::Dftl;
        spec.mapping.map_cache = Some(Bytes::kib(16));
        spec.mapping.log_blocks = 0;
    });
    all_absent(&spec, Parameter::ReadBuffer);
}

#[test]
fn what_a_small_map_cache_writes_back_is_no_edge_of_memory() {
    let spec = drive(|spec| {
        spec.capacity = Bytes::gib(1);
        spec.mapping.kind = MappingKind::Dftl;
        spec.mapping.log_blocks = 0;
        spec.mapping.unit = Some(Bytes::kib(4));
        spec.mapping.map_cache = Some(Bytes::kib(4));
        spec.host.logical_block = Bytes::kib(4);
        spec.host.queue_depth = 1;
        (spec.write_buffer, spec.read_buffer) = (None, None);
    });
    all_absent(&spec, Parameter::WriteBuffer);
}

#[test]
fn a_read_too_short_for_the_buffer_adds_nothing_to_it() {
    let spec = drive(|spec| {
        spec.mapping.kind = MappingKind::Dftl;
        spec.mapping.log_blocks = 0;
        spec.mapping.over_provisioning_percent = 20.0;
        spec.mapping.map_cache = Some(Bytes::kib(8));
        spec.write_buffer = None;
        spec.read_buffer = Some(ReadBuffer {
            capacity: Bytes::kib(512),
            line: Bytes::kib(4),
            min_request: Bytes::kib(32),
            prefetch: None,
        });
    });
    all_are(&spec, Parameter::ReadBuffer, &Value::Bytes(512 << 10));
}

/// A limit moves the place at which memory is full in some of the runs; the one that all agree on is that of seven times as much.
#[test]
fn a_place_that_was_lost_leaves_later_ones_open() {
    let Target::Drive(spec) = draw(Family::Modern, 9150, 37).target else {
        panic!("today's drives are models");
    };
    assert!(spec.limit.is_some());
    let parameter = Parameter::WriteBuffer;
    let truth = Truth::of(&spec, parameter);
    let answer = asked::answer(&spec, parameter, 0);
    assert_ne!(score(&truth, &answer), Outcome::Wrong, "{answer:?}");
}
