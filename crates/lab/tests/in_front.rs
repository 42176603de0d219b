//! What stands in front of a drive and looks like a part of it: limits that make requests wait, small memories of data, and
//! zones, planted in modelled drives.

use crate::asked::{of_all, quick_answer};
use fathom_base::{Bytes, Dur, Rate};
use fathom_block::layers::Limit;
use fathom_block::{Device, ZoneState};
use fathom_model::{Model, find};
use fathom_probe::run::{RunError, check, run, solve};
use fathom_probe::{Level, Parameter, RunConfig, Unobserved, Value, Verdict};
use fathom_run::{Precondition, prepare};
use fathom_ssd::spec::{Compression, Drain, MappingKind, WriteBuffer, WritePolicy};
use fathom_ssd::{Spec, Ssd};

/// A drive of 21 dies with all of its map in memory, a buffer of 256 KiB and nothing that disturbs.
const DRIVE: &str = r#"
kind = "ssd"
name = "drive"
capacity = "384MiB"
[host]
protocol = "nvme"
bandwidth = "3GB/s"
command_overhead = "1us"
latency = "6us"
queue_depth = 128
logical_block = "512B"
max_request = "1MiB"
[flash]
channels = 3
packages_per_channel = 1
dies_per_package = 7
planes_per_die = 1
pages_per_block = 64
page = "12KiB"
bus = "800MT/s"
read = "60us"
program = "600us"
erase = "3ms"
clustered_page = "12KiB"
clustered_block = "768KiB"
[mapping]
kind = "page"
unit = "4KiB"
over_provisioning_percent = 20.0
striping = "dynamic"
partial_program = true
[write_buffer]
policy = "fifo"
capacity = "256KiB"
"#;

fn with(parts: &str) -> Spec {
    Spec::from_toml(&format!("{DRIVE}{parts}")).unwrap()
}

fn limited(spec: Spec, limit: Limit) -> Spec {
    Spec {
        limit: Some(limit),
        ..spec
    }
}

fn operations(per_second: u64, burst: u64) -> Limit {
    Limit {
        operations_per_second: Some(per_second),
        operations_burst: Some(burst),
        ..Limit::default()
    }
}

#[test]
fn reads_that_a_limit_holds_back_are_no_stalls() {
    for limit in [operations(3000, 6000), operations(500, 4000)] {
        let found = quick_answer(&limited(with(""), limit), Parameter::Stalls, 1);
        assert_ne!(found.verdict, Verdict::Identified, "{found:?}");
    }
}

#[test]
fn stalls_behind_a_limit_have_their_own_length() {
    let stalling =
        with("[noise]\nbackground_interval = \"100ms\"\nbackground_duration = \"2ms\"\n");
    let alone = quick_answer(&stalling, Parameter::Stalls, 1);
    let behind = quick_answer(
        &limited(stalling, operations(3000, 6000)),
        Parameter::Stalls,
        1,
    );
    for found in [alone, behind] {
        assert_eq!(found.verdict, Verdict::Identified, "{found:?}");
        let Some(Value::Nanoseconds(ns)) = found.value else {
            panic!("{found:?}");
        };
        assert!(ns < 4_000_000, "{found:?}");
    }
}

#[test]
fn what_a_limit_lets_pass_is_no_memory_for_writes() {
    let found = quick_answer(&with(""), Parameter::WriteBuffer, 1);
    assert_eq!(found.verdict, Verdict::Identified, "{found:?}");
    // Reads of the flash take longer than the last one makes them wait.
    for per_second in [3000, 10_001, 15_000] {
        let spec = limited(with(""), operations(per_second, 1));
        let found = quick_answer(&spec, Parameter::WriteBuffer, 1);
        // The memory itself, where the limit lets writes fill it.
        let right = [None, Some(Value::Bytes(256 << 10))];
        assert!(right.contains(&found.value), "{found:?}");
    }
}

/// A flush costs no time behind it, so that no run of reads begins with a full bucket: all of them wait, from the first one on.
#[test]
fn the_burst_of_a_limit_is_no_memory_for_writes() {
    let mut drive = DRIVE.to_owned();
    for (was, new) in [
        (
            "kind = \"page\"\nunit = \"4KiB\"",
            "kind = \"fast\"\nunit = \"96KiB\"\nlog_blocks = 16",
        ),
        ("planes_per_die = 1", "planes_per_die = 8"),
        ("clustered_page = \"12KiB\"", "clustered_page = \"96KiB\""),
        ("clustered_block = \"768KiB\"", "clustered_block = \"6MiB\""),
        ("capacity = \"384MiB\"", "capacity = \"1260MiB\""),
        ("capacity = \"256KiB\"", "capacity = \"6MiB\""),
        ("logical_block = \"512B\"", "logical_block = \"4KiB\""),
    ] {
        assert!(drive.contains(was), "{was}");
        drive = drive.replace(was, new);
    }
    let parts = "drain = \"idle\"\nidle_delay = \"0us\"\ncombine = false\n";
    let spec = Spec::from_toml(&format!("{drive}{parts}")).unwrap();
    let found = quick_answer(
        &limited(spec, operations(1000, 100)),
        Parameter::WriteBuffer,
        1,
    );
    assert_eq!(found.verdict, Verdict::NotIdentifiable, "{found:?}");
}

#[test]
fn what_a_limit_hides_is_neither_absent_nor_named() {
    let cache = "[fast_cache]\nbits_per_cell = 3\ndynamic_percent = 60.0\nread = \"25us\"\nprogram = \"150us\"\nerase = \"3ms\"\n";
    let limit = Limit {
        bandwidth: fathom_base::Rate::new(100_000_000),
        bandwidth_burst: Some(Bytes(10_000_000)),
        ..Limit::default()
    };
    let asked = [
        Parameter::BandwidthLimit,
        Parameter::FastCache,
        Parameter::ReclaimUnit,
    ];
    let found = of_all(Level::Full, &limited(with(cache), limit), &asked, 1);
    let verdicts = asked.map(|parameter| found[&parameter].verdict);
    let hidden = Verdict::NotIdentifiable;
    assert_eq!(verdicts, [Verdict::Identified, hidden, hidden], "{found:?}");
}

/// Protected memory of a drive whose flash is faster than its link: small writes are faster than reads, and none ever waits.
#[test]
fn memory_that_drains_as_fast_as_it_fills_is_not_absent() {
    let mut spec = with("drain = \"idle\"\nidle_delay = \"0ns\"\nbattery = true\n");
    spec.host.bandwidth = fathom_base::Rate::new(50_000_000).unwrap();
    spec.host.queue_depth = 1;
    let found = quick_answer(&spec, Parameter::WriteBuffer, 1);
    assert_eq!(found.verdict, Verdict::NotIdentifiable, "{found:?}");
}

/// Memory holds the map of 256 MiB, and the cache takes 614 MiB: writes slow down within the cache once the map is written back.
#[test]
fn a_map_that_is_written_back_does_not_end_a_fast_cache() {
    let text = r#"
        kind = "ssd"
        name = "map"
        capacity = "3GiB"
        [host]
        protocol = "sata"
        bandwidth = "6Gbps"
        command_overhead = "10us"
        queue_depth = 32
        [flash]
        channels = 2
        packages_per_channel = 1
        dies_per_package = 3
        planes_per_die = 2
        pages_per_block = 256
        page = "8KiB"
        bus = "400MT/s"
        read = "65us"
        program = "900us"
        erase = "6ms"
        clustered_page = "16KiB"
        clustered_block = "4MiB"
        arbitration = "read-first"
        [mapping]
        kind = "dftl"
        unit = "4KiB"
        map_cache = "512KiB"
        over_provisioning_percent = 15.0
        striping = "dpwc"
        partial_program = true
        [fast_cache]
        bits_per_cell = 3
        dynamic_percent = 60.0
        read = "25us"
        program = "200us"
        erase = "3ms"
        fold = "pressure"
        when_full = "bypass"
        [write_buffer]
        policy = "lru"
        capacity = "2MiB"
        drain = "idle"
        idle_delay = "5ms"
    "#;
    let spec = Spec::from_toml(text).unwrap();
    let asked = [Parameter::MapReach, Parameter::FastCache];
    for seed in 0..2 {
        let found = &of_all(Level::Full, &spec, &asked, seed)[&Parameter::FastCache];
        let right = found
            .value
            .as_ref()
            .is_none_or(|value| value.number() > Some(5.5e8));
        assert!(right, "{found:?}");
    }
}

#[test]
fn a_memory_of_data_below_the_shortest_span_is_no_map() {
    for kib in [32, 64, 100] {
        let buffer = format!("[read_buffer]\ncapacity = \"{kib}KiB\"\nline = \"4KiB\"\n");
        let found = quick_answer(&with(&buffer), Parameter::MapReach, 1);
        assert_ne!(found.verdict, Verdict::Identified, "{kib} {found:?}");
    }
}

#[test]
fn a_map_in_flash_behind_a_memory_of_data_does_not_hide_the_dies() {
    let spec = |kind: &str| {
        let text = DRIVE.replace("kind = \"page\"", kind);
        let buffer = "[read_buffer]\ncapacity = \"1MiB\"\nline = \"4KiB\"\n";
        Spec::from_toml(&format!("{text}{buffer}")).unwrap()
    };
    let in_flash = spec("kind = \"dftl\"\nmap_cache = \"100KiB\"");
    for spec in [spec("kind = \"page\""), in_flash] {
        let found = quick_answer(&spec, Parameter::Parallelism, 1);
        assert_eq!(found.verdict, Verdict::Identified, "{found:?}");
        let dies = Some(Value::Count(21));
        assert!(found.low <= dies && dies <= found.high, "{found:?}");
    }
}

#[test]
fn a_limit_of_operations_before_one_of_bytes_is_not_taken_for_it() {
    let both = Limit {
        bandwidth: fathom_base::Rate::new(40_000_000),
        bandwidth_burst: Some(Bytes(2_000_000_000)),
        ..operations(3000, 3000)
    };
    // A quick run is over before the bytes are.
    let found = quick_answer(&limited(with(""), both), Parameter::BandwidthLimit, 1);
    assert_eq!(found.verdict, Verdict::Inconclusive, "{found:?}");
}

#[test]
fn a_limit_of_bytes_is_none_of_operations() {
    let bytes = Limit {
        bandwidth: fathom_base::Rate::new(33_000_000),
        bandwidth_burst: Some(Bytes(40_000_000)),
        ..Limit::default()
    };
    let of =
        |limit: &Limit, parameter| quick_answer(&limited(with(""), limit.clone()), parameter, 1);
    let found = of(&bytes, Parameter::RateLimit);
    assert_eq!(found.verdict, Verdict::Absent, "{found:?}");
    let found = of(&bytes, Parameter::BandwidthLimit);
    assert_eq!(found.verdict, Verdict::Identified, "{found:?}");
    let found = of(&operations(8000, 10_000), Parameter::RateLimit);
    assert_eq!(found.verdict, Verdict::Identified, "{found:?}");
}

/// Returns a zoned drive whose zones hold less than they are long.
fn zoned() -> Spec {
    let root = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/drive-zoned.toml"
    );
    Spec::from_toml(&std::fs::read_to_string(root).unwrap()).unwrap()
}

#[test]
fn zones_are_refused_before_the_first_write() {
    let mut drive = Ssd::new(&zoned(), 1).unwrap();
    let refused = run(&mut drive, &RunConfig::default(), None, &mut Unobserved);
    assert!(matches!(refused, Err(RunError::Zoned)));
    let empty = |zone: &fathom_block::Zone| zone.state == ZoneState::Empty;
    assert!(drive.zones(0, usize::MAX).iter().all(empty));
    let read_only = RunConfig {
        read_only: true,
        ..RunConfig::default()
    };
    assert!(check(&read_only, drive.info()).is_ok());
}

#[test]
fn zones_are_filled_as_far_as_they_hold_data() {
    let mut drive = Ssd::new(&zoned(), 1).unwrap();
    prepare(&mut drive, Precondition::Filled, 1).unwrap();
    let zones = drive.zones(0, usize::MAX);
    assert!(zones.iter().all(|zone| zone.state == ZoneState::Full));
    let Model::Ssd(preset) = Model::from_toml(find("zns").unwrap().text).unwrap() else {
        panic!("zns is a drive of flash");
    };
    let small = Spec {
        capacity: Bytes(preset.capacity.0 / 4),
        ..*preset
    };
    prepare(&mut Ssd::new(&small, 1).unwrap(), Precondition::Filled, 1).unwrap();
}

#[test]
fn a_first_look_that_the_budget_cuts_short_costs_what_it_took() {
    let config = RunConfig {
        fitting: true,
        budget_time: Some(Dur::ms(50)),
        parameters: vec![Parameter::ReadUnit, Parameter::Flush],
        ..RunConfig::default()
    };
    let mut drive = Ssd::new(&with(""), 1).unwrap();
    let profile = solve(&run(&mut drive, &config, None, &mut Unobserved).unwrap());
    assert!(profile.cost.device_ns >= 50_000_000, "{:?}", profile.cost);
    assert!(profile.cost.bytes_written > 0);
    for found in profile.parameters.values() {
        let said = &found.evidence.reason;
        assert!(said.contains("of 50.0 ms"), "{said}");
    }
}

/// Reads after a write wait for its programs, which begin when nothing was written for a while.
#[test]
fn reads_tell_when_an_idle_drive_programs_what_was_written() {
    let after = |delay| {
        let mut spec = with("");
        spec.write_buffer = Some(WriteBuffer {
            drain: Drain::Idle,
            idle_delay: delay,
            ..WriteBuffer::new(WritePolicy::Fifo, Bytes::mib(1))
        });
        let found = quick_answer(&spec, Parameter::Stalls, 1);
        found.evidence.figures["programmed_after_ns"]
    };
    for delay in [Dur::us(700), Dur::ms(12)] {
        let (ns, least) = (after(delay), delay.0 as f64);
        assert!((least - 1e5..least + 3e5).contains(&ns), "{ns} for {least}");
    }
}

/// Returns the drive with 2 MiB that it has in memory of a map in flash.
fn mapped(limit: Option<Limit>) -> Spec {
    let mut spec = with("");
    spec.mapping.kind = MappingKind::Dftl;
    spec.mapping.map_cache = Some(Bytes::kib(64));
    Spec { limit, ..spec }
}

/// 12,000 reads a second take longer than those that find their map in memory, and as long as those that do not.
#[test]
fn a_limit_hides_the_reach_of_a_map() {
    let alone = |limit| quick_answer(&mapped(limit), Parameter::MapReach, 1);
    let free = alone(None);
    assert_eq!(free.verdict, Verdict::Identified, "{free:?}");
    for limit in [operations(12_000, 8), operations(800, 1)] {
        let found = alone(Some(limit));
        assert_eq!(found.verdict, Verdict::NotIdentifiable, "{found:?}");
    }
    // Reads one after another empty no large burst, but the limit is known.
    let both = [Parameter::RateLimit, Parameter::MapReach];
    let large = mapped(Some(operations(3000, 20_000)));
    let found = &of_all(Level::Full, &large, &both, 1)[&Parameter::MapReach];
    assert_eq!(found.verdict, Verdict::NotIdentifiable, "{found:?}");
}

#[test]
fn a_limit_of_bytes_hides_whether_content_shrinks() {
    let spec = |limit| Spec {
        limit,
        compression: Some(Compression {
            deduplicates: true,
            ..Compression::default()
        }),
        ..with("")
    };
    let both = [Parameter::BandwidthLimit, Parameter::Compression];
    let verdict = |limit| of_all(Level::Full, &spec(limit), &both, 1)[&both[1]].verdict;
    let free = of_all(Level::Full, &spec(None), &both, 1)
        .remove(&both[1])
        .unwrap();
    assert_eq!(free.verdict, Verdict::Identified, "{free:?}");
    let slow = Limit {
        bandwidth: Some(Rate::new(60_000_000).unwrap()),
        ..Limit::default()
    };
    assert_eq!(verdict(Some(slow)), Verdict::NotIdentifiable);
}

/// A read in thirty stalls: all that do must be kept, or only the longest stalls count.
#[test]
fn frequent_stalls_are_as_long_as_they_are() {
    let mut spec = with("");
    (spec.flash.channels, spec.flash.dies_per_package) = (1, 1);
    spec.noise.background_interval = Dur::ms(200);
    spec.noise.background_duration = Dur::ms(8);
    let found = quick_answer(&spec, Parameter::Stalls, 1);
    let Some(Value::Nanoseconds(ns)) = found.value else {
        panic!("{found:?}");
    };
    // The median of lengths with a mean of 8 ms is 5.5 ms.
    assert!((3_000_000..9_000_000).contains(&ns), "{found:?}");
}
