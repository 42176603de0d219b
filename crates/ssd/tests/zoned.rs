//! Zoned drives: conformance, power cuts, and the times and amplification that follow from their layout.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::common::zone_life::Life;
use crate::common::{ZONED_BUFFERS, ZONED_SHAPES, linked, zoned};
use fathom_base::Rng;
use fathom_block::conformance::{Options, check};
use fathom_ssd::spec::Protocol;
use fathom_ssd::{Spec, Ssd};

fn conforms(spec: &Spec) {
    let options = Options {
        operations: 400,
        region: 0..spec.capacity.0,
        ..Options::default()
    };
    let mut make = || Ssd::new(spec, 7).unwrap().keep_data();
    let report = check(&mut make, &options).unwrap_or_else(|violation| panic!("{violation}"));
    assert!(report.skipped.keys().eq(&["order: writes"]), "{report:?}");
    assert!(report.bytes_compared > 0);
}

#[test]
fn zoned_drives_conform() {
    for shape in ZONED_SHAPES {
        for buffer in ZONED_BUFFERS {
            let spec = zoned(shape, buffer);
            spec.check()
                .unwrap_or_else(|why| panic!("{}: {why}", spec.name));
            conforms(&linked(spec.clone(), Protocol::Nvme, 32));
            conforms(&linked(spec, Protocol::Sata, 1));
        }
    }
}

/// The power is cut at every seventh flash operation, and now and then again. What was durable survives, and open zones are
/// closed.
#[test]
fn zones_survive_power_cuts_as_the_specification_says() {
    for (seed, buffer) in (1..).zip(ZONED_BUFFERS) {
        let (mut cuts, mut closed, mut full) = (0, 0, 0);
        for shape in ZONED_SHAPES {
            let spec = zoned(shape, buffer);
            for after in (1..400).step_by(7) {
                let life = life(&spec, seed, after)
                    .unwrap_or_else(|why| panic!("{}, cut after {after}: {why}", spec.name));
                cuts += life.cuts;
                (closed, full) = (closed + life.found.0, full + life.found.1);
            }
        }
        let met = cuts > 200 && closed > 300 && full > 100;
        assert!(
            met,
            "{buffer}: {cuts} cuts, {closed} closed and {full} full zones"
        );
    }
}

fn life(spec: &Spec, seed: u64, after: u64) -> Result<Life, String> {
    let mut rng = Rng::new(seed, after % 5);
    let mut life = Life::new(spec, seed);
    life.drive.cut_power_after(after);
    life.live(60, 1 + after as usize % 8, &mut rng)?;
    let ops = life.drive.counters().flash_ops;
    life.drive.cut_power_after(ops + 1 + after % 7);
    life.live(20, 4, &mut rng)?;
    Ok(life)
}
