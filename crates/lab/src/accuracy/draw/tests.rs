//! Tests of the families' distributions.

use super::units::{KIB, MIB};
use super::*;
use fathom_ssd::spec::{Drain, MappingKind, Protocol, WriteBuffer, WritePolicy};
use std::collections::BTreeSet;

fn drives(family: Family, seed: u64, n: u64) -> Vec<Spec> {
    let drawn = (0..n).map(|index| draw(family, seed, index).target);
    drawn.map(|target| target.spec().unwrap().clone()).collect()
}

/// Checks that the share of drives that satisfy `holds` is within 0.046 (5 sigma of 3,000 draws) of `wanted`.
fn is_near(drives: &[Spec], wanted: f64, holds: impl Fn(&Spec) -> bool) {
    let share = drives.iter().filter(|s| holds(s)).count() as f64 / drives.len() as f64;
    assert!((share - wanted).abs() < 0.046, "{share} for {wanted}");
}

#[test]
fn every_drive_can_be_built() {
    for (family, n) in [(Family::Narrow, 3_000), (Family::Wide, 3_000)] {
        for index in 0..n {
            let drawn = draw(family, 7, index);
            let spec = drawn.target.spec().unwrap();
            assert_eq!(spec.check(), Ok(()), "{index}: {}", spec.to_toml());
            // The drive survives a round trip through a drive file, so that the printed file describes the measured drive.
            let again = Spec::from_toml(&spec.to_toml());
            assert_eq!(again.as_ref(), Ok(spec), "{index}");
        }
    }
}

#[test]
fn the_narrow_family_has_what_it_promises_and_nothing_else() {
    let drives = drives(Family::Narrow, 11, 3_000);
    is_near(&drives, 0.65, |s| s.mapping.kind == MappingKind::Block);
    is_near(&drives, 0.40, |s| s.read_buffer.is_none());
    is_near(&drives, 0.35, |s| s.write_buffer.is_none());
    is_near(&drives, 0.65 * 0.2, |s| s.mapping.partial_program);
    is_near(&drives, 0.15, |s| {
        s.read_buffer.as_ref().is_some_and(|r| r.prefetch.is_some())
    });
    for spec in &drives {
        let (flash, capacity) = (&spec.flash, spec.capacity.0);
        assert!((MIB..=16 * MIB).contains(&flash.clustered_block.0));
        let odd = flash.clustered_block.0 >> flash.clustered_block.0.trailing_zeros();
        assert!([1, 3, 5].contains(&odd), "{odd}");
        assert!(capacity >= 64 * flash.clustered_block.0);
        assert!((1000 * MIB..=4096 * MIB).contains(&capacity), "{capacity}");
        assert!(flash.channels <= 16 && flash.clustered_page.0 / flash.page.0 <= 32);
        assert!(!spec.mapping.partial_program || spec.write_buffer.is_some());
        let holds = |b: &WriteBuffer| b.capacity.0 >= flash.clustered_page.0;
        assert!(spec.write_buffer.as_ref().is_none_or(holds));
    }
}

/// Pins drives of seed 2 to values that were published when this family was the only one.
#[test]
fn narrow_drives_are_the_ones_that_figures_were_published_of() {
    let drive = |seed, index| {
        let drawn = draw(Family::Narrow, seed, index).target;
        drawn.spec().unwrap().clone()
    };
    let read_buffer = |spec: &Spec| spec.read_buffer.clone().unwrap();
    let slow = drive(2, 16);
    assert_eq!(read_buffer(&slow).capacity.0, 2036 * KIB);
    assert_eq!(slow.host.bandwidth.bytes_per_second(), 150_000_000);
    let selective = read_buffer(&drive(2, 63));
    let sizes = (selective.capacity.0, selective.min_request.0);
    assert_eq!(sizes, (900 * KIB, 60 * KIB));
    for index in [56, 64, 87] {
        assert!(drive(1, index).check().is_ok());
    }
    assert_eq!(drive(1, 56).mapping.kind, MappingKind::Page);
    let buffer = |spec: &Spec| spec.write_buffer.clone().unwrap().capacity.0;
    assert!((8 * MIB - KIB..=16 * MIB).contains(&buffer(&drive(1, 64))));
    assert!((8 * MIB - KIB..=16 * MIB).contains(&buffer(&drive(1, 87))));
    assert_eq!(drive(2, 76).flash.bus.bytes_per_second(), 22_000_000);
}

#[test]
fn the_wide_family_has_every_kind_as_often_as_it_says() {
    let drives = drives(Family::Wide, 11, 3_000);
    let kinds: BTreeSet<String> = drives
        .iter()
        .map(|s| axes::of(s)["mapping"].clone())
        .collect();
    assert_eq!(kinds.len(), 7, "{kinds:?}");
    is_near(&drives, 2.0 / 7.0, |s| s.mapping.kind.is_paged());
    for planes in 1..=6 {
        is_near(&drives, 1.0 / 6.0, |s| s.flash.planes_per_die == planes);
    }
    is_near(&drives, 0.5, |s| s.host.protocol == Protocol::Nvme);
    is_near(&drives, 0.25, |s| s.host.queue_depth == 1);
    is_near(&drives, 0.3, |s| s.host.logical_block.0 == 4096);
    is_near(&drives, 0.65, |s| s.read_buffer.is_some());
    is_near(&drives, 0.65 / 3.0, |s| {
        s.read_buffer.as_ref().is_some_and(|r| r.prefetch.is_some())
    });
    is_near(&drives, 0.65, |s| s.write_buffer.is_some());
    let buffer =
        |s: &Spec, holds: &dyn Fn(&WriteBuffer) -> bool| s.write_buffer.as_ref().is_some_and(holds);
    for policy in &WritePolicy::ALL[1..] {
        is_near(&drives, 0.65 / 6.0, |s| buffer(s, &|b| b.policy == *policy));
    }
    is_near(&drives, 0.65 * 0.3, |s| buffer(s, &|b| b.battery));
    is_near(&drives, 0.65 * 0.5, |s| {
        buffer(s, &|b| b.drain == Drain::Idle)
    });
    is_near(&drives, 0.25, |s| s.noise.flash_percent <= 0.0);
    is_near(&drives, 0.5, |s| s.noise.background_interval.0 > 0);
}

#[test]
fn the_wide_family_reaches_what_a_grid_leaves_out() {
    let drives = drives(Family::Wide, 12, 1_000);
    let some = |least: usize, holds: &dyn Fn(&Spec) -> bool| {
        let n = drives.iter().filter(|s| holds(s)).count();
        assert!(n >= least, "{n} of at least {least}");
    };
    some(300, &|s| s.flash.pages_per_block % 2 == 1);
    some(700, &|s| !s.flash.clustered_block.0.is_power_of_two());
    some(300, &|s| !s.flash.clustered_page.0.is_power_of_two());
    some(200, &|s| s.unit() < s.flash.page.0);
    some(200, &|s| s.unit() == s.flash.page.0);
    some(100, &|s| s.unit() > s.flash.page.0);
    some(50, &|s| s.noise.flash_percent > 50.0);
    some(150, &|s| axes::of(s)["write-back"] == "above the link");
    some(300, &|s| axes::of(s)["write-back"] == "below the link");
    some(50, &|s| s.capacity.0 < 256 * MIB);
    some(100, &|s| s.capacity.0 > 4096 * MIB);
    for spec in &drives {
        let block = spec.flash.clustered_block.0;
        assert!((120 * KIB..=64 * MIB).contains(&block), "{block}");
        let blocks = spec.capacity.0 / block;
        assert!(blocks >= 16 && u64::from(spec.mapping.log_blocks) <= blocks / 2);
        let stalled = spec.noise.background_duration.0 as f64;
        assert!(stalled <= 0.21 * spec.noise.background_interval.0 as f64);
    }
}

/// A campaign holds one drive per thread; the map and its inverse take 8 bytes a unit.
#[test]
fn a_wide_drive_fits_in_memory() {
    for index in 0..3_000 {
        let drawn = draw(Family::Wide, 13, index);
        let spec = drawn.target.spec().unwrap();
        let units = fathom_ssd::Geometry::new(spec).physical_units();
        assert!(units < 1 << 28, "{index}: {units} units");
    }
}

#[test]
fn a_target_is_fixed_by_family_seed_and_index() {
    for family in [Family::Wide, Family::Narrow, Family::Noise] {
        assert_eq!(draw(family, 1, 5), draw(family, 1, 5));
        assert_ne!(draw(family, 1, 5).target, draw(family, 1, 6).target);
        assert_ne!(draw(family, 1, 5).target, draw(family, 2, 5).target);
    }
}

#[test]
fn noise_holds_nothing() {
    let drawn = draw(Family::Noise, 1, 0);
    let none = |parameter| drawn.target.truth(parameter) == Truth::missing();
    assert!(Parameter::ALL.into_iter().all(none));
    assert_eq!(drawn.target.axes()["noise"], "recorded");
}

/// The device of a campaign is the one of its drive file, with everything that the file says.
#[test]
fn a_limit_of_the_drive_file_acts_on_the_target() {
    let drawn = draw(Family::Narrow, 7, 0);
    let mut spec = drawn.target.spec().unwrap().clone();
    let time_of = |spec: &Spec| {
        let target = Target::Drive(Box::new(spec.clone()));
        let (mut device, mut done) = (target.device(1).unwrap(), Vec::new());
        for id in 0..3 {
            let request = fathom_block::Request::new(id, fathom_block::Op::Read, 0, 4096);
            device.submit(request).unwrap();
            device.wait(fathom_base::Time::MAX, &mut done);
        }
        device.now()
    };
    assert!(time_of(&spec) < fathom_base::Time(1_000_000_000));
    spec.limit = Some(fathom_block::layers::Limit {
        operations_per_second: Some(1),
        ..Default::default()
    });
    assert!(time_of(&spec) > fathom_base::Time(2_000_000_000));
}
