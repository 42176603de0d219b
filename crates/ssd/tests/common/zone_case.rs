//! Zoned drives drawn from a seed, and what holds for each: the conformance suite, and a life with power cuts beside a
//! shadow of every unit.

use super::zone_life::Life;
use super::{ZONED_BUFFERS, ZONED_SHAPES, zoned};
use fathom_base::{Bytes, Dur, Rng};
use fathom_block::conformance::{Options, check};
use fathom_ssd::spec::{Noise, Protocol};
use fathom_ssd::{Spec, Ssd};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Random stream of a drive.
const OF_DRIVE: u64 = 210;

/// What a case has met.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Met {
    pub(crate) requests: u64,
    pub(crate) cuts: u64,
    /// Zones found closed, and full, after a cut.
    pub(crate) closed: u64,
    pub(crate) full: u64,
}

impl Met {
    pub(crate) fn add(&mut self, other: Met) {
        self.requests += other.requests;
        self.cuts += other.cuts;
        self.closed += other.closed;
        self.full += other.full;
    }
}

/// Draws a small zoned drive.
pub(crate) fn spec(seed: u64) -> Spec {
    let mut rng = Rng::new(seed, OF_DRIVE);
    loop {
        let spec = draw(&mut rng);
        if spec.check().is_ok() {
            return spec;
        }
    }
}

fn draw(rng: &mut Rng) -> Spec {
    let mut upto = |most: u64| rng.below(most + 1);
    let shape = ZONED_SHAPES[upto(ZONED_SHAPES.len() as u64 - 1) as usize];
    let buffer = ZONED_BUFFERS[upto(ZONED_BUFFERS.len() as u64 - 1) as usize];
    let mut spec = zoned(shape, buffer);
    let block = spec.flash.clustered_block.0;
    let blocks = spec.capacity.0 / block;
    // At least two zones, which the conformance suite needs.
    let sizes: Vec<u64> = (1..=blocks / 2)
        .filter(|n| blocks.is_multiple_of(*n))
        .collect();
    let zone = sizes[upto(sizes.len() as u64 - 1) as usize];
    spec.mapping.zone = Some(Bytes(zone * block));
    let held = 1 + upto(zone - 1);
    spec.mapping.zone_capacity = (held < zone).then_some(Bytes(held * block));
    let active = upto(4) as u32;
    spec.mapping.max_active_zones = active;
    spec.mapping.max_open_zones = match active {
        0 => upto(3) as u32,
        active => 1 + upto(u64::from(active) - 1) as u32,
    };
    spec.mapping.over_provisioning_percent = [0.0, 0.0, 30.0, 100.0][upto(3) as usize];
    (spec.host.protocol, spec.host.queue_depth) = match upto(3) {
        0 => (Protocol::Sata, 1 + upto(31) as u32),
        _ => (Protocol::Nvme, 1 + upto(31) as u32),
    };
    if let Some(buffer) = &mut spec.write_buffer {
        buffer.idle_delay = Dur::us(1 + upto(500));
    }
    if upto(2) == 0 {
        spec.noise = Noise {
            command_percent: 5.0,
            flash_percent: 20.0,
            ..Noise::default()
        };
    }
    spec
}

/// Tries a drive: with random requests, and with power cuts.
///
/// # Errors
/// What is wrong, and the drive.
pub(crate) fn run(seed: u64) -> Result<Met, String> {
    let spec = spec(seed);
    let outcome = catch_unwind(AssertUnwindSafe(|| tried(&spec, seed)));
    let outcome = outcome.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(format!("panic: {}", text.unwrap_or_default()))
    });
    outcome.map_err(|why| format!("zoned drive of seed {seed}: {why}\n{spec:?}"))
}

fn tried(spec: &Spec, seed: u64) -> Result<Met, String> {
    let options = Options {
        seed,
        operations: 150,
        region: 0..spec.capacity.0,
        ..Options::default()
    };
    let mut make = || Ssd::new(spec, seed).unwrap().keep_data();
    let report = check(&mut make, &options).map_err(|violation| violation.to_string())?;
    let mut met = Met {
        requests: report.requests,
        ..Met::default()
    };
    let mut rng = Rng::new(seed, OF_DRIVE + 1);
    for _ in 0..4 {
        let mut life = Life::new(spec, seed);
        for _ in 0..3 {
            let ops = life.drive.counters().flash_ops;
            life.drive.cut_power_after(ops + 1 + rng.below(120));
            let depth = 1 + rng.below(u64::from(spec.host.queue_depth).min(8));
            life.live(60, depth as usize, &mut rng)?;
        }
        met.add(Met {
            requests: 180,
            cuts: life.cuts,
            closed: life.found.0,
            full: life.found.1,
        });
    }
    Ok(met)
}
