//! The reclaim unit, planted in modelled drives of several geometries and noises, and drives that have none to show.

use crate::asked::answer;
use crate::cases;
use fathom_base::{Bytes, Dur, Rng};
use fathom_block::layers::Limit;
use fathom_lab::accuracy::{Outcome, Sight, Truth, score};
use fathom_model::{Model, find};
use fathom_probe::{Parameter, Value, Verdict};
use fathom_ssd::Spec;
use fathom_ssd::spec::{Log, MappingKind, Victim};

const PARAMETER: Parameter = Parameter::ReclaimUnit;

/// Returns a page-mapped drive that is drawn from a seed: geometry, victims, spare flash and noise.
fn drawn(seed: u64, change: impl FnOnce(&mut Spec)) -> Spec {
    let Model::Ssd(mut spec) = Model::from_toml(find("nvme").unwrap().text).unwrap() else {
        panic!("nvme is a drive of flash");
    };
    let mut rng = Rng::new(seed, 79);
    let flash = &mut spec.flash;
    flash.channels = 1 << (1 + rng.below(2));
    flash.dies_per_package = 1 + rng.below(2) as u32;
    flash.planes_per_die = 2;
    flash.page = Bytes(16 << 10);
    flash.clustered_page = Bytes(32 << 10);
    flash.pages_per_block = 24 + rng.below(40) as u32;
    flash.program = Dur::us(400 + rng.below(800));
    flash.erase = Dur::us(3000 + rng.below(5000));
    let lane = flash.clustered_page.0 * u64::from(flash.pages_per_block);
    let dies = u64::from(flash.channels * flash.dies_per_package);
    let wide = [1, dies][rng.below(2) as usize];
    flash.clustered_block = Bytes(lane * wide);
    spec.capacity = Bytes(lane * dies * (60 + rng.below(40)));
    spec.mapping.unit = Some(Bytes(4096));
    spec.mapping.over_provisioning_percent = 7.0 + rng.below(6) as f64;
    spec.gc.victim = [Victim::Greedy, Victim::CostBenefit][rng.below(2) as usize];
    spec.noise.command_percent = 8.0 * rng.uniform();
    spec.noise.flash_percent = 6.0 * rng.uniform();
    if let Some(buffer) = &mut spec.write_buffer {
        buffer.capacity = Bytes(1 << 20);
    }
    change(&mut spec);
    spec.check().unwrap();
    *spec
}

#[test]
fn a_planted_unit_is_found() {
    let (mut found, mut asked) = (0, 0);
    for seed in 0..cases(4, 60) {
        let logs = [Log::None, Log::Media][seed as usize % 2];
        let spec = drawn(seed, |spec| spec.host.log = logs);
        let truth = Truth::of(&spec, PARAMETER);
        let estimate = answer(&spec, PARAMETER, seed);
        let outcome = score(&truth, &estimate);
        assert_ne!(outcome, Outcome::Wrong, "{seed}: {truth}, {estimate:?}");
        if truth.sight == Sight::Identifiable {
            asked += 1;
            found += u32::from(outcome == Outcome::Found);
        }
    }
    assert!(asked > 0 && 10 * found >= 9 * asked, "{found} of {asked}");
}

/// Returns a drive of eight dies whose program takes `page_kib` in each of its planes.
fn odd(planes: u32, page_kib: u64, unit_kib: u64, buffer: bool) -> Spec {
    let clustered_kib = u64::from(planes) * page_kib;
    let block_kib = 128 * clustered_kib;
    let buffer = match buffer {
        true => {
            "[write_buffer]\npolicy = \"fifo\"\ncapacity = \"2MiB\"\ndrain = \"idle\"\nidle_delay = \"0ns\"\nbattery = true\n"
        }
        false => "",
    };
    let text = format!(
        r#"
        kind = "ssd"
        name = "odd"
        capacity = "{}KiB"
        [host]
        protocol = "nvme"
        bandwidth = "3GB/s"
        command_overhead = "3us"
        queue_depth = 128
        [flash]
        channels = 4
        packages_per_channel = 1
        dies_per_package = 2
        planes_per_die = {planes}
        pages_per_block = 128
        page = "{page_kib}KiB"
        bus = "800MT/s"
        read = "55us"
        program = "600us"
        erase = "3ms"
        clustered_page = "{clustered_kib}KiB"
        clustered_block = "{block_kib}KiB"
        [mapping]
        kind = "page"
        unit = "{unit_kib}KiB"
        over_provisioning_percent = 10.0
        {buffer}"#,
        8 * 64 * block_kib
    );
    match Model::from_toml(&text).unwrap() {
        Model::Ssd(spec) => *spec,
        _ => panic!("a drive of flash"),
    }
}

/// Requests of 128 KiB fill no whole pages of these drives. They leave a part of the unit unused, or program pages twice; without
/// memory the queue stalls at even distances as well.
#[test]
fn pages_that_are_no_power_of_two_do_not_make_units_smaller() {
    let drives = [(odd(6, 16, 4, true), 96), (odd(3, 16, 4, true), 48)];
    for (spec, unit_mib) in drives {
        let estimate = answer(&spec, PARAMETER, 0);
        let unit = Value::Bytes(unit_mib << 20);
        assert_eq!(estimate.value, Some(unit), "{estimate:?}");
    }
    // Only pieces of 144 KiB show a distance. They fill these pages, and leave a part of those of 32 or 64 KiB unused, which
    // made 81 MiB of 90 and of 108.
    let drives = [
        (1, 12, 12, false),
        (3, 12, 36, true),
        (4, 8, 8, false),
        (4, 16, 16, false),
    ];
    for (planes, page_kib, unit_kib, buffer) in drives {
        let estimate = answer(&odd(planes, page_kib, unit_kib, buffer), PARAMETER, 0);
        let unit = Some(Value::Bytes((u64::from(planes) * page_kib) << 20));
        let holds = estimate.low <= unit && unit <= estimate.high;
        assert!(estimate.value.is_none() || holds, "{estimate:?}");
    }
}

#[test]
fn drives_that_show_none_are_not_said_to() {
    let limited = |spec: &mut Spec| {
        spec.limit = Some(Limit {
            operations_per_second: Some(3000),
            operations_burst: None,
            operation_size: None,
            bandwidth: None,
            bandwidth_burst: None,
        });
    };
    // Much spare flash; flash that is faster than the link; log blocks; a limit.
    let changes: [fn(&mut Spec); 4] = [
        |spec| spec.mapping.over_provisioning_percent = 90.0,
        |spec| spec.flash.program = Dur::us(20),
        |spec| {
            spec.mapping.kind = MappingKind::Fast;
            spec.mapping.unit = Some(spec.flash.clustered_page);
            spec.mapping.log_blocks = 8;
        },
        limited,
    ];
    for (seed, change) in (0..).zip(changes) {
        let spec = drawn(seed, change);
        let truth = Truth::of(&spec, PARAMETER);
        assert_ne!(truth.sight, Sight::Identifiable, "{seed}");
        let estimate = answer(&spec, PARAMETER, seed);
        let right = score(&truth, &estimate) != Outcome::Wrong;
        assert!(
            right && estimate.verdict != Verdict::Absent,
            "{seed}: {estimate:?}"
        );
    }
}
