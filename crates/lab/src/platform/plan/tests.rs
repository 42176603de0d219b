//! Tests of searches whose answers are known.

use super::bounds::alone;
use super::search::{Found, Search};
use super::setup::Setup;
use super::*;
use crate::platform::platform;
use fathom_report::platform::Limit;

/// A question about 4-KiB reads.
fn ask(of: &str, drive: &str, iops: f64, latency_max: Option<Dur>, judge: impl Fn(&Search<'_>)) {
    let mut platform = platform(of).unwrap();
    drive.clone_into(&mut platform.drive);
    let stand = Stand::new(drive, Bytes::kib(4), 0, || false).unwrap();
    let alone = alone(&stand).unwrap();
    judge(&Search {
        stand: &stand,
        platform: &platform,
        alone: &alone,
        wanted: iops,
        latency_max,
        near: 0.0,
    });
}

/// Checks that the answer reaches the rate, and that no number of it can be one less.
fn is_least(search: &Search<'_>) -> Found {
    let found = search.find().unwrap().unwrap();
    let Found { setup, .. } = found;
    // With more in flight than it takes: what is missing is not load.
    let deep = Setup {
        in_flight: (4 * setup.in_flight).min(search.deepest(setup.drives)),
        ..setup
    };
    assert!(search.reaches(&found.reading), "{found:?}");
    assert_eq!(search.read(setup).unwrap(), found.reading);
    let fails = |what: &str, less: Setup| {
        let reading = search.read(less).unwrap();
        assert!(
            !search.reaches(&reading),
            "{what} less: {reading:?} {found:?}"
        );
    };
    fails(
        "I/O",
        Setup {
            in_flight: setup.in_flight - 1,
            ..setup
        },
    );
    if setup.cores > 1 {
        for in_flight in [setup.in_flight, deep.in_flight / 2, deep.in_flight] {
            fails(
                "processor",
                Setup {
                    cores: setup.cores - 1,
                    in_flight,
                    ..setup
                },
            );
        }
    }
    if deep.adapters() > 1 {
        let per_adapter = deep.drives.div_ceil(deep.adapters() - 1);
        fails(
            "adapter",
            Setup {
                per_adapter,
                cores: 4 * deep.cores,
                ..deep
            },
        );
    }
    if deep.drives > 1 {
        let drives = deep.drives - 1;
        fails(
            "drive",
            Setup {
                drives,
                per_adapter: 1,
                cores: 4 * deep.cores,
                ..deep
            },
        );
    }
    found
}

/// Checks what saturates first, and that the sensitivity says so, too.
fn saturates(search: &Search<'_>, found: &Found, first: Limit, input: &str) {
    let takes = takes(search, found).unwrap();
    assert_eq!(takes.first().map(|used| used.of), Some(first), "{takes:?}");
    let all = search.sensitivity(found, &takes.used).unwrap();
    let counts = ["drives", "adapters", "processors"];
    let tenths = all.iter().find(|one| !counts.contains(&&*one.input));
    let most = tenths.unwrap();
    assert_eq!(most.input, input, "{all:?}");
    assert!((most.percent - 10.0).abs() < 1.0, "{most:?}");
}

/// 10,000 I/Os a second of an adapter: two are too few for 25,000, whatever is behind them.
#[test]
fn adapters_with_a_ceiling() {
    ask(
        "x5570-sas,adapter.iops=10000",
        "model:nvme",
        25_000.0,
        None,
        |search| {
            let found = is_least(search);
            assert_eq!((found.setup.drives, found.setup.adapters()), (3, 3));
            saturates(search, &found, Limit::Adapters, "adapter.iops");
        },
    );
}

/// The drive is fitted to 44,000 reads a second: two are too few for 100,000, and three do 132,000.
#[test]
fn slow_drives() {
    ask(
        "nvme-2022,interface=io-uring",
        "model:intel-x25e",
        100_000.0,
        None,
        |search| {
            let found = is_least(search);
            assert_eq!((found.setup.drives, found.setup.adapters()), (3, 1));
            assert!(
                (found.saturated.iops - 132_000.0).abs() < 4_000.0,
                "{found:?}"
            );
            saturates(search, &found, Limit::Drives, "speed of the drive");
        },
    );
}

/// 200 MHz and about 20,000 clocks a read: 10,000 reads a second of a processor.
#[test]
fn slow_processors() {
    ask(
        "x5570-sas,clock=200MHz,clocks.contention=0",
        "model:nvme",
        15_000.0,
        None,
        |search| {
            let found = is_least(search);
            let clocks = found.reading.clocks;
            assert_eq!(found.setup.drives, 1);
            let cores = (15_000.0 * clocks / 200e6).ceil() as u32;
            assert_eq!(found.setup.cores, cores, "{clocks}");
            saturates(search, &found, Limit::Cores, "clock");
        },
    );
}

/// Less latency than three drives have at the rate: shorter queues, on more drives.
#[test]
fn a_limit_of_the_latency_takes_more_drives() {
    let of = "nvme-2022,interface=io-uring";
    ask(of, "model:intel-x25e", 100_000.0, None, |search| {
        let free = search.find().unwrap().unwrap();
        let less = Dur((free.reading.latency_ns * 0.8) as u64);
        let limited = Search {
            latency_max: Some(less),
            ..*search
        };
        let found = is_least(&limited);
        assert!(found.setup.drives > free.setup.drives, "{found:?} {free:?}");
        assert!(
            found.reading.latency_ns <= less.0 as f64 * 1.01,
            "{found:?} {less}"
        );
        let never = Search {
            latency_max: Some(Dur::us(5)),
            ..*search
        };
        let unreached = never.find().unwrap().unwrap_err();
        assert!(
            unreached.why.contains("one I/O at a time takes"),
            "{unreached:?}"
        );
    });
}

/// The sums: 1,000,000 / 44,000 drives are 23; 2.93 GHz / 1,200 clocks are 2,441,666; 10 MHz / 25,000 clocks are 400.
#[test]
fn what_no_number_reaches_is_refused_with_its_ceiling() {
    let refused = |of: &str, drive: &str, iops: f64, says: &str| {
        ask(of, drive, iops, None, |search| {
            let unreached = search.find().unwrap().unwrap_err();
            assert!(unreached.why.contains(says), "{unreached:?}");
        });
    };
    refused(
        "x5570-sas,adapter.iops=1",
        "model:nvme",
        1e6,
        "an adapter passes 1 I/O a second",
    );
    refused(
        "x5570-sas,adapter.iops=",
        "model:nvme",
        3e6,
        "passes 2,441,666 I/Os",
    );
    refused("x5570-sas", "model:intel-x25e", 1e9, "a drive does 4");
    refused(
        "x5570-sas,clock=10MHz,clocks.contention=0,adapter.iops=",
        "model:nvme",
        4e6,
        "processors, and the search ends at 1024",
    );
}
