//! Random drives of the classes that are in use today: consumer NVMe with and without DRAM, enterprise NVMe, QLC with large
//! indirection units, SATA, cards, and volumes of clouds.
//!
//! Each value has a range of its own, evenly over the logarithm where sizes and times are meant, and is independent of the
//! others except where sizes must be multiples. Capacities are a hundredth of the real ones, so that a drive is filled in a
//! moment; ratios that a probe sees (dies, units, times, shares) are those of real drives. docs/accuracy.md lists the
//! distributions. A drive that the drive file's own check refuses is drawn again.

use super::units::{KIB, MIB};
use crate::accuracy::dice::{log_uniform, log_whole, pick, rate, whole};
use fathom_base::{Bytes, Dur, Rng};
use fathom_block::layers::Limit;
use fathom_ssd::Spec;
use fathom_ssd::spec::{
    Arbitration, Compression, Drain, FastCache, Faults, Flash, Fold, Gc, Host, Kind, Log, Mapping,
    MappingKind, Noise, ProgramMode, Protocol, Separation, Thermal, Victim, WhenFull, WriteBuffer,
    WritePolicy,
};

/// The least clustered blocks of a drive.
const BLOCKS_MIN: u64 = 64;

/// A class of drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Consumer,
    NoDram,
    Enterprise,
    Qlc,
    Sata,
    Card,
    Cloud,
}

const CLASSES: [Class; 7] = [
    Class::Consumer,
    Class::NoDram,
    Class::Enterprise,
    Class::Qlc,
    Class::Sata,
    Class::Card,
    Class::Cloud,
];

/// Draws a drive that the check of drive files may refuse.
pub(super) fn any(rng: &mut Rng, name: String) -> Spec {
    let class = pick(rng, &CLASSES);
    let capacity = log_uniform(rng, 2048.0, 8192.0) as u64 * MIB;
    let flash = flash(rng, class, capacity);
    let host = host(rng, class);
    let mapping = mapping(rng, class, &flash);
    let block = flash.clustered_block.0;
    let compresses = match class {
        Class::Sata => rng.chance(0.3),
        Class::Enterprise => rng.chance(0.15),
        _ => false,
    };
    let deduplicates = rng.chance(0.3);
    let hot = rng.chance(0.2);
    let thermal = thermal(rng);
    Spec {
        kind: Kind::default(),
        name,
        capacity: Bytes((capacity / block).max(BLOCKS_MIN) * block),
        read_buffer: None,
        fast_cache: fast_cache(rng, class, capacity, &flash),
        write_buffer: write_buffer(rng, class),
        gc: gc(rng),
        faults: faults(rng, class),
        compression: compresses.then_some(Compression {
            deduplicates,
            ..Compression::default()
        }),
        thermal: (hot && matches!(class, Class::Consumer | Class::NoDram)).then_some(thermal),
        noise: noise(rng),
        limit: limit(rng, class),
        host,
        flash,
        mapping,
    }
}

fn flash(rng: &mut Rng, class: Class, capacity: u64) -> Flash {
    let (channels, dies, planes) = match class {
        Class::Card => (1, whole(rng, 1, 2), pick(rng, &[2, 4])),
        Class::Sata => (pick(rng, &[4, 8]), whole(rng, 1, 4), pick(rng, &[2, 4])),
        Class::NoDram => (4, whole(rng, 1, 4), pick(rng, &[2, 4])),
        Class::Consumer | Class::Qlc => (pick(rng, &[4, 8]), whole(rng, 1, 4), 4),
        Class::Enterprise | Class::Cloud => {
            (pick(rng, &[8, 16]), whole(rng, 1, 4), pick(rng, &[2, 4]))
        }
    };
    let page = 16 * KIB;
    let pages = log_whole(rng, 48, 256);
    let (read, program, erase) = match class {
        Class::Qlc => ((60.0, 150.0), (1400.0, 2600.0), (5000.0, 15_000.0)),
        Class::Card => ((50.0, 120.0), (800.0, 2500.0), (3000.0, 10_000.0)),
        _ => ((40.0, 85.0), (350.0, 1000.0), (3000.0, 8000.0)),
    };
    let time = |rng: &mut Rng, (low, high): (f64, f64)| Dur::us(log_uniform(rng, low, high) as u64);
    let (read, program, erase) = (time(rng, read), time(rng, program), time(rng, erase));
    // A superblock over as many dies as leave enough of them.
    let lane = page * planes * pages;
    let all = channels * dies;
    let widths: Vec<u64> = (1..=all)
        .filter(|wide| all.is_multiple_of(*wide) && lane * wide * BLOCKS_MIN <= capacity)
        .collect();
    let wide = match widths.is_empty() {
        true => 1,
        false => pick(rng, &widths),
    };
    let suspend = class != Class::Card && rng.chance(0.5);
    let latency = Dur::us(whole(rng, 5, 30));
    Flash {
        channels: channels as u32,
        packages_per_channel: 1,
        dies_per_package: dies as u32,
        planes_per_die: planes as u32,
        pages_per_block: pages as u32,
        page: Bytes(page),
        bus: rate(log_uniform(rng, 400.0, 2400.0), 1e6),
        read,
        program,
        erase,
        clustered_page: Bytes(page * planes),
        clustered_block: Bytes(lane * wide),
        program_steps: Vec::new(),
        program_mode: ProgramMode::Page,
        suspend_latency: if suspend { latency } else { Dur::ZERO },
        suspend_overhead: if suspend { latency } else { Dur::ZERO },
        arbitration: match suspend {
            true => Arbitration::Suspend,
            false => pick(rng, &[Arbitration::CommandFirst, Arbitration::ReadFirst]),
        },
        copy_back: false,
        parity_stripe: 0,
    }
}

fn host(rng: &mut Rng, class: Class) -> Host {
    let (protocol, bandwidth) = match class {
        Class::Sata => (Protocol::Sata, 560.0),
        Class::Card => (Protocol::Sata, log_uniform(rng, 80.0, 400.0)),
        _ => (Protocol::Nvme, log_uniform(rng, 1500.0, 7000.0)),
    };
    let (overhead, latency) = match class {
        Class::Card => (log_uniform(rng, 20.0, 80.0), 0),
        Class::Sata => (log_uniform(rng, 4.0, 12.0), whole(rng, 10, 30)),
        Class::Cloud => (2.0, whole(rng, 150, 700)),
        _ => (log_uniform(rng, 0.7, 3.0), whole(rng, 4, 12)),
    };
    let log = match class {
        Class::Enterprise => Log::Media,
        Class::Consumer | Class::NoDram | Class::Qlc => pick(rng, &[Log::Host, Log::Media]),
        _ => Log::None,
    };
    Host {
        protocol,
        bandwidth: rate(bandwidth, 1e6),
        command_overhead: Dur((overhead * 1000.0) as u64),
        latency: Dur::us(latency),
        queue_depth: match class {
            Class::Card => pick(rng, &[1, 1, 32]),
            Class::Sata => 32,
            _ => pick(rng, &[64, 256, 1024]),
        },
        logical_block: Bytes(if rng.chance(0.5) { 4 * KIB } else { 512 }),
        max_request: Bytes(pick(rng, &[128, 256, 512, 1024]) * KIB),
        log,
        queues: 1,
        queue_arbitration: Default::default(),
        arbitration_burst: 1,
        queue_priorities: Vec::new(),
        queue_weights: Vec::new(),
    }
}

fn mapping(rng: &mut Rng, class: Class, flash: &Flash) -> Mapping {
    let kind = match class {
        Class::NoDram => MappingKind::Dftl,
        Class::Card => pick(
            rng,
            &[
                MappingKind::Dftl,
                MappingKind::Superblock,
                MappingKind::Fast,
            ],
        ),
        _ => MappingKind::Page,
    };
    let paged = kind.is_paged();
    let unit = match (class, paged) {
        (_, false) => flash.clustered_page.0,
        (Class::Qlc, _) => pick(rng, &[16 * KIB, 64 * KIB]),
        _ => pick(rng, &[4 * KIB, 4 * KIB, 4 * KIB, 8 * KIB, 16 * KIB]),
    };
    let over = match class {
        Class::Enterprise | Class::Cloud => log_uniform(rng, 7.0, 40.0),
        _ => log_uniform(rng, 5.0, 13.0),
    };
    let cache = Bytes(log_whole(rng, 64, 1024) * KIB);
    let lent = rng.chance(0.5) && class == Class::NoDram;
    let memory = Bytes(log_whole(rng, 2, 16) * MIB);
    Mapping {
        unit: Some(Bytes(unit)),
        over_provisioning_percent: (over * 10.0).round() / 10.0,
        log_blocks: if paged {
            0
        } else {
            log_whole(rng, 2, 16) as u32
        },
        map_cache: (kind == MappingKind::Dftl).then_some(cache),
        host_memory_buffer: lent.then_some(memory),
        ..Mapping::new(kind)
    }
}

/// SLC caches of consumer drives: static, dynamic or both.
fn fast_cache(rng: &mut Rng, class: Class, capacity: u64, flash: &Flash) -> Option<FastCache> {
    let bits = if class == Class::Qlc { 4 } else { 3 };
    let fixed = log_uniform(rng, 0.005, 0.03) * capacity as f64;
    let dynamic = (log_uniform(rng, 10.0, 100.0)).round();
    let (fold, when_full) = (
        pick(rng, &[Fold::Idle, Fold::Idle, Fold::Pressure]),
        pick(rng, &[WhenFull::Bypass, WhenFull::Fold]),
    );
    let (program, read) = (log_uniform(rng, 80.0, 250.0), log_uniform(rng, 20.0, 40.0));
    let delay = Dur::ms(log_whole(rng, 100, 5000));
    let kind = rng.below(3);
    let share = match class {
        Class::Consumer | Class::NoDram | Class::Qlc => 0.9,
        Class::Sata => 0.6,
        _ => 0.0,
    };
    let cache = FastCache {
        bits_per_cell: bits,
        static_capacity: Bytes(if kind == 1 {
            0
        } else {
            fixed as u64 / MIB * MIB
        }),
        dynamic_percent: if kind == 0 { 0.0 } else { dynamic },
        read: Dur::us(read as u64),
        program: Dur::us(program as u64),
        erase: flash.erase,
        fold,
        idle_delay: delay,
        when_full,
    };
    rng.chance(share).then_some(cache)
}

fn write_buffer(rng: &mut Rng, class: Class) -> Option<WriteBuffer> {
    let (least, most) = match class {
        Class::Card => (16, 512),
        Class::NoDram => (256, 2048),
        _ => (1024, 32_768),
    };
    let capacity = Bytes(log_whole(rng, least, most) * KIB);
    Some(WriteBuffer {
        drain: Drain::Idle,
        idle_delay: Dur::us(log_whole(rng, 100, 20_000)),
        battery: matches!(class, Class::Enterprise | Class::Cloud),
        ..WriteBuffer::new(WritePolicy::Lru, capacity)
    })
}

fn gc(rng: &mut Rng) -> Gc {
    Gc {
        victim: pick(
            rng,
            &[
                Victim::Greedy,
                Victim::Greedy,
                Victim::CostBenefit,
                Victim::DChoices,
            ],
        ),
        separate: pick(
            rng,
            &[Separation::Nothing, Separation::Copies, Separation::HotCold],
        ),
        ..Gc::default()
    }
}

fn faults(rng: &mut Rng, class: Class) -> Faults {
    let retries = class == Class::Qlc && rng.chance(0.5);
    let often = (log_uniform(rng, 0.0005, 0.02) * 1e5).round() / 1e5;
    Faults {
        read_retry: if retries { often } else { 0.0 },
        read_retries_max: if retries { 4 } else { 0 },
        ..Faults::default()
    }
}

fn thermal(rng: &mut Rng) -> Thermal {
    Thermal {
        ambient_celsius: whole(rng, 30, 45) as f64,
        degrees_per_gib_programmed: log_uniform(rng, 0.5, 3.0),
        degrees_per_gib_read: log_uniform(rng, 0.1, 0.6),
        time_constant: Dur::ms(1000 * whole(rng, 20, 90)),
        ..Thermal::default()
    }
}

fn noise(rng: &mut Rng) -> Noise {
    let tenth = |x: f64| (x * 10.0).round() / 10.0;
    let stalls = rng.chance(0.6);
    let (interval, length) = (log_whole(rng, 200, 5000), log_whole(rng, 1000, 8000));
    Noise {
        command_percent: tenth(log_uniform(rng, 1.0, 15.0)),
        flash_percent: tenth(log_uniform(rng, 0.5, 8.0)),
        background_interval: Dur::ms(if stalls { interval } else { 0 }),
        background_duration: Dur::us(if stalls { length } else { 0 }),
    }
}

/// Limits of a volume: those of operations and of bytes, with bursts from a tenth of a second to a minute.
fn limit(rng: &mut Rng, class: Class) -> Option<Limit> {
    let operations = log_whole(rng, 500, 20_000);
    let bytes = log_uniform(rng, 60.0, 1000.0);
    let seconds = [log_uniform(rng, 0.1, 30.0), log_uniform(rng, 0.1, 10.0)];
    let (some, which) = (class == Class::Cloud, rng.below(4));
    let bandwidth = rate(bytes, 1e6);
    let limit = Limit {
        operations_per_second: (which != 1).then_some(operations),
        operations_burst: (which != 1).then_some(((operations as f64 * seconds[0]) as u64).max(1)),
        operation_size: None,
        bandwidth: (which != 0).then_some(bandwidth),
        bandwidth_burst: (which != 0).then_some(Bytes((bytes * 1e6 * seconds[1]) as u64)),
    };
    some.then_some(limit)
}
