//! Small drives drawn at random: any valid geometry, with odd numbers of everything; every mapping, write buffer, victim
//! policy, striping order and arbitration; failures and endurance.

use crate::common::{KINDS, base};
use fathom_base::{Bytes, Dur, Rng};
use fathom_ssd::spec::{
    Arbitration, Compression, Cut, Drain, FastCache, Faults, Flash, Fold, Gc, MappingKind, Noise,
    Oversize, Prefetch, ProgramMode, Protocol, ReadBuffer, Separation, Striping, Thermal, Victim,
    WhenFull, WriteBuffer, WritePolicy,
};
use fathom_ssd::{Geometry, Spec};

/// Maximum number of mapped units of a drive, spare blocks included, and maximum number of host sectors: small, so that
/// everything happens often.
const UNITS_MAX: u32 = 4096;
const SECTORS_MAX: u64 = 1024;
/// Minimum number of sectors for the conformance suite.
const BLOCKS_MIN: u64 = 16;

/// The orders of static striping, and dynamic striping.
#[rustfmt::skip]
pub(crate) const ORDERS: [Striping; 25] = {
    use Striping::*;
    [
        Dynamic,
        Cwdp, Cwpd, Cdwp, Cdpw, Cpwd, Cpdw, Wcdp, Wcpd, Wdcp, Wdpc, Wpcd, Wpdc,
        Dcwp, Dcpw, Dwcp, Dwpc, Dpcw, Dpwc, Pcwd, Pcdw, Pwcd, Pwdc, Pdcw, Pdwc,
    ]
};

/// Victim policies of garbage collection.
pub(crate) const VICTIMS: [Victim; 4] = [
    Victim::Greedy,
    Victim::CostBenefit,
    Victim::Fifo,
    Victim::DChoices,
];

/// Separation of data in blocks.
pub(crate) const SEPARATIONS: [Separation; 3] =
    [Separation::Nothing, Separation::Copies, Separation::HotCold];

const ARBITRATIONS: [Arbitration; 4] = [
    Arbitration::CommandFirst,
    Arbitration::InOrder,
    Arbitration::ReadFirst,
    Arbitration::Suspend,
];

fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.below(from.len() as u64) as usize]
}

/// Draws a divisor of `n`.
fn divisor(rng: &mut Rng, n: u64) -> u64 {
    let all: Vec<u64> = (1..=n).filter(|d| n.is_multiple_of(*d)).collect();
    pick(rng, &all)
}

/// Draws a drive.
pub(crate) fn draw(rng: &mut Rng) -> Spec {
    loop {
        let mut spec = attempt(rng);
        let sectors = spec.capacity.0 / 512;
        let blocks = spec.capacity.0 / spec.host.logical_block.0;
        if sectors <= SECTORS_MAX
            && blocks >= BLOCKS_MIN
            && spec.check().is_ok()
            && Geometry::new(&spec).physical_units() <= UNITS_MAX
        {
            // From a separate stream, so that the drives of earlier campaigns do not change.
            refine(&mut spec, &mut rng.clone());
            return spec;
        }
    }
}

/// Draws the settings of the features that a drive has.
fn refine(spec: &mut Spec, rng: &mut Rng) {
    if let Some(buffer) = spec.write_buffer.as_mut().filter(|_| rng.chance(0.5)) {
        buffer.combine = buffer.policy != WritePolicy::Fifo || rng.chance(0.5);
        buffer.drain_whole = rng.chance(0.5);
        buffer.oversize = pick(rng, &[Oversize::Buffered, Oversize::WriteThrough]);
        buffer.cut = pick(rng, &[Cut::Page, Cut::Command]);
    }
    let suspends = spec.flash.arbitration == Arbitration::Suspend;
    let modes = [
        ProgramMode::Page,
        ProgramMode::Cache,
        ProgramMode::MultiPlane,
    ];
    spec.flash.program_mode = pick(rng, &modes[..if suspends { 2 } else { 3 }]);
    if rng.chance(0.3) {
        let mean = spec.flash.program.0;
        spec.flash.program_steps = vec![Dur(mean / 2), Dur(mean * 2 - mean / 2)];
    }
    if suspends {
        spec.flash.suspend_latency = pick(rng, &[Dur::ZERO, Dur::us(10), Dur::us(300)]);
    }
    let stations = Geometry::new(spec).stations;
    if stations > 1 && rng.chance(0.3) {
        let stripe = 2 + rng.below(u64::from(stations - 1)) as u32;
        let least = 100.0 / f64::from(stripe - 1);
        spec.flash.parity_stripe = stripe;
        let over = &mut spec.mapping.over_provisioning_percent;
        *over = over.max(least.ceil());
    }
    if spec.faults.read_retry > 0.0 {
        spec.faults.read_retry_per_1000_cycles = pick(rng, &[0.0, 0.5]);
        spec.faults.read_retry_per_day = pick(rng, &[0.0, 0.5]);
        spec.faults.age_cycles = pick(rng, &[0, 1000]);
    }
    spec.thermal = rng.chance(0.2).then(|| Thermal {
        // One page warms such a drive by some degrees.
        degrees_per_gib_programmed: 1e6,
        degrees_per_gib_read: 3e5,
        time_constant: pick(rng, &[Dur::ms(1), Dur::ms(20)]),
        light_celsius: pick(rng, &[30.0, 70.0]),
        ..Thermal::default()
    });
    spec.compression = rng.chance(0.3).then(|| Compression {
        zero_percent: pick(rng, &[0.0, 1.0, 50.0]),
        deduplicates: rng.chance(0.5),
    });
    if spec.mapping.kind.is_paged() && rng.chance(0.5) {
        spec.fast_cache = Some(fast_cache(spec, rng));
        spec.name = name(spec);
    }
}

fn attempt(rng: &mut Rng) -> Spec {
    let mut spec = base();
    spec.flash = flash(rng);
    let page = spec.flash.clustered_page.0;
    spec.host.logical_block = Bytes(pick(rng, &[512, 512, 512, 1024, 4096]));
    spec.host.protocol = pick(rng, &[Protocol::Nvme, Protocol::Sata]);
    spec.host.queue_depth = pick(rng, &[1, 4, 32]);
    spec.host.max_request = Bytes(pick(rng, &[4096, 64 << 10]));
    spec.host.command_overhead = pick(rng, &[Dur::ZERO, Dur::us(1), Dur::us(20)]);
    mapping(&mut spec, rng);
    spec.capacity = Bytes((1 + rng.below(24)) * spec.flash.clustered_block.0);
    spec.gc = gc(rng);
    spec.write_buffer = rng.chance(0.7).then(|| write_buffer(page, rng));
    spec.read_buffer = rng.chance(0.2).then(|| read_buffer(rng));
    if rng.chance(0.2) {
        spec.noise = Noise {
            command_percent: 20.0,
            flash_percent: 10.0,
            background_interval: Dur::ms(2),
            background_duration: Dur::us(300),
        };
    }
    if rng.chance(0.4) {
        spec.faults = faults(rng);
        spec.mapping.over_provisioning_percent = pick(rng, &[0.0, 50.0, 400.0]);
    }
    spec.name = name(&spec);
    spec
}

fn flash(rng: &mut Rng) -> Flash {
    let mut flash = base().flash;
    flash.channels = 1 + rng.below(4) as u32;
    flash.packages_per_channel = pick(rng, &[1, 1, 2, 3]);
    flash.dies_per_package = pick(rng, &[1, 1, 2, 3]);
    flash.planes_per_die = 1 + rng.below(6) as u32;
    flash.pages_per_block = 2 + rng.below(9) as u32;
    flash.page = Bytes(512 * pick(rng, &[1, 2, 3, 4, 5, 8]));
    let dies = u64::from(flash.channels * flash.packages_per_channel * flash.dies_per_package);
    let per_die = u64::from(flash.planes_per_die);
    // Planes of one die, or whole dies.
    let width = if rng.chance(0.7) {
        divisor(rng, per_die)
    } else {
        per_die * divisor(rng, dies)
    };
    let wide = width * divisor(rng, (dies * per_die / width).max(1));
    let block = flash.page.0 * u64::from(flash.pages_per_block);
    flash.clustered_page = Bytes(width * flash.page.0);
    flash.clustered_block = Bytes(wide * block);
    flash.arbitration = pick(rng, &ARBITRATIONS);
    flash.copy_back = rng.chance(0.3);
    flash
}

fn mapping(spec: &mut Spec, rng: &mut Rng) {
    let page = spec.flash.clustered_page.0;
    let unit = page / divisor(rng, page / 512);
    let mapping = &mut spec.mapping;
    mapping.kind = pick(rng, &KINDS);
    mapping.unit = rng.chance(0.6).then_some(Bytes(unit));
    mapping.over_provisioning_percent = pick(rng, &[0.0, 0.0, 10.0, 60.0]);
    mapping.partial_program = rng.chance(0.4);
    mapping.log_blocks = pick(rng, &[1, 1, 2, 3, 5, 12]);
    let entries = pick(rng, &[8, 10, 32]);
    mapping.map_cache = (mapping.kind == MappingKind::Dftl).then_some(Bytes(8 * entries));
    if mapping.kind.is_paged() && rng.chance(0.5) {
        mapping.striping = pick(rng, &ORDERS);
    }
}

fn gc(rng: &mut Rng) -> Gc {
    Gc {
        victim: pick(rng, &VICTIMS),
        choices: pick(rng, &[1, 2, 10]),
        separate: pick(rng, &SEPARATIONS),
        background_percent: pick(rng, &[0.0, 0.0, 20.0, 50.0]),
        background_delay: Dur::us(500),
        wear_gap: pick(rng, &[0, 0, 1, 4]),
        least_worn_first: rng.chance(0.3),
    }
}

fn write_buffer(page: u64, rng: &mut Rng) -> WriteBuffer {
    let policies = &WritePolicy::ALL[1..];
    let policy = pick(rng, policies);
    let by_block = matches!(policy, WritePolicy::Bplru | WritePolicy::LbClock);
    let blocks = by_block && rng.chance(0.5);
    // From less than a clustered page to several.
    let capacity = Bytes((8 + rng.below(8 * page / 512)) * 512);
    WriteBuffer {
        drain: pick(rng, &[Drain::Idle, Drain::OnFull]),
        idle_delay: pick(rng, &[Dur::ZERO, Dur::us(300)]),
        battery: rng.chance(0.4),
        block: blocks.then(|| Bytes(page * (1 + rng.below(8)))),
        ..WriteBuffer::new(policy, capacity)
    }
}

/// Draws a fast cache of a page-mapped drive, with at most a few blocks in each group.
fn fast_cache(spec: &Spec, rng: &mut Rng) -> FastCache {
    let most = spec.flash.pages_per_block.min(5);
    let bits_per_cell = 2 + rng.below(u64::from(most) - 1) as u32;
    let block = spec.flash.clustered_block.0 / u64::from(bits_per_cell);
    let groups = u64::from(Geometry::new(spec).groups);
    let static_capacity = Bytes(block * groups * pick(rng, &[0, 0, 1, 2, 5]));
    let shares = [0.0, 30.0, 100.0];
    let from = usize::from(static_capacity == Bytes(0));
    FastCache {
        bits_per_cell,
        static_capacity,
        dynamic_percent: pick(rng, &shares[from..]),
        read: Dur::us(15),
        program: Dur::us(60),
        erase: Dur::us(900),
        fold: pick(rng, &[Fold::Idle, Fold::Pressure]),
        idle_delay: pick(rng, &[Dur::ZERO, Dur::us(300), Dur::ms(5)]),
        when_full: pick(rng, &[WhenFull::Bypass, WhenFull::Fold]),
    }
}

fn read_buffer(rng: &mut Rng) -> ReadBuffer {
    let line = pick(rng, &[512, 1536, 4096]);
    ReadBuffer {
        capacity: Bytes(line * (1 + rng.below(8))),
        line: Bytes(line),
        min_request: Bytes(pick(rng, &[512, 2048])),
        prefetch: rng.chance(0.5).then(|| Prefetch {
            after: 1 + rng.below(3) as u32,
            depth: Bytes(pick(rng, &[512, 8192])),
        }),
    }
}

fn faults(rng: &mut Rng) -> Faults {
    Faults {
        factory_bad_percent: pick(rng, &[0.0, 0.0, 20.0]),
        read_retry: pick(rng, &[0.0, 0.1]),
        read_retries_max: 3,
        program_fail: pick(rng, &[0.0, 0.001, 0.02]),
        erase_fail: pick(rng, &[0.0, 0.005, 0.05, 0.3]),
        ..Faults::default()
    }
}

/// Returns the name of a combination: mapping, fast cache, buffer and victim.
pub(crate) fn name(spec: &Spec) -> String {
    let kind = format!("{:?}", spec.mapping.kind).to_lowercase();
    let buffer = spec.write_buffer.as_ref().map_or("none".to_owned(), |b| {
        let idle = if b.drain == Drain::Idle { " idle" } else { "" };
        let battery = if b.battery { " battery" } else { "" };
        format!("{}{idle}{battery}", b.policy.name())
    });
    let victim = match spec.mapping.kind.is_paged() {
        true => format!(", {:?}", spec.gc.victim).to_lowercase(),
        false => String::new(),
    };
    let cache = spec
        .fast_cache
        .as_ref()
        .map_or("", |cache| match cache.when_full {
            WhenFull::Bypass => " with bypassed cache",
            WhenFull::Fold => " with folded cache",
        });
    format!("{kind}{cache}, {buffer}{victim}")
}

/// Returns the number of different names.
pub(crate) fn names() -> usize {
    let buffers = 1 + (WritePolicy::ALL.len() - 1) * 4;
    let paged = KINDS.iter().filter(|kind| kind.is_paged()).count();
    buffers * (3 * paged * VICTIMS.len() + KINDS.len() - paged)
}
