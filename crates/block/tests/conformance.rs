//! Every device and every layer of this crate passes the conformance suite.

use crate::common::{Numbered, RealLike, Watched, ram};
use fathom_base::{Bytes, Dur, Rate};
use fathom_block::conformance::{Options, Report, check};
use fathom_block::devices::modelled_info;
use fathom_block::layers::{Fault, Limit, Stage, When};
use fathom_block::{
    Device, DeviceInfo, Faulty, IoErrorKind, Limited, Narrow, Noisy, NullDevice, Op, RamDevice,
};
use std::cell::RefCell;
use std::num::NonZeroU32;
use std::rc::Rc;

/// Two latencies: zero and non-zero.
const LATENCIES: [Dur; 2] = [Dur::ZERO, Dur::us(10)];

fn conforms<D: Device>(mut make: impl FnMut() -> D, options: &Options) -> Report {
    check(&mut make, options).unwrap_or_else(|violation| panic!("{violation}"))
}

fn faults(stage: Stage) -> Vec<Fault> {
    vec![Fault {
        ops: vec![Op::Read, Op::Write, Op::Trim, Op::Flush],
        when: When::Chance(0.2),
        stage,
        kind: IoErrorKind::Medium,
    }]
}

/// No limit, one that delays nearly everything, one of the operations and one of the bytes.
fn limits() -> [Option<Limit>; 4] {
    let operations = Limit {
        operations_per_second: Some(50_000),
        operations_burst: Some(3),
        operation_size: Some(Bytes::kib(16)),
        ..Limit::default()
    };
    let bytes = Limit {
        bandwidth: Rate::new(100_000_000),
        ..Limit::default()
    };
    let both = Limit {
        operations_per_second: Some(1_000),
        operations_burst: Some(1),
        bandwidth: Rate::new(1_000_000),
        bandwidth_burst: Some(Bytes(700)),
        ..Limit::default()
    };
    [None, Some(both), Some(operations), Some(bytes)]
}

#[test]
fn null_conforms() {
    let options = Options {
        keeps_bytes: false,
        ..Options::default()
    };
    for latency in LATENCIES {
        let report = conforms(
            || NullDevice::new(modelled_info("null", 1 << 20), latency),
            &options,
        );
        assert!(report.skipped.is_empty() && report.bytes_compared == 0);
    }
    conforms(
        || NullDevice::new(modelled_info("largest", u64::MAX), Dur(1)),
        &options,
    );
}

#[test]
fn ram_conforms_in_every_shape() {
    let options = Options {
        trim_zeroes: true,
        ..Options::default()
    };
    for (depth, block, max) in [
        (1, 512, 512),
        (2, 4096, 12_288),
        (32, 512, 1 << 20),
        (5, 1, 100),
    ] {
        for latency in LATENCIES {
            let info = DeviceInfo {
                queue_depth: depth,
                logical_block_bytes: block,
                max_request_bytes: max,
                ..modelled_info("ram", (1 << 20) + 777)
            };
            let report = conforms(|| RamDevice::new(info.clone(), latency), &options);
            assert!(report.requests > options.operations && report.bytes_compared > 0);
        }
    }
}

#[test]
fn ram_conforms_read_only_without_trim_and_in_a_region() {
    for (read_only, trim) in [(true, true), (true, false), (false, false)] {
        let info = DeviceInfo {
            read_only,
            trim,
            ..modelled_info("ram", 1 << 20)
        };
        let report = conforms(|| RamDevice::new(info.clone(), Dur(9)), &Options::default());
        assert!(report.skipped.contains_key("trim"));
        assert_eq!(report.skipped.contains_key("bytes"), read_only);
    }
    let options = Options {
        region: 700_001..720_000,
        ..Options::default()
    };
    conforms(|| ram(Dur(9)), &options);
}

#[test]
fn the_region_alone_is_touched() {
    let region = 65_536..131_072;
    let options = Options {
        region: region.clone(),
        ..Options::default()
    };
    // Every rule gets a device of its own; the requests to all of them are recorded in one list.
    let sent = Rc::new(RefCell::new(Vec::new()));
    conforms(|| Watched(ram(Dur(9)), sent.clone()), &options);
    let mut changes = 0;
    for &(op, offset, len) in sent.borrow().iter() {
        if matches!(op, Op::Write | Op::Trim) {
            changes += 1;
            let inside = region.start <= offset && offset + len <= region.end;
            assert!(inside || offset >= 1 << 20, "{op} of {len} at {offset}");
        }
    }
    assert!(changes > 100);
}

#[test]
fn every_layer_conforms() {
    let options = Options {
        trim_zeroes: true,
        ..Options::default()
    };
    for latency in LATENCIES {
        conforms(|| Faulty::new(ram(latency), Vec::new(), 4), &options);
        conforms(|| Noisy::new(ram(latency), Numbered::default()), &options);
        for limit in limits() {
            conforms(|| Limited::new(ram(latency), limit.as_ref()), &options);
        }
        for depth in [1, 3, 1000].map(|n| NonZeroU32::new(n).unwrap()) {
            conforms(|| Narrow::new(ram(latency), depth), &options);
        }
    }
}

#[test]
fn every_layer_conforms_over_what_behaves_like_a_real_drive() {
    let options = Options::default();
    for latency in LATENCIES {
        let real = || RealLike::new(ram(latency));
        conforms(real, &options);
        conforms(|| Faulty::new(real(), Vec::new(), 4), &options);
        conforms(|| Noisy::new(real(), Numbered::default()), &options);
        for limit in limits() {
            conforms(|| Limited::new(real(), limit.as_ref()), &options);
        }
        for depth in [1, 3, 1000].map(|n| NonZeroU32::new(n).unwrap()) {
            conforms(|| Narrow::new(real(), depth), &options);
        }
    }
}

#[test]
fn a_device_that_fails_is_still_a_device() {
    let options = Options {
        may_fail: true,
        ..Options::default()
    };
    for stage in [Stage::Before, Stage::After] {
        for latency in LATENCIES {
            conforms(|| Faulty::new(ram(latency), faults(stage), 4), &options);
            let real = || RealLike::new(ram(latency));
            conforms(|| Faulty::new(real(), faults(stage), 4), &options);
        }
    }
}

#[test]
fn a_stack_of_all_layers_conforms() {
    const DEPTH: NonZeroU32 = NonZeroU32::new(3).unwrap();
    fn stack<D: Device + 'static>(device: D) -> impl Device {
        let faulty = Faulty::new(device, faults(Stage::After), 1);
        let narrow = Narrow::new(Noisy::new(faulty, Numbered::default()), DEPTH);
        let before = Faulty::new(narrow, faults(Stage::Before), 3);
        let [_, _, limit, _] = limits();
        let limited = Limited::new(before, limit.as_ref());
        let boxed: Box<dyn Device> = Box::new(Noisy::new(limited, Numbered::default()));
        Faulty::new(boxed, Vec::new(), 5)
    }
    let options = Options {
        may_fail: true,
        ..Options::default()
    };
    for latency in LATENCIES {
        for seed in 0..4 {
            let options = Options {
                seed,
                ..options.clone()
            };
            conforms(|| stack(ram(latency)), &options);
            conforms(|| stack(RealLike::new(ram(latency))), &options);
        }
    }
}
