//! Start values of the times: differences of medians. The fit improves them.

use super::parts::{Assumptions, Layout, dur, link, rate, wire};
use crate::twin::seen::{Seen, deviation};
use crate::twin::series;
use fathom_base::{Bytes, Dur};
use fathom_probe::Parameter;
use fathom_ssd::spec::{Arbitration, Flash, Host, Log, Noise, ProgramMode, Protocol};
use fathom_stats::location::quantile;

/// The usual values of what the record does not tell.
const READ_NS: f64 = 60_000.0;
const PROGRAM_NS: f64 = 600_000.0;
const FAST_PROGRAM_NS: f64 = 160_000.0;
const ERASE_NS: f64 = 5e6;
const LINK: f64 = 3e9;
/// The share of the link's rate from which it limits.
const LINK_LIMITS: f64 = 0.9;
/// The share of it that fills of the fast cache reach, each piece with a flush behind it.
const FAST_BY_LINK: f64 = 0.7;
/// Queues deeper than those of SATA are those of NVMe.
const SATA_DEPTH_MAX: u32 = 32;

/// Times in nanoseconds, rates in bytes per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    latency: f64,
    overhead: f64,
    link: f64,
    read: f64,
    bus: f64,
    pub(super) program: f64,
    pub(super) erase: f64,
    pub(super) fast_read: f64,
    pub(super) fast_program: f64,
}

/// Returns the time of a read of a place that holds nothing, of two of them at once, and of a read of data.
struct Lone {
    nothing: Option<f64>,
    two: Option<f64>,
    data: Option<f64>,
}

impl Lone {
    fn of(seen: &Seen<'_>) -> Self {
        let of = |series| seen.median(Parameter::Parallelism, series);
        let others = [
            (Parameter::Stalls, series::ALONE),
            (Parameter::QueueKnee, series::ALONE),
        ];
        let mut others = others.into_iter();
        Self {
            nothing: of(series::NOTHING).or(seen.figure(Parameter::Trim, "read_trimmed_ns")),
            two: of(series::NOTHING_PAIR),
            data: (seen.median_native(Parameter::Parallelism, series::SOLO))
                .or_else(|| others.find_map(|(parameter, series)| seen.median(parameter, series))),
        }
    }
}

pub(super) fn times(seen: &Seen<'_>, layout: &Layout, assumed: &mut Assumptions) -> Times {
    let block = f64::from(seen.record.meta.target.logical_block_bytes.max(512));
    let link = wire(seen).or_else(|| link(seen)).unwrap_or_else(|| {
        assumed.add("host.bandwidth", "3GB/s", "no long read or write was timed");
        LINK
    });
    let lone = Lone::of(seen);
    let nothing = lone.nothing.unwrap_or_else(|| {
        assumed.add(
            "host.latency",
            "of a tenth of a read",
            "no read of nothing was timed",
        );
        0.1 * lone.data.unwrap_or(READ_NS)
    });
    let transfer = block / link * 1e9;
    let overhead = match lone.two {
        Some(two) => (two - nothing).max(transfer).min(nothing - transfer),
        // One command at a time: which part of it is whose makes no difference.
        None if seen.record.meta.target.queue_depth <= 1 => nothing - transfer,
        None => 0.3 * (nothing - transfer),
    };
    let overhead = overhead.max(200.0);
    let flash = lone.data.map_or(READ_NS, |data| data - nothing).max(1000.0);
    let bus = bus(seen, block, link, lone.data).unwrap_or(1e9);
    let read = (flash - block / bus * 1e9).max(0.5 * flash);
    let program = program(seen, layout, nothing, bus, assumed).unwrap_or_else(|| {
        assumed.add(
            "flash.program",
            "600us",
            "nothing was written that waits for the flash",
        );
        PROGRAM_NS
    });
    assumed.add(
        "flash.erase",
        "5ms",
        "an erase hides behind what it makes room for",
    );
    Times {
        latency: (nothing - transfer - overhead).max(0.0),
        overhead,
        link,
        read,
        bus,
        program,
        erase: ERASE_NS,
        fast_read: fast_read(seen, flash, read).min(read),
        fast_program: fast_program(seen, layout, bus)
            .unwrap_or(program / 5.0)
            .min(program),
    }
}

/// Returns the rate of a bus: what a read of two blocks takes longer than one, without the link's part.
fn bus(seen: &Seen<'_>, block: f64, link: f64, one: Option<f64>) -> Option<f64> {
    let two = seen.median_native(Parameter::Parallelism, series::SOLO_OF_TWO)?;
    let more = two - one? - block / link * 1e9;
    (more > 0.0).then(|| (block / more * 1e9).clamp(50e6, 10e9))
}

/// Returns the time of a program: what a flush takes after a small write, or the time of a page at the native rate.
fn program(
    seen: &Seen<'_>,
    layout: &Layout,
    nothing: f64,
    bus: f64,
    assumed: &mut Assumptions,
) -> Option<f64> {
    let slow = seen.figure(Parameter::FastCache, "slow_bytes_per_s");
    let slow = slow.or_else(|| seen.fill());
    let page = layout.page as f64;
    let transfer = page / bus * 1e9;
    let by_rate = slow.map(|slow| layout.dies as f64 * page / slow * 1e9 - transfer);
    let clean = seen.figure(Parameter::Flush, "clean_ns").unwrap_or(nothing);
    let by_flush = seen
        .number(Parameter::Flush)
        .map(|flush| flush - clean - transfer);
    let by_link = slow
        .zip(link(seen))
        .is_some_and(|(slow, link)| slow > LINK_LIMITS * link);
    let program = match (by_rate, by_flush) {
        // A flush may also read, fold or meet other work; a rate may be that of the link.
        (Some(rate), Some(flush)) => rate.min(flush).max(0.3 * flush),
        (Some(rate), None) if by_link && rate > PROGRAM_NS => {
            let why = "fills are as fast as the link, and no flush waits for the flash: it is at most as long as that takes";
            assumed.add("flash.program", "600us", why);
            PROGRAM_NS
        }
        (rate, flush) => rate.or(flush)?,
    };
    (program > 0.0).then_some(program.max(20_000.0))
}

/// Returns the time of a program of the fast cache by the rate of fills. Where that is the rate of the link, it is the longest
/// time that fits, and a usual one is taken.
fn fast_program(seen: &Seen<'_>, layout: &Layout, bus: f64) -> Option<f64> {
    let fast = seen.figure(Parameter::FastCache, "fast_bytes_per_s")?;
    let page = layout.page as f64;
    let longest = (layout.dies as f64 * page / fast * 1e9 - page / bus * 1e9).max(20_000.0);
    let by_link = wire(seen).or_else(|| link(seen));
    Some(
        match by_link.is_some_and(|link| fast > FAST_BY_LINK * link) {
            true => longest.min(FAST_PROGRAM_NS),
            false => longest,
        },
    )
}

/// Returns the time of a read in the fast cache: that of a native read less what reads in the cache are faster. Without such
/// reads, that of the fastest reads.
fn fast_read(seen: &Seen<'_>, flash: f64, read: f64) -> f64 {
    let of = |series| seen.median(Parameter::FastCache, series);
    let faster = of(series::READ_FULL).zip(of(series::READ_FAST));
    if let Some(faster) = faster
        .map(|(full, fast)| full - fast)
        .filter(|ns| *ns > 0.0)
    {
        return (read - faster).max(5_000.0);
    }
    let reads = seen.times(Parameter::Parallelism, series::SOLO, None);
    let nothing = seen.median(Parameter::Parallelism, series::NOTHING);
    match (quantile(&reads, 0.02), nothing) {
        (Some(fast), Some(nothing)) => (fast - nothing).max(0.1 * flash).max(5_000.0),
        _ => 0.5 * flash,
    }
}

pub(super) fn host(seen: &Seen<'_>, times: &Times, assumed: &mut Assumptions) -> Host {
    let target = &seen.record.meta.target;
    let protocol = match target.queue_depth {
        ..=SATA_DEPTH_MAX => Protocol::Sata,
        _ => Protocol::Nvme,
    };
    let why =
        "whether reads and writes share the link does not show; the depth of the queue says this";
    let name = if protocol == Protocol::Nvme {
        "nvme"
    } else {
        "sata"
    };
    assumed.add("host.protocol", name, why);
    let block = u64::from(target.logical_block_bytes).max(512);
    Host {
        protocol,
        bandwidth: rate(times.link),
        command_overhead: dur(times.overhead),
        latency: dur(times.latency),
        queue_depth: target.queue_depth.clamp(1, 65_536),
        logical_block: Bytes(block),
        max_request: Bytes((target.max_request_bytes / block).max(1) * block),
        log: Log::None,
        queues: 1,
        queue_arbitration: Default::default(),
        arbitration_burst: 1,
        queue_priorities: Vec::new(),
        queue_weights: Vec::new(),
    }
}

pub(super) fn flash(layout: &Layout, times: &Times, assumed: &mut Assumptions) -> Flash {
    assumed.add(
        "flash.arbitration",
        "read-first",
        "it is chosen by reads during writes, where there are such",
    );
    let page = layout.page;
    Flash {
        channels: layout.channels as u32,
        packages_per_channel: 1,
        dies_per_package: (layout.dies / layout.channels) as u32,
        planes_per_die: 1,
        pages_per_block: layout.pages_per_block as u32,
        page: Bytes(page),
        bus: rate(times.bus),
        read: dur(times.read),
        program: dur(times.program),
        program_steps: Vec::new(),
        program_mode: ProgramMode::Page,
        erase: dur(times.erase),
        clustered_page: Bytes(page),
        clustered_block: Bytes(page * layout.pages_per_block),
        arbitration: Arbitration::ReadFirst,
        suspend_latency: Dur::ZERO,
        suspend_overhead: Dur::ZERO,
        copy_back: false,
        parity_stripe: 0,
    }
}

/// Returns the noise: spreads of lone reads, and stalls as background work.
///
/// A piece of background work of mean length m keeps one of D dies busy. Reads come every `apart` at random places. The
/// rest of an exponential piece is as long as a whole one, so the median wait beyond the threshold is m ln 2, and a piece
/// meets a read with probability m / (m + apart D).
pub(super) fn noise(seen: &Seen<'_>, layout: &Layout, times: &Times) -> Noise {
    let of = |series| deviation(&seen.times(Parameter::Parallelism, series, None));
    let command = of(series::NOTHING).unwrap_or(0.0);
    let flash = of(series::SOLO).map_or(0.0, |all| (all * all - command * command).max(0.0).sqrt());
    let percent = |spread: f64, mean: f64| (spread / mean * 1000.0).round() / 10.0;
    let mut noise = Noise {
        command_percent: percent(command, times.overhead).min(60.0),
        flash_percent: percent(flash, times.read).min(40.0),
        ..Noise::default()
    };
    if let Some((interval, length)) = background(seen, layout) {
        noise.background_interval = dur(interval.max(1e6));
        noise.background_duration = dur(length.min(1e9).min(0.4 * interval));
    }
    noise
}

/// A stalled read is so much longer than a typical one (`stalls`).
const STALLED: f64 = 2.0;

fn background(seen: &Seen<'_>, layout: &Layout) -> Option<(f64, f64)> {
    let of = Parameter::Stalls;
    let wait = seen.number(of)?;
    let (typical, per_hour) = (seen.figure(of, "typical_ns")?, seen.figure(of, "per_hour")?);
    let least = STALLED * typical;
    let length = ((wait - least) / std::f64::consts::LN_2).max(0.2 * wait);
    let apart = (4.0 * typical).max(200_000.0);
    let met = length / (length + apart * layout.dies as f64) * (-least / length).exp();
    let interval = 3600e9 / per_hour.max(1e-3) * met;
    Some((interval, length))
}
