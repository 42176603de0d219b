//! Invalid disk files are refused with the position, the key and the allowed values; none causes a panic.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common;
use crate::common::small;
use fathom_base::BadValue;
use fathom_base::{Bytes, Dur, Rng};
use fathom_block::{Device, Op};
use fathom_hdd::spec::{Destage, LinkKind, ReadCache, WriteCache, Zone};
use fathom_hdd::{Hdd, Spec, SpecError, presets};

#[track_caller]
fn refused(change: impl FnOnce(&mut Spec)) -> (&'static str, String) {
    let mut spec = small();
    change(&mut spec);
    let Err(BadValue { key, allowed, .. }) = spec.check() else {
        panic!("{spec:?} was taken");
    };
    assert!(Hdd::new(&spec, 1).is_err());
    (key, allowed)
}

#[test]
fn a_value_that_cannot_be_names_its_key_and_what_is_allowed() {
    assert_eq!(refused(|s| s.mechanics.rpm = 0).0, "mechanics.rpm");
    assert_eq!(refused(|s| s.mechanics.heads = 65).0, "mechanics.heads");
    assert_eq!(refused(|s| s.zones.clear()).0, "zones");
    let none = |s: &mut Spec| s.zones[1].sectors_per_track = 0;
    assert_eq!(refused(none).0, "zones.sectors_per_track");
    let (key, allowed) = refused(|s| s.capacity = Bytes(1_066_496));
    assert_eq!(key, "capacity");
    assert!(allowed.contains("1040KiB"), "{allowed}");
    let (key, allowed) = refused(|s| s.host.link = LinkKind::Pata);
    assert_eq!(key, "host.queue_depth");
    assert!(allowed.contains("1 to 1"), "{allowed}");
    let long = |s: &mut Spec| {
        s.read_cache = Some(ReadCache {
            segments: 1,
            segment: Bytes::kib(4),
            read_ahead: Bytes::kib(8),
        });
    };
    let (key, allowed) = refused(long);
    assert_eq!(key, "read_cache.read_ahead");
    assert!(allowed.contains("4KiB"), "{allowed}");
    let empty = |s: &mut Spec| {
        s.write_cache = Some(WriteCache {
            capacity: Bytes(0),
            destage: Destage::Fifo,
        });
    };
    assert_eq!(refused(empty).0, "write_cache.capacity");
}

#[test]
fn an_average_that_no_rising_curve_has_is_refused_and_the_limits_are_taken() {
    for average in [Dur::us(1_100), Dur::us(2_900)] {
        let (key, allowed) = refused(|s| s.mechanics.seek_average = average);
        assert_eq!(key, "mechanics.seek_average");
        let mut words = allowed.split([' ', ',']);
        let (low, high) = (words.next().unwrap(), words.nth(1).unwrap());
        for limit in [low, high] {
            let mut spec = small();
            spec.mechanics.seek_average = limit.parse().unwrap();
            spec.check().unwrap();
        }
    }
}

#[test]
fn a_syntax_error_names_line_and_column() {
    let text = small().to_toml().replace("head_switch", "head_swich");
    let line = text.lines().position(|l| l.starts_with("head_swich"));
    let Err(SpecError::Syntax {
        line: got,
        column,
        message,
    }) = Spec::from_toml(&text)
    else {
        panic!("an unknown key was taken");
    };
    assert_eq!((got, column), (line.unwrap() + 1, 1));
    assert!(message.contains("head_switch"), "{message}");
    assert!(matches!(
        Spec::from_toml("name = "),
        Err(SpecError::Syntax { line: 1, .. })
    ));
}

#[test]
fn a_disk_file_survives_being_written_and_read() {
    for preset in presets::PRESETS {
        let spec = Spec::from_toml(preset.text).unwrap();
        assert_eq!(spec.name, preset.name);
        assert_eq!(Spec::from_toml(&spec.to_toml()), Ok(spec));
        assert!(presets::find(preset.name).is_some());
        assert!(preset.text.contains("# Assumption:"));
    }
    assert!(presets::find("floppy").is_none());
}

#[test]
fn the_presets_are_the_disks_of_irbw() {
    for (name, sectors, link, megabytes) in [
        ("hitachi-7k160", 321_672_960, LinkKind::Sata, 300),
        ("seagate-barracuda-iv", 156_301_488, LinkKind::Pata, 100),
    ] {
        let spec = common::preset(name);
        assert_eq!((spec.mechanics.rpm, spec.host.link), (7200, link));
        assert_eq!(spec.capacity.0, sectors * 512);
        let rate = spec.host.bandwidth.bytes_per_second();
        assert_eq!(rate, megabytes * 1_000_000);
    }
}

#[test]
fn whatever_a_spec_says_it_is_taken_or_refused() {
    let mut rng = Rng::new(5, 0);
    let mut taken = 0;
    for _ in 0..20_000 {
        let mut spec = small();
        let odd = |rng: &mut Rng| [0, 1, 2, 5, 64, 1000, u32::MAX][rng.below(7) as usize];
        let size = |rng: &mut Rng| {
            Bytes([0, 1, 512, 1536, 8192, 1 << 20, 1 << 40, u64::MAX][rng.below(8) as usize])
        };
        let time = |rng: &mut Rng| {
            Dur([0, 1, 999, 500_000, 2_000_000, 3_000_001, u64::MAX][rng.below(7) as usize])
        };
        match rng.below(7) {
            0 => spec.mechanics.rpm = odd(&mut rng),
            1 => spec.mechanics.heads = odd(&mut rng),
            2 => {
                let zone = Zone {
                    cylinders: odd(&mut rng),
                    sectors_per_track: odd(&mut rng),
                };
                spec.zones.push(zone);
            }
            3 => spec.capacity = size(&mut rng),
            4 => {
                let m = &mut spec.mechanics;
                let times = [&mut m.seek_single, &mut m.seek_average, &mut m.seek_full];
                *times.into_iter().nth(rng.below(3) as usize).unwrap() = time(&mut rng);
                m.track_skew = Some(time(&mut rng));
            }
            5 => {
                spec.read_cache = Some(ReadCache {
                    segments: odd(&mut rng),
                    segment: size(&mut rng),
                    read_ahead: size(&mut rng),
                });
            }
            _ => {
                spec.host.queue_depth = odd(&mut rng);
                spec.host.max_request = size(&mut rng);
                spec.host.command_overhead = time(&mut rng);
            }
        }
        if spec.check().is_ok() {
            taken += 1;
            if taken % 20 == 0 && spec.cylinders() < 100_000 {
                let mut disk = Hdd::new(&spec, 1).unwrap();
                let last = disk.info().capacity_bytes / 512 - 1;
                common::one(&mut disk, Op::Write, last, 1);
                common::one(&mut disk, Op::Read, 0, 1);
            }
        }
    }
    assert!(taken > 1000, "{taken}");
}
