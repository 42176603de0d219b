//! The family of random drives that the probes were first tried on, kept unchanged so that figures stay comparable.
//!
//! Sizes and times are drawn with a uniform logarithm and rounded to what a data sheet would say. The order of the draws is
//! part of the family: another order gives other drives for the same seed.
//!
//! Clustered blocks are 1, 3 or 5 times a power of two, noise is at most 10 %, and there are two mappings. [`super::wide`]
//! covers what this family leaves out.

use super::units::{KIB, MIB};
use crate::accuracy::dice::{divisors, log_uniform, pick, rate};
use fathom_base::{Bytes, Dur, Rng};
use fathom_ssd::Spec;
use fathom_ssd::spec::{
    Arbitration, Drain, Faults, Flash, Gc, Host, Kind, Log, Mapping, MappingKind, Noise, Prefetch,
    ProgramMode, Protocol, QueueArbitration, ReadBuffer, Striping, WriteBuffer, WritePolicy,
};

/// Maximum number of planes of a drive; more would only cost run time.
const PLANES_MAX: u64 = 256;
/// Minimum number of clustered blocks of a drive.
const CLUSTERED_BLOCKS_MIN: u64 = 64;

/// Draws a drive. It is valid by construction.
pub(super) fn spec(rng: &mut Rng, name: String) -> Spec {
    let kind = if rng.chance(0.65) {
        MappingKind::Block
    } else {
        MappingKind::Page
    };
    let flash = flash(rng);
    let blocks = log_uniform(rng, 1.0, 4.0) * (1u64 << 30) as f64 / flash.clustered_block.0 as f64;
    let blocks = (blocks as u64).max(CLUSTERED_BLOCKS_MIN);
    let mut host = host(rng, kind);
    let write_buffer = write_buffer(rng);
    let sectors = rng.chance(0.2) && write_buffer.is_some();
    let (mapping, logical_block) = mapping(rng, kind, &flash, host.protocol, sectors);
    host.logical_block = logical_block;
    // A controller that could not buffer a whole clustered page would need a read-modify-write for every program.
    let least = flash.clustered_page.0;
    let write_buffer = write_buffer.map(|buffer| WriteBuffer {
        capacity: Bytes((buffer.capacity.0 / logical_block.0 * logical_block.0).max(least)),
        ..buffer
    });
    Spec {
        kind: Kind::default(),
        name,
        capacity: Bytes(blocks * flash.clustered_block.0),
        read_buffer: read_buffer(rng, &host),
        host,
        flash,
        mapping,
        write_buffer,
        fast_cache: None,
        gc: Gc::default(),
        faults: Faults::default(),
        noise: noise(rng),
        limit: None,
        compression: None,
        thermal: None,
    }
}

/// Draws the geometry: the clustered page and block first, then the planes that they take, spread over dies and channels.
fn flash(rng: &mut Rng) -> Flash {
    let clustered_page = pick(rng, &[4, 8, 16, 32, 64, 128]) * KIB;
    let pages = [2, 4, 8, 16].map(|page| page * KIB);
    let fits = |page: &u64| *page <= clustered_page && clustered_page / page <= 32;
    let page = pick(rng, &pages.into_iter().filter(fits).collect::<Vec<_>>());
    let width = clustered_page / page;
    let (pages_per_block, lanes) = clustered_block(rng, clustered_page);
    let wide = lanes * width;
    let groups: Vec<u64> = [1, 2, 4, 8]
        .into_iter()
        .filter(|g| wide * g <= PLANES_MAX)
        .collect();
    let planes = wide * pick(rng, &groups);
    let in_step = |per_die: &u64| {
        planes.is_multiple_of(*per_die)
            && (per_die.is_multiple_of(width) || width.is_multiple_of(*per_die))
    };
    let planes_per_die = pick(
        rng,
        &[1, 2, 4].into_iter().filter(in_step).collect::<Vec<_>>(),
    );
    let dies = planes / planes_per_die;
    let channels = pick(rng, &divisors(dies, 16));
    let dies_per_package = pick(rng, &divisors(dies / channels, 8));
    let cell = Cell::draw(rng);
    Flash {
        channels: channels as u32,
        packages_per_channel: (dies / channels / dies_per_package) as u32,
        dies_per_package: dies_per_package as u32,
        planes_per_die: planes_per_die as u32,
        pages_per_block: pages_per_block as u32,
        page: Bytes(page),
        bus: rate(log_uniform(rng, 20.0, 400.0), 1.0e6),
        read: cell.read,
        program: cell.program,
        erase: cell.erase,
        clustered_page: Bytes(clustered_page),
        clustered_block: Bytes(clustered_page * lanes * pages_per_block),
        arbitration: if rng.chance(0.25) {
            Arbitration::InOrder
        } else {
            Arbitration::CommandFirst
        },
        program_steps: Vec::new(),
        program_mode: ProgramMode::Page,
        suspend_latency: Dur::ZERO,
        suspend_overhead: Dur::ZERO,
        copy_back: false,
        parity_stripe: 0,
    }
}

/// Draws the pages of a block and the lanes of a clustered block of 1 to 16 MiB: mostly a power of two, sometimes 1.25 or
/// 1.5 times one.
fn clustered_block(rng: &mut Rng, clustered_page: u64) -> (u64, u64) {
    let odd_pages = rng.chance(0.1);
    let odd_lanes = !odd_pages && rng.chance(0.3);
    let pages: &[u64] = if odd_pages {
        &[96, 192]
    } else {
        &[64, 128, 256]
    };
    let factors: &[u64] = if odd_lanes { &[3, 5] } else { &[1] };
    let mut fits = Vec::new();
    for pages in pages {
        for lanes in factors.iter().flat_map(|f| (0..7).map(move |k| f << k)) {
            let bytes = clustered_page * pages * lanes;
            if (MIB..=16 * MIB).contains(&bytes) && clustered_page / (2 * KIB) * lanes <= PLANES_MAX
            {
                fits.push((bytes, (*pages, lanes)));
            }
        }
    }
    if fits.is_empty() {
        // Neither factor fits below 16 MiB; one lane does.
        return (64, 1);
    }
    // Uniform over the sizes first, then over the ways to make that size.
    fits.sort_unstable();
    let mut sizes: Vec<u64> = fits.iter().map(|(bytes, _)| *bytes).collect();
    sizes.dedup();
    let size = pick(rng, &sizes);
    fits.retain(|(bytes, _)| *bytes == size);
    let ways: Vec<(u64, u64)> = fits.into_iter().map(|(_, way)| way).collect();
    pick(rng, &ways)
}

/// Operation times of a flash part.
struct Cell {
    read: Dur,
    program: Dur,
    erase: Dur,
}

impl Cell {
    /// Draws one, two or three bits a cell with equal probability.
    fn draw(rng: &mut Rng) -> Cell {
        let (read, program, erase) = pick(
            rng,
            &[
                ((25.0, 30.0), (200.0, 300.0), (1500.0, 2000.0)),
                ((40.0, 60.0), (600.0, 900.0), (1500.0, 3500.0)),
                ((60.0, 80.0), (900.0, 1400.0), (3000.0, 5000.0)),
            ],
        );
        let mut us = |(low, high): (f64, f64)| Dur::us(log_uniform(rng, low, high).round() as u64);
        Cell {
            read: us(read),
            program: us(program),
            erase: us(erase),
        }
    }
}

/// Draws the link, without its logical block, which depends on the mapping. Block-mapped drives are mostly SATA, as they
/// were in its time.
fn host(rng: &mut Rng, kind: MappingKind) -> Host {
    let nvme = rng.chance(if kind == MappingKind::Page { 0.6 } else { 0.1 });
    let (protocol, bandwidth, queue_depth) = if nvme {
        let bandwidth = rate(log_uniform(rng, 10.0, 35.0), 1.0e8);
        (Protocol::Nvme, bandwidth, pick(rng, &[64, 128, 256]))
    } else {
        let bandwidth = rate(pick(rng, &[150.0, 300.0, 600.0]), 1.0e6);
        (Protocol::Sata, bandwidth, pick(rng, &[1, 32]))
    };
    Host {
        protocol,
        bandwidth,
        command_overhead: Dur::us(log_uniform(rng, 5.0, 60.0).round() as u64),
        latency: Dur::ZERO,
        queue_depth,
        logical_block: Bytes(512),
        max_request: Bytes((128 * KIB) << rng.below(9)),
        log: Log::None,
        queues: 1,
        queue_arbitration: QueueArbitration::RoundRobin,
        arbitration_burst: 1,
        queue_priorities: Vec::new(),
        queue_weights: Vec::new(),
    }
}

/// Draws the mapping and the logical block. `sectors` asks for updates of single sectors.
fn mapping(
    rng: &mut Rng,
    kind: MappingKind,
    flash: &Flash,
    protocol: Protocol,
    sectors: bool,
) -> (Mapping, Bytes) {
    let page = flash.clustered_page;
    let large_block = protocol == Protocol::Nvme && rng.chance(0.4);
    let small_unit = kind == MappingKind::Page && rng.chance(0.6);
    let (unit, logical_block) = match (sectors, large_block) {
        (true, _) => (Bytes(512), Bytes(512)),
        (false, true) if small_unit => (Bytes::kib(4), Bytes::kib(4)),
        (false, true) => (page, Bytes::kib(4)),
        (false, false) if small_unit => (Bytes::kib(4), Bytes(512)),
        (false, false) => (page, Bytes(512)),
    };
    let mapping = Mapping {
        unit: (unit != page).then_some(unit),
        over_provisioning_percent: (log_uniform(rng, 2.0, 28.0) * 10.0).round() / 10.0,
        log_blocks: match kind {
            MappingKind::Block => 4 + rng.below(21) as u32,
            _ => 0,
        },
        striping: Striping::Dynamic,
        map_cache: None,
        host_memory_buffer: None,
        host_memory_latency: Dur::us(1),
        partial_program: sectors,
        ..Mapping::new(kind)
    };
    (mapping, logical_block)
}

fn read_buffer(rng: &mut Rng, host: &Host) -> Option<ReadBuffer> {
    if rng.chance(0.4) {
        return None;
    }
    let line = Bytes::kib(4);
    let capacity = (log_uniform(rng, 32.0, 4096.0) as u64 * KIB / line.0 * line.0).max(32 * KIB);
    // A buffer whose minimum request exceeds every possible request would never be used.
    let longest = (capacity / 2).min(host.max_request.0);
    let min_request = if rng.chance(0.2) {
        log_uniform(rng, 4096.0, longest as f64) as u64 / line.0 * line.0
    } else {
        512
    };
    let depths: Vec<u64> = (0..5)
        .map(|k| (64 * KIB) << k)
        .filter(|d| *d <= capacity / 2)
        .collect();
    let prefetch = rng.chance(1.0 / 3.0) && !depths.is_empty();
    Some(ReadBuffer {
        capacity: Bytes(capacity),
        line,
        min_request: Bytes(min_request.max(host.logical_block.0)),
        prefetch: prefetch.then(|| Prefetch {
            after: 2 + rng.below(3) as u32,
            depth: Bytes(pick(rng, &depths)),
        }),
    })
}

fn write_buffer(rng: &mut Rng) -> Option<WriteBuffer> {
    if rng.chance(0.35) {
        return None;
    }
    let kib = log_uniform(rng, 32.0, 16_384.0) as u64;
    // Firmware sometimes keeps a little of a round size for itself. One third of the sizes is a power of two, one third 1
    // KiB less, and one third arbitrary.
    let kib = match rng.below(3) {
        0 => kib.next_power_of_two().min(16_384),
        1 => kib.next_power_of_two().min(16_384) - 1,
        _ => kib,
    };
    let idle = rng.chance(0.5);
    let policy = match rng.chance(0.5) {
        true => WritePolicy::Lru,
        false => WritePolicy::Fifo,
    };
    Some(WriteBuffer {
        drain: if idle { Drain::Idle } else { Drain::OnFull },
        idle_delay: if idle {
            Dur::ms(5 + rng.below(16))
        } else {
            Dur::ZERO
        },
        battery: rng.chance(0.1),
        ..WriteBuffer::new(policy, Bytes(kib * KIB))
    })
}

fn noise(rng: &mut Rng) -> Noise {
    let tenths = |rng: &mut Rng, most: f64| (rng.uniform() * most * 10.0).round() / 10.0;
    let (command_percent, flash_percent) = (tenths(rng, 10.0), tenths(rng, 5.0));
    let (interval, duration) = if rng.chance(0.3) {
        (0, 0)
    } else {
        let interval = log_uniform(rng, 500.0, 5000.0) as u64;
        (interval, log_uniform(rng, 1.0, 10.0).round() as u64)
    };
    Noise {
        command_percent,
        flash_percent,
        background_interval: Dur::ms(interval),
        background_duration: Dur::ms(duration),
    }
}
