//! Reports of a machine for the tests. The numbers are made up; some are those of `ssd-ready-platforms`.

use fathom_platform::{Interface, Layer, Phase};
use fathom_report::platform::{
    Copy, Cost, Fact, Latency, Limit, Limited, Missing, Others, Path, PlatformReport, Scaling,
    Tracing,
};
use std::collections::BTreeMap;

const RAW: Path = Path {
    interface: Interface::Pread,
    buffered: false,
    file_system: false,
};

const ASYNCHRONOUS: [Interface; 4] = [
    Interface::Libaio,
    Interface::IoUring,
    Interface::IoUringPolled,
    Interface::IoUringSqThread,
];

fn fact(name: &str, value: &str) -> Fact {
    Fact {
        name: name.into(),
        value: value.into(),
    }
}

/// A report with nothing but what is missing.
pub(crate) fn nothing() -> PlatformReport {
    PlatformReport {
        fathom: "0.1.0".into(),
        subject: "/dev/loop0".into(),
        measured: true,
        block_bytes: 4096,
        missing: vec![
            Missing {
                what: "The latency by phase: tracefs is not mounted".into(),
                help: "mount it as root: `mount -t tracefs nodev /sys/kernel/tracing`".into(),
            },
            Missing {
                what: "io_uring: not permitted (io_uring_disabled is 2).".into(),
                help: "`sysctl kernel.io_uring_disabled=0`".into(),
            },
        ],
        ..PlatformReport::default()
    }
}

fn latency(path: Path, phases: &[(Phase, f64)], more: f64) -> Latency {
    let sum: f64 = phases.iter().map(|(_, ns)| ns).sum();
    let all = sum + more;
    Latency {
        path,
        mean_ns: Some(all * 1.1),
        p99_ns: Some(all * 1.9),
        ios: 20_000,
        latency_ns: all,
        interval_ns: Some([all - 400.0, all + 420.0]),
        phases: phases.iter().copied().collect(),
        tracing: Some(Tracing {
            traced: all + 2_310.0,
            untraced: all,
            events: 6.02,
            attributed: 0.9987,
            rejected: BTreeMap::from([
                ("two reads overlapped".into(), 21),
                ("no issue was seen".into(), 5),
            ]),
            lost: 0,
            hidden: Vec::new(),
            doubt: None,
        }),
    }
}

fn latencies() -> Vec<Latency> {
    let phases = |file_system: f64, device: f64, back: f64| {
        [
            (Phase::Entry, 310.0),
            (Phase::FileSystem, file_system),
            (Phase::Block, 1_011.0),
            (Phase::Device, device),
            (Phase::Completion, 2_940.0),
            (Phase::Wake, 4_020.0),
            (Phase::Return, back),
        ]
    };
    let with = |buffered, file_system| Path {
        buffered,
        file_system,
        ..RAW
    };
    vec![
        latency(RAW, &phases(969.0, 66_214.0, 1_375.0), 0.0),
        latency(with(false, true), &phases(1_840.0, 67_301.0, 1_402.0), 0.0),
        latency(
            with(true, true),
            &phases(3_911.0, 66_840.0, 2_950.0),
            1_204.0,
        ),
    ]
}

/// Clocks of each layer on the way of `pread`; 13 layers.
pub(crate) fn layers(scale: f64) -> BTreeMap<Layer, f64> {
    let clocks = [
        410.0, 924.0, 1_310.0, 0.0, 4_120.0, 1_600.0, 2_210.0, 5_250.0, 2_100.0, 3_020.0, 6_080.0,
        0.0, 1_975.0,
    ];
    let all = Layer::ALL.into_iter().zip(clocks);
    all.filter(|(_, clocks)| *clocks > 0.0)
        .map(|(layer, clocks)| (layer, (scale * clocks).round()))
        .collect()
}

pub(crate) fn cost(path: Path, layers: BTreeMap<Layer, f64>) -> Cost {
    let clocks: f64 = layers.values().sum();
    Cost {
        path,
        block_bytes: 4096,
        depth: 128,
        iops: 2.1e9 / clocks,
        clocks,
        interval: Some([clocks * 0.99, clocks * 1.012]),
        layers,
        switches: Some(1.02),
        system_calls: Some(1.0),
        utilisation: 0.998,
        busy: Some(clocks * 1.02),
        tracing: Some(Tracing {
            traced: clocks * 1.21,
            untraced: clocks,
            events: 11.4,
            attributed: 0.981,
            rejected: BTreeMap::new(),
            lost: 312,
            hidden: Vec::new(),
            doubt: None,
        }),
    }
}

fn costs() -> Vec<Cost> {
    let mut all = vec![cost(RAW, layers(1.0))];
    for (buffered, file_system) in [(false, true), (true, false), (true, true)] {
        let path = Path {
            buffered,
            file_system,
            ..RAW
        };
        let mut layers = layers(1.0);
        if file_system {
            *layers.entry(Layer::FileSystem).or_default() += 3_400.0;
        }
        if buffered {
            layers.insert(Layer::Copy, 8_600.0);
        }
        all.push(cost(path, layers));
    }
    for (interface, scale) in ASYNCHRONOUS.into_iter().zip([0.72, 0.61, 0.4, 0.66]) {
        let mut layers = layers(scale);
        layers.remove(&Layer::UncachedReads);
        layers.insert(Layer::ContextSwitch, 140.0);
        if interface == Interface::IoUringPolled {
            layers.remove(&Layer::Interrupt);
            layers.insert(Layer::Polling, 2_240.0);
        }
        let mut one = cost(Path { interface, ..RAW }, layers);
        (one.switches, one.system_calls) = (Some(0.013), Some(0.031));
        if interface == Interface::IoUringSqThread {
            // The layers could not be told apart.
            one.layers = BTreeMap::new();
            one.tracing = None;
        }
        all.push(one);
    }
    all
}

fn scaled(threads: u32, [cores, adapters, drives]: [u32; 3], block_bytes: u64) -> Scaling {
    let of = |n: u32, each: f64| f64::from(n) * each;
    let shrink = (4096.0 / block_bytes as f64).sqrt() / if block_bytes > 4096 { 2.0 } else { 1.0 };
    let most = (of(cores, 129_000.0)
        .min(of(adapters, 177_000.0))
        .min(of(drives, 43_000.0)))
        * 0.96_f64.powi(adapters as i32 - 1)
        * shrink;
    let iops = most * (1.0 - (-of(threads, 11_000.0) / most).exp());
    Scaling {
        path: RAW,
        block_bytes,
        threads,
        depth: 1,
        cores,
        adapters: Some(adapters),
        drives,
        iops,
        utilisation: iops / of(cores, 129_000.0),
        latency_ns: of(threads, 1e9) / iops,
        limit: (threads == 128).then(|| Limited {
            by: if adapters < cores {
                Limit::Adapters
            } else {
                Limit::Cores
            },
            evidence: "twice as much of one changes the rate: processors +71 %, drives +0 %".into(),
        }),
    }
}

/// Thirty rows: threads on several machines, and two lengths.
pub(crate) fn scaling() -> Vec<Scaling> {
    let threads = (0..8).map(|power| 1 << power);
    let one = threads.clone().map(|n| scaled(n, [1, 1, 3], 4096));
    let eight = threads.map(|n| scaled(n, [8, 1, 8], 4096));
    let larger = (2..=4).map(|n| scaled(128, [n, n, 3 * n], 4096));
    let long = (1..=4).map(|n| scaled(128, [n, n, 3 * n], 65536));
    let rest = (0..7).map(|n| scaled(3 << n, [8, 1, 8], 4096));
    one.chain(eight)
        .chain(larger)
        .chain(long)
        .chain(rest)
        .collect()
}

/// A report of a measurement with everything.
pub(crate) fn everything() -> PlatformReport {
    PlatformReport {
        facts: vec![
            fact("processor", "8 of Intel(R) Xeon(R) Processor @ 2.10GHz"),
            fact("kernel", "Linux 6.18.5, scheduler none"),
            fact("device", "/dev/loop0, 4 GiB, a file on ext4"),
        ],
        clock_hz: Some(2_100_000_000),
        latency: latencies(),
        costs: costs(),
        copy: Some(Copy {
            per_byte: 2.104,
            interval: Some([2.04, 2.17]),
            fixed: 3_120.0,
            r_squared: 0.9984,
            points: (0..6)
                .map(|power| f64::from(4096 << power))
                .map(|size| [size, 3_120.0 + 2.104 * size + (size * 0.37).sin() * 4_000.0])
                .collect(),
        }),
        scaling: scaling(),
        others: Some(Others {
            programs: 0.012,
            host: 0.0,
        }),
        notes: vec![
            "The threads of the loop device run on the same processors: `other` is their work."
                .into(),
        ],
        ..nothing()
    }
}
