//! Invalid drive files are refused with the position, the key and the allowed values; none causes a panic.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::base;
use fathom_base::BadValue;
use fathom_base::{Bytes, Dur, Rng};
use fathom_ssd::spec::{Drain, MappingKind, Prefetch, ReadBuffer, WriteBuffer, WritePolicy};
use fathom_ssd::{Spec, SpecError, Ssd};

fn refused(change: impl FnOnce(&mut Spec)) -> (&'static str, String) {
    let mut spec = base();
    change(&mut spec);
    let Err(BadValue { key, allowed, .. }) = spec.check() else {
        panic!("{spec:?} was taken");
    };
    assert!(Ssd::new(&spec, 1).is_err());
    (key, allowed)
}

#[test]
fn a_value_that_cannot_be_names_its_key_and_what_is_allowed() {
    let (key, allowed) = refused(|s| s.flash.clustered_page = Bytes::kib(6));
    assert_eq!(key, "flash.clustered_page");
    assert!(allowed.contains("2KiB"), "{allowed}");
    assert_eq!(refused(|s| s.flash.page = Bytes(1000)).0, "flash.page");
    assert_eq!(refused(|s| s.host.queue_depth = 0).0, "host.queue_depth");
    assert_eq!(refused(|s| s.capacity = Bytes(5)).0, "capacity");
    let none = |s: &mut Spec| (s.mapping.kind, s.mapping.log_blocks) = (MappingKind::Block, 0);
    assert_eq!(refused(none).0, "mapping.log_blocks");
}

#[test]
fn background_work_that_never_ends_is_refused() {
    let noise = |interval, duration| {
        move |s: &mut Spec| {
            s.noise.background_interval = interval;
            s.noise.background_duration = duration;
        }
    };
    // The two dies form one station: half of its time is 1 ms of every 2 ms.
    let (key, allowed) = refused(noise(Dur::ms(2), Dur::us(1001)));
    assert_eq!(key, "noise.background_duration");
    assert!(allowed.contains("at most 1ms every 2ms"), "{allowed}");
    let mut spec = base();
    noise(Dur::ms(2), Dur::ms(1))(&mut spec);
    assert_eq!(spec.check(), Ok(()));
    // So many events that time does not advance, and none at all.
    let often = refused(noise(Dur::us(1), Dur::ZERO)).0;
    assert_eq!(often, "noise.background_interval");
    noise(Dur::ZERO, Dur::ms(2))(&mut spec);
    assert_eq!(spec.check(), Ok(()));
}

#[test]
fn times_that_no_run_outlives_are_refused() {
    let ages = Dur(9_000_000_000_000_000_000);
    assert_eq!(refused(|s| s.host.latency = ages).0, "host.latency");
    let overhead = refused(|s| s.host.command_overhead = ages).0;
    assert_eq!(overhead, "host.command_overhead");
    assert_eq!(refused(|s| s.flash.read = ages).0, "flash.read");
    assert_eq!(refused(|s| s.flash.program = ages).0, "flash.program");
    assert_eq!(refused(|s| s.flash.erase = ages).0, "flash.erase");
    let suspend = refused(|s| s.flash.suspend_latency = ages).0;
    assert_eq!(suspend, "flash.suspend_latency");
    let suspend = refused(|s| s.flash.suspend_overhead = ages).0;
    assert_eq!(suspend, "flash.suspend_overhead");
    let delay = refused(|s| s.gc.background_delay = ages).0;
    assert_eq!(delay, "gc.background_delay");
    let buffer = WriteBuffer {
        drain: Drain::Idle,
        idle_delay: ages,
        ..WriteBuffer::new(WritePolicy::Lru, Bytes::kib(64))
    };
    let idle = refused(|s| s.write_buffer = Some(buffer)).0;
    assert_eq!(idle, "write_buffer.idle_delay");
}

#[test]
fn more_units_than_can_be_numbered_are_refused() {
    assert_eq!(refused(|s| s.capacity = Bytes(1 << 62)).0, "capacity");
    // Here the spare blocks alone are too many, not the capacity.
    let wide = |s: &mut Spec| {
        (s.flash.channels, s.flash.packages_per_channel) = (256, 256);
        (s.flash.dies_per_package, s.flash.pages_per_block) = (64, 16_384);
        s.flash.clustered_page = s.flash.page;
        s.flash.clustered_block = Bytes(s.flash.page.0 * 16_384);
        s.capacity = s.flash.clustered_block;
    };
    assert_eq!(refused(wide).0, "capacity");
}

#[test]
fn a_syntax_error_names_line_and_column() {
    let text = base().to_toml().replace("queue_depth", "queue_dept");
    let line = text
        .lines()
        .position(|l| l.starts_with("queue_dept "))
        .unwrap()
        + 1;
    let Err(SpecError::Syntax {
        line: got,
        column,
        message,
    }) = Spec::from_toml(&text)
    else {
        panic!("an unknown key was taken");
    };
    assert_eq!((got, column), (line, 1));
    assert!(message.contains("queue_depth"), "{message}");
}

#[test]
fn whatever_a_spec_says_it_is_taken_or_refused() {
    let mut rng = Rng::new(5, 0);
    let mut taken = 0;
    for _ in 0..20_000 {
        let mut spec = base();
        let odd =
            |rng: &mut Rng| [0, 1, 2, 3, 4, 8, 64, 255, 1 << 16, u32::MAX][rng.below(10) as usize];
        let size = |rng: &mut Rng| {
            let sizes = [0, 1, 512, 1536, 2048, 4096, 8192, 32_768, 1 << 40, u64::MAX];
            Bytes(sizes[rng.below(10) as usize])
        };
        let (flash, mapping) = (&mut spec.flash, &mut spec.mapping);
        for _ in 0..rng.below(4) {
            match rng.below(12) {
                0 => flash.channels = odd(&mut rng),
                1 => flash.packages_per_channel = odd(&mut rng),
                2 => flash.dies_per_package = odd(&mut rng),
                3 => flash.planes_per_die = odd(&mut rng),
                4 => flash.pages_per_block = odd(&mut rng),
                5 => flash.page = size(&mut rng),
                6 => flash.clustered_page = size(&mut rng),
                7 => flash.clustered_block = size(&mut rng),
                8 => mapping.unit = Some(size(&mut rng)),
                9 => spec.capacity = size(&mut rng),
                10 => mapping.log_blocks = odd(&mut rng),
                _ => {
                    mapping.over_provisioning_percent =
                        [f64::NAN, -1.0, 1e9, 50.0][rng.below(4) as usize]
                }
            }
        }
        if spec.check().is_ok() {
            taken += 1;
            assert_eq!(Spec::from_toml(&spec.to_toml()), Ok(spec.clone()));
            if spec.capacity < Bytes::mib(1) && spec.flash.channels < 100 {
                Ssd::new(&spec, 1).unwrap().check().unwrap();
            }
        }
    }
    assert!(taken > 1000, "{taken}");
}

#[test]
fn a_record_of_zeros_is_at_most_half_as_long_as_they_are() {
    let (key, allowed) = refused(|s| {
        s.compression = Some(fathom_ssd::spec::Compression {
            zero_percent: 50.5,
            deduplicates: false,
        });
    });
    assert_eq!(key, "compression.zero_percent");
    assert_eq!(allowed, "0 to 50");
}

#[test]
fn a_temperature_that_cannot_be_is_refused() {
    use fathom_ssd::spec::Thermal;
    let with = |change: fn(&mut Thermal)| {
        let mut thermal = Thermal::default();
        change(&mut thermal);
        refused(|s| s.thermal = Some(thermal))
    };
    let (key, allowed) = with(|t| t.heavy_celsius = 60.0);
    assert_eq!(key, "thermal.heavy_celsius");
    assert_eq!(allowed, "70 to 200");
    assert_eq!(with(|t| t.light_celsius = 20.0).0, "thermal.light_celsius");
    let speed = with(|t| t.heavy_speed_percent = 60.0).0;
    assert_eq!(speed, "thermal.heavy_speed_percent");
    let constant = with(|t| t.time_constant = Dur::ZERO).0;
    assert_eq!(constant, "thermal.time_constant");
    let nan = with(|t| t.degrees_per_gib_read = f64::NAN).0;
    assert_eq!(nan, "thermal.degrees_per_gib_read");
}

#[test]
fn an_age_that_cannot_be_is_refused() {
    let key = refused(|s| s.faults.read_retry_per_day = 0.6).0;
    assert_eq!(key, "faults.read_retry_per_day");
    let key = refused(|s| s.faults.read_retry_per_1000_cycles = -0.1).0;
    assert_eq!(key, "faults.read_retry_per_1000_cycles");
    assert_eq!(refused(|s| s.faults.age_days = -1.0).0, "faults.age_days");
    let key = refused(|s| s.faults.age_cycles = 2_000_000).0;
    assert_eq!(key, "faults.age_cycles");
    // No block would be left.
    for all in [99.99999, 100.0, f64::NAN] {
        let key = refused(|s| s.faults.factory_bad_percent = all).0;
        assert_eq!(key, "faults.factory_bad_percent");
    }
}

#[test]
fn read_ahead_of_every_read_or_of_the_whole_drive_is_refused() {
    let ahead = |after, depth| {
        move |s: &mut Spec| {
            s.read_buffer = Some(ReadBuffer {
                capacity: Bytes::kib(64),
                line: Bytes::kib(4),
                min_request: Bytes(512),
                prefetch: Some(Prefetch { after, depth }),
            });
        }
    };
    let (key, allowed) = refused(ahead(0, Bytes::kib(64)));
    assert_eq!(
        (key, &*allowed),
        ("read_buffer.prefetch.after", "at least 1")
    );
    let (key, allowed) = refused(ahead(1, Bytes::gib(1)));
    assert_eq!(
        (key, &*allowed),
        ("read_buffer.prefetch.depth", "at most 64MiB")
    );
}

#[test]
fn parity_that_finds_no_place_is_refused() {
    // The two dies of the base drive are one station.
    let (key, allowed) = refused(|s| s.flash.parity_stripe = 2);
    assert_eq!(key, "flash.parity_stripe");
    assert!(allowed.contains("takes all dies"), "{allowed}");
    let wide = |stripe| {
        move |s: &mut Spec| {
            (s.flash.channels, s.flash.parity_stripe) = (8, stripe);
            s.mapping.over_provisioning_percent = 30.0;
        }
    };
    let (key, allowed) = refused(wide(5));
    assert_eq!(key, "flash.parity_stripe");
    assert!(allowed.contains("2 to 4"), "{allowed}");
    assert_eq!(refused(wide(1)).0, "flash.parity_stripe");
    let (key, allowed) = refused(wide(4));
    assert_eq!(key, "mapping.over_provisioning_percent");
    assert!(allowed.contains("at least 33.333"), "{allowed}");
}
