//! Random drives with every feature that the model has, drawn without regard to what a probe can do.
//!
//! Each axis has its own distribution, independent of the others, except where sizes must be multiples of each other: a
//! clustered page covers planes of one die or whole dies, a clustered block covers whole clustered pages, and a clustered
//! page is a multiple of the mapping unit. docs/accuracy.md lists the distributions. A drive that the drive file's own
//! check refuses is drawn again; no other drive is.
//!
//! The order of the draws is part of the family: another order gives other drives for the same seed.

mod flash;
mod memory;

use super::units::{KIB, MIB};
use crate::accuracy::dice::{log_uniform, log_whole, pick, whole};
use fathom_base::{Bytes, Dur, Rng};
use fathom_ssd::Spec;
use fathom_ssd::spec::{
    Faults, Flash, Gc, Host, Kind, Log, Mapping, MappingKind, Noise, Protocol, QueueArbitration,
    Separation, Striping, Victim,
};

/// Range of capacities, in bytes.
const CAPACITY: (f64, f64) = (128.0 * MIB as f64, 8192.0 * MIB as f64);
/// Minimum number of clustered blocks of a drive.
const CLUSTERED_BLOCKS_MIN: u64 = 16;
/// Maximum number of log blocks of a drive.
const LOG_BLOCKS_MAX: u64 = 512;

const KINDS: [MappingKind; 7] = [
    MappingKind::Page,
    MappingKind::Dftl,
    MappingKind::Block,
    MappingKind::Replacement,
    MappingKind::Fast,
    MappingKind::Superblock,
    MappingKind::Hybrid,
];

/// Draws a drive that the check of drive files may refuse.
pub(super) fn any(rng: &mut Rng, name: String) -> Spec {
    let flash = flash::draw(rng);
    let host = host(rng);
    let kind = pick(rng, &KINDS);
    let wanted = log_uniform(rng, CAPACITY.0, CAPACITY.1) as u64;
    let blocks = (wanted / flash.clustered_block.0).max(CLUSTERED_BLOCKS_MIN);
    let mapping = mapping(rng, kind, &flash, host.logical_block.0, blocks);
    Spec {
        kind: Kind::default(),
        name,
        capacity: Bytes(blocks * flash.clustered_block.0),
        read_buffer: memory::read_buffer(rng),
        write_buffer: memory::write_buffer(rng, &flash),
        fast_cache: None,
        gc: gc(rng),
        faults: faults(rng),
        noise: noise(rng),
        limit: None,
        compression: None,
        thermal: None,
        host,
        flash,
        mapping,
    }
}

fn host(rng: &mut Rng) -> Host {
    let protocol = pick(rng, &[Protocol::Sata, Protocol::Nvme]);
    let latency = match rng.chance(0.5) {
        true => Dur::ZERO,
        false => Dur::us(log_whole(rng, 1, 100)),
    };
    Host {
        protocol,
        bandwidth: crate::accuracy::dice::rate(log_uniform(rng, 30.0, 7000.0), 1.0e6),
        command_overhead: Dur::us(log_whole(rng, 1, 100)),
        latency,
        queue_depth: match rng.chance(0.25) {
            true => 1,
            false => 1 << whole(rng, 1, 10),
        },
        logical_block: Bytes(if rng.chance(0.3) { 4 * KIB } else { 512 }),
        max_request: Bytes((64 * KIB) << rng.below(10)),
        log: Log::None,
        queues: 1,
        queue_arbitration: QueueArbitration::RoundRobin,
        arbitration_burst: 1,
        queue_priorities: Vec::new(),
        queue_weights: Vec::new(),
    }
}

fn mapping(
    rng: &mut Rng,
    kind: MappingKind,
    flash: &Flash,
    logical_block: u64,
    blocks: u64,
) -> Mapping {
    let paged = kind.is_paged();
    let unit = unit(rng, flash, logical_block);
    let static_order = rng.chance(0.5);
    let order = flash::striping(rng);
    // At most half of the data blocks are log blocks.
    let logs = log_whole(rng, 1, LOG_BLOCKS_MAX).min(blocks / 2) as u32;
    let map_cache = Bytes(log_whole(rng, 64, 4 * MIB));
    Mapping {
        unit: (unit != flash.clustered_page.0).then_some(Bytes(unit)),
        over_provisioning_percent: (log_uniform(rng, 1.0, 100.0) * 10.0).round() / 10.0,
        log_blocks: if paged { 0 } else { logs },
        striping: if paged && static_order {
            order
        } else {
            Striping::Dynamic
        },
        map_cache: (kind == MappingKind::Dftl).then_some(map_cache),
        host_memory_buffer: None,
        host_memory_latency: Dur::us(1),
        partial_program: rng.chance(0.25),
        ..Mapping::new(kind)
    }
}

/// Draws the mapping unit: smaller than the flash page, one flash page, or several flash pages up to the clustered page.
/// Each class has probability one third; a class without a valid unit gives the clustered page.
fn unit(rng: &mut Rng, flash: &Flash, block: u64) -> u64 {
    let (page, clustered) = (flash.page.0, flash.clustered_page.0);
    let below: Vec<u64> = (0..6).map(|k| page >> (k + 1)).collect();
    let above: Vec<u64> = (2..=clustered / page).map(|n| n * page).collect();
    let classes = [below, vec![page], above];
    let fits =
        |unit: &u64| unit.is_multiple_of(block) && clustered.is_multiple_of(*unit) && *unit > 0;
    let class = pick(rng, &classes.each_ref());
    let class: Vec<u64> = class.iter().copied().filter(fits).collect();
    if class.is_empty() {
        return clustered;
    }
    pick(rng, &class)
}

fn gc(rng: &mut Rng) -> Gc {
    let background = rng.chance(0.3);
    let percent = (log_uniform(rng, 1.0, 25.0) * 10.0).round() / 10.0;
    let delay = Dur::ms(log_whole(rng, 1, 100));
    let wear = rng.chance(0.2);
    let gap = log_whole(rng, 4, 64) as u32;
    Gc {
        victim: pick(
            rng,
            &[
                Victim::Greedy,
                Victim::CostBenefit,
                Victim::Fifo,
                Victim::DChoices,
            ],
        ),
        choices: whole(rng, 2, 30) as u32,
        separate: pick(
            rng,
            &[Separation::Nothing, Separation::Copies, Separation::HotCold],
        ),
        background_percent: if background { percent } else { 0.0 },
        background_delay: delay,
        wear_gap: if wear { gap } else { 0 },
        least_worn_first: rng.chance(0.5),
    }
}

/// Draws read retries and factory bad blocks. Faults that end a drive's life are left out: the errors of a worn-out drive
/// do not test a probe.
fn faults(rng: &mut Rng) -> Faults {
    let (retries, bad) = (rng.chance(0.2), rng.chance(0.2));
    let read_retry = (log_uniform(rng, 0.001, 0.2) * 1e4).round() / 1e4;
    let read_retries_max = whole(rng, 1, 5) as u32;
    let percent = (log_uniform(rng, 0.1, 2.0) * 10.0).round() / 10.0;
    Faults {
        factory_bad_percent: if bad { percent } else { 0.0 },
        read_retry: if retries { read_retry } else { 0.0 },
        read_retries_max: if retries { read_retries_max } else { 0 },
        ..Faults::default()
    }
}

/// Draws jitter of 0 to 100 %, and stalls that keep a die busy for up to a fifth of the time.
fn noise(rng: &mut Rng) -> Noise {
    let percent = |rng: &mut Rng| {
        let drawn = (log_uniform(rng, 0.5, 100.0) * 10.0).round() / 10.0;
        if rng.chance(0.25) { 0.0 } else { drawn }
    };
    let (command_percent, flash_percent) = (percent(rng), percent(rng));
    let interval = log_whole(rng, 20_000, 5_000_000);
    let share = log_uniform(rng, 0.001, 0.2);
    let stalls = rng.chance(0.5);
    let of = |us: u64| if stalls { Dur::us(us) } else { Dur::ZERO };
    Noise {
        command_percent,
        flash_percent,
        background_interval: of(interval),
        background_duration: of((interval as f64 * share).ceil() as u64),
    }
}
